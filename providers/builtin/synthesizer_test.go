package builtin

import (
	"context"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/audio"
	"parley/fault"
	"parley/providers/providertest"
	"parley/voice"
)

// engines are shared by the tests of this package: loading them takes longer than most tests.
var engines *Engines

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "builtin")
	if err != nil {
		panic(err)
	}
	engines = Open(dir)
	code := m.Run()
	if err := errors.Join(engines.Close(), os.RemoveAll(dir), goleak.Find()); err != nil && code == 0 {
		os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

const sentence = "Good morning, your appointment is on Tuesday."

func render(t *testing.T, s voice.Speech) audio.Frame {
	t.Helper()
	f, err := engines.Render(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSynthesizerRole(t *testing.T) {
	how := voice.Speech{Text: sentence, Voice: "slt", Language: "en", Speed: 1}
	providertest.Synthesizer(t, engines, how)
	providertest.Speaker(t, engines, how, "We open at nine, ", "and close at five. ", "Come in.")
}

func TestEveryVoiceIsEquallyLoud(t *testing.T) {
	for _, who := range speakers {
		f := render(t, voice.Speech{Text: sentence, Voice: who.code, Stability: 1, Similarity: 1})
		if f.Rate != who.rate {
			t.Errorf("%s: %d Hz", who.code, f.Rate)
		}
		if level := rms(f.PCM); level < 2000 || level > 4500 {
			t.Errorf("%s: level %.0f", who.code, level)
		}
		if d := f.Dur().Seconds(); d < 2 || d > 5 {
			t.Errorf("%s: %.1f s", who.code, d)
		}
	}
}

func TestSpeedChangesTheLength(t *testing.T) {
	for _, who := range []string{"slt", "kal16"} {
		normal := render(t, voice.Speech{Text: sentence, Voice: who, Speed: 1, Stability: 1}).Dur().Seconds()
		for speed, similarity := range map[float64]float64{0.7: 0, 1: 0.3, 1.2: 1} {
			got := render(t, voice.Speech{Text: sentence, Voice: who, Speed: speed, Stability: 1, Similarity: similarity}).Dur().Seconds()
			if off := got * speed / normal; off < 0.9 || off > 1.1 {
				t.Errorf("%s at speed %v: %.2f s, normal is %.2f s", who, speed, got, normal)
			}
		}
	}
}

func TestStabilityEndsVariation(t *testing.T) {
	s := voice.Speech{Text: "Good morning.", Voice: "rms", Stability: 1, Similarity: 0.5, Emotion: true}
	if !slices.Equal(render(t, s).PCM, render(t, s).PCM) {
		t.Error("two readings differ at stability 1")
	}
	s.Stability = 0
	if slices.Equal(render(t, s).PCM, render(t, s).PCM) {
		t.Error("two readings are identical at stability 0")
	}
}

func TestSimilarityMovesThePitch(t *testing.T) {
	pitch := func(who string, similarity float64) float64 {
		f := render(t, voice.Speech{Text: "Now we are alone, Maria.", Voice: who, Stability: 1, Similarity: similarity})
		return pitchOf(f)
	}
	if own, neutral := pitch("slt", 1), pitch("slt", 0); own < neutral+25 {
		t.Errorf("slt: %.0f Hz at similarity 1, %.0f Hz at 0", own, neutral)
	}
	if own, neutral := pitch("rms", 1), pitch("rms", 0); own > neutral-7 {
		t.Errorf("rms: %.0f Hz at similarity 1, %.0f Hz at 0", own, neutral)
	}
	if own, neutral := pitch("kal16", 1), pitch("kal16", 0); own > neutral-10 {
		t.Errorf("kal16: %.0f Hz at similarity 1, %.0f Hz at 0", own, neutral)
	}
}

func TestEmotionFollowsTheMood(t *testing.T) {
	say := func(text string, emotion bool) audio.Frame {
		return render(t, voice.Speech{Text: text, Voice: "slt", Stability: 1, Similarity: 1, Emotion: emotion})
	}
	lively, flat := say("That is wonderful news!", true), say("That is wonderful news!", false)
	if rms(lively.PCM) < 1.1*rms(flat.PCM) {
		t.Errorf("level %.0f with emotion, %.0f without", rms(lively.PCM), rms(flat.PCM))
	}
	if slices.Equal(say("It is Tuesday?", true).PCM, say("It is Tuesday?", false).PCM) {
		t.Error("a question sounds the same with and without emotion")
	}
}

func TestWhatItCannotSpeakIsRefused(t *testing.T) {
	for _, s := range []voice.Speech{{Text: "Hallo", Language: "de"}, {Text: "Hello", Voice: "nobody"}} {
		_, err := engines.Render(t.Context(), s)
		if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Kind != fault.Invalid {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, ok := range []string{"", "en", "en-GB", "en_US"} {
		if !english(ok) {
			t.Errorf("%q is English", ok)
		}
	}
}

func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"Call +49 30 1234.":             "Call plus 4 9, 3 0, 1 2 3 4 .",
		"It’s “free” — really…":         `It's "free" , really...`,
		"Mail jane.doe@example.com now": "Mail jane dot doe at example dot com now",
		"at 9:00, 9:05 and 15:30":       "at 9 o'clock, 9 oh 5 and 15 30",
		"**Zoë** naïve\n\nСпасибо 😀":    "Zoe naive",
		"see https://example.com/a-b":   "see example dot com slash a dash b",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClauses(t *testing.T) {
	got := clauses("Dr. Smith is in. Try again! Really? A sentence that is long enough to be cut somewhere, and is, here. ... Bye")
	want := []clause{
		{"Dr. Smith is in.", 0, statement}, {"Try again!", '.', exclamation}, {"Really?", '!', question},
		{"A sentence that is long enough to be cut somewhere,", '?', statement}, {"and is, here.", ',', statement}, {"Bye", '.', statement},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestPhones(t *testing.T) {
	got, err := engines.phones(t.Context(), []string{"parley", "wozniak"})
	want := map[string]string{"parley": "P AA R L IY", "wozniak": "V AA Z N IY AE K"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestClosingEndsWhatNobodyWaitsFor(t *testing.T) {
	e := Open(t.TempDir())
	stopped := make(chan error, 1)
	e.work.Go(func() {
		_, err := e.phones(e.life, []string{strings.Repeat("a", 20000)}) // would take hours
		stopped <- err
	})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("a word without end was pronounced: %v", err)
	}
}

func TestSynthesisEndsInsideTheEngine(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	err := engines.flite(ctx, sentence, delivery{voice: "slt", stretch: 1, pitch: 170, spread: 20, formants: 1}, func([]int16) error {
		n++
		stop()
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%d pieces after the cancel, %v", n-1, err)
	}
}

func rms(pcm []int16) float64 {
	var sum float64
	for _, x := range pcm {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum / float64(len(pcm)))
}

// pitchOf is the median pitch in Hz of the voiced 40 ms windows, by autocorrelation.
func pitchOf(f audio.Frame) float64 {
	var found []float64
	n := f.Rate / 25
	for at := 0; at+2*n < len(f.PCM); at += n {
		best, lag := 0.0, 0
		x := f.PCM[at:]
		var power float64
		for i := range n {
			power += float64(x[i]) * float64(x[i])
		}
		for l := f.Rate / 300; l <= f.Rate/60; l++ {
			var sum, shifted float64
			for i := range n {
				sum += float64(x[i]) * float64(x[i+l])
				shifted += float64(x[i+l]) * float64(x[i+l])
			}
			if c := sum / math.Sqrt(power*shifted+1); c > best+0.01 {
				best, lag = c, l
			}
		}
		if best > 0.8 && power/float64(n) > 500*500 {
			found = append(found, float64(f.Rate)/float64(lag))
		}
	}
	slices.Sort(found)
	return found[len(found)/2]
}
