package value

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Patch is a change of a T: To holds the values of the fields that were sent, the patch knows which those were. Fields
// are named as in JSON; those of a struct inside follow after a dot.
type Patch[T any] struct {
	To   T
	sent Sent
}

// Sent are the keys that a request carried, and whether their value was null.
type Sent map[string]bool

// Whole is the patch that sets every field of t.
func Whole[T any](t T) Patch[T] {
	p := Patch[T]{To: t, sent: Sent{}}
	for key, i := range keysOf(reflect.TypeFor[T]()) {
		p.sent[key] = isNil(reflect.ValueOf(t).Field(i))
	}
	return p
}

// Filled is the patch that sets the fields of t which are not zero.
func Filled[T any](t T) Patch[T] {
	p := Whole(t)
	for key, i := range keysOf(reflect.TypeFor[T]()) {
		if reflect.ValueOf(t).Field(i).IsZero() {
			delete(p.sent, key)
		}
	}
	return p
}

// Sending is the patch that also sets the fields with the given keys to what To has there.
func (p Patch[T]) Sending(keys ...string) Patch[T] {
	p.sent = maps.Clone(p.sent)
	if p.sent == nil {
		p.sent = Sent{}
	}
	for _, key := range keys {
		p.mustKnow(key)
		p.sent[key] = isNil(reflect.ValueOf(p.To).Field(keysOf(reflect.TypeFor[T]())[key]))
	}
	return p
}

// Below is what was sent of a struct inside, which is to.
func Below[N, T any](p Patch[T], key string, to N) Patch[N] {
	out := Patch[N]{To: to, sent: Sent{}}
	for k, null := range p.sent {
		if rest, below := strings.CutPrefix(k, key+"."); below {
			out.sent[rest] = null
		}
	}
	return out
}

// Sent reports whether a field was sent, null included.
func (p Patch[T]) Sent(key string) bool {
	p.mustKnow(key)
	_, sent := p.sent[key]
	return sent
}

// Null reports whether a field was sent as null.
func (p Patch[T]) Null(key string) bool {
	p.mustKnow(key)
	return p.sent[key]
}

// Has reports whether a field was sent with a value.
func (p Patch[T]) Has(key string) bool { return p.Sent(key) && !p.sent[key] }

// mustKnow panics on a key that T does not have: it is a slip of the program.
func (p Patch[T]) mustKnow(key string) {
	if _, known := keysOf(reflect.TypeFor[T]())[key]; !known {
		panic("value: " + reflect.TypeFor[T]().String() + " has no field " + key)
	}
}

// Over is t with the fields that were sent.
func (p Patch[T]) Over(t T) T {
	dst, src := reflect.ValueOf(&t).Elem(), reflect.ValueOf(p.To)
	for key, i := range keysOf(reflect.TypeFor[T]()) {
		if _, sent := p.sent[key]; sent {
			dst.Field(i).Set(src.Field(i))
		}
	}
	return t
}

// UnmarshalJSON reads a document: what it has was sent.
func (p *Patch[T]) UnmarshalJSON(b []byte) error {
	p.sent = Sent{}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		p.sent[key.String()] = d.PeekKind() == 'n'
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	return Unmarshal(b, &p.To)
}

// Note tells what was sent, for who fills To by reflection: it is field 0.
func (p *Patch[T]) Note(sent Sent) { p.sent = sent }

// Kind is the type of the patch itself; a struct that embeds one has the method too and is another type.
func (*Patch[T]) Kind() reflect.Type { return reflect.TypeFor[Patch[T]]() }

var _ json.Unmarshaler = (*Patch[struct{}])(nil)

func isNil(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

var keys sync.Map // reflect.Type → map[string]int

// keysOf are the fields of a struct by their keys.
func keysOf(t reflect.Type) map[string]int {
	if known, ok := keys.Load(t); ok {
		return known.(map[string]int)
	}
	out := map[string]int{}
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); key != "" {
			out[key] = i
		}
	}
	keys.Store(t, out)
	return out
}

// Or is what p points to, or def.
func Or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// Ptr is a pointer to a value of its own.
func Ptr[T any](v T) *T { return &v }
