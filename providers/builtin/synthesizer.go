package builtin

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"

	"parley/audio"
	"parley/fault"
	"parley/safe"
	"parley/voice"
)

// speaker is one of flite's voices.
type speaker struct {
	code    string
	rate    int     // Hz of the samples it makes
	pitch   float64 // Hz, mean
	spread  float64 // Hz, standard deviation of the pitch
	stretch float64 // duration factor of its normal speed
	gain    float64 // brings all speakers to one loudness
	neutral float64 // factor that brings the formants to those of an average speaker
}

var speakers = []speaker{
	{"slt", 16000, 172, 27, 1, 0.6, 0.94},
	{"rms", 16000, 98, 24, 1, 1.1, 1.1},
	{"awb", 16000, 132, 25, 1, 1, 1.02},
	{"kal16", 16000, 95, 11, 1.1, 2.2, 1.04},
	{"kal", 8000, 95, 11, 1.1, 1, 1.04},
}

// synthesizing is what all syntheses share.
type synthesizing struct {
	turns chan struct{} // a token per synthesis that may run at once
}

func (m *synthesizing) init() { m.turns = make(chan struct{}, max(2, runtime.NumCPU())) }

// Speak yields the sentence in pieces of about 20 ms at 16 kHz (voice kal: 8 kHz), the first after some tens of
// milliseconds; leading and trailing silence is cut. A voice or language it does not have is a *fault.Fault.
// Stability below 1 varies pitch and tempo from one reading to the next; similarity moves pitch (not
// of rms) and formants from those of an average speaker, 120 Hz, to the speaker's own.
func (e *Engines) Speak(ctx context.Context, s voice.Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		if err := e.speak(ctx, s, yield); err != nil {
			yield(audio.Frame{}, err)
		}
	}
}

// Render synthesises a whole sentence.
func (e *Engines) Render(ctx context.Context, s voice.Speech) (audio.Frame, error) {
	var all audio.Frame
	for f, err := range e.Speak(ctx, s) {
		if err != nil {
			return audio.Frame{}, err
		}
		all.Rate = f.Rate
		all.PCM = append(all.PCM, f.PCM...)
	}
	return all, nil
}

// speak lets the synthesis run ahead in its own goroutine, so that a slow listener does not hold an instance.
func (e *Engines) speak(ctx context.Context, s voice.Speech, yield func(audio.Frame, error) bool) error {
	who, err := cast(s)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	made := make(chan audio.Frame, 256)
	failed := make(chan error, 1)
	send := func(f audio.Frame) error {
		select {
		case made <- f:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	safe.Go("synthesizer", func() {
		defer close(made)
		failed <- safe.Do("synthesizer", func() error { return e.recite(ctx, who, s, send) })
	})
	defer func() {
		stop()
		for range made { // until the goroutine is gone
		}
	}()
	for f := range made {
		if !yield(f, nil) {
			return nil
		}
	}
	return <-failed
}

// recite sends the whole text, clause by clause, with pauses between.
func (e *Engines) recite(ctx context.Context, who speaker, s voice.Speech, send func(audio.Frame) error) error {
	reading := newReading(s)
	for i, c := range clauses(plain(s.Text)) {
		if i > 0 {
			quiet := int(reading.pause(c.before).Seconds() * float64(who.rate))
			if err := send(audio.Frame{Rate: who.rate, PCM: make([]int16, quiet)}); err != nil {
				return err
			}
		}
		if err := e.read(ctx, who, reading.deliver(who, c), c.text, send); err != nil {
			return err
		}
	}
	return nil
}

// read sends one clause.
func (e *Engines) read(ctx context.Context, who speaker, d delivery, text string, send func(audio.Frame) error) error {
	trim := trimmer{lead: who.rate / 50, tail: who.rate / 25}
	shift := audio.NewResampler(int(d.formants*float64(who.rate)), who.rate)
	pass := func(pcm []int16) error {
		if len(pcm) == 0 {
			return nil
		}
		return send(audio.Frame{Rate: who.rate, PCM: slices.Clone(pcm)})
	}
	finish := func(pcm []int16) []int16 {
		amplify(pcm, d.gain)
		return shift.Process(pcm)
	}
	err := e.flite(ctx, text, d, func(pcm []int16) error { return pass(finish(trim.push(pcm))) })
	if err != nil {
		return err
	}
	return errors.Join(pass(finish(trim.flush())), pass(shift.Flush()))
}

// cast finds the speaker; no voice code means the first.
func cast(s voice.Speech) (speaker, error) {
	if !english(s.Language) {
		return speaker{}, fault.New(fault.Invalid, "LANGUAGE_NOT_SUPPORTED",
			"The built-in voices speak English only, not %q. Connect a speech provider for other languages.", s.Language)
	}
	if s.Voice == "" {
		return speakers[0], nil
	}
	for _, who := range speakers {
		if who.code == s.Voice {
			return who, nil
		}
	}
	return speaker{}, fault.New(fault.Invalid, "VOICE_NOT_FOUND", "There is no built-in voice %q.", s.Voice)
}

// english reports whether a language code, which may be empty, means English.
func english(code string) bool {
	return code == "" || len(code) >= 2 && (code[:2] == "en" || code[:2] == "EN") && (len(code) == 2 || code[2] == '-' || code[2] == '_')
}

func amplify(pcm []int16, gain float64) {
	for i, x := range pcm {
		pcm[i] = int16(max(-32768, min(32767, float64(x)*gain)))
	}
}

// trimmer cuts the silence at both ends of a clause while it is being made.
type trimmer struct {
	lead, tail int // samples of silence that stay
	begun      bool
	held       []int16 // not loud, or before the first loud sample
}

// quiet is the amplitude below which flite's voices are silent; they hiss at up to 130 between words.
const quiet = 200

// push takes what was made and returns what is sure to be heard.
func (t *trimmer) push(pcm []int16) []int16 {
	held := len(t.held)
	t.held = append(t.held, pcm...)
	first, last := -1, -1
	for i := held; i < len(t.held); i++ {
		if x := t.held[i]; x > quiet || x < -quiet {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if last < 0 {
		if !t.begun {
			t.held = t.held[max(0, len(t.held)-t.lead):]
		}
		return nil
	}
	from := 0
	if !t.begun {
		from = max(0, first-t.lead)
		t.begun = true
	}
	sure := t.held[from : last+1 : last+1]
	t.held = append([]int16(nil), t.held[last+1:]...)
	return sure
}

// flush returns the end of the clause.
func (t *trimmer) flush() []int16 {
	if !t.begun {
		return nil
	}
	return t.held[:min(len(t.held), t.tail)]
}
