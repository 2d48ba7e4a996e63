package voice

import "time"

// alarm is something that happens at a moment; the session waits for the earliest one only.
type alarm int

const (
	endpointAlarm alarm = iota // the caller has been silent long enough
	patienceAlarm              // and an unfinished sentence was not finished
	stuckAlarm                 // sound goes on, but no new words
	gateAlarm                  // the caller has spoken long enough to stop the assistant
	resumeAlarm                // no words came after that
	fillerAlarm                // no speech is ready yet
	fallbackAlarm              // a stage is slow: start another engine beside it
	asideAlarm                 // the voice does not begin a phrase of our own
	holdingAlarm               // the caller has waited 3 s
	giveUpAlarm                // and 10 s
	keypadAlarm                // no further key
	politeAlarm                // the caller still speaks, but an answer is ready
	soundAlarm                 // more of what a waiting caller hears
	heardAlarm                 // everything queued should have been sent by now
	whoAlarm                   // look again who picked up
	leaveAlarm                 // the greeting of a machine is over
	reopenAlarm                // open the transcriber again
	farewellAlarm              // the paid time is nearly over
	noticeAlarm                // the longest duration is nearly over
	initialAlarm               // the caller never made a sound
	silenceAlarm               // nobody made a sound
	reengageAlarm              // ask whether they are still there
	fundsAlarm                 // the paid time is over
	durationAlarm              // the longest duration is over
	alarmCount
)

var alarmActions = [alarmCount]func(*Session, time.Time){
	endpointAlarm: (*Session).endpoint,
	patienceAlarm: (*Session).impatient,
	stuckAlarm:    (*Session).stuck,
	gateAlarm:     (*Session).gate,
	resumeAlarm:   (*Session).resume,
	fillerAlarm:   (*Session).filler,
	fallbackAlarm: (*Session).fallback,
	asideAlarm:    (*Session).asideSlow,
	holdingAlarm:  (*Session).holding,
	giveUpAlarm:   (*Session).giveUp,
	keypadAlarm:   func(s *Session, now time.Time) { s.keypadDone("timeout", now) },
	whoAlarm:      (*Session).lookWho,
	leaveAlarm:    (*Session).greetingOver,
	reopenAlarm:   (*Session).reopen,
	farewellAlarm: (*Session).farewell,
	noticeAlarm:   (*Session).nearlyOver,
	reengageAlarm: (*Session).reengage,
	politeAlarm:   func(s *Session, _ time.Time) { s.playNext() },
	soundAlarm:    (*Session).playSound,
	heardAlarm:    func(*Session, time.Time) {}, // settle, which follows, looks
	initialAlarm:  func(s *Session, _ time.Time) { s.end(InitialSilence) },
	silenceAlarm:  func(s *Session, _ time.Time) { s.end(SilenceTimeout) },
	fundsAlarm:    func(s *Session, _ time.Time) { s.end(BalanceExhausted) },
	durationAlarm: func(s *Session, _ time.Time) { s.end(MaxDuration) },
}

// set arms an alarm; the zero time switches it off.
func (s *Session) set(a alarm, at time.Time) { s.alarms[a] = at }

func (s *Session) off(as ...alarm) {
	for _, a := range as {
		s.alarms[a] = time.Time{}
	}
}

// next is the earliest alarm.
func (s *Session) next() time.Time {
	first := s.began.Add(24 * time.Hour)
	for _, at := range s.alarms {
		if !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}

// ring does what is due, earliest first. An action may set further alarms.
func (s *Session) ring(now time.Time) {
	for s.over == "" {
		due := alarmCount
		for a, at := range s.alarms {
			if !at.IsZero() && !at.After(now) && (due == alarmCount || at.Before(s.alarms[due])) {
				due = alarm(a)
			}
		}
		if due == alarmCount {
			return
		}
		s.set(due, time.Time{})
		alarmActions[due](s, now)
		s.settle(now)
	}
}
