package calendar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"parley/ssrf"
)

// Versions of the interface that the requests follow.
const (
	slotsVersion    = "2024-09-04"
	bookingsVersion = "2024-08-13"
)

const mostRead = 1 << 20 // bytes of an answer

// account is a key at a host.
type account struct{ base, key string }

// base is where the tool's calendar is, and the client that may go there.
func (c *Calendar) base(t Setup) (string, *http.Client) {
	base, client := c.us, c.ours
	switch t.Endpoint {
	case "eu":
		base = c.eu
	case "custom":
		base, client = t.CustomEndpoint, c.theirs
	}
	return strings.TrimSuffix(strings.TrimRight(base, "/"), "/v2"), client
}

// slots are the free ones from a moment up to another, in order.
func (c *Calendar) slots(ctx context.Context, t Setup, from, to time.Time, zone *time.Location) ([]time.Time, error) {
	q := url.Values{"eventTypeSlug": {t.Event}, "start": {utc(from)}, "end": {utc(to.Add(-time.Second))}, "timeZone": {zone.String()}}
	scope, err := c.scope(ctx, t)
	if err != nil {
		return nil, err
	}
	for name, value := range scope {
		q.Set(name, value)
	}
	var data map[string]json.RawMessage
	if err := c.ask(ctx, t, http.MethodGet, "/v2/slots?"+q.Encode(), slotsVersion, nil, &data); err != nil {
		return nil, err
	}
	if inner := data["slots"]; inner != nil { // the interface before 2024-09-04, which installations of one's own may have
		data = nil
		if json.Unmarshal(inner, &data) != nil {
			return nil, errUnreadable
		}
	}
	var out []time.Time
	for _, raw := range data {
		var list []struct {
			Start time.Time `json:"start"`
			Time  time.Time `json:"time"`
		}
		if json.Unmarshal(raw, &list) != nil {
			return nil, errUnreadable
		}
		for _, s := range list {
			at := s.Start
			if at.IsZero() {
				at = s.Time
			}
			if !at.Before(from) && at.Before(to) {
				out = append(out, at.In(zone))
			}
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out, nil
}

type attendee struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	TimeZone string `json:"timeZone"`
	Phone    string `json:"phoneNumber,omitempty"`
}

func (c *Calendar) reserve(ctx context.Context, t Setup, start time.Time, who attendee, answers map[string]any,
	zone *time.Location) (Booked, error) {
	body := map[string]any{"start": utc(start), "eventTypeSlug": t.Event, "attendee": who}
	scope, err := c.scope(ctx, t)
	if err != nil {
		return Booked{}, err
	}
	for name, value := range scope {
		body[name] = value
	}
	if len(answers) > 0 {
		body["bookingFieldsResponses"] = answers
	}
	var data json.RawMessage
	if err := c.ask(ctx, t, http.MethodPost, "/v2/bookings", bookingsVersion, body, &data); err != nil {
		return Booked{}, err
	}
	type booking struct {
		UID      string    `json:"uid"`
		Status   string    `json:"status"`
		Start    time.Time `json:"start"`
		End      time.Time `json:"end"`
		Location any       `json:"location"`
	}
	list := []booking{{}}
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' { // a series
		err = json.Unmarshal(data, &list)
	} else {
		err = json.Unmarshal(data, &list[0])
	}
	if err != nil || len(list) == 0 {
		return Booked{}, errUnreadable
	}
	b := list[0]
	if b.Start.IsZero() {
		b.Start = start
	}
	out := Booked{Status: b.Status, UID: b.UID, Start: b.Start.In(zone).Format(time.RFC3339), Timezone: zone.String(),
		Location: text(b.Location)}
	if out.Status == "" {
		out.Status = "accepted"
	}
	if !b.End.IsZero() {
		out.End = b.End.In(zone).Format(time.RFC3339)
	}
	return out, nil
}

// scope names the team of the event type, or else the person the key belongs to.
func (c *Calendar) scope(ctx context.Context, t Setup) (map[string]string, error) {
	if t.Team != "" {
		return map[string]string{"teamSlug": t.Team}, nil
	}
	base, _ := c.base(t)
	key := account{base, t.Key}
	c.mu.Lock()
	user := c.users[key]
	c.mu.Unlock()
	if user == "" {
		var me struct {
			Username string `json:"username"`
		}
		err := c.ask(ctx, t, http.MethodGet, "/v2/me", bookingsVersion, nil, &me)
		if status, ok := errors.AsType[refused](err); ok && status.code == http.StatusNotFound || errors.Is(err, errUnreadable) {
			return nil, nil // a service that knows nobody by name
		}
		if err != nil {
			return nil, err
		}
		if user = me.Username; user == "" {
			return nil, nil
		}
		c.mu.Lock()
		if len(c.users) >= 1000 {
			clear(c.users)
		}
		c.users[key] = user
		c.mu.Unlock()
	}
	return map[string]string{"username": user}, nil
}

var errUnreadable = errors.New("the calendar's answer cannot be read")

// refused is an answer other than 2xx.
type refused struct {
	code    int
	message string
}

func (r refused) Error() string {
	switch {
	case r.code == http.StatusUnauthorized || r.code == http.StatusForbidden:
		return "the calendar does not accept its key"
	case r.message != "" && r.code < 500:
		return "the calendar refused: " + r.message
	}
	return fmt.Sprintf("the calendar answered HTTP %d", r.code)
}

// ask makes a request and reads data of the answer.
func (c *Calendar) ask(ctx context.Context, t Setup, method, path, version string, body, data any) error {
	base, client := c.base(t)
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, base+path, payload)
	if err != nil {
		return errors.New("the calendar has no usable address")
	}
	r.Header.Set("Authorization", "Bearer "+t.Key)
	r.Header.Set("cal-api-version", version)
	r.Header.Set("User-Agent", "parley-calendar/1")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(r)
	if err != nil {
		return unreached(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, mostRead))
	if err != nil {
		return unreached(err)
	}
	if res.StatusCode/100 != 2 {
		return refused{res.StatusCode, strings.ReplaceAll(complaint(raw), t.Key, "****")}
	}
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &answer) != nil || json.Unmarshal(answer.Data, data) != nil {
		return errUnreadable
	}
	return nil
}

func unreached(err error) error {
	var slow net.Error
	switch {
	case errors.Is(err, ssrf.ErrRefused):
		return ssrf.ErrRefused
	case errors.As(err, &slow) && slow.Timeout():
		return errors.New("timeout")
	}
	return errors.New("the calendar cannot be reached")
}

// complaint is what a failure says, in its first 300 characters.
func complaint(raw []byte) string {
	var body struct {
		Message any             `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(raw, &body)
	var inner struct {
		Message any `json:"message"`
	}
	_ = json.Unmarshal(body.Error, &inner)
	message := text(inner.Message)
	if message == "" {
		message = text(body.Message)
	}
	r := []rune(message)
	return string(r[:min(len(r), 300)])
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }
