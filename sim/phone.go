package sim

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"parley/audio"
	"parley/lines"
	"parley/safe"
	"parley/voice"
)

// Step is one thing a phone's owner does. One field is set.
type Step struct {
	Say       string   `json:"say,omitempty"`
	Voice     string   `json:"voice,omitempty"` // of Say
	Play      string   `json:"play,omitempty"`  // a WAV, base64 or an address
	WaitMS    *int64   `json:"wait_ms,omitempty"`
	WaitFor   string   `json:"wait_for,omitempty"` // speech_end, speech_start or silence
	TimeoutMS int64    `json:"timeout_ms,omitempty"`
	DTMF      string   `json:"dtmf,omitempty"`
	Noise     string   `json:"noise,omitempty"` // steady or babble, from now on
	Level     *float64 `json:"level,omitempty"` // of Noise, 0-1
	Hangup    bool     `json:"hangup,omitempty"`

	signal signal // of a machine
}

// quietTime is how long nobody must speak for "silence".
const quietTime = 1500 * time.Millisecond

// phone is a phone off the hook.
type phone struct {
	n     *Network
	leg   lines.Leg
	media lines.Media
	began time.Time
	steps []Done

	mu       sync.Mutex
	speaking bool      // the far end
	changed  time.Time // when that began or ended
	spans    []HeardText
	wake     chan struct{} // closed and renewed when the far end starts or stops

	noise  noise
	speech chan []int16 // what the owner says, for the mouth
}

// act runs a script on an answered leg, then hangs up and works out what was heard.
func (n *Network) act(leg lines.Leg, id int64, script []Step) {
	p := &phone{n: n, leg: leg, media: leg.Media(), began: time.Now(), wake: make(chan struct{}), speech: make(chan []int16)}
	p.changed = p.began
	key := "sim/" + uuid.NewString() + ".wav"
	file, closed, err := p.record()
	if err != nil {
		slog.Error("simulated call not recorded", "error", err)
	}
	ctx, stop := context.WithCancel(n.ctx)
	defer stop()
	var wg safe.Group
	wg.Go("hang-up of the far end", func() { // a hang-up of the far end stops everything
		select {
		case <-leg.Done():
			stop()
		case <-ctx.Done():
		}
	})
	wg.Go("simulated ear", func() { p.listen(ctx) })
	wg.Go("simulated mouth", func() { p.mouth(ctx) })
	p.run(ctx, id, script)
	hanging, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	_ = leg.Hangup(hanging)
	done()
	stop()
	wg.Wait()
	if call, ok, err := n.deps.CallOf(context.WithoutCancel(n.ctx), leg.Info().SignalID); err == nil && ok { // a leg of a transfer has none
		_ = n.sim.setCall(context.WithoutCancel(n.ctx), id, call)
	}
	if file != "" {
		<-closed
	}
	p.report(context.WithoutCancel(n.ctx), id, key, file)
}

func (p *phone) record() (file string, closed chan struct{}, err error) {
	f, err := os.CreateTemp(p.n.deps.Scratch, "sim-*.pcm")
	if err != nil {
		return "", nil, err
	}
	closed = make(chan struct{})
	p.media.Record(recording{f, closed})
	return f.Name(), closed, nil
}

// listen follows who speaks on the other side.
func (p *phone) listen(ctx context.Context) {
	for {
		select {
		case e, ok := <-p.media.Events():
			if !ok {
				return
			}
			p.note(e)
		case <-ctx.Done():
			return
		}
	}
}

func (p *phone) note(e lines.Event) {
	if e.Kind != lines.SpeechStart && e.Kind != lines.SpeechEnd {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.speaking, p.changed = e.Kind == lines.SpeechStart, e.At
	at := e.At.Sub(p.began).Milliseconds()
	if p.speaking {
		p.spans = append(p.spans, HeardText{FromMS: at})
	} else if len(p.spans) > 0 {
		p.spans[len(p.spans)-1].ToMS = at
	}
	close(p.wake)
	p.wake = make(chan struct{})
}

// run does the steps in order; a hang-up of either side ends it.
func (p *phone) run(ctx context.Context, id int64, script []Step) {
	for _, s := range script {
		at := time.Since(p.began).Milliseconds()
		ok := p.do(ctx, s)
		raw, err := json.Marshal(s)
		if err != nil {
			raw = []byte("{}")
		}
		p.steps = append(p.steps, Done{at, raw, ok})
		if err := p.n.sim.setSteps(context.WithoutCancel(ctx), id, "talking", p.steps); err != nil {
			slog.Error("simulated call not saved", "error", err)
		}
		if ctx.Err() != nil || s.Hangup {
			return
		}
	}
	select { // nothing more to do: the owner stays on the line
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
	}
}

func (p *phone) do(ctx context.Context, s Step) bool {
	switch {
	case s.Say != "":
		return p.say(ctx, s)
	case s.Play != "":
		return p.play(ctx, s.Play)
	case s.signal != nil:
		return p.utter(ctx, s.signal(p.media.Rate()))
	case s.WaitMS != nil:
		return sleep(ctx, time.Duration(*s.WaitMS)*time.Millisecond)
	case s.WaitFor != "":
		return p.wait(ctx, s)
	case s.DTMF != "":
		if p.media.SendDigits(s.DTMF) != nil {
			return false
		}
		return sleep(ctx, time.Duration(len(s.DTMF))*200*time.Millisecond)
	case s.Noise != "":
		level := 0.1
		if s.Level != nil {
			level = *s.Level
		}
		p.noise.set(s.Noise, level)
	}
	return true
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *phone) say(ctx context.Context, s Step) bool {
	v := s.Voice
	if v == "" {
		v = "rms"
	}
	var pcm []int16
	var r *audio.Resampler
	for frame, err := range p.n.deps.Speak.Speak(ctx,
		voice.Speech{Text: s.Say, Voice: v, Language: "en", Speed: 1, Stability: 1, Similarity: 1}) {
		if err != nil {
			slog.Warn("simulated phone cannot speak", "error", err)
			return false
		}
		if frame.Rate == p.media.Rate() {
			pcm = append(pcm, frame.PCM...)
			continue
		}
		if r == nil {
			r = audio.NewResampler(frame.Rate, p.media.Rate())
		}
		pcm = append(pcm, r.Process(frame.PCM)...)
	}
	if r != nil {
		pcm = append(pcm, r.Flush()...)
	}
	return p.utter(ctx, pcm)
}

func (p *phone) play(ctx context.Context, source string) bool {
	raw, err := base64.StdEncoding.DecodeString(source)
	if strings.HasPrefix(source, "http") {
		raw, err = p.n.deps.Fetch(ctx, source)
	}
	if err != nil {
		return false
	}
	f, err := audio.ReadWAV(bytes.NewReader(raw), 10<<20)
	if err != nil {
		return false
	}
	if f.Rate != p.media.Rate() {
		f.PCM = audio.NewResampler(f.Rate, p.media.Rate()).Process(f.PCM)
	}
	return p.utter(ctx, f.PCM)
}

// utter hands sound to the mouth and waits until the far end has it all.
func (p *phone) utter(ctx context.Context, pcm []int16) bool {
	select {
	case p.speech <- pcm:
	case <-ctx.Done():
		return false
	}
	return sleep(ctx, time.Duration(len(pcm))*time.Second/time.Duration(p.media.Rate())+60*time.Millisecond)
}

// mouth plays what is said over the noise of the place, frame by frame.
func (p *phone) mouth(ctx context.Context) {
	size := p.media.Rate() / 50
	frame := make([]int16, size)
	var saying []int16
	next := time.Now()
	for {
		if saying == nil && !p.noise.on() {
			select {
			case saying = <-p.speech:
				next = time.Now()
			case <-time.After(100 * time.Millisecond):
				continue
			case <-ctx.Done():
				return
			}
		}
		if saying == nil {
			select {
			case saying = <-p.speech:
			default:
			}
		}
		clear(frame)
		saying = saying[copy(frame, saying):]
		if len(saying) == 0 {
			saying = nil
		}
		p.noise.mix(frame, p.media.Rate())
		if _, err := p.media.Play(ctx, frame); err != nil {
			return
		}
		next = next.Add(audio.FrameDur)
		if ahead := time.Until(next) - 60*time.Millisecond; ahead > 0 && !sleep(ctx, ahead) {
			return
		}
	}
}

// wait blocks until the far end starts or stops speaking, or has been quiet for a while.
func (p *phone) wait(ctx context.Context, s Step) bool {
	timeout := time.Duration(s.TimeoutMS) * time.Millisecond
	if timeout == 0 {
		timeout = 30 * time.Second
	}
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	heard := false // speech_end: there was speech to end
	for {
		p.mu.Lock()
		speaking, since, wake := p.speaking, p.changed, p.wake
		p.mu.Unlock()
		heard = heard || speaking
		quiet := quietTime - time.Since(since)
		switch {
		case s.WaitFor == "speech_start" && speaking, s.WaitFor == "speech_end" && heard && !speaking && time.Since(since) > 400*time.Millisecond,
			s.WaitFor == "silence" && !speaking && quiet <= 0:
			return true
		}
		var still <-chan time.Time
		if !speaking {
			still = time.After(max(quiet, 50*time.Millisecond))
			if s.WaitFor == "speech_end" {
				still = time.After(50 * time.Millisecond)
			}
		}
		select {
		case <-wake:
		case <-still:
		case <-deadline.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
