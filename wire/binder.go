package wire

import (
	"reflect"
	"strings"

	"parley/fault"
	"parley/value"
)

// binder is one place of the input while it is read.
type binder struct {
	b   *binding
	key string
}

var _ value.Binder = binder{}

func (b binder) Key() string { return b.key }

func (b binder) At(key string) value.Binder { return binder{b.b, value.Join(b.key, key)} }

func (b binder) Fail(rule string, args ...string) {
	f := fault.Failure{Key: b.key, Rule: rule}
	if len(args) > 0 {
		f.A = args[0]
	}
	if len(args) > 1 {
		f.B = args[1]
	}
	b.b.fail(f)
}

func (b binder) Say(sentence string) {
	b.b.fail(fault.Failure{Key: b.key, Own: strings.ReplaceAll(sentence, ":f", fault.Spoken(b.key))})
}

func (b binder) Failed() bool {
	for key := range b.b.failed {
		if key == b.key || strings.HasPrefix(key, b.key+".") {
			return true
		}
	}
	return false
}

func (b binder) Read(v value.Value, dst any) {
	d := reflect.ValueOf(dst).Elem()
	b.b.object(planOf(d.Type()), v, b.key, d, fromBody)
}

func (b binder) Lookup(v value.Value, key string) (value.Value, bool) {
	got, ok := b.b.lookup(v, &field{name: key})
	return got.Trimmed(), ok
}
