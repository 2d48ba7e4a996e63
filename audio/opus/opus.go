// Package opus encodes and decodes Opus (RFC 6716) for browser calls: libopus as WebAssembly, run by wazero,
// so that the binary stays static.
package opus

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const (
	applicationVoIP = 2048
	setBitrate      = 4002
	setComplexity   = 4010
	setInbandFEC    = 4012
	setPacketLoss   = 4014

	maxPacket  = 1275 // RFC 6716 §3.2.1, one frame
	maxSamples = 5760 // 120 ms at 48 kHz
)

// Library is libopus, compiled when it is first needed. It is safe for concurrent use; every Encoder and Decoder belongs
// to one goroutine.
type Library struct {
	source func() ([]byte, error)
	next   atomic.Uint32

	mu      sync.Mutex
	runtime wazero.Runtime // nil until it is needed
	workers []*worker
}

// worker is one WebAssembly instance. Its memory holds many codec states and one pair of scratch buffers.
type worker struct {
	mu                               sync.Mutex
	mod                              api.Module
	malloc, free                     api.Function
	encSize, encInit, encode, encSet api.Function
	decSize, decInit, decode         api.Function
	packet, samples                  uint32 // addresses of the scratch buffers
}

// New is the library whose module source gives. The first encoder or decoder loads it: half a second of processor time
// and 30 MB of memory.
func New(source func() ([]byte, error)) *Library { return &Library{source: source} }

// load compiles the module and starts one instance per core, once.
func (l *Library) load(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runtime != nil {
		return nil
	}
	wasm, err := l.source()
	if err != nil {
		return fmt.Errorf("opus: %w", err)
	}
	ctx = context.WithoutCancel(ctx) // it stays for those that come later
	r := wazero.NewRuntime(ctx)
	workers, err := start(ctx, r, wasm)
	if err != nil {
		return errors.Join(fmt.Errorf("opus: %w", err), r.Close(ctx))
	}
	l.runtime, l.workers = r, workers
	return nil
}

func start(ctx context.Context, r wazero.Runtime, wasm []byte) (workers []*worker, err error) {
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	grown := func(context.Context, api.Module, []uint64) {}
	_, err = r.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(grown), []api.ValueType{api.ValueTypeI32}, nil).
		Export("emscripten_notify_memory_growth").Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	compiled, err := r.CompileModule(ctx, wasm)
	if err != nil {
		return nil, err
	}
	for range runtime.NumCPU() {
		mod, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			return nil, err
		}
		w := &worker{mod: mod}
		if err := w.bind(ctx); err != nil {
			return nil, err
		}
		workers = append(workers, w)
	}
	return workers, nil
}

// Close frees everything; encoders and decoders must not be used afterwards.
func (l *Library) Close(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runtime == nil {
		return nil
	}
	return l.runtime.Close(ctx)
}

func (w *worker) bind(ctx context.Context) error {
	for name, f := range map[string]*api.Function{
		"malloc": &w.malloc, "free": &w.free,
		"opus_encoder_get_size": &w.encSize, "opus_encoder_init": &w.encInit, "opus_encode": &w.encode, "opus_encoder_ctl_set": &w.encSet,
		"opus_decoder_get_size": &w.decSize, "opus_decoder_init": &w.decInit, "opus_decode": &w.decode,
	} {
		if *f = w.mod.ExportedFunction(name); *f == nil {
			return fmt.Errorf("module exports no %s", name)
		}
	}
	var err error
	if w.packet, err = w.alloc(ctx, maxPacket); err != nil {
		return err
	}
	w.samples, err = w.alloc(ctx, 2*maxSamples)
	return err
}

func (w *worker) alloc(ctx context.Context, size uint64) (uint32, error) {
	p, err := w.call(ctx, w.malloc, size)
	if err == nil && p == 0 {
		err = errors.New("out of memory")
	}
	return uint32(p), err
}

// call returns the i32 result; libopus reports errors as negative numbers.
func (w *worker) call(ctx context.Context, f api.Function, args ...uint64) (int32, error) {
	res, err := f.Call(ctx, args...)
	if err != nil {
		return 0, err
	}
	if len(res) == 0 {
		return 0, nil
	}
	if n := int32(res[0]); n >= 0 || f == w.malloc {
		return n, nil
	}
	return 0, fmt.Errorf("libopus error %d", int32(res[0]))
}

// worker is the next instance in turn.
func (l *Library) worker(ctx context.Context) (*worker, error) {
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	return l.workers[int(l.next.Add(1))%len(l.workers)], nil
}

// Encoder makes mono Opus packets.
type Encoder struct {
	w     *worker
	state uint32
}

// NewEncoder makes an encoder for mono speech at rate Hz (8000, 12000, 16000, 24000 or 48000).
func (l *Library) NewEncoder(ctx context.Context, rate int) (*Encoder, error) {
	w, err := l.worker(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	size, err := w.call(ctx, w.encSize, 1)
	if err != nil {
		return nil, err
	}
	e := &Encoder{w: w}
	if e.state, err = w.alloc(ctx, uint64(size)); err != nil {
		return nil, err
	}
	if _, err = w.call(ctx, w.encInit, uint64(e.state), uint64(rate), 1, applicationVoIP); err != nil {
		return nil, err
	}
	for _, s := range [][2]uint64{{setComplexity, 3}, {setBitrate, 24000}, {setInbandFEC, 1}, {setPacketLoss, 5}} {
		if _, err := w.call(ctx, w.encSet, uint64(e.state), s[0], s[1]); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Encode fills dst with the packet for pcm, 2.5 to 60 ms of samples, and returns its length.
func (e *Encoder) Encode(dst []byte, pcm []int16) (int, error) {
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	in, ok := e.w.mod.Memory().Read(e.w.samples, uint32(2*len(pcm)))
	if !ok || len(pcm) > maxSamples {
		return 0, errors.New("opus: frame too long")
	}
	for i, s := range pcm {
		in[2*i], in[2*i+1] = byte(s), byte(uint16(s)>>8)
	}
	n, err := e.w.call(context.Background(), e.w.encode, uint64(e.state), uint64(e.w.samples), uint64(len(pcm)), uint64(e.w.packet),
		uint64(min(len(dst), maxPacket)))
	if err != nil {
		return 0, err
	}
	out, _ := e.w.mod.Memory().Read(e.w.packet, uint32(n))
	return copy(dst, out), nil
}

// Close frees the encoder's state.
func (e *Encoder) Close() error { return e.w.release(e.state) }

// Decoder reads mono Opus packets.
type Decoder struct {
	w     *worker
	state uint32
	lost  uint64 // samples of one 20 ms frame, for concealment
}

// NewDecoder makes a decoder whose output is mono at rate Hz.
func (l *Library) NewDecoder(ctx context.Context, rate int) (*Decoder, error) {
	w, err := l.worker(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	size, err := w.call(ctx, w.decSize, 1)
	if err != nil {
		return nil, err
	}
	d := &Decoder{w: w, lost: uint64(rate / 50)}
	if d.state, err = w.alloc(ctx, uint64(size)); err != nil {
		return nil, err
	}
	_, err = w.call(ctx, w.decInit, uint64(d.state), uint64(rate), 1)
	return d, err
}

// Decode fills pcm with the samples of packet and returns how many. A nil packet stands for a lost one: 20 ms of
// concealment.
func (d *Decoder) Decode(pcm []int16, packet []byte) (int, error) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if len(packet) > maxPacket {
		return 0, errors.New("opus: packet too long")
	}
	addr, room := uint64(d.w.packet), uint64(min(len(pcm), maxSamples))
	if packet == nil {
		addr, room = 0, d.lost
	} else {
		d.w.mod.Memory().Write(d.w.packet, packet)
	}
	n, err := d.w.call(context.Background(), d.w.decode, uint64(d.state), addr, uint64(len(packet)), uint64(d.w.samples), room, 0)
	if err != nil {
		return 0, err
	}
	out, _ := d.w.mod.Memory().Read(d.w.samples, uint32(2*n))
	for i := range n {
		pcm[i] = int16(uint16(out[2*i]) | uint16(out[2*i+1])<<8)
	}
	return int(n), nil
}

// Close frees the decoder's state.
func (d *Decoder) Close() error { return d.w.release(d.state) }

func (w *worker) release(state uint32) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.call(context.Background(), w.free, uint64(state))
	return err
}
