package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/fault"
	"parley/providers/providertest"
	"parley/voice"
)

var telephone8k = voice.Transcription{Rate: 8000, Languages: []string{"en"}, Hints: practice}

func listenTo(t testing.TB, l voice.Transcription) voice.Transcriber {
	t.Helper()
	tr, err := engines.Transcriber(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestTranscriberRole(t *testing.T) {
	providertest.Transcriber(t, engines.Transcriber, telephone8k,
		overPhone(t, "I need an appointment", "rms", 8000), overPhone(t, "on Tuesday afternoon", "rms", 8000))
}

// The first utterance of a call is the hard one: the transcriber knows neither line nor caller.
func TestFirstWordsOfACallAreUnderstood(t *testing.T) {
	wrong, all := 0, 0
	for i, who := range []string{"rms", "kal16"} {
		u := overPhone(t, callers[i], who, 8000)
		tr := listenTo(t, telephone8k)
		_, heard := providertest.Recognise(t, tr, 8000, u.PCM)
		providertest.Finish(t, tr)
		wrong += providertest.Errors(u.Words, heard)
		all += len(strings.Fields(u.Words))
		t.Logf("%s: %s | %s", who, u.Words, heard)
	}
	if 100*wrong > 25*all {
		t.Errorf("%d of %d words are wrong", wrong, all)
	}
}

func TestWidebandIsUnderstood(t *testing.T) {
	u := overPhone(t, "I want to talk to a real person", "kal16", 16000)
	tr := listenTo(t, voice.Transcription{Rate: 16000})
	partials, heard := providertest.Recognise(t, tr, 16000, u.PCM)
	providertest.Finish(t, tr)
	if len(partials) == 0 {
		t.Error("nothing was heard before the end")
	}
	if providertest.Errors(u.Words, heard) > 2 {
		t.Errorf("heard %q, said %q", heard, u.Words)
	}
}

// Telephone numbers are digits in any order, in every voice: "five five five" is as likely as "four five six".
func TestDictatedNumbersAreUnderstood(t *testing.T) {
	l := voice.Transcription{Rate: 8000, Languages: []string{"en"}, Hints: []string{"Hello, how can I help you?"}}
	for _, c := range []struct{ who, text string }{
		{"slt", "My number is oh one seven one, five four three"}, {"rms", "it is four four two, three six six, oh nine"},
		{"awb", "it is four four two, three six six, oh nine"},
	} {
		u := overPhone(t, c.text, c.who, 8000)
		tr := listenTo(t, l)
		_, heard := providertest.Recognise(t, tr, 8000, u.PCM)
		providertest.Finish(t, tr)
		if heard = strings.TrimSpace(heard); heard != strings.TrimSpace(u.Words) {
			t.Errorf("%s: heard %q, said %q", c.who, heard, u.Words)
		}
	}
}

// A conversation's own sentences teach words that no dictionary has.
func TestHintsTeachNewWords(t *testing.T) {
	l := voice.Transcription{Rate: 8000, Hints: []string{"Welcome to Zyntarex.", "Do you want to order a Zyntarex bottle?"}}
	u := overPhone(t, "I want to order a Zyntarex bottle", "rms", 8000)
	tr := listenTo(t, l)
	_, heard := providertest.Recognise(t, tr, 8000, u.PCM)
	providertest.Finish(t, tr)
	if !strings.Contains(heard, "zyntarex") {
		t.Errorf("heard %q", heard)
	}
}

func TestTheSameAudioGivesTheSameWords(t *testing.T) {
	u := overPhone(t, "yes that is correct", "kal16", 8000)
	run := func(frame int) string {
		tr := listenTo(t, telephone8k)
		defer providertest.Finish(t, tr)
		for pcm := range slices.Chunk(u.PCM, frame) {
			if err := tr.Write(pcm); err != nil {
				t.Fatal(err)
			}
		}
		_, heard := providertest.Recognise(t, tr, 8000, nil)
		return heard
	}
	if a, b := run(160), run(160); a != b || a == "" {
		t.Errorf("heard %q, then %q", a, b)
	}
}

func TestMoreThanItServesWellIsRefused(t *testing.T) {
	var open []voice.Transcriber
	for range engines.Capacity() {
		open = append(open, listenTo(t, telephone8k))
	}
	if engines.Transcribers() != engines.Capacity() {
		t.Errorf("%d of %d", engines.Transcribers(), engines.Capacity())
	}
	_, err := engines.Transcriber(t.Context(), telephone8k)
	if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Kind != fault.TooMany || f.Code != "CONCURRENCY_LIMIT" {
		t.Errorf("one too many: %v", err)
	}
	for _, tr := range open {
		providertest.Finish(t, tr)
	}
	if engines.Transcribers() != 0 {
		t.Errorf("%d are still open", engines.Transcribers())
	}
	providertest.Finish(t, listenTo(t, telephone8k))
}

func TestALongTurnKeepsItsWords(t *testing.T) {
	img, err := engines.image(t.Context(), telephone8k)
	if err != nil {
		t.Fatal(err)
	}
	d, err := engines.clone(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.stop()
	long := turn{decoder: d, rate: 8000, settled: true, longest: 90}
	u := overPhone(t, "I would like to talk to a doctor", "kal16", 8000)
	for pcm := range slices.Chunk(u.PCM, 160) {
		if _, _, err := long.hear(pcm); err != nil {
			t.Fatal(err)
		}
	}
	if long.fixed == "" {
		t.Error("nothing was fixed on the way")
	}
	begun := long.fixed
	heard, err := long.finish()
	if err != nil || !strings.HasPrefix(heard, begun) || 2*providertest.Errors(u.Words, heard) > 8 {
		t.Errorf("fixed %q, then heard %q, %v", begun, heard, err)
	}
}

func TestTheEndOfTheCallEndsTranscribing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	tr, err := engines.Transcriber(ctx, telephone8k)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Write(overPhone(t, callers[0], "rms", 8000).PCM); err != nil {
		t.Fatal(err)
	}
	stop()
	providertest.Finish(t, tr)
}

func TestWhatItCannotHearIsRefused(t *testing.T) {
	for _, l := range []voice.Transcription{{Rate: 8000, Languages: []string{"fr", "en"}}, {Rate: 11025}} {
		_, err := engines.Transcriber(t.Context(), l)
		if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Kind != fault.Invalid {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestOnlyTheLatestImagesAreKept(t *testing.T) {
	e := &transcribing{}
	e.init()
	for i := range 3 * maxTuned {
		key := keyOf(voice.Transcription{Rate: 8000, Hints: []string{fmt.Sprint(i)}})
		done := make(chan struct{})
		close(done)
		e.images[key] = &making{ready: done, img: &image{}}
		e.touch(key)
	}
	if len(e.images) != maxTuned || len(e.order) != maxTuned {
		t.Errorf("%d images, %d in order", len(e.images), len(e.order))
	}
}
