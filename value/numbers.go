package value

import (
	"math"
	"regexp"
	"strconv"

	"github.com/google/uuid"
)

// What numbers look like, in JSON and in strings.
var (
	numeric = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	integer = regexp.MustCompile(`^-?[0-9]+$`)
)

// Integer accepts JSON integers, numbers without a fraction and decimal strings.
func (v Value) Integer() (int64, bool) {
	if v.Kind != KindNumber && v.Kind != KindString {
		return 0, false
	}
	if integer.MatchString(v.Digits) {
		n, err := strconv.ParseInt(v.Digits, 10, 64)
		return n, err == nil
	}
	if v.Kind == KindString {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Digits, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// Number accepts JSON numbers and numeric strings.
func (v Value) Number() (float64, bool) {
	if v.Kind != KindNumber && (v.Kind != KindString || !numeric.MatchString(v.Digits)) {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Digits, 64)
	return f, err == nil
}

func (v Value) Boolean() (yes, ok bool) {
	switch {
	case v.Kind == KindTrue || v.Digits == "1" && v.IsScalar():
		return true, true
	case v.Kind == KindFalse || v.Digits == "0" && v.IsScalar():
		return false, true
	}
	return false, false
}

func (v Value) Ref() (Ref, bool) {
	if n, ok := v.Integer(); ok {
		return Ref{ID: n}, true
	}
	if v.Kind != KindString {
		return Ref{}, false
	}
	return ParseRef(v.Digits)
}

// ParseRef reads a uuid.
func ParseRef(s string) (Ref, bool) {
	if id, err := uuid.Parse(s); err == nil && len(s) == 36 {
		return Ref{UUID: id.String()}, true
	}
	return Ref{}, false
}
