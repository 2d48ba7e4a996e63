package api

import (
	"strconv"
	"time"

	"parley/wire"
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
func timeOrNull(t time.Time) *wire.Time {
	if t.IsZero() {
		return nil
	}
	at := wire.At(t)
	return &at
}
