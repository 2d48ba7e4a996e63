package media

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/audio"
	"parley/lines"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = netip.MustParseAddr("127.0.0.1")

func newPlane(t *testing.T, o Options) *Plane {
	t.Helper()
	if o.PortMin == 0 {
		o.PortMin, o.PortMax = 36000, 37999
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// pair opens two streams that send to each other.
func pair(t *testing.T, p *Plane, c Config) (a, b *Stream) {
	t.Helper()
	pa, err := p.Allocate(loopback)
	if err != nil {
		t.Fatal(err)
	}
	pb, err := p.Allocate(loopback)
	if err != nil {
		t.Fatal(err)
	}
	ca, cb := c, c
	ca.Remote = netip.AddrPortFrom(loopback, uint16(pb.LocalPort()))
	cb.Remote = netip.AddrPortFrom(loopback, uint16(pa.LocalPort()))
	if a, err = p.Open(pa, ca); err != nil {
		t.Fatal(err)
	}
	if b, err = p.Open(pb, cb); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	t.Cleanup(b.Close)
	return a, b
}

// tone plays a tone of that many milliseconds.
func tone(t *testing.T, s *Stream, hz float64, ms int) {
	t.Helper()
	pcm := make([]int16, s.Rate()*ms/1000)
	audio.GenSignal(pcm, s.Rate(), 0, audio.Tone{Hz: hz, Level: 0.3})
	if _, err := s.Play(t.Context(), pcm); err != nil {
		t.Fatal(err)
	}
}

// hears waits for a tone of 0.3 of full scale.
func hears(t *testing.T, s *Stream, hz float64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	buf, got := make([]int16, s.Rate()/10), 0
	for {
		n, err := s.Hear(ctx, buf[got:])
		if err != nil {
			t.Fatalf("no %v Hz heard: %v", hz, err)
		}
		if got += n; got < len(buf) {
			continue
		}
		if level := audio.FindSignal(buf, s.Rate(), hz)[0].Level; level > 0.25 && level < 0.35 {
			return
		}
		got = copy(buf, buf[len(buf)/2:])
	}
}

// event waits for an event of a kind and returns it.
func event(t *testing.T, s *Stream, kind lines.EventKind) lines.Event {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case e, ok := <-s.Events():
			if !ok {
				t.Fatalf("events ended before kind %d", kind)
			}
			if e.Kind == kind {
				return e
			}
		case <-limit:
			t.Fatalf("no event of kind %d", kind)
		}
	}
}

func TestTones(t *testing.T) {
	for _, portable := range []bool{false, true} {
		for _, codec := range []Codec{PCMU, PCMA, G722} {
			name := codec.String()
			if portable {
				name += " portable"
			}
			t.Run(name, func(t *testing.T) {
				a, b := pair(t, newPlane(t, Options{Portable: portable}), Config{Codec: codec})
				tone(t, a, 440, 400)
				tone(t, b, 1000, 400)
				hears(t, b, 440)
				hears(t, a, 1000)
				event(t, b, lines.FirstIn)
				event(t, a, lines.FirstOut)
				if e := event(t, a, lines.Drained); e.Pos != a.Played() || e.Pos != int64(a.Rate()*400/1000) {
					t.Errorf("drained at %d, played %d", e.Pos, a.Played())
				}
			})
		}
	}
}
