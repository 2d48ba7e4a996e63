package api

import (
	"parley/value"
	"strconv"
	"time"
)

// data is {"data":…}.
type data[T any] struct {
	Data T `json:"data"`
}

// orEmpty writes a missing list as [].
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// timeOrNull writes the zero time as null.
func timeOrNull(t time.Time) *value.Time {
	if t.IsZero() {
		return nil
	}
	at := value.At(t)
	return &at
}
