package media

import (
	"testing"
	"time"
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
		"a sender that skips":   {[]time.Duration{0, 20, 240, 260, 280}, 7},
		"lost is not late":      {[]time.Duration{0, 20, -1, -1, 80, 100}, 0},
		"filled after a stall":  {[]time.Duration{0, 120, 175, 195, 215, 235}, 2},
		"late more than a bit":  {[]time.Duration{0, 81}, 1},
		"out of order, in time": {[]time.Duration{0, 60, 40, 60}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var l strict
			var dry int64
			for i, at := range c.arrive {
				if at >= 0 {
					dry += l.packet(uint32(i)*160+4294967000, clock, time.Unix(0, 0).Add(at*ms))
				}
			}
			if dry != c.want {
				t.Errorf("%d periods dry, want %d", dry, c.want)
			}
		})
	}
	var l strict
	l.packet(1000, clock, time.Unix(0, 0))
	if l.packet(1000, clock, time.Unix(9, 0)) != 0 || l.packet(840, clock, time.Unix(9, 0)) != 0 {
		t.Error("a packet that came twice or too late to be ordered counts")
	}
}
