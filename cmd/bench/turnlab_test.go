//go:build linux

package main

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/assets"
	"parley/audio"
	"parley/audio/rtp"
	"parley/audio/silero"
	"parley/lines/media"
	"parley/providers/builtin"
	"parley/sim/instant"
	"parley/voice"
)

// lab has everything that is made outside of virtual time.
type lab struct {
	model                          *silero.Model
	utterances, asides, objections []utterance
	street                         []int16
}

func newLab(t *testing.T) *lab {
	weights, err := assets.Read("silero_vad.onnx")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{street: street(30 * rate)}
	if l.model, err = silero.Load(weights); err != nil {
		t.Fatal(err)
	}
	e := builtin.Open(t.TempDir())
	defer e.Close()
	some := func(list []utterance) (out []utterance) {
		for i, u := range list {
			if *all || i%5 == 0 {
				out = append(out, u.spoken(t, e, i))
			}
		}
		return out
	}
	l.utterances, l.objections = some(turnsSaid), some(objections)
	l.asides = append(some(backChannels), noises()...)
	return l
}

// outcome is what became of an utterance.
type outcome struct {
	early bool          // an answer was heard before its end
	wait  time.Duration // from its end to the answer; 0 = none came
}

// answered has a caller speak to an assistant that listens; noisy puts a street behind them, 15 dB below their voice.
func (l *lab) answered(t *testing.T, cfg voice.Config, u utterance, noisy bool) (r outcome) {
	c := &caller{lab: l, said: u, from: 600 * time.Millisecond, answer: 800 * time.Millisecond}
	if noisy {
		c.noise = math.Pow(10, (audio.Level(u.pcm)-15-audio.Level(l.street))/20)
	}
	return c.outcome(t, cfg)
}

// outcome lives through the call and tells what became of the utterance.
func (c *caller) outcome(t *testing.T, cfg voice.Config) (r outcome) {
	c.call(t, cfg)
	end := c.from + c.said.length()
	for _, at := range c.heard {
		if at < end {
			r.early = true
		} else if r.wait == 0 {
			r.wait = at - end
		}
	}
	return r
}

// interrupted makes a sound into a long answer and tells how long after its beginning that stopped; 0 = it did not.
func (l *lab) interrupted(t *testing.T, cfg voice.Config, u utterance) time.Duration {
	c := &caller{lab: l, said: u, from: 2 * time.Second, answer: 6 * time.Second, typed: "Tell me more."}
	if c.call(t, cfg); c.stopped == 0 {
		return 0
	}
	return c.stopped - c.from
}

const (
	rate     = 8000
	frame    = rate / 50
	lateness = 120 * time.Millisecond // of the transcriber's words
	after    = 5 * time.Second        // the call goes on for that long behind the utterance
)

// caller is the far end of one call, and the engines on this side.
type caller struct {
	*lab
	said   utterance
	from   time.Duration // when it begins
	noise  float64       // share of the street, or of what is behind
	behind []int16       // sound around the caller, from the beginning; nil = the street
	gaps   []span        // packets are lost in
	echo   echo          // of what the assistant says
	answer time.Duration // length of answers
	voice  []int16       // what they sound like; nil = a tone
	typed  string        // asked in writing at the beginning; empty = nothing

	began   time.Time
	mu      sync.Mutex
	heard   []time.Duration // when the assistant began to be heard, each time
	last    time.Duration   // when it was heard last
	stopped time.Duration   // when an answer was interrupted; 0 = never
	taken   int             // words that were recognised in earlier turns
	sent    []int16         // what the assistant said
	turns   int             // spoken turns of the caller
}

// span is a stretch of a call.
type span struct{ from, to time.Duration }

// echo is what comes back of the assistant's own voice.
type echo struct {
	delay  time.Duration
	factor float64 // of the amplitude; 0 = nothing
}

// room is how a small room returns a sound: delays in samples and their amplitudes.
var room = []struct {
	at     int
	factor float64
}{{0, 0.8}, {3, -0.35}, {41, 0.3}, {97, -0.25}, {212, 0.2}, {388, 0.1}}

// of is the echo in sample j of frame i.
func (e echo) of(sent []int16, i, j int) int32 {
	sum := 0.0
	for _, r := range room {
		if at := i*frame + j - samples(e.delay) - r.at; at >= 0 && at < len(sent) {
			sum += r.factor * float64(sent[at])
		}
	}
	return int32(e.factor * sum)
}

func (c *caller) missing(at time.Duration) bool {
	return slices.ContainsFunc(c.gaps, func(s span) bool { return at >= s.from && at < s.to })
}

// call lives through the call in virtual time.
func (c *caller) call(t *testing.T, cfg voice.Config) {
	pcm := slices.Concat(make([]int16, samples(c.from)), c.said.pcm, make([]int16, samples(after)))
	if c.behind == nil {
		c.behind = c.street
	}
	for i := range pcm {
		pcm[i] = audio.Clip(int32(pcm[i]) + int32(c.noise*float64(c.behind[i%len(c.behind)])))
	}
	synctest.Test(t, func(t *testing.T) {
		plane, err := media.New(media.Options{PortMin: 40000, PortMax: 40001, Pacers: 1,
			Detector: func(rate int) audio.Detector { return c.model.Detector(rate) }})
		if err != nil {
			t.Fatal(err)
		}
		defer plane.Close()
		line, err := plane.OpenTransport(c, media.Config{Timeout: -1, Echo: true})
		if err != nil {
			t.Fatal(err)
		}
		c.began, c.last = time.Now(), -time.Hour
		cfg.Language, cfg.Speech, cfg.MaxDuration = "en", voice.Speech{Voice: "tone", Speed: 1}, time.Hour
		e := instant.Engines{Answer: c.answer}
		session := voice.New(cfg, line, voice.Parts{Transcriber: voice.NamedTranscriber{Open: c.listen, Provider: "script"}, Thinker: c,
			Synthesizer: voice.NamedSynthesizer{Synthesizer: c.speaker(e), Provider: instant.Provider}, Observe: c.observe, Log: slog.New(slog.DiscardHandler)})
		var wg sync.WaitGroup
		wg.Go(func() { session.Run(t.Context()) })
		if c.typed != "" {
			if err := session.Say(t.Context(), c.typed); err != nil {
				t.Error(err)
			}
		}
		c.speak(line, pcm)
		line.Close()
		wg.Wait()
	})
}

// speak sends sound as a telephone does.
func (c *caller) speak(line *media.Stream, pcm []int16) {
	packet := make([]byte, rtp.HeaderLen+frame)
	h := rtp.Header{SSRC: 1}
	for i, part := range slices.Collect(slices.Chunk(pcm, frame)) {
		time.Sleep(audio.FrameDur)
		c.mu.Lock()
		for j := range part {
			if c.echo.factor > 0 {
				part[j] = audio.Clip(int32(part[j]) + c.echo.of(c.sent, i, j))
			}
		}
		c.mu.Unlock()
		audio.EncodeMuLaw(packet[rtp.HeaderLen:rtp.HeaderLen+len(part)], part)
		h.Put(packet)
		if !c.missing(time.Duration(i) * audio.FrameDur) {
			line.Receive(packet[:rtp.HeaderLen+len(part)], time.Now())
		}
		h.Sequence++
		h.Timestamp += frame
	}
}

// WriteRTP hears what the assistant says. It implements media.Transport.
func (c *caller) WriteRTP(packet []byte) error {
	h, payload, ok := rtp.Parse(packet)
	if !ok || h.PayloadType != 0 {
		return nil
	}
	pcm := make([]int16, len(payload))
	audio.DecodeMuLaw(pcm, payload)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, pcm...)
	if audio.Level(pcm) < -45 {
		return nil
	}
	now := time.Since(c.began)
	if now-c.last > 200*time.Millisecond {
		c.heard = append(c.heard, now)
	}
	c.last = now
	return nil
}

func (c *caller) observe(e voice.Event) {
	if e.Type == "barge_in" && c.stopped == 0 {
		c.stopped = e.At.Sub(c.began)
	}
	if u, ok := e.Data.(voice.UserTurn); ok && u.Source == "speech" {
		c.turns++
	}
}

// speaker says answers with the voice, if there is one.
func (c *caller) speaker(e instant.Engines) voice.Synthesizer {
	if c.voice == nil {
		return e
	}
	return recorded(c.voice)
}

// recorded is a voice that says always the same.
type recorded []int16

// Speak implements voice.Synthesizer.
func (r recorded) Speak(context.Context, voice.Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		for part := range slices.Chunk(r, frame) {
			if !yield(audio.Frame{Rate: rate, PCM: part}, nil) {
				return
			}
		}
	}
}

// Think implements voice.Thinker.
func (c *caller) Think(context.Context, voice.Thinking) iter.Seq2[voice.Thought, error] {
	return func(yield func(voice.Thought, error) bool) { yield(voice.Thought{Text: "This is the answer."}, nil) }
}

// listen opens the transcriber: it knows every word a little after it was spoken.
func (c *caller) listen(context.Context, voice.Transcription) (voice.Transcriber, error) {
	e := &transcriber{caller: c, out: make(chan voice.Transcript, 100), over: make(chan struct{})}
	e.work.Go(func() {
		for i, w := range c.said.words {
			select {
			case <-time.After(time.Until(c.began.Add(c.from + w.end + lateness))):
				e.send(i+1, false)
			case <-e.over:
				return
			}
		}
	})
	return e, nil
}

type transcriber struct {
	*caller
	out  chan voice.Transcript
	over chan struct{}
	work sync.WaitGroup

	foreign  int      // samples that were not the caller's
	misheard []string // words made of them in this turn
}

// send gives the first n words, without those of earlier turns.
func (e *transcriber) send(n int, final bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := e.misheard
	if final {
		e.misheard = nil
	}
	for _, w := range e.said.words[min(e.taken, n):n] {
		text = append(text, w.text)
	}
	if final {
		e.taken = max(e.taken, n)
	}
	e.out <- voice.Transcript{Text: strings.Join(text, " "), Final: final}
}

// Write implements voice.Transcriber. It takes sound that is not the caller's for words, one in 400 ms.
func (e *transcriber) Write(pcm []int16) error {
	now := time.Since(e.began)
	if e.echo.factor == 0 || now > e.from && now < e.from+e.said.length()+200*time.Millisecond {
		return nil
	}
	if e.foreign += len(pcm); audio.Level(pcm) < -45 {
		e.foreign -= len(pcm)
	}
	if e.foreign >= samples(400*time.Millisecond) {
		e.foreign = 0
		e.mu.Lock()
		defer e.mu.Unlock()
		e.misheard = append(e.misheard, "echo")
		e.out <- voice.Transcript{Text: strings.Join(e.misheard, " ")}
	}
	return nil
}

// EndTurn implements voice.Transcriber. The words of a turn are complete at its end, however late they would have been.
func (e *transcriber) EndTurn() error {
	n, now := 0, time.Since(e.began)
	for n < len(e.said.words) && e.from+e.said.words[n].end <= now {
		n++
	}
	e.send(n, true)
	return nil
}

// Recv implements voice.Transcriber.
func (e *transcriber) Recv() (voice.Transcript, error) {
	select {
	case t := <-e.out:
		return t, nil
	case <-e.over:
		return voice.Transcript{}, io.EOF
	}
}

// Close implements voice.Transcriber.
func (e *transcriber) Close() error {
	close(e.over)
	e.work.Wait()
	return nil
}

func samples(d time.Duration) int { return int(d * rate / time.Second) }
