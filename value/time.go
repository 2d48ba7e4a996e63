package value

import (
	"strings"
	"time"
)

// Time is a moment in an answer: YYYY-MM-DDTHH:MM:SS.ffffffZ, UTC, always six decimals. The zero Time is null.
type Time time.Time

const timeForm = "2006-01-02T15:04:05.000000Z"

// At makes a Time.
func At(t time.Time) Time { return Time(t) }

// String is the form of the wire, empty for the zero Time.
func (t Time) String() string {
	if time.Time(t).IsZero() {
		return ""
	}
	return time.Time(t).UTC().Format(timeForm)
}

// MarshalJSON writes the moment, or null for the zero Time.
func (t Time) MarshalJSON() ([]byte, error) { return quoteTime(time.Time(t), timeForm), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Time) UnmarshalJSON(b []byte) error {
	return parseTime((*time.Time)(t), b, timeForm)
}

// DateTime is a moment in a call record: YYYY-MM-DD HH:MM:SS, UTC. The zero DateTime is null.
type DateTime time.Time

// String is the form of the wire, empty for the zero DateTime.
func (t DateTime) String() string {
	if time.Time(t).IsZero() {
		return ""
	}
	return time.Time(t).UTC().Format(time.DateTime)
}

// MarshalJSON writes the moment, or null for the zero DateTime.
func (t DateTime) MarshalJSON() ([]byte, error) { return quoteTime(time.Time(t), time.DateTime), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *DateTime) UnmarshalJSON(b []byte) error {
	return parseTime((*time.Time)(t), b, time.DateTime)
}

func quoteTime(t time.Time, form string) []byte {
	if t.IsZero() {
		return []byte("null")
	}
	b := append(make([]byte, 0, len(timeForm)+2), '"')
	return append(t.UTC().AppendFormat(b, form), '"')
}

func parseTime(t *time.Time, b []byte, layout string) (err error) {
	if string(b) == "null" {
		*t = time.Time{}
		return nil
	}
	*t, err = time.Parse(layout, strings.Trim(string(b), `"`))
	return err
}
