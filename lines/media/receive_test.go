package media

import (
	"slices"
	"testing"
	"time"

	"parley/audio/rtp"
)

// A listener with 60 ms of patience hears nothing for as long as packets are later than that.
func TestStrictListener(t *testing.T) {
	const clock = 8000
	ms := time.Millisecond
	for name, c := range map[string]struct {
		arrive []time.Duration // of packets 20 ms apart; negative = lost
		want   int64
	}{
		"on time":               {[]time.Duration{0, 20, 40, 60, 80}, 0},
		"within the buffer":     {[]time.Duration{0, 75, 75, 75, 135}, 0},
		"a stall of 100 ms":     {[]time.Duration{0, 120, 120, 120, 120, 120, 140, 160}, 2},
		"a sender that skips":   {[]time.Duration{0, 20, 240, 260, 280}, 3}, // and is late for good
		"lost is not late":      {[]time.Duration{0, 20, -1, -1, 80, 100}, 0},
		"caught up":             {[]time.Duration{0, 120, 175, 155, 155, 155}, 4},
		"late more than a bit":  {[]time.Duration{0, 81}, 1},
		"out of order, in time": {[]time.Duration{0, 60, 40, 60}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var l strict
			var dry int64
			for i, at := range c.arrive {
				if at >= 0 {
					dry += l.packet(rtp.Header{Sequence: uint16(i + 65530), Timestamp: uint32(i)*160 + 4294967000}, clock, time.Unix(0, 0).Add(at*ms))
				}
			}
			if dry != c.want {
				t.Errorf("%d periods dry, want %d", dry, c.want)
			}
		})
	}
	var l strict
	l.packet(rtp.Header{Sequence: 5, Timestamp: 1000}, clock, time.Unix(0, 0))
	if l.packet(rtp.Header{Sequence: 5, Timestamp: 1000}, clock, time.Unix(9, 0)) != 0 ||
		l.packet(rtp.Header{Sequence: 4, Timestamp: 840}, clock, time.Unix(9, 0)) != 0 {
		t.Error("a packet that came twice or too late to be ordered counts")
	}
}

// What a sender leaves out and says so by its timestamps is silence at the listener, who is not late after it.
func TestStrictListenerHearsGaps(t *testing.T) {
	var l strict
	var dry []int64
	at, h := time.Unix(0, 0), rtp.Header{Sequence: 65534, Timestamp: 4294967200}
	for _, frames := range []int{1, 1, 6, 1, -1, 1, 10} { // negative: behind a pause that was announced
		step := max(frames, -frames*30)
		at = at.Add(time.Duration(step) * 20 * time.Millisecond)
		h.Sequence, h.Timestamp, h.Marker = h.Sequence+1, h.Timestamp+uint32(step)*160, frames < 0
		dry = append(dry, l.packet(h, 8000, at))
	}
	if want := []int64{0, 0, 5, 0, 0, 0, 9}; !slices.Equal(dry, want) {
		t.Errorf("%v, want %v", dry, want)
	}
}
