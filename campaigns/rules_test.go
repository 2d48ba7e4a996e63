package campaigns

import (
	"testing"
	"time"

	"parley/db"
)

// TestWindow opens and shuts the dialling hours: days, midnight, daylight saving, zones of half an hour.
//
// Contract: 6.2
func TestWindow(t *testing.T) {
	all := []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	berlin := func(start, end string, days ...string) Settings {
		return Settings{Timezone: "Europe/Berlin", Start: start, End: end, Days: days}
	}
	for name, c := range map[string]struct {
		s    Settings
		now  string // UTC
		want bool
	}{
		"first minute":                        {berlin("09:00", "17:00", "monday"), "2027-03-01T08:00:00Z", true},
		"a minute early":                      {berlin("09:00", "17:00", "monday"), "2027-03-01T07:59:59Z", false},
		"the last minute counts whole":        {berlin("09:00", "17:00", "monday"), "2027-03-01T16:00:59Z", true},
		"a minute late":                       {berlin("09:00", "17:00", "monday"), "2027-03-01T16:01:00Z", false},
		"another day":                         {berlin("09:00", "17:00", "tuesday"), "2027-03-01T10:00:00Z", false},
		"the whole day":                       {berlin("00:00", "23:59", all...), "2027-03-01T22:59:59Z", true},
		"over midnight, before":               {berlin("22:00", "02:00", "monday"), "2027-03-01T21:00:00Z", true},
		"over midnight, after, still monday":  {berlin("22:00", "02:00", "monday"), "2027-03-02T00:30:00Z", true},
		"over midnight, the night before":     {berlin("22:00", "02:00", "monday"), "2027-03-01T00:30:00Z", false},
		"over midnight, noon":                 {berlin("22:00", "02:00", all...), "2027-03-02T11:00:00Z", false},
		"summer time moves the hour":          {berlin("09:00", "17:00", all...), "2027-03-29T07:00:00Z", true},
		"and winter time back":                {berlin("09:00", "17:00", all...), "2027-11-01T07:59:00Z", false},
		"an hour that is skipped never comes": {berlin("02:00", "02:59", "sunday"), "2027-03-28T01:30:00Z", false},
		"an hour that comes twice is open":    {berlin("02:00", "02:59", "sunday"), "2027-10-31T00:30:00Z", true},
		"both times":                          {berlin("02:00", "02:59", "sunday"), "2027-10-31T01:30:00Z", true},
		"local day, not the UTC day":          {Settings{Timezone: "Pacific/Auckland", Start: "00:00", End: "23:59", Days: []string{"tuesday"}}, "2027-03-01T12:00:00Z", true},
		"half-hour zones":                     {Settings{Timezone: "Asia/Kolkata", Start: "09:00", End: "09:29", Days: all}, "2027-03-01T03:45:00Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := c.s.Window()
			if err != nil {
				t.Fatal(err)
			}
			now, err := time.Parse(time.RFC3339, c.now)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.Open(now); got != c.want {
				t.Errorf("open at %s (%s): %v, want %v", now, now.In(w.Zone), got, c.want)
			}
		})
	}
}

// TestAfter decides where a lead goes after each result of a call.
//
// Contract: 14.4
func TestAfter(t *testing.T) {
	end := time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)
	yes, no := true, false
	s := Settings{MaxRetries: 2, RetryInterval: 30}
	goals, mail := s, s
	goals.RetryGoal, mail.RetryVoicemail = true, true
	later := Next{Status: Rescheduled, DueAt: end.Add(30 * time.Minute)}
	exhausted := Next{Status: Exhausted}
	for name, c := range map[string]struct {
		s        Settings
		attempts int
		untried  bool
		o        Outcome
		want     Next
	}{
		"talked":                          {s, 1, false, Outcome{Result: Reached}, Next{Status: Done}},
		"talked, goal not asked for":      {s, 1, false, Outcome{Result: Reached, Tested: true, Goal: &no}, Next{Status: Done}},
		"talked, goal reached":            {goals, 1, false, Outcome{Result: Reached, Tested: true, Goal: &yes}, Next{Status: Done}},
		"talked, goal missed":             {goals, 1, true, Outcome{Result: Reached, Tested: true, Goal: &no}, later},
		"talked, goal not known":          {goals, 2, false, Outcome{Result: Reached, Tested: true}, later},
		"talked, goal missed for good":    {goals, 3, false, Outcome{Result: Reached, Tested: true, Goal: &no}, exhausted},
		"talked, no goal to test":         {goals, 1, false, Outcome{Result: Reached}, Next{Status: Done}},
		"machine":                         {s, 1, true, Outcome{Result: Machine}, Next{Status: Done}},
		"machine, retried":                {mail, 1, false, Outcome{Result: Machine}, later},
		"machine, retried at the contact": {mail, 1, true, Outcome{Result: Machine}, Next{Status: Processing, Contact: true}},
		"nobody, contact left":            {s, 3, true, Outcome{Result: NotReached}, Next{Status: Processing, Contact: true}},
		"nobody, retries left":            {s, 2, false, Outcome{Result: NotReached}, later},
		"nobody, none left":               {s, 3, false, Outcome{Result: NotReached}, exhausted},
		"wrong number":                    {s, 1, true, Outcome{Result: NumberWrong}, exhausted},
		"do not call":                     {s, 1, true, Outcome{Result: Blocked}, Next{Status: Blacklisted}},
		"stopped":                         {s, 1, true, Outcome{Result: NotCounted}, Next{Status: Rescheduled, DueAt: end, Uncount: true}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.EndAt = end
			if got := after(c.s, c.attempts, c.untried, c.o); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestBreaker trips at more than half of the last ten attempts within two minutes.
//
// Contract: 6.6 14.3
func TestBreaker(t *testing.T) {
	at := time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)
	run := func(gap time.Duration, pattern string) (trip bool) {
		var all []Finish
		for i, c := range pattern {
			all, trip = recent(all, Finish{At: db.At(at.Add(time.Duration(i) * gap)), Failed: c == 'x'})
		}
		return trip
	}
	for pattern, want := range map[string]bool{
		"xxxxxxxxx":    false, // nine are not ten
		"xxxxxxxxxx":   true,
		"xxxxx.....":   false, // half is not more than half
		"xxxxxx....":   true,
		"......xxxxxx": true, // only the last ten count
	} {
		if got := run(time.Second, pattern); got != want {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
	if run(20*time.Second, "xxxxxxxxxx") {
		t.Error("ten failures in three minutes trip the breaker")
	}
}

// TestNextOpening finds the minute in which a window opens next, over midnight, a weekend and an hour that is skipped.
//
// Contract: 6.2
func TestNextOpening(t *testing.T) {
	for name, c := range map[string]struct {
		s         Settings
		now, want string // UTC
	}{
		"open already":        {Settings{Timezone: "UTC", Start: "09:00", End: "17:00", Days: []string{"monday"}}, "2027-03-01T10:00:30Z", "2027-03-01T10:00:30Z"},
		"later today":         {Settings{Timezone: "UTC", Start: "09:00", End: "17:00", Days: []string{"monday"}}, "2027-03-01T07:10:30Z", "2027-03-01T09:00:00Z"},
		"next week":           {Settings{Timezone: "UTC", Start: "09:00", End: "17:00", Days: []string{"monday"}}, "2027-03-01T17:01:00Z", "2027-03-08T09:00:00Z"},
		"after midnight":      {Settings{Timezone: "UTC", Start: "22:00", End: "02:00", Days: []string{"monday"}}, "2027-03-02T02:01:00Z", "2027-03-08T22:00:00Z"},
		"skipped this sunday": {Settings{Timezone: "Europe/Berlin", Start: "02:00", End: "02:59", Days: []string{"sunday"}}, "2027-03-28T00:30:00Z", "2027-04-04T00:00:00Z"},
		"summer time":         {Settings{Timezone: "Europe/Berlin", Start: "09:00", End: "17:00", Days: []string{"sunday"}}, "2027-03-28T01:30:00Z", "2027-03-28T07:00:00Z"},
	} {
		w, err := c.s.Window()
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Next(now).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
