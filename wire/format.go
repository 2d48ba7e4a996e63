package wire

import (
	"errors"
	"math"
	"strconv"
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

// Money is an amount in units of 1e-8, written as a JSON number of at most 8 decimals and never in exponent form.
type Money int64

// MoneyUnit is one whole dollar, minute or credit.
const MoneyUnit Money = 1e8

var errMoney = errors.New("not an amount")

// String is the number in plain decimal form without trailing zeros.
func (m Money) String() string {
	sign, u := "", uint64(m)
	if m < 0 {
		sign, u = "-", -uint64(m)
	}
	whole, frac := u/uint64(MoneyUnit), u%uint64(MoneyUnit)
	if frac == 0 {
		return sign + strconv.FormatUint(whole, 10)
	}
	digits := strconv.FormatUint(frac+uint64(MoneyUnit), 10)[1:]
	return sign + strconv.FormatUint(whole, 10) + "." + strings.TrimRight(digits, "0")
}

// MarshalJSON writes the number.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads a number.
func (m *Money) UnmarshalJSON(b []byte) (err error) {
	*m, err = ParseMoney(string(b))
	return err
}

// ParseMoney reads a decimal number exactly; more than 8 decimals are rounded half away from zero.
func ParseMoney(s string) (Money, error) {
	if !numeric.MatchString(s) {
		return 0, errMoney
	}
	if strings.ContainsAny(s, "eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.Abs(f) > 9e10 {
			return 0, errMoney
		}
		s = strconv.FormatFloat(f, 'f', 9, 64)
	}
	digits, negative := strings.CutPrefix(strings.TrimPrefix(s, "+"), "-")
	whole, frac, _ := strings.Cut(digits, ".")
	up := len(frac) > 8 && frac[8] >= '5'
	frac = (frac + "00000000")[:8]
	n, err := strconv.ParseInt(whole+frac, 10, 64)
	if err != nil {
		return 0, errMoney
	}
	if up {
		n++
	}
	if negative {
		n = -n
	}
	return Money(n), nil
}
