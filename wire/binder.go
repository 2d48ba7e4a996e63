package wire

import (
	"reflect"
	"strconv"
	"strings"
)

// Ref names a resource by its id or its uuid. The zero Ref names nothing.
type Ref struct {
	ID   int64
	UUID string
}

// MarshalJSON writes the id, or without one the uuid; the zero Ref is null.
func (r Ref) MarshalJSON() ([]byte, error) {
	switch {
	case r.ID != 0:
		return strconv.AppendInt(nil, r.ID, 10), nil
	case r.UUID != "":
		return []byte(`"` + r.UUID + `"`), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Ref) UnmarshalJSON(b []byte) error {
	v, err := parseJSON(b)
	if err != nil {
		return err
	}
	*r, _ = v.ref()
	return nil
}

// Binder reports on, and reads below, one place of the input.
type Binder struct {
	b   *binding
	key string
}

// Key is the dotted key of this place.
func (b Binder) Key() string { return b.key }

// At is the place one key or index below.
func (b Binder) At(key string) Binder { return Binder{b.b, join(b.key, key)} }

// Fail reports a failed rule of the table of sentences at this place.
func (b Binder) Fail(rule string, args ...string) {
	f := Failure{Key: b.key, Rule: rule}
	if len(args) > 0 {
		f.A = args[0]
	}
	if len(args) > 1 {
		f.B = args[1]
	}
	b.b.fail(f)
}

// Say reports a sentence of the room's own at this place.
func (b Binder) Say(sentence string) {
	b.b.fail(Failure{Key: b.key, Own: strings.ReplaceAll(sentence, ":f", spoken(b.key))})
}

// Failed reports whether an error stands at this place or below it.
func (b Binder) Failed() bool {
	for key := range b.b.failed {
		if key == b.key || strings.HasPrefix(key, b.key+".") {
			return true
		}
	}
	return false
}

// Read fills dst, a pointer to a struct with wire tags, from the object v.
func (b Binder) Read(v Value, dst any) {
	d := reflect.ValueOf(dst).Elem()
	b.b.object(planOf(d.Type()), v, b.key, d, fromBody)
}

// Lookup finds a key of v under its own or a vendor's spelling, with white space trimmed.
func (b Binder) Lookup(v Value, key string) (Value, bool) {
	got, ok := b.b.lookup(v, &field{name: key})
	return got.trimmed(), ok
}
