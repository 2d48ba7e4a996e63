package wire

import (
	"encoding"
	"encoding/json"
	"parley/value"
	"reflect"
	"regexp"
	"strings"
)

// out is the schema of a type in an answer.
func (s *schemas) out(t reflect.Type) object {
	switch {
	case t.Kind() == reflect.Pointer:
		return orNull(s.out(t.Elem()))
	case t.Implements(optionalType):
		return orNull(s.out(reflect.Zero(t).Interface().(optional).Inner()))
	case t == reflect.TypeFor[value.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[value.DateTime]():
		return object{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$`}
	case t == reflect.TypeFor[value.Money]():
		return object{"type": "number"}
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return object{}
	}
	if d, ok := reflect.New(t).Interface().(Schemed); ok {
		return clone(d.JSONSchema())
	}
	if o, ok := s.outVariants(t); ok {
		return o
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return object{}
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}
	}
	return s.outKind(t)
}

func (s *schemas) outKind(t reflect.Type) object {
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string"}
		}
		return object{"type": "array", "items": s.out(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.out(t.Elem())}
	case reflect.Struct:
		return s.reference(t)
	}
	return object{"type": "integer", "format": "int64"}
}

func orNull(o object) object {
	if t, ok := o["type"]; ok {
		o["type"] = nullable(t)
		return o
	}
	if len(o) == 0 {
		return o
	}
	return object{"anyOf": []any{o, object{"type": "null"}}}
}

var packages = regexp.MustCompile(`[A-Za-z0-9_./-]*\.`)

// reference is a pointer to the named schema of a struct; anonymous structs stand where they are used.
func (s *schemas) reference(t reflect.Type) object {
	name := strings.Trim(notWord.ReplaceAllString(packages.ReplaceAllString(t.Name(), ""), "_"), "_")
	if name == "" {
		return s.structure(t)
	}
	if other, taken := s.types[name]; taken && other != t {
		path := strings.Split(t.PkgPath(), "/")
		name = strings.ToUpper(path[len(path)-1][:1]) + path[len(path)-1][1:] + name
	}
	if _, done := s.types[name]; !done {
		s.types[name] = t
		s.named[name] = s.structure(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (s *schemas) structure(t reflect.Type) object {
	props, names := object{}, []string{}
	s.members(t, props, &names)
	o := object{"type": "object", "properties": props}
	if len(names) > 0 {
		o["required"] = names
	}
	return o
}

func (s *schemas) members(t reflect.Type, props object, names *[]string) {
	for sf := range fieldsOf(t) {
		tag, tagged := sf.Tag.Lookup("json")
		name, opts, _ := strings.Cut(tag, ",")
		if sf.Anonymous && name == "" {
			inner := sf.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			s.members(inner, props, names)
			continue
		}
		if name == "-" || !sf.IsExported() || !tagged {
			continue
		}
		f := &field{}
		f.read(sf.Tag, t.Name()+"."+sf.Name)
		o := s.out(sf.Type)
		if _, isRef := o["$ref"]; !isRef {
			ruled(o, f.rules, outKindOf(sf.Type))
		}
		if f.null {
			o = orNull(o)
		}
		if f.doc = sf.Tag.Get("doc"); f.doc != "" {
			o["description"] = f.doc
		}
		_, again := props[name] // of an embedded struct, which this field hides
		props[name] = o
		if !again && !strings.Contains(opts, "omitempty") && !strings.Contains(opts, "omitzero") {
			*names = append(*names, name)
		}
	}
}

func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func outKindOf(t reflect.Type) kind {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(optionalType) {
		return outKindOf(reflect.Zero(t).Interface().(optional).Inner())
	}
	switch t.Kind() {
	case reflect.String:
		return kString
	case reflect.Slice:
		return kSlice
	case reflect.Map:
		return kMap
	case reflect.Float64:
		return kNumber
	}
	return kInt
}
