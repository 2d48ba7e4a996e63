package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"reflect"
	"slices"

	"parley/value"
)

// Meant is an input whose defaults are the room's: what it stands for once they apply, so that two requests that ask for
// the same count as one.
type Meant interface{ Meant() any }

// hash stands for what the route understood of the body, so that spellings of one request are the same: text that stands
// for a number, other names of a field, null and what was left out, fields that nobody knows. Where something could not
// be understood, it stands for the body as it was sent.
func (x *exchange) hash() (string, error) {
	s := same{Hash: sha256.New()}
	in := x.in
	if m, ok := in.(Meant); ok {
		in = m.Meant()
	}
	s.write(reflect.ValueOf(in))
	if len(x.bound.fields) > 0 {
		s.write(reflect.ValueOf(x.bound.body))
	}
	return hex.EncodeToString(s.Sum(nil)), s.err
}

// same writes values into a hash so that equal ones give equal bytes, and no two others do.
type same struct {
	hash.Hash
	err error // the first of reading files
}

func (s *same) say(format string, args ...any) { fmt.Fprintf(s, format, args...) }

func (s *same) write(v reflect.Value) {
	if !v.IsValid() {
		s.say("-")
		return
	}
	if v.CanInterface() && s.special(v.Interface()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			s.say("-")
			return
		}
		if v.Kind() == reflect.Interface {
			s.say("%v ", v.Elem().Type())
		}
		s.write(v.Elem())
	case reflect.Struct:
		s.fields(v)
	case reflect.Slice, reflect.Array:
		s.say("[%d ", v.Len())
		for i := range v.Len() {
			s.write(v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		if v.Type() == reflect.TypeFor[value.Sent]() { // null is like what was left out
			keys = slices.DeleteFunc(keys, func(k reflect.Value) bool { return v.MapIndex(k).Bool() })
		}
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		s.say("{%d ", len(keys))
		for _, k := range keys {
			s.say("%q:", k.String())
			s.write(v.MapIndex(k))
		}
	case reflect.String:
		s.say("%q ", v.String())
	default:
		s.say("%v ", v)
	}
}

// fields writes a struct. An optional value that was left out is like null.
func (s *same) fields(v reflect.Value) {
	if v.Type().Implements(optionalType) {
		if v.Field(0).Bool() && !v.Field(1).Bool() {
			s.write(v.Field(2))
		} else {
			s.say("-")
		}
		return
	}
	s.say("{")
	for i := range v.NumField() {
		s.say("%s:", v.Type().Field(i).Name)
		s.write(v.Field(i))
	}
	s.say("}")
}

// special writes the types whose parts do not tell what they mean.
func (s *same) special(v any) bool {
	switch v := v.(type) {
	case value.Unknown:
	case value.Scalar:
		s.say("%q:", v.Name)
		s.write(reflect.ValueOf(v.Value))
	case value.Scalars:
		v = slices.Clone(v)
		slices.SortFunc(v, func(a, b value.Scalar) int { return cmp.Compare(a.Name, b.Name) })
		s.write(reflect.ValueOf([]value.Scalar(v)))
	case value.Value:
		s.say("%s ", canonical(v).AppendJSON(nil, true))
	case json.RawMessage:
		parsed, _ := value.Parse(v) // it was parsed before
		s.special(parsed)
	case value.File:
		s.file(v)
	default:
		t := reflect.TypeOf(v)
		if t.Kind() != reflect.Slice || t.Elem() != reflect.TypeFor[value.Scalar]() || t == reflect.TypeFor[[]value.Scalar]() {
			return false
		}
		s.special(reflect.ValueOf(v).Convert(reflect.TypeFor[value.Scalars]()).Interface())
	}
	return true
}

func (s *same) file(f value.File) {
	s.say("%q %d ", f.Name, f.Size)
	if !f.Sent() {
		return
	}
	src, err := f.Open()
	if err == nil {
		defer src.Close()
		_, err = io.Copy(s, src)
	}
	if s.err == nil {
		s.err = err
	}
}

// canonical trims strings and writes every number one way.
func canonical(v value.Value) value.Value {
	v = v.Trimmed()
	switch v.Kind {
	case value.KindNumber:
		if n, ok := v.Integer(); ok {
			v.Digits = fmt.Sprint(n)
		}
	case value.KindFile:
		v.Kind = value.KindString
	case value.KindArray:
		for i := range v.Items {
			v.Items[i] = canonical(v.Items[i])
		}
	case value.KindObject:
		for i := range v.Members {
			v.Members[i].Value = canonical(v.Members[i].Value)
		}
	}
	return v
}
