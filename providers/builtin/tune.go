package builtin

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/tetratelabs/wazero"

	"parley/assets"
	"parley/safe"
	"parley/voice"
)

// ownShare is the part of its own language model in what a conversation expects; the rest is general English.
const ownShare = 0.4

// hintWeight is how often a sentence of the conversation counts, against 4 for a common phrase.
const hintWeight = 4

// Bounds of what is taken from the hints of one conversation.
const (
	maxHintWords = 30000
	maxNewWords  = 200 // without a pronunciation in the dictionary
	maxTuned     = 8   // images kept
)

// image is a decoder frozen when it was ready; clones of it are made in about a millisecond and share its memory.
type image struct {
	snap *snapshot
	at   places
}

// places are addresses inside a decoder's memory.
type places struct{ pcm, mean, sum, frames uint32 }

// imageKey names an image: audio rate and digest of the hints; no digest names the base, which has no search yet.
type imageKey struct {
	rate  int
	hints [sha256.Size]byte
}

// making is an image that is there or on its way.
type making struct {
	ready chan struct{}
	img   *image
	err   error
}

func keyOf(l voice.Transcription) imageKey {
	h := sha256.New()
	for _, hint := range l.Hints {
		fmt.Fprintf(h, "%d:%s", len(hint), hint)
	}
	return imageKey{l.Rate, [sha256.Size]byte(h.Sum(nil))}
}

// image returns the image for a conversation, and makes it when it is not there: some 0.5 s, the first of a rate 1.5 s.
func (e *Engines) image(ctx context.Context, l voice.Transcription) (*image, error) {
	return e.imageOf(ctx, keyOf(l), func() (*image, error) { return e.tune(l) })
}

func (e *Engines) imageOf(ctx context.Context, key imageKey, make func() (*image, error)) (*image, error) {
	e.transcribing.mu.Lock()
	m, ok := e.transcribing.images[key]
	if !ok {
		m = &making{ready: makeSignal()}
		e.transcribing.images[key] = m
		e.work.Add(1)
		safe.Go("image of the recogniser", func() {
			defer e.work.Done()
			m.err = safe.Do("image of the recogniser", func() (err error) { m.img, err = make(); return err })
			close(m.ready)
			if m.err != nil {
				e.transcribing.forget(key)
			}
		})
	}
	e.transcribing.touch(key)
	e.transcribing.mu.Unlock()
	select {
	case <-m.ready:
		return m.img, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func makeSignal() chan struct{} { return make(chan struct{}) }

// base makes the image that all of one rate grow from: acoustic model, dictionary and general English.
func (e *Engines) base(rate int) (*image, error) {
	b, _ := bands(rate)
	common := newTrigrams()
	countPhrases(common)
	f, err := b.modelFiles(common.words())
	if err != nil {
		return nil, err
	}
	d, err := e.startDecoder(f)
	if err != nil {
		return nil, err
	}
	defer d.stop()
	err = d.open([]string{"-hmm", "/", "-dict", "/dict", "-samprate", strconv.Itoa(rate), "-mmap", "no",
		"-fwdflat", "no", "-maxwpf", "10"})
	if err == nil {
		err = d.generic("/lm.bin")
	}
	if err != nil {
		return nil, err
	}
	return d.freeze(nil)
}

// tune makes the image for conversations with the given hints.
func (e *Engines) tune(l voice.Transcription) (*image, error) {
	base, err := e.imageOf(context.Background(), imageKey{rate: l.Rate}, func() (*image, error) { return e.base(l.Rate) })
	if err != nil {
		return nil, err
	}
	model := newTrigrams()
	countPhrases(model)
	known := model.words()
	taken := 0
	for _, hint := range l.Hints {
		for _, words := range wordings(hint) {
			if taken += len(words); taken <= maxHintWords {
				model.add(words, hintWeight)
			}
		}
	}
	d, err := e.clone(base, files{"own.lm": model.arpa()})
	if err != nil {
		return nil, err
	}
	defer d.stop()
	if err := e.teach(d, slices.DeleteFunc(model.words(), func(w string) bool {
		_, found := slices.BinarySearch(known, w)
		return found
	})); err != nil {
		return nil, err
	}
	if err := d.language("/own.lm", ownShare); err != nil {
		return nil, err
	}
	return d.freeze(base.snap)
}

// teach adds the pronunciations of words that the decoder may not know: from the dictionary, or as flite says them.
func (e *Engines) teach(d *decoder, words []string) error {
	data, err := assets.Read("en-us/dict")
	if err != nil {
		return err
	}
	written := dictionary(data).phones(words)
	var unwritten []string
	for _, w := range words {
		if len(written[w]) == 0 && len(unwritten) < maxNewWords {
			unwritten = append(unwritten, w)
		}
	}
	said, err := e.phones(e.life, unwritten)
	if err != nil {
		return err
	}
	for _, w := range words {
		ways := written[w]
		if p := said[w]; p != "" {
			ways = []string{p}
		}
		for i, phones := range ways {
			name := w
			if i > 0 {
				name = fmt.Sprintf("%s(%d)", w, i+1)
			}
			if err := d.addWord(name, phones); err != nil {
				return err
			}
		}
	}
	return nil
}

// startDecoder makes an empty instance that reads its models from f.
func (e *Engines) startDecoder(f files) (*decoder, error) {
	e.work.Add(1)
	started := false
	defer func() { // also after a panic
		if !started {
			e.work.Done()
		}
	}()
	conf := wazero.NewModuleConfig().WithFSConfig(wazero.NewFSConfig().WithFSMount(f, "/"))
	inst, err := e.machine.start("pocketsphinx", func() ([]byte, error) { return sphinxWasm, nil }, sphinxHooks, conf)
	if err != nil {
		return nil, err
	}
	started = true
	return &decoder{instance: inst, ctx: context.Background(), over: e.work.Done}, nil
}

// clone makes a decoder that continues where the image was frozen.
func (e *Engines) clone(img *image, f files) (*decoder, error) {
	d, err := e.startDecoder(f)
	if err != nil {
		return nil, err
	}
	const page = 1 << 16
	if missing := img.snap.size - int(d.Memory().Size()); missing > 0 {
		d.Memory().Grow(uint32(missing / page))
	}
	if err := img.snap.restore(d.mem); err != nil {
		d.stop()
		return nil, err
	}
	d.at = img.at
	return d, nil
}

// freeze makes an image of the decoder; what it shares with the parent is not copied.
func (d *decoder) freeze(parent *snapshot) (*image, error) {
	size := d.Memory().Size()
	all, _ := d.Memory().Read(0, size)
	s, err := freeze(all, parent)
	if err != nil {
		return nil, err
	}
	return &image{s, d.at}, nil
}

// touch marks an image as used and lets the ones unused for longest go. e.mu is held.
func (e *transcribing) touch(key imageKey) {
	if key.hints == [sha256.Size]byte{} {
		return
	}
	if i := slices.Index(e.order, key); i >= 0 {
		e.order = slices.Delete(e.order, i, i+1)
	}
	e.order = append(e.order, key)
	for i := 0; len(e.order) > maxTuned && i < len(e.order); {
		m := e.images[e.order[i]]
		select {
		case <-m.ready:
			e.discard(e.order[i])
		default:
			i++ // still in the making
		}
	}
}

func (e *transcribing) forget(key imageKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.discard(key)
}

func (e *transcribing) discard(key imageKey) {
	delete(e.images, key)
	if i := slices.Index(e.order, key); i >= 0 {
		e.order = slices.Delete(e.order, i, i+1)
	}
}
