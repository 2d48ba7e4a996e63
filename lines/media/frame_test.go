package media

import (
	"net/netip"
	"testing"
	"time"

	"parley/audio"
	"parley/audio/rtp"
)

// sink always has one packet and takes everything.
type sink struct {
	wire
	b     []byte
	given bool
}

func (s *sink) recv(buf []byte, now time.Time) (int, netip.AddrPort, time.Time, bool) {
	if s.given = !s.given; !s.given {
		return 0, phone, now, false
	}
	return copy(buf, s.b), phone, now, true
}

func (s *sink) send([]byte) error { return nil }

func TestFrameDoesNotAllocate(t *testing.T) {
	for _, codec := range []Codec{PCMU, PCMA, G722} {
		k := newDesk(t, Config{Codec: codec, DTMFPayload: 101}, func(rate int) audio.Detector { return NewEnergyDetector(rate) })
		k.play(make([]int16, 15*k.rate))
		h := rtp.Header{PayloadType: uint8(codec.PayloadType()), SSRC: 7}
		b := make([]byte, rtp.HeaderLen+160)
		k.socket = &sink{b: b}
		list := []*Stream{k.Stream}
		buf := make([]int16, 1000)
		one := func() {
			h.Sequence++
			h.Timestamp += 160
			h.Put(b)
			k.now = k.now.Add(audio.FrameDur)
			k.p.frame++
			k.p.turn(list, k.now)
			k.hearing.take(buf)
		}
		for range 400 {
			one() // buffers grow to their size, reports are sent
		}
		if n := testing.AllocsPerRun(300, one); n != 0 {
			t.Errorf("%v: %v allocations per frame", codec, n)
		}
	}
}

// FuzzPackets throws packets at a stream: whatever comes, the plane goes on.
func FuzzPackets(f *testing.F) {
	valid := make([]byte, rtp.HeaderLen+160)
	rtp.Header{SSRC: 1}.Put(valid)
	f.Add(valid, uint8(1), true)
	f.Add([]byte{0x80, 101, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0x8A, 3, 0xC0}, uint8(3), false)
	f.Add([]byte{0x81, 201, 0, 7, 0, 0, 0, 1}, uint8(2), true)
	f.Fuzz(func(t *testing.T, b []byte, repeat uint8, mux bool) {
		if len(b) > maxPacket {
			return
		}
		for _, codec := range []Codec{PCMU, G722} {
			k := newDesk(&testing.T{}, Config{Codec: codec, DTMFPayload: 101, RTCPMux: mux, PayloadType: 0}, func(rate int) audio.Detector { return NewEnergyDetector(rate) })
			k.wire.in = append(k.wire.in, letter{valid, phone})
			for range repeat % 8 {
				k.wire.in = append(k.wire.in, letter{b, phone})
				k.step(1)
			}
			k.step(6)
			if len(k.wire.out) < 6 {
				t.Errorf("%d packets sent", len(k.wire.out))
			}
		}
	})
}
