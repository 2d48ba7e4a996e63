package value

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Scalars are named strings, numbers, booleans and nulls in the order they came, such as customers' variables. As input a
// string holds at most 4000 characters. None at all is the object {}.
type Scalars []Scalar

// Scalar is one of them. Value is a string, float64, json.Number (what float64 cannot hold exactly), bool or nil; a stored
// value of another kind is a json.RawMessage.
type Scalar struct {
	Name  string
	Value any
}

// Len is how many there are.
func (s Scalars) Len() int { return len(s) }

// Get finds a value by name.
func (s Scalars) Get(name string) (any, bool) {
	for _, x := range s {
		if x.Name == name {
			return x.Value, true
		}
	}
	return nil, false
}

// With are the scalars with more set: a known name keeps its place, a new one comes last.
func (s Scalars) With(more ...Scalar) Scalars {
	out := make(Scalars, len(s), len(s)+len(more))
	place := make(map[string]int, cap(out))
	for i := len(s) - 1; i >= 0; i-- {
		out[i], place[s[i].Name] = s[i], i
	}
	for _, x := range more {
		if i, known := place[x.Name]; known {
			out[i].Value = x.Value
			continue
		}
		place[x.Name] = len(out)
		out = append(out, x)
	}
	return out
}

// Without are the scalars but for one name.
func (s Scalars) Without(name string) Scalars {
	return slices.DeleteFunc(slices.Clone(s), func(x Scalar) bool { return x.Name == name })
}

// All ranges over names and values.
func (s Scalars) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, x := range s {
			if !yield(x.Name, x.Value) {
				return
			}
		}
	}
}

// Bind reads the object.
func (s *Scalars) Bind(b Binder, v Value) {
	if !v.IsObject() {
		b.Fail("array")
		return
	}
	*s = make(Scalars, 0, len(v.Members))
	for _, m := range v.Members {
		at := b.At(m.Key)
		switch {
		case !m.Value.IsScalar() && !m.Value.IsNull():
			at.Fail("scalar")
		case m.Value.IsString() && len([]rune(m.Value.Text())) > 4000:
			at.Fail("max.string", "4000")
		}
		*s = append(*s, Scalar{m.Key, m.Value.Any()})
	}
}

// MarshalJSON writes the object.
func (s Scalars) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, x.Name) // invalid UTF-8 is replaced, and that is all that can go wrong
		value, err := Marshal(x.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(b, ':'), value...)
	}
	return append(b, '}'), nil
}

// String is the object as JSON.
func (s Scalars) String() string {
	b, _ := s.MarshalJSON()
	return string(b)
}

// UnmarshalJSON reads a stored object.
func (s *Scalars) UnmarshalJSON(raw []byte) error {
	v, err := Parse(raw)
	if err != nil {
		return err
	}
	*s = nil
	if v.IsObject() {
		*s = Scalars{}
	}
	for _, m := range v.Members {
		x := Scalar{m.Key, m.Value.Any()}
		if !m.Value.IsScalar() && !m.Value.IsNull() {
			x.Value = m.Value.JSON()
		}
		*s = append(*s, x)
	}
	return nil
}

// JSONSchema describes the object.
func (Scalars) JSONSchema() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": []string{"string", "number", "boolean", "null"}}}
}

var (
	_ json.Marshaler   = Scalars{}
	_ json.Unmarshaler = (*Scalars)(nil)
)
