package load

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/audio"
	"parley/lines"
	"parley/lines/media"
	"parley/lines/sip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const thinking = 200 * time.Millisecond

// parrot greets, and answers everything said to it with a tone once it has been silent for a while.
func parrot(leg lines.Leg) {
	ctx := context.Background()
	if leg.Answer(ctx) != nil {
		return
	}
	m := leg.Media()
	beep := make([]int16, m.Rate()/4)
	audio.GenSignal(beep, m.Rate(), 0, audio.Tone{Hz: 600, Level: 0.3})
	_, _ = m.Play(ctx, beep)
	frame, n, spoken, quiet := make([]int16, m.Rate()/50), 0, false, time.Duration(0)
	for {
		k, err := m.Hear(ctx, frame[n:])
		if err != nil {
			return
		}
		if n += k; n < len(frame) {
			continue
		}
		n = 0
		if audio.Level(frame) > loud {
			spoken, quiet = true, 0
		} else if quiet += 20 * time.Millisecond; spoken && quiet >= thinking {
			spoken = false
			_, _ = m.Play(ctx, beep)
		}
	}
}

func TestLoad(t *testing.T) {
	plane, err := media.New(media.Options{PortMin: 45000, PortMax: 45999})
	if err != nil {
		t.Fatal(err)
	}
	defer plane.Close()
	s, err := sip.Start(sip.Config{Listen: []string{"udp://127.0.0.1:0"}, Media: plane, Open: true, OnCall: parrot,
		Route: func(_ context.Context, in sip.Inbound) sip.Decision {
			if in.Called == "busy" {
				return sip.Decision{Code: 486}
			}
			return sip.Decision{}
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())

	file := filepath.Join(t.TempDir(), "speech.wav")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := audio.NewWAVWriter(f, 16000, 1)
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, 12000) // a quarter of a second of it is silence that does not count
	audio.GenSignal(pcm[:8000], 16000, 0, audio.Tone{Hz: 500, Level: 0.3})
	_ = w.WriteSamples(pcm)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	c := Config{Calls: 4, Rate: 50, Turns: 2, WAV: file, Network: "udp", Target: netip.MustParseAddrPort(strings.TrimPrefix(s.Addrs()[0], "udp://")),
		To: "205", From: "100", Quiet: 150 * time.Millisecond, Patience: 5 * time.Second, PortMin: 46000, PortMax: 46999}
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls != 4 || r.Answered != 4 || r.Turns != 8 || r.Unanswered != 0 || r.CutOff != 0 || len(r.Failures) != 0 {
		t.Errorf("%+v", r)
	}
	if min := float64(thinking / time.Millisecond); r.Response.P50 < min-25 || r.Response.Max >= float64(c.Patience/time.Millisecond) || r.Response.P50 > r.Response.P95 {
		t.Errorf("answers took %+v, the parrot thinks for %v ms", r.Response, min)
	}
	if r.Received == 0 || r.Loss > 5 || r.SetUp.P50 <= 0 || r.Greeting.Max <= 0 {
		t.Errorf("%+v", r)
	}

	c.To, c.Calls = "busy", 3
	if r, err = Run(t.Context(), c); err != nil || r.Failures["486"] != 3 || r.Answered != 0 {
		t.Errorf("%+v %v", r, err)
	}
	c.Target = netip.MustParseAddrPort("192.0.2.1:5060")
	if _, err = Run(t.Context(), c); err == nil {
		t.Error("somebody else's server was called")
	}
}

func TestPercentiles(t *testing.T) {
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(100-i)*time.Millisecond)
	}
	if p := percentiles(times); p != (Percentiles{50, 95, 99, 100}) {
		t.Errorf("%+v", p)
	}
	if p := percentiles(times[:1]); p != (Percentiles{1, 1, 1, 1}) {
		t.Errorf("%+v", p)
	}
	if p := percentiles(nil); p != (Percentiles{}) {
		t.Errorf("%+v", p)
	}
}
