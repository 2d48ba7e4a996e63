package value

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

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
