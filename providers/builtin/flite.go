package builtin

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"parley/assets"
)

// delivery is how flite is to read one clause.
type delivery struct {
	voice         string
	stretch       float64 // duration factor
	pitch, spread float64 // Hz, mean and standard deviation
	gain          float64 // applied to what flite makes
	formants      float64 // factor for the formants, by playing what flite makes as much faster; with it come pitch and tempo
}

func (d delivery) args() []string {
	float := func(name string, v float64) []string {
		return []string{"--setf", name + "=" + strconv.FormatFloat(v, 'f', 4, 64)}
	}
	a := []string{"-voice", d.voice}
	a = append(a, float("duration_stretch", d.stretch)...)
	a = append(a, float("int_f0_target_mean", d.pitch)...)
	return append(a, float("int_f0_target_stddev", d.spread)...)
}

// hearing is in the context of a running synthesis: where its samples go.
type hearing struct {
	take func(pcm []int16) error
	err  error // of take
}

type hearingKey struct{}

// flite reads one clause and calls take with the samples as they are made, some 16 ms at a time.
func (e *Engines) flite(ctx context.Context, text string, d delivery, take func(pcm []int16) error) error {
	select {
	case e.synthesizing.turns <- struct{}{}:
		defer func() { <-e.synthesizing.turns }()
	case <-ctx.Done():
		return ctx.Err()
	}
	h := &hearing{take: take}
	out, err := e.runFlite(context.WithValue(ctx, hearingKey{}, h), append(d.args(), "-t", text, "-o", "stream")...)
	switch {
	case h.err != nil:
		return h.err
	case err != nil:
		return fmt.Errorf("flite: %w: %s", err, out)
	}
	return nil
}

// phones says how flite would pronounce each word, in the phone set of the transcriber; words it cannot say are left out.
func (e *Engines) phones(ctx context.Context, words []string) (map[string]string, error) {
	spoken := map[string]string{}
	for _, w := range words {
		out, err := e.runFlite(ctx, "-voice", "kal", "-t", w, "-ps", "-o", "none")
		if err != nil {
			return nil, fmt.Errorf("flite: pronounce %q: %w: %s", w, err, out)
		}
		if p := sphinxPhones(string(out)); p != "" {
			spoken[w] = p
		}
	}
	return spoken, nil
}

// sphinxPhones turns flite's "pau hh ax l ow pau" into "HH AH L OW".
func sphinxPhones(printed string) string {
	var phones []string
	for _, p := range strings.Fields(printed) {
		switch p {
		case "pau":
		case "ax":
			phones = append(phones, "AH")
		default:
			phones = append(phones, strings.ToUpper(p))
		}
	}
	return strings.Join(phones, " ")
}

// runFlite runs the program to its end and returns what it printed. ctx is what its hook sees.
func (e *Engines) runFlite(ctx context.Context, args ...string) ([]byte, error) {
	e.work.Add(1)
	defer e.work.Done()
	var out bytes.Buffer
	conf := wazero.NewModuleConfig().WithArgs(append([]string{"flite"}, args...)...).WithStdout(&out).WithStderr(&out)
	mod, err := e.machine.start("flite.wasm", func() ([]byte, error) { return assets.Read("flite.wasm") },
		fliteHooks, conf)
	if err != nil {
		return nil, err
	}
	_, err = mod.ExportedFunction("_start").Call(ctx)
	return bytes.TrimSpace(out.Bytes()), errors.Join(err, mod.Close(ctx))
}

// fliteHooks are flite's functions through which it comes back to Go: with its samples, and every few milliseconds in
// between, while it tears a text apart, predicts and filters.
var fliteHooks = map[string]hook{
	"audio_stream_chunk": streamed,
	"ff_register":        breathe, "hs_regexec": breathe, "new_item_relation": breathe, "cart_interpret": breathe,
	"ph_vc": breathe, "item_set_float": breathe, "b2en": breathe, "get_sts_frame": breathe, "delete_item": breathe,
}

// streamed is entered by flite with each piece of a wave: (wave, first sample, samples, last piece?, …).
func streamed(ctx context.Context, mod api.Module, args []uint64) {
	h, ok := ctx.Value(hearingKey{}).(*hearing)
	if !ok {
		return
	}
	wave, from, n := uint32(args[0]), uint32(args[1]), uint32(args[2])
	const samples = 16 // offset of the sample pointer in flite's struct cst_wave
	at, ok := mod.Memory().ReadUint32Le(wave + samples)
	raw, ok2 := mod.Memory().Read(at+2*from, 2*n)
	if !ok || !ok2 {
		h.err = errors.New("flite: samples out of memory")
		panic(h.err)
	}
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	if h.err = h.take(pcm); h.err != nil {
		panic(h.err)
	}
}
