package voice

import "time"

// dropout is a stretch of time in which no packets come. What the caller does in it is not known: the clock of their silence, and
// of their speech, stands still.
type dropout struct {
	since  time.Time                    // zero = packets come
	quiet  bool                         // speech went on when it began, and is without sound for want of packets
	missed [patienceAlarm + 1]time.Time // when the alarms of silence would have rung
}

func (s *Session) gapBegins(at time.Time) {
	c := &s.hearing
	c.gap = dropout{since: at}
	if c.speaking && c.faded.IsZero() {
		c.faded, c.gap.quiet = at, true
	}
}

// frozen keeps an alarm of the caller's silence for the end of the gap, if there is one.
func (s *Session) frozen(a alarm, now time.Time) bool {
	g := &s.hearing.gap
	if g.since.IsZero() {
		return false
	}
	g.missed[a] = now
	return true
}

func (s *Session) gapEnds(at time.Time) {
	c := &s.hearing
	g := c.gap
	c.gap = dropout{}
	if g.since.IsZero() {
		return
	}
	stood := at.Sub(later(g.since, c.ended))
	if c.speaking {
		stood = at.Sub(g.since)
		c.onset = c.onset.Add(stood)
	}
	for a, missed := range g.missed {
		if missed.IsZero() {
			missed = s.alarms[a]
		}
		if !missed.IsZero() {
			s.set(alarm(a), missed.Add(stood))
		}
	}
	if g.quiet {
		c.faded = time.Time{}
		s.armGate()
	}
}
