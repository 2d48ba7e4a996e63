package campaigns

import (
	"fmt"
	"strings"
	"time"
)

var weekdays = [7]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// Window reads the dialling hours. Stored settings were validated; what cannot be read is an error of ours.
func (s Settings) Window() (Window, error) {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		return Window{}, err
	}
	w := Window{Zone: zone}
	if w.Start, err = minutes(s.Start); err != nil {
		return Window{}, err
	}
	if w.End, err = minutes(s.End); err != nil {
		return Window{}, err
	}
	for _, d := range s.Days {
		for i, name := range weekdays {
			w.Days[i] = w.Days[i] || d == name
		}
	}
	return w, nil
}

func minutes(hhmm string) (int, error) {
	t, err := time.Parse("15:04", hhmm)
	if err != nil {
		return 0, fmt.Errorf("campaigns: hour %q: %w", hhmm, err)
	}
	return t.Hour()*60 + t.Minute(), nil
}

// Open reports whether a call may start now. The local wall clock decides: a minute that daylight saving skips never
// comes, one that it repeats is open both times. A window over midnight counts to the day it began on.
func (w Window) Open(now time.Time) bool {
	local := now.In(w.Zone)
	minute, day := local.Hour()*60+local.Minute(), local.Weekday()
	if w.Start <= w.End {
		return w.Days[day] && w.Start <= minute && minute <= w.End
	}
	yesterday := (day + 6) % 7
	return w.Days[day] && minute >= w.Start || w.Days[yesterday] && minute <= w.End
}

// horizon is how far ahead a window is looked for: an hour that daylight saving skips comes a week later.
const horizon = 15 * 24 * time.Hour

// Next is the first moment from t on at which a call may start; zero when the window stays shut.
func (w Window) Next(t time.Time) time.Time {
	if w.Open(t) {
		return t
	}
	for end, at := t.Add(horizon), t.Truncate(time.Minute).Add(time.Minute); at.Before(end); at = at.Add(time.Minute) {
		if w.Open(at) {
			return at
		}
	}
	return time.Time{}
}

// Result is what an attempt came to, in the terms of contract 14.4.
type Result int

// The results of an attempt.
const (
	NotReached  Result = iota // try again
	Reached                   // somebody talked
	Machine                   // an answering machine
	NumberWrong               // never again
	Blocked                   // the number is on the do-not-call list
	NotCounted                // the campaign was stopped; the attempt does not count
)

// Outcome is a finished attempt as the lead's rules see it.
type Outcome struct {
	Result Result
	Goal   *bool // the goal variable's value; nil = not tested or not determinable
	Tested bool  // a goal is tested
	Failed bool  // the carrier failed, for the breaker
	EndAt  time.Time
}

// Next is where a lead goes after an attempt.
type Next struct {
	Status  LeadStatus
	DueAt   time.Time // of Rescheduled
	Contact bool      // dial the next untried secondary contact now; Status is Processing
	Uncount bool      // give the attempt back
}

// after decides. attempts counts this round; untried says that a secondary contact was not tried in it.
func after(s Settings, attempts int, untried bool, o Outcome) Next {
	last := attempts >= 1+s.MaxRetries
	again := func() Next {
		if last {
			return Next{Status: Exhausted}
		}
		return Next{Status: Rescheduled, DueAt: o.EndAt.Add(time.Duration(s.RetryInterval) * time.Minute)}
	}
	switch o.Result {
	case NotCounted:
		return Next{Status: Rescheduled, DueAt: o.EndAt, Uncount: true}
	case NumberWrong:
		return Next{Status: Exhausted}
	case Blocked:
		return Next{Status: Blacklisted}
	case Reached:
		if s.RetryGoal && o.Tested && (o.Goal == nil || !*o.Goal) {
			return again()
		}
		return Next{Status: Done}
	case Machine:
		if !s.RetryVoicemail {
			return Next{Status: Done}
		}
	}
	if untried {
		return Next{Status: Processing, Contact: true}
	}
	return again()
}

// resultOf reads the ended_reason table of contract 14.5.
func resultOf(reason, answeredBy string, spoke bool, talked time.Duration) Result {
	switch reason {
	case "customer_hangup", "assistant_hangup", "transferred", "warm_transferred", "api_hangup":
		if answeredBy == "machine" {
			return Machine
		}
		return Reached
	case "max_duration", "silence_timeout", "initial_silence_timeout":
		if answeredBy == "machine" {
			return Machine
		}
		if spoke {
			return Reached
		}
	case "voicemail_detected", "voicemail_message_left":
		return Machine
	case "fax_detected", "invalid_number":
		return NumberWrong
	case "number_blocked":
		return Blocked
	case "campaign_stopped":
		return NotCounted
	case "media_timeout":
		if talked >= 10*time.Second {
			return Reached
		}
	}
	return NotReached
}

// carrierFailed reports the reasons the failure breaker counts.
func carrierFailed(reason string) bool {
	switch reason {
	case "carrier_rejected", "carrier_error", "no_common_codec":
		return true
	}
	return false
}

const (
	breakerSize = 10
	breakerSpan = 2 * time.Minute
)

// recent adds a finish and tells whether the breaker trips: more than half of the last ten attempts failed at the
// carrier, all ten within two minutes.
func recent(all []Finish, f Finish) (kept []Finish, trip bool) {
	kept = append(all, f)
	if len(kept) > breakerSize {
		kept = kept[len(kept)-breakerSize:]
	}
	failed := 0
	for _, k := range kept {
		if k.Failed {
			failed++
		}
	}
	span := f.At.Time().Sub(kept[0].At.Time())
	return kept, len(kept) == breakerSize && span <= breakerSpan && failed*2 > breakerSize
}

// goal picks the variable a talk is judged by: the named one, else the schema's status when it is a bool.
func goal(named *string, bools []string) (string, bool) {
	if named != nil {
		return *named, true
	}
	for _, b := range bools {
		if b == "status" {
			return b, true
		}
	}
	return "", false
}

// unwritten is what people write between digits.
var unwritten = strings.NewReplacer(" ", "", ".", "", "-", "", "(", "", ")", "", "[", "", "]", "", "/", "", "\u00a0", "")

// CleanNumber removes what people write between digits (contract 1.7, lenient).
func CleanNumber(s string) string { return unwritten.Replace(s) }
