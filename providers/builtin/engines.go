// Package builtin holds the engines that need no key and no network: flite speaks, pocketsphinx listens, both as
// WebAssembly in this process, English only.
package builtin

import (
	"context"
	"sync"
)

// Engines are the built-in speech engines of one process. Nothing is loaded before it is needed. All methods may be
// called from any goroutine.
type Engines struct {
	machine      *machine
	work         sync.WaitGroup  // instances in use
	life         context.Context // of what is made for nobody in particular
	end          context.CancelFunc
	synthesizing synthesizing
	transcribing transcribing
}

// Open prepares engines that keep their compiled code in dir, the data directory. It does no I/O.
func Open(dir string) *Engines {
	e := &Engines{machine: &machine{dir: dir}}
	e.life, e.end = context.WithCancel(context.Background())
	e.synthesizing.init()
	e.transcribing.init()
	return e
}

// Close waits until nobody uses the engines any more and gives back all memory. They cannot be used afterwards.
func (e *Engines) Close() error {
	e.end()
	e.work.Wait()
	e.transcribing.drop()
	return e.machine.close()
}
