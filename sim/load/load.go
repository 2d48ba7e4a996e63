// Package load is many telephones at once: each calls, listens to what it hears, speaks a recording when the other side
// is silent, and measures how long the answer takes. It recognises nothing, so that a small machine can drive many.
package load

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"parley/audio"
	"parley/lines"
	"parley/lines/media"
	"parley/lines/sip"
)

// Config is what the telephones do.
type Config struct {
	Calls    int
	Rate     float64 // new calls per second
	Turns    int     // recordings spoken per call
	WAV      string  // what each says
	Target   netip.AddrPort
	Network  string        // udp or tcp
	To, From string        // number or extension called, and shown
	Username string        // digest user; empty = none
	Password string        //
	Quiet    time.Duration // silence of the other side before a telephone speaks
	Patience time.Duration // how long it waits for silence and for an answer
	BargeIn  time.Duration // after the turns it speaks once more into an answer, that long after its first sound; 0 = not
	PortMin  int           // RTP ports of this process
	PortMax  int
}

// Check says what is wrong with a configuration.
func (c Config) Check() error {
	switch {
	case c.Calls < 1 || c.Turns < 1 || c.Rate <= 0:
		return errors.New("calls, turns and rate must be at least 1")
	case !c.Target.Addr().IsLoopback():
		return fmt.Errorf("%s is not a loopback address: other people's servers are not to be loaded", c.Target)
	}
	return nil
}

// Report is what was measured.
type Report struct {
	Calls      int            `json:"calls"`
	Answered   int            `json:"answered"`
	Failures   map[string]int `json:"failures"` // SIP status, or why → calls
	CutOff     int            `json:"cut_off"`  // ended by the other side before their last turn
	Turns      int            `json:"turns"`    // recordings spoken to their end
	Unanswered int            `json:"unanswered_turns"`
	Seconds    float64        `json:"seconds"`
	SetUp      Percentiles    `json:"setup_ms"`       // INVITE → 200
	Greeting   Percentiles    `json:"greeting_ms"`    // 200 → first sound
	FirstSound Percentiles    `json:"first_sound_ms"` // INVITE → first sound
	Response   Percentiles    `json:"response_ms"`    // end of the recording → first sound of the answer
	Stop       Percentiles    `json:"stop_ms"`        // first sound spoken into an answer → its last sound
	Unstopped  int            `json:"unstopped"`      // answers that went on
	Loss       float64        `json:"loss_percent"`
	Dry        float64        `json:"dry_percent"` // of the time a playout buffer of 60 ms was empty
	Late       int64          `json:"late_packets"`
	Received   int64          `json:"packets_received"`
	Sent       int64          `json:"packets_sent"`
	Jitter     Percentiles    `json:"jitter_ms"` // of each call (RFC 3550)
}

// loud is what counts as sound, in dBFS of 20 ms.
const loud = -45

// Run makes the calls and waits for their ends.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := c.Check(); err != nil {
		return Report{}, err
	}
	speech, err := read(c.WAV)
	if err != nil {
		return Report{}, err
	}
	plane, err := media.New(media.Options{PortMin: c.PortMin, PortMax: c.PortMax})
	if err != nil {
		return Report{}, err
	}
	defer plane.Close()
	listen := "udp://" + netip.AddrPortFrom(c.Target.Addr(), 0).String()
	phones, err := sip.Start(sip.Config{Listen: []string{listen}, Media: plane, SessionExpires: -1,
		Default: &sip.Trunk{Number: c.From, Username: c.Username, Password: c.Password, Address: c.Target.Addr().String(),
			Port: int(c.Target.Port()), Transport: c.Network}})
	if err != nil {
		return Report{}, err
	}
	defer func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		_ = phones.Close(ctx)
	}()
	said := map[int][]int16{}
	for _, rate := range []int{8000, 16000} {
		r := audio.NewResampler(speech.Rate, rate)
		said[rate] = append(append([]int16(nil), r.Process(speech.PCM)...), r.Flush()...)
	}
	m := &meter{failures: map[string]int{}}
	began := time.Now()
	var wg sync.WaitGroup
	limit := rate.NewLimiter(rate.Limit(c.Rate), 1)
	for range c.Calls {
		if limit.Wait(ctx) != nil {
			break
		}
		wg.Go(func() { (&phone{c, phones, said, m}).call(ctx) })
	}
	wg.Wait()
	return m.report(time.Since(began)), ctx.Err()
}

// read loads the recording, at most a minute of it.
func read(file string) (audio.Frame, error) {
	f, err := os.Open(file)
	if err != nil {
		return audio.Frame{}, err
	}
	defer f.Close()
	frame, err := audio.ReadWAV(f, 60*48000*2)
	if err != nil {
		return frame, fmt.Errorf("%s: %w", file, err)
	}
	step := frame.Rate / 50
	for len(frame.PCM) > step && audio.Level(frame.PCM[len(frame.PCM)-step:]) < loud {
		frame.PCM = frame.PCM[:len(frame.PCM)-step] // the answer is awaited from the last sound on
	}
	for len(frame.PCM) > step && audio.Level(frame.PCM[:step]) < loud {
		frame.PCM = frame.PCM[step:] // and an answer is to stop from the first one on
	}
	return frame, nil
}

// phone is one telephone.
type phone struct {
	Config
	line *sip.Server
	said map[int][]int16 // the recording by rate
	m    *meter
}

func (p *phone) call(ctx context.Context) {
	began := time.Now()
	leg, err := p.line.Dial(ctx, lines.Destination{To: p.To, From: p.From, RingFor: p.Patience}, nil)
	if err != nil {
		p.m.failed(err)
		return
	}
	answered := time.Now()
	p.m.answered(answered.Sub(began))
	ear := listen(leg.Media())
	defer func() {
		stats := leg.Media().Stats()
		hangup, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		_ = leg.Hangup(hangup)
		<-ear.done
		p.m.over(stats)
	}()
	if at, ok := ear.sound(ctx, answered, p.Patience); ok {
		p.m.greeted(at.Sub(answered), at.Sub(began))
	}
	for range p.Turns {
		if _, ok := p.turn(ctx, leg, ear); !ok {
			p.m.cut()
			return
		}
	}
	if p.BargeIn > 0 && !p.bargeIn(ctx, leg, ear) {
		p.m.cut()
		return
	}
	ear.silence(ctx, p.Quiet, p.Patience)
}

// turn speaks the recording once the other side is silent and waits for the answer: answered is its first sound, the
// zero time when none came. ok is false when the call is over.
func (p *phone) turn(ctx context.Context, leg lines.Leg, e *ear) (answered time.Time, ok bool) {
	if !e.silence(ctx, p.Quiet, p.Patience) || !p.speak(ctx, leg) {
		return answered, false
	}
	spoken, ok := until(ctx, leg, lines.Drained)
	if !ok {
		return answered, false
	}
	p.m.spoke()
	answered, ok = e.sound(ctx, spoken, p.Patience)
	switch {
	case ok:
		p.m.responded(answered.Sub(spoken))
	case e.over():
		return answered, false
	default:
		p.m.unanswered()
	}
	return answered, true
}

// bargeIn has one more turn and speaks into its answer. It reports false when the call is over.
func (p *phone) bargeIn(ctx context.Context, leg lines.Leg, e *ear) bool {
	answered, ok := p.turn(ctx, leg, e)
	if !ok || answered.IsZero() {
		return ok
	}
	select {
	case <-time.After(time.Until(answered.Add(p.BargeIn))):
	case <-ctx.Done():
		return false
	}
	if !p.speak(ctx, leg) {
		return false
	}
	began, ok := until(ctx, leg, lines.PlayStart)
	if !ok {
		return false
	}
	stopped, ok := e.pause(ctx, began)
	if !ok {
		return false
	}
	ended, ok := until(ctx, leg, lines.Drained)
	if !ok {
		return false
	}
	if stopped.After(ended) {
		p.m.unstopped()
	} else {
		p.m.stopped(stopped.Sub(began))
	}
	return true
}

// speak begins to play the recording.
func (p *phone) speak(ctx context.Context, leg lines.Leg) bool {
	for len(leg.Media().Events()) > 0 {
		<-leg.Media().Events() // of what was said before
	}
	_, err := leg.Media().Play(ctx, p.said[leg.Media().Rate()])
	return err == nil
}

// until waits for an event of the line.
func until(ctx context.Context, leg lines.Leg, kind lines.EventKind) (time.Time, bool) {
	for {
		select {
		case e, ok := <-leg.Media().Events():
			if !ok {
				return time.Time{}, false
			}
			if e.Kind == kind {
				return e.At, true
			}
		case <-ctx.Done():
			return time.Time{}, false
		}
	}
}

// ear notes when the other side was last heard, and when it began to be.
type ear struct {
	mu      sync.Mutex
	began   []time.Time // of sounds, each after at least 300 ms of silence
	last    time.Time   // when sound was last heard
	changed chan struct{}
	done    chan struct{} // closed when the call is over
}

func listen(m lines.Media) *ear {
	e := &ear{last: time.Now(), changed: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(e.done)
		frame, n := make([]int16, m.Rate()/50), 0
		for {
			k, err := m.Hear(context.Background(), frame[n:]) // ends with the leg
			if err != nil {
				return
			}
			if n += k; n == len(frame) {
				n = 0
				if audio.Level(frame) > loud {
					e.heard(time.Now())
				}
			}
		}
	}()
	return e
}

func (e *ear) heard(now time.Time) {
	e.mu.Lock()
	if len(e.began) == 0 || now.Sub(e.last) > 300*time.Millisecond {
		e.began = append(e.began, now)
	}
	e.last = now
	e.mu.Unlock()
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

func (e *ear) over() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// sound waits for the first sound that begins after a moment.
func (e *ear) sound(ctx context.Context, after time.Time, patience time.Duration) (time.Time, bool) {
	limit := time.After(patience)
	for {
		e.mu.Lock()
		for _, at := range e.began {
			if at.After(after) {
				e.mu.Unlock()
				return at, true
			}
		}
		e.mu.Unlock()
		select {
		case <-e.changed:
		case <-e.done:
			return time.Time{}, false
		case <-limit:
			return time.Time{}, false
		case <-ctx.Done():
			return time.Time{}, false
		}
	}
}

// pause waits for the next pause of 200 ms and returns when it began, at the earliest at a given moment. It reports false
// when the call is over.
func (e *ear) pause(ctx context.Context, from time.Time) (time.Time, bool) {
	const enough = 200 * time.Millisecond
	for {
		e.mu.Lock()
		last := e.last
		e.mu.Unlock()
		if last.Before(from) {
			last = from
		}
		left := enough - time.Since(last)
		if left <= 0 {
			return last, !e.over()
		}
		select {
		case <-time.After(left):
		case <-e.done:
			return last, false
		case <-ctx.Done():
			return last, false
		}
	}
}

// silence waits until nothing was heard for a while. It reports false when the call is over, or never silent.
func (e *ear) silence(ctx context.Context, quiet, patience time.Duration) bool {
	for end := time.Now().Add(patience); ; {
		e.mu.Lock()
		left := quiet - time.Since(e.last)
		e.mu.Unlock()
		if left <= 0 {
			return !e.over()
		}
		if time.Now().After(end) {
			return false
		}
		select {
		case <-time.After(left):
		case <-e.done:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
