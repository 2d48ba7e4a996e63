// Package value holds what is the same on the wire, in the rules and in the database: values that tell left out from null,
// amounts, moments, references, scalars, and input as it was sent.
package value

import (
	"encoding/json"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Opt tells a field that was left out from null and from a value.
// The zero Opt was left out.
type Opt[T any] struct {
	Set  bool // the key was present
	Null bool // and its value was null
	V    T    // the value; zero when left out or null
}

// Some is a present value.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, V: v} }

// Has reports whether a value, not null, was sent.
func (o Opt[T]) Has() bool { return o.Set && !o.Null }

// Or is the value, or def when none was sent.
func (o Opt[T]) Or(def T) T {
	if o.Has() {
		return o.V
	}
	return def
}

// Ptr is the value, or nil for null and left out.
func (o Opt[T]) Ptr() *T {
	if !o.Has() {
		return nil
	}
	return &o.V
}

// UnmarshalJSON records presence; encoding/json calls it for null too.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	if string(b) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.V)
}

// UnmarshalJSONFrom does the same without reading the value twice.
func (o *Opt[T]) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	o.Set = true
	if in.PeekKind() == 'n' {
		o.Null = true
		return in.SkipValue()
	}
	return jsonv2.UnmarshalDecode(in, &o.V)
}

// MarshalJSON writes null for left out and null alike.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Has() {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}

// MarshalJSONTo writes the same without a detour; what is plain needs no look at its type by reflection.
func (o Opt[T]) MarshalJSONTo(out *jsontext.Encoder) error {
	if !o.Has() {
		return out.WriteToken(jsontext.Null)
	}
	switch v := any(&o.V).(type) {
	case *string:
		return out.WriteToken(jsontext.String(*v))
	case *int64:
		return out.WriteToken(jsontext.Int(*v))
	case *float64:
		return out.WriteToken(jsontext.Float(*v))
	case *bool:
		return out.WriteToken(jsontext.Bool(*v))
	}
	v := o.V // its own variable, so that only these cases allocate
	return jsonv2.MarshalEncode(out, &v)
}

// Inner is the type inside, for who fills it by reflection: its fields are Set, Null and V in this order.
func (Opt[T]) Inner() reflect.Type { return reflect.TypeFor[T]() }
