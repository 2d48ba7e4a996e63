package rtp

import (
	"encoding/binary"
	"time"
)

const (
	typeSR   = 200
	typeRR   = 201
	typeSDES = 202
	typeBYE  = 203
)

// Reception keeps the figures of one received source that reports are made of (RFC 3550 A.3, A.8).
type Reception struct {
	ssrc     uint32
	base     uint32
	highest  uint32 // extended sequence number
	received uint32
	started  bool

	transit uint32
	jitter  float64 // timestamp units

	lastExpected, lastReceived uint32 // at the last report
	lastSR                     uint32 // middle 32 bits of its NTP time
	lastSRAt                   time.Time
}

// Packet counts one packet; arrival is in timestamp units of the codec, on any origin.
func (r *Reception) Packet(h Header, arrival uint32) {
	if !r.started || h.SSRC != r.ssrc {
		*r = Reception{started: true, ssrc: h.SSRC, base: uint32(h.Sequence), highest: uint32(h.Sequence), transit: arrival - h.Timestamp}
	}
	r.received++
	step := int16(h.Sequence - uint16(r.highest))
	switch {
	case step > maxDropout || step < -maxMisord:
		r.base, r.highest, r.received = uint32(h.Sequence), uint32(h.Sequence), 1
		r.lastExpected, r.lastReceived = 0, 0
	case step > 0:
		r.highest += uint32(step)
	}
	transit := arrival - h.Timestamp
	d := float64(int32(transit - r.transit))
	r.transit = transit
	r.jitter += (max(d, -d) - r.jitter) / 16
}

// Jitter is the interarrival jitter for a clock in Hz.
func (r *Reception) Jitter(clock int) time.Duration {
	return time.Duration(r.jitter * float64(time.Second) / float64(clock))
}

// Lost is the number of packets missing so far; it is never negative.
func (r *Reception) Lost() int64 {
	if !r.started {
		return 0
	}
	return max(0, int64(r.highest-r.base)+1-int64(r.received))
}

func (r *Reception) put(b []byte, now time.Time) {
	expected := r.highest - r.base + 1
	expectedNow, receivedNow := expected-r.lastExpected, r.received-r.lastReceived
	r.lastExpected, r.lastReceived = expected, r.received
	fraction := uint32(0)
	if expectedNow > receivedNow && expectedNow > 0 {
		fraction = min(255, (expectedNow-receivedNow)<<8/expectedNow)
	}
	var delay uint32
	if r.lastSR != 0 {
		delay = uint32(now.Sub(r.lastSRAt) * 65536 / time.Second)
	}
	binary.BigEndian.PutUint32(b, r.ssrc)
	binary.BigEndian.PutUint32(b[4:], fraction<<24|uint32(min(r.Lost(), 0x7FFFFF)))
	binary.BigEndian.PutUint32(b[8:], r.highest)
	binary.BigEndian.PutUint32(b[12:], uint32(r.jitter))
	binary.BigEndian.PutUint32(b[16:], r.lastSR)
	binary.BigEndian.PutUint32(b[20:], delay)
}

// Sending is what a sender report says of our own stream.
type Sending struct {
	SSRC      uint32
	Timestamp uint32 // RTP timestamp of now
	Packets   uint32 // 0 = we have not sent since the last report: a receiver report is made
	Octets    uint32 // of payload
}

// AppendReport appends a compound packet to b: sender or receiver report, a block for the received source if there is
// one, CNAME, and BYE when bye is set (RFC 3550 §6.1). b needs 128 bytes of room not to grow.
func AppendReport(b []byte, s Sending, r *Reception, cname string, now time.Time, bye bool) []byte {
	start, blocks := len(b), byte(0)
	if r.started {
		blocks = 1
	}
	if s.Packets > 0 {
		b = append(b, 0x80|blocks, typeSR, 0, 0)
		b = binary.BigEndian.AppendUint32(b, s.SSRC)
		b = binary.BigEndian.AppendUint64(b, ntp(now))
		b = binary.BigEndian.AppendUint32(b, s.Timestamp)
		b = binary.BigEndian.AppendUint32(b, s.Packets)
		b = binary.BigEndian.AppendUint32(b, s.Octets)
	} else {
		b = append(b, 0x80|blocks, typeRR, 0, 0)
		b = binary.BigEndian.AppendUint32(b, s.SSRC)
	}
	if blocks == 1 {
		var block [24]byte
		r.put(block[:], now)
		b = append(b, block[:]...)
	}
	setLength(b[start:])
	start = len(b)
	b = append(b, 0x81, typeSDES, 0, 0)
	b = binary.BigEndian.AppendUint32(b, s.SSRC)
	b = append(b, 1, byte(len(cname)))
	b = append(b, cname...)
	b = append(b, 0)
	for (len(b)-start)%4 != 0 {
		b = append(b, 0)
	}
	setLength(b[start:])
	if bye {
		b = append(b, 0x81, typeBYE, 0, 1)
		b = binary.BigEndian.AppendUint32(b, s.SSRC)
	}
	return b
}

func setLength(b []byte) { binary.BigEndian.PutUint16(b[2:], uint16(len(b)/4-1)) }

// ntp is the 64-bit time stamp of RFC 3550 §4.
func ntp(t time.Time) uint64 {
	const to1900 = 2208988800
	n := t.UnixNano()
	return uint64(n/1e9+to1900)<<32 | uint64(n%1e9)<<32/1e9
}

// Feedback is what a far end says in its reports.
type Feedback struct {
	Lost      uint32        // packets of ours it missed in all
	Jitter    uint32        // timestamp units
	RoundTrip time.Duration // 0 = not known
	Bye       bool
}

// HearReport takes a compound packet off the wire: it notes the sender report of r's source and returns what is said of
// our source ssrc. ok is false when b is malformed.
func (r *Reception) HearReport(b []byte, ssrc uint32, now time.Time) (f Feedback, ok bool) {
	for len(b) >= 4 {
		size := 4 * (int(binary.BigEndian.Uint16(b[2:])) + 1)
		if b[0]>>6 != 2 || size > len(b) {
			return f, false
		}
		p, count := b[:size], int(b[0]&0x1F)
		b = b[size:]
		blocks := 8
		switch p[1] {
		case typeSR:
			if blocks = 28; size >= blocks && r.started && binary.BigEndian.Uint32(p[4:]) == r.ssrc {
				r.lastSR, r.lastSRAt = binary.BigEndian.Uint32(p[10:]), now
			}
		case typeRR:
		case typeBYE:
			f.Bye = true
			continue
		default:
			continue
		}
		for i := blocks; i+24 <= size && count > 0; i, count = i+24, count-1 {
			if binary.BigEndian.Uint32(p[i:]) == ssrc {
				f.block(p[i:], now)
			}
		}
	}
	return f, len(b) == 0
}

func (f *Feedback) block(b []byte, now time.Time) {
	f.Lost = binary.BigEndian.Uint32(b[4:]) & 0xFFFFFF
	f.Jitter = binary.BigEndian.Uint32(b[12:])
	sent, delay := binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])
	if sent == 0 {
		return
	}
	if trip := int32(uint32(ntp(now)>>16) - sent - delay); trip > 0 {
		f.RoundTrip = time.Duration(trip) * time.Second / 65536
	}
}
