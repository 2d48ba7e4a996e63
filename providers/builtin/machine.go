package builtin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

var errClosed = errors.New("the built-in engines are closed")

// machine compiles WebAssembly modules when they are first needed and makes instances of them.
type machine struct {
	dir string // of the compiled code

	mu     sync.Mutex
	closed bool
	rt     wazero.Runtime // keeps compiled code on disk
	full   bool           // the disk did not take some, and rt is not asked again: it takes that code for complete
	spare  wazero.Runtime // keeps none: for what is compiled from then on
	code   map[string]compiled
}

// compiled is a module and the runtime that it runs in.
type compiled struct {
	wazero.CompiledModule
	rt wazero.Runtime
}

// instance is one running module in memory of its own, outside the Go heap.
type instance struct {
	api.Module
	mem *memory
}

// start makes an instance of the named module, without running anything in it.
func (m *machine) start(name string, read func() ([]byte, error), hooks map[string]hook, conf wazero.ModuleConfig) (*instance, error) {
	code, err := m.compiled(name, read, hooks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	mem, err := newMemory()
	if err != nil {
		return nil, err
	}
	ctx := experimental.WithMemoryAllocator(context.Background(),
		experimental.MemoryAllocatorFunc(func(uint64, uint64) experimental.LinearMemory { return mem }))
	mod, err := code.rt.InstantiateModule(ctx, code.CompiledModule, conf.WithName("").WithStartFunctions())
	if err != nil {
		mem.Free()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &instance{mod, mem}, nil
}

// compiled returns the named module, compiled; the code is kept on disk for the next process.
func (m *machine) compiled(name string, read func() ([]byte, error), hooks map[string]hook) (compiled, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return compiled{}, errClosed
	}
	if code, ok := m.code[name]; ok {
		return code, nil
	}
	if m.rt == nil {
		if err := m.boot(); err != nil {
			return compiled{}, err
		}
	}
	wasm, err := read()
	if err != nil {
		return compiled{}, err
	}
	found := map[string]bool{}
	ctx := experimental.WithFunctionListenerFactory(context.Background(), experimental.FunctionListenerFactoryFunc(
		func(f api.FunctionDefinition) experimental.FunctionListener {
			if h, ok := hooks[f.Name()]; ok {
				found[f.Name()] = true
				return h
			}
			return nil
		}))
	code, err := m.compile(ctx, name, wasm)
	if err != nil {
		return compiled{}, err
	}
	for name := range hooks {
		if !found[name] {
			return compiled{}, errors.Join(fmt.Errorf("has no function %s", name), code.Close(ctx))
		}
	}
	m.code[name] = code
	return code, nil
}

// compile compiles a module. A disk that does not take the code, because it is full for instance, costs the next process
// time and this one nothing.
func (m *machine) compile(ctx context.Context, name string, wasm []byte) (compiled, error) {
	if !m.full {
		code, err := m.rt.CompileModule(ctx, wasm)
		if err == nil {
			return compiled{code, m.rt}, nil
		}
		slog.Warn("compiled code not kept on disk", "module", name, "error", err)
		m.full = true
	}
	if m.spare == nil {
		var err error
		if m.spare, err = newRuntime(wazero.NewCompilationCache()); err != nil {
			return compiled{}, err
		}
	}
	code, err := m.spare.CompileModule(ctx, wasm)
	return compiled{code, m.spare}, err
}

func (m *machine) boot() error {
	dir := filepath.Join(m.dir, "compiled")
	err := os.MkdirAll(dir, 0o700)
	var cache wazero.CompilationCache
	if err == nil {
		cache, err = wazero.NewCompilationCacheWithDir(dir)
	}
	if err != nil {
		slog.Warn("compiled code is not kept on disk", "error", err)
		cache = wazero.NewCompilationCache()
	}
	m.code = map[string]compiled{}
	m.rt, err = newRuntime(cache)
	return err
}

func newRuntime(cache wazero.CompilationCache) (wazero.Runtime, error) {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(cache).WithDebugInfoEnabled(false))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, rt); err != nil {
		return nil, errors.Join(err, rt.Close(ctx))
	}
	return rt, nil
}

func (m *machine) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.rt == nil {
		return nil
	}
	err := m.rt.Close(context.Background())
	if m.spare != nil {
		err = errors.Join(err, m.spare.Close(context.Background()))
	}
	return err
}

// hook is Go code that runs whenever a function inside a module is entered. A panic in it ends the module's call.
// Compiled code cannot be stopped between two entries to Go, not even by the garbage collector, so the functions are
// chosen to be entered every few milliseconds.
type hook func(ctx context.Context, mod api.Module, args []uint64)

// breathe lets the scheduler and the collector in, and ends the call when its context has ended.
func breathe(ctx context.Context, _ api.Module, _ []uint64) {
	if err := ctx.Err(); err != nil {
		panic(err)
	}
}

func (h hook) Before(ctx context.Context, mod api.Module, _ api.FunctionDefinition, args []uint64, _ experimental.StackIterator) {
	h(ctx, mod, args)
}
func (hook) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}
func (hook) Abort(context.Context, api.Module, api.FunctionDefinition, error)    {}
