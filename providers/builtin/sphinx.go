package builtin

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

//go:embed pocketsphinx/pocketsphinx.wasm
var sphinxWasm []byte

// decoder is pocketsphinx in an instance of its own. Not for concurrent use.
type decoder struct {
	*instance
	at   places
	ctx  context.Context // of its calls
	over func()          // called once when it has stopped
}

// stop gives back the decoder's memory.
func (d *decoder) stop() {
	_ = d.Close(context.Background())
	d.over()
}

// pcmRoom is how many samples the module is given at once.
const pcmRoom = 1600

// call runs an exported function and returns its result as a signed number.
func (d *decoder) call(name string, args ...uint64) (int32, error) {
	if err := d.ctx.Err(); err != nil {
		return 0, err
	}
	r, err := d.ExportedFunction(name).Call(d.ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("pocketsphinx: %s: %w", name, err)
	}
	if len(r) == 0 {
		return 0, nil
	}
	return int32(r[0]), nil
}

// must is call for functions that return a negative number when they fail.
func (d *decoder) must(name string, args ...uint64) error {
	r, err := d.call(name, args...)
	if err == nil && r < 0 {
		err = fmt.Errorf("pocketsphinx: %s: %d", name, r)
	}
	return err
}

// text puts a string, with NUL, into the module's memory; free gives it back.
func (d *decoder) text(s string) (at uint64, free func(), err error) {
	p, err := d.call("alloc", uint64(len(s)+1))
	if err != nil {
		return 0, nil, err
	}
	if p == 0 || !d.Memory().WriteString(uint32(p), s+"\x00") {
		return 0, nil, errors.New("pocketsphinx: out of memory")
	}
	return uint64(uint32(p)), func() { _, _ = d.call("release", uint64(uint32(p))) }, nil
}

func (d *decoder) cstring(at uint32) string {
	const most = 1 << 16
	size := d.Memory().Size()
	raw, ok := d.Memory().Read(at, min(most, size-at))
	if !ok || at == 0 {
		return ""
	}
	s, _, _ := strings.Cut(string(raw), "\x00")
	return s
}

// open makes the decoder inside a fresh instance.
func (d *decoder) open(args []string) error {
	if _, err := d.ExportedFunction("_initialize").Call(d.ctx); err != nil {
		return err
	}
	at, free, err := d.text(strings.Join(args, "\x00"))
	if err != nil {
		return err
	}
	defer free()
	if err := d.must("open", at, uint64(len(args))); err != nil {
		return err
	}
	for _, place := range []struct {
		at   *uint32
		name string
		arg  []uint64
	}{{&d.at.pcm, "alloc", []uint64{2 * pcmRoom}}, {&d.at.mean, "cepstral_mean", nil}, {&d.at.sum, "cepstral_sum", nil},
		{&d.at.frames, "cepstral_frames", nil}} {
		p, err := d.call(place.name, place.arg...)
		if err != nil {
			return err
		}
		*place.at = uint32(p)
	}
	return nil
}

// meanFrames is the weight, in frames of speech, of the mean a decoder begins with. Pocketsphinx's own 500 keep it from
// adapting to a caller for several turns.
const meanFrames = 100

// soften gives the present cepstral mean that weight.
func (d *decoder) soften() error {
	m := d.Memory()
	for i := range uint32(cepstra) {
		mean, ok := m.ReadFloat32Le(d.at.mean + 4*i)
		if !ok || !m.WriteFloat32Le(d.at.sum+4*i, mean*meanFrames) {
			return errors.New("pocketsphinx: no cepstral mean")
		}
	}
	m.WriteUint32Le(d.at.frames, meanFrames)
	return nil
}

// hear decodes samples.
func (d *decoder) hear(pcm []int16) error {
	for len(pcm) > 0 {
		n := min(len(pcm), pcmRoom)
		buf, ok := d.Memory().Read(d.at.pcm, uint32(2*n))
		if !ok {
			return errors.New("pocketsphinx: out of memory")
		}
		for i, x := range pcm[:n] {
			binary.LittleEndian.PutUint16(buf[2*i:], uint16(x))
		}
		if err := d.must("hear", uint64(d.at.pcm), uint64(n)); err != nil {
			return err
		}
		pcm = pcm[n:]
	}
	return nil
}

// heard is what was recognised since the utterance began.
func (d *decoder) heard() (string, error) {
	at, err := d.call("text")
	return d.cstring(uint32(at)), err
}

// addWord teaches a pronunciation; the search learns of it with the next language model. A word that is there already
// stays as it is.
func (d *decoder) addWord(word, phones string) error {
	w, freeW, err := d.text(word)
	if err != nil {
		return err
	}
	defer freeW()
	p, freeP, err := d.text(phones)
	if err != nil {
		return err
	}
	defer freeP()
	_, err = d.call("word", w, p, 0)
	return err
}

// generic loads the language model that every search is mixed with.
func (d *decoder) generic(file string) error {
	at, free, err := d.text(file)
	if err != nil {
		return err
	}
	defer free()
	return d.must("generic", at)
}

// language searches from now on with the model in the file, which has the given share, and the generic one.
func (d *decoder) language(file string, share float32) error {
	at, free, err := d.text(file)
	if err != nil {
		return err
	}
	defer free()
	return d.must("language", at, uint64(math.Float32bits(share)))
}

// sphinxHooks are the functions through which pocketsphinx comes back to Go every few milliseconds, while it loads its
// models, builds a search, and with every frame it decodes.
var sphinxHooks = map[string]hook{
	"dict_add_word": breathe, "bin_mdef_phone_id_nearest": breathe, "merge_runs": breathe,
	"weights_comparator": breathe, "priority_queue_poll": breathe, "ngram_model_set_known_wid": breathe,
	"acmod_score": breathe, "ngram_search_step": breathe, "ps_lattice_link": breathe,
}
