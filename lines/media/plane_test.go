package media

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/assets"
	"parley/audio"
	"parley/audio/rtp"
	"parley/audio/silero"
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

// pipe carries packets from one stream to the other.
type pipe struct{ to *Stream }

func (p *pipe) WriteRTP(b []byte) error {
	p.to.Receive(b, time.Now())
	return nil
}

// l16 stands in for Opus: plain samples, big end first.
type l16 struct{}

func (l16) Encode(dst []byte, pcm []int16) (int, error) {
	for i, s := range pcm {
		dst[2*i], dst[2*i+1] = byte(uint16(s)>>8), byte(s)
	}
	return 2 * len(pcm), nil
}

func (l16) Decode(pcm []int16, payload []byte) (int, error) {
	if payload == nil {
		clear(pcm[:320])
		return 320, nil
	}
	for i := range len(payload) / 2 {
		pcm[i] = int16(payload[2*i])<<8 | int16(payload[2*i+1])
	}
	return len(payload) / 2, nil
}

func TestTransport(t *testing.T) {
	p := newPlane(t, Options{})
	there, back := &pipe{}, &pipe{}
	c := Config{Codec: Opus, DTMFPayload: 110, Encoder: l16{}, Decoder: l16{}}
	c.Direction = Inactive // until both pipes have their ends
	a, err := p.OpenTransport(there, c)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.OpenTransport(back, c)
	if err != nil {
		t.Fatal(err)
	}
	there.to, back.to = b, a
	c.Direction = SendRecv
	for _, s := range []*Stream{a, b} {
		if err := s.Update(c); err != nil {
			t.Fatal(err)
		}
		event(t, s, lines.HeldOff)
	}
	if a.Rate() != 16000 {
		t.Errorf("rate %d", a.Rate())
	}
	tone(t, a, 440, 400)
	hears(t, b, 440)
	if err := b.SendDigits("7"); err != nil {
		t.Fatal(err)
	}
	if e := event(t, a, lines.Digit); e.Digit != '7' {
		t.Errorf("digit %c", e.Digit)
	}
	if _, err := p.OpenTransport(there, Config{Codec: Opus}); err == nil {
		t.Error("Opus without a codec was opened")
	}
}

func TestSecondSourceIsNotHeard(t *testing.T) {
	for _, portable := range []bool{false, true} {
		p := newPlane(t, Options{Portable: portable})
		a, b := pair(t, p, Config{})
		tone(t, a, 440, 300)
		hears(t, b, 440)
		thief, err := net.Dial("udp", netip.AddrPortFrom(loopback, uint16(b.port.LocalPort())).String())
		if err != nil {
			t.Fatal(err)
		}
		defer thief.Close()
		pcm, packet := make([]int16, 160), make([]byte, rtp.HeaderLen+160)
		for i := range 20 {
			audio.GenSignal(pcm, 8000, int64(i*160), audio.Tone{Hz: 2000, Level: 0.3})
			rtp.Header{SSRC: 99, Sequence: uint16(i), Timestamp: uint32(i * 160)}.Put(packet)
			audio.EncodeMuLaw(packet[rtp.HeaderLen:], pcm)
			if _, err := thief.Write(packet); err != nil && !isRefused(err) {
				t.Fatal(err)
			}
		}
		tone(t, a, 440, 600)
		buf := make([]int16, 2400)
		for got := 0; got < len(buf); {
			n, err := b.Hear(t.Context(), buf[got:])
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
		if found := audio.FindSignal(buf, 8000, 2000)[0]; found.Level > 0.01 {
			t.Errorf("the second source is heard at %.3f", found.Level)
		}
		a.Close()
		b.Close()
	}
}

func TestPorts(t *testing.T) {
	p := newPlane(t, Options{PortMin: 35001, PortMax: 35006})
	var held []*Port
	for range 2 {
		port, err := p.Allocate(loopback)
		if err != nil {
			t.Fatal(err)
		}
		if n := port.LocalPort(); n != 35002 && n != 35004 {
			t.Errorf("port %d", n)
		}
		held = append(held, port)
	}
	if _, err := p.Allocate(loopback); !errors.Is(err, ErrNoPort) {
		t.Errorf("a third pair in a range for two: %v", err)
	}
	held[0].Close()
	held[0].Close()
	if _, err := p.Open(held[0], Config{}); err == nil {
		t.Error("a closed port was opened")
	}
	s, err := p.Open(held[1], Config{})
	if err != nil {
		t.Fatal(err)
	}
	held[1].Close() // the stream's now
	again, err := p.Allocate(loopback)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	s.Close()
	s.Close()
	for range 2 {
		port, err := p.Allocate(loopback)
		if err != nil {
			t.Fatal("a closed stream keeps its port")
		}
		defer port.Close()
	}
	for _, o := range []Options{{}, {PortMin: 9, PortMax: 9}, {PortMin: 1, PortMax: 70000}} {
		if _, err := New(o); err == nil {
			t.Errorf("range %d-%d was taken", o.PortMin, o.PortMax)
		}
	}
}

func TestClosingThePlaneEndsStreams(t *testing.T) {
	p := newPlane(t, Options{})
	a, b := pair(t, p, Config{RTCPMux: true})
	p.Close()
	for _, s := range []*Stream{a, b} {
		<-s.Done()
		for range s.Events() {
		}
	}
	if _, err := p.Allocate(loopback); err == nil {
		t.Error("a closed plane gives ports")
	}
	if _, err := p.OpenTransport(&pipe{}, Config{Direction: Inactive}); err == nil {
		t.Error("a closed plane opens streams")
	}
}

// The whole way a caller's words take: PCMU packets, pacer, Silero.
func TestSileroHearsSpeech(t *testing.T) {
	file, err := assets.Read("silero_vad.onnx")
	if err != nil {
		t.Fatal(err)
	}
	model, err := silero.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("../../audio/silero/testdata/speech8000.ulaw")
	if err != nil {
		t.Fatal(err)
	}
	k := newDesk(t, Config{}, func(rate int) audio.Detector { return model.Detector(rate) })
	pcm := make([]int16, len(code))
	audio.DecodeMuLaw(pcm, code)
	began := k.now
	k.say(make([]int16, 4000))
	k.say(pcm)
	k.say(make([]int16, 8000))
	var turns []lines.Event
	for len(k.events) > 0 {
		if e := <-k.events; e.Kind != lines.FirstIn {
			turns = append(turns, e)
		}
	}
	if len(turns) < 2 || turns[0].Kind != lines.SpeechStart || turns[len(turns)-1].Kind != lines.SpeechEnd {
		t.Fatalf("turns: %v", turns)
	}
	end := time.Duration(500+len(pcm)/8) * time.Millisecond
	if at := turns[len(turns)-1].At.Sub(began); at < end-400*time.Millisecond || at > end+100*time.Millisecond {
		t.Errorf("speech ends at %v, the recording at %v", at, end)
	}
	allocs := testing.AllocsPerRun(50, func() { k.say(pcm[:160]) })
	quiet := newDesk(t, Config{}, nil)
	if without := testing.AllocsPerRun(50, func() { quiet.say(pcm[:160]) }); allocs > without {
		t.Errorf("detection costs %v allocations", allocs-without)
	}
}
