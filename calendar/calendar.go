// Package calendar looks for free slots and books them for the built-in tool calendar_integration, at any service that
// speaks version 2 of the cal.com interface: /v2/slots, /v2/bookings and /v2/me.
package calendar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"time"

	"parley/ssrf"
)

// Calendar is the room.
type Calendar struct {
	ours   *http.Client // for the hosts of the configuration
	theirs *http.Client // for hosts that customers choose
	us, eu string

	mu    sync.Mutex
	users map[account]string // who a key belongs to
}

const (
	timeout  = 10 * time.Second // of each request
	mostDays = 62               // that one look covers
	mostTold = 60               // slots a model is told
)

// New opens the room. us and eu are the base URLs of the two endpoints.
func New(g *ssrf.Guard, us, eu string) *Calendar {
	ours := &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Calendar{ours: ours, theirs: g.Client(ssrf.Options{Timeout: timeout}), us: us, eu: eu, users: map[account]string{}}
}

// Close ends idle connections.
func (c *Calendar) Close() {
	c.ours.CloseIdleConnections()
	c.theirs.CloseIdleConnections()
}

// Setup is where to look and to book, and with which key.
type Setup struct {
	Key            string
	Event          string // the slug of the kind of event
	Team           string // slug; empty for a person's own calendar
	Endpoint       string // us, eu or custom
	CustomEndpoint string
	Fields         []string // slugs of the questions of the booking form
}

// Run carries out check_availability or book_appointment in a time zone. What went wrong is an error in words
// for the model; it never holds the key.
func (c *Calendar) Run(ctx context.Context, t Setup, function string, args map[string]any, zone *time.Location) (any, error) {
	if function == "book_appointment" {
		return c.book(ctx, t, args, zone)
	}
	return c.check(ctx, t, args, zone)
}

// Free are the slots of some days, as a model reads them.
type Free struct {
	Timezone string `json:"timezone"`
	Days     []Day  `json:"days"`
	More     bool   `json:"more,omitempty"` // there are later ones
}

// Day is one day with free slots.
type Day struct {
	Date    string   `json:"date"`
	Weekday string   `json:"weekday"`
	Starts  []string `json:"starts"` // RFC 3339 in the time zone
}

func (c *Calendar) check(ctx context.Context, t Setup, args map[string]any, zone *time.Location) (Free, error) {
	from, err := day(args, "date_from", zone)
	if err != nil {
		return Free{}, err
	}
	to, err := day(args, "date_to", zone)
	switch {
	case err != nil:
		return Free{}, err
	case to.Before(from):
		return Free{}, errors.New("date_to must not be before date_from")
	case to.After(from.AddDate(0, 0, mostDays)):
		return Free{}, fmt.Errorf("at most %d days can be looked at", mostDays)
	}
	slots, err := c.slots(ctx, t, from, to.AddDate(0, 0, 1), zone)
	if err != nil {
		return Free{}, err
	}
	out := Free{Timezone: zone.String(), Days: []Day{}}
	for i, at := range slots {
		if i == mostTold {
			out.More = true
			break
		}
		date := at.Format(time.DateOnly)
		if n := len(out.Days); n == 0 || out.Days[n-1].Date != date {
			out.Days = append(out.Days, Day{Date: date, Weekday: at.Weekday().String()})
		}
		last := &out.Days[len(out.Days)-1]
		last.Starts = append(last.Starts, at.Format(time.RFC3339))
	}
	return out, nil
}

// Booked is a booking, as a model reads it.
type Booked struct {
	Status   string `json:"status"` // accepted, pending, …
	UID      string `json:"booking_uid"`
	Start    string `json:"start"` // RFC 3339 in the time zone
	End      string `json:"end,omitempty"`
	Timezone string `json:"timezone"`
	Location string `json:"location,omitempty"`
}

func (c *Calendar) book(ctx context.Context, t Setup, args map[string]any, zone *time.Location) (Booked, error) {
	start, err := moment(text(args["start"]), zone)
	if err != nil {
		return Booked{}, err
	}
	who := attendee{Name: text(args["name"]), Email: text(args["email"]), TimeZone: zone.String()}
	if _, err := mail.ParseAddress(who.Email); err != nil || strings.ContainsAny(who.Email, "<> ") {
		return Booked{}, errors.New("email must be an e-mail address")
	}
	if phone := spaces.Replace(text(args["phone"])); phone != "" {
		if !e164.MatchString(phone) {
			return Booked{}, errors.New("phone must be in E.164 form, for example +1234567890")
		}
		who.Phone = phone
	}
	answers := map[string]any{}
	for _, slug := range t.Fields {
		switch v := args[slug]; {
		case slug == "start" || slug == "name" || slug == "email" || slug == "phone" || v == nil || v == "":
		default:
			answers[slug] = v
		}
	}
	// Once it is sent the booking is made, whether or not somebody still waits for the answer.
	return c.reserve(context.WithoutCancel(ctx), t, start, who, answers, zone)
}

var (
	e164   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	spaces = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "", "/", "")
)

func text(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

func day(args map[string]any, name string, zone *time.Location) (time.Time, error) {
	s := text(args[name])
	t, err := time.ParseInLocation(time.DateOnly, s[:min(len(s), len(time.DateOnly))], zone)
	if err != nil {
		return t, fmt.Errorf("%s must be a day in the form YYYY-MM-DD", name)
	}
	return t, nil
}

// moment reads the start of a slot; without an offset it is in the zone.
func moment(s string, zone *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("start must be a date and time, as check_availability gave it")
}
