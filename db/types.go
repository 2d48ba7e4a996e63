package db

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Time is a BIGINT column: microseconds since 1970 UTC. Zero is NULL.
type Time int64

// At is t as stored; the zero time is NULL.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMicro())
}

// Time is the moment in UTC; NULL is the zero time.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(t)).UTC()
}

// IsZero reports NULL.
func (t Time) IsZero() bool { return t == 0 }

// Value stores the column.
func (t Time) Value() (driver.Value, error) {
	if t == 0 {
		return nil, nil
	}
	return int64(t), nil
}

// Scan reads the column.
func (t *Time) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = 0
	case int64:
		*t = Time(v)
	default:
		return fmt.Errorf("db: no time in a %T", src)
	}
	return nil
}

// JSON is a TEXT column that holds V; NULL reads as the zero V. Customers' key order is kept
// when V keeps it (json.RawMessage).
type JSON[T any] struct{ V T }

// Value stores the column.
func (j JSON[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(j.V)
	if err != nil {
		return nil, err
	}
	return string(b), nil
}

// Scan reads the column.
func (j *JSON[T]) Scan(src any) error {
	var zero T
	j.V = zero
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), &j.V)
	case []byte:
		return json.Unmarshal(v, &j.V)
	}
	return fmt.Errorf("db: no JSON in a %T", src)
}

// In is the right side of "x IN …" for vs, with placeholders from $from on, and their arguments.
// No values make a list that nothing is in.
func In[T any](from int, vs []T) (string, []any) {
	if len(vs) == 0 {
		return "(NULL)", nil
	}
	var b strings.Builder
	args := make([]any, len(vs))
	for i, v := range vs {
		b.WriteString(",$" + strconv.Itoa(from+i))
		args[i] = v
	}
	return "(" + b.String()[1:] + ")", args
}
