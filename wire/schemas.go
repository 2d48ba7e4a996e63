package wire

import (
	"reflect"
	"slices"
	"strconv"
)

// schemas collects the named schemas of a document.
type schemas struct {
	named map[string]any
	types map[string]reflect.Type
}

// field is the schema of an input field with its rules.
func (s *schemas) field(f *field) object {
	o := s.input(f.typ)
	ruled(o, f.rules, f.typ.kind)
	if items, ok := o["items"].(object); ok && len(f.each) > 0 {
		ruled(items, f.each, f.typ.elem.kind)
	}
	if f.null {
		o["type"] = nullable(o["type"])
		if set, ok := o["enum"].([]any); ok {
			o["enum"] = append(set, nil)
		}
	}
	if f.def != nil {
		o["default"] = f.def.JSON()
	}
	if len(f.modes) > 0 {
		o["x-modes"] = f.modes
	}
	if f.doc != "" && f.from == fromBody {
		o["description"] = f.doc
	}
	for k, v := range o {
		if v == nil {
			delete(o, k)
		}
	}
	return o
}

func nullable(t any) any {
	switch t := t.(type) {
	case string:
		return []string{t, "null"}
	case []string:
		if !slices.Contains(t, "null") {
			return append(t, "null")
		}
	}
	return t
}

func (s *schemas) input(t *typ) object {
	if d, ok := reflect.New(orAny(t.t)).Interface().(Schemed); ok {
		return clone(d.JSONSchema())
	}
	if o, ok := s.inputVariants(orAny(t.t)); ok {
		return o
	}
	switch t.kind {
	case kString:
		return object{"type": "string"}
	case kInt:
		return object{"type": "integer", "format": "int64"}
	case kNumber, kMoney:
		return object{"type": "number"}
	case kBool:
		return object{"type": "boolean"}
	case kSlice:
		return object{"type": "array", "items": s.input(t.elem)}
	case kMap:
		return object{"type": "object", "additionalProperties": s.input(t.elem)}
	case kStruct:
		return s.body(t.plan, fromBody)
	case kRef:
		return object{"type": []string{"integer", "string"}, "description": "Id or uuid."}
	case kFile:
		return object{"type": "string", "contentMediaType": "application/octet-stream"}
	}
	return object{}
}

func orAny(t reflect.Type) reflect.Type {
	if t == nil || t.Kind() == reflect.Interface {
		return reflect.TypeFor[struct{}]()
	}
	return t
}

func clone(m map[string]any) object {
	out := object{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

var formats = map[string]string{"url": "uri", "email": "email", "uuid": "uuid", "date": "date"}

// ruled writes rules as keywords of the schema.
func ruled(o object, rs rules, k kind) {
	lo, hi := "minimum", "maximum"
	switch k {
	case kString:
		lo, hi = "minLength", "maxLength"
	case kSlice:
		lo, hi = "minItems", "maxItems"
	case kMap, kCustom:
		lo, hi = "minProperties", "maxProperties"
	case kFile:
		lo, hi = "", ""
	}
	for _, r := range rs {
		switch r.name {
		case "min":
			set(o, lo, r.num)
		case "max":
			set(o, hi, r.num)
		case "between":
			set(o, lo, r.num)
			set(o, hi, r.num2)
		case "in":
			list := []any{}
			for _, v := range r.set {
				if n, err := strconv.ParseInt(v, 10, 64); err == nil && k == kInt {
					list = append(list, n)
					continue
				}
				list = append(list, v)
			}
			o["enum"] = list
		case "pattern":
			o["pattern"] = r.re.String()
		case "e164":
			o["pattern"] = e164.String()
		case "clock":
			o["pattern"] = clockTime.String()
		case "distinct":
			if k == kSlice {
				o["uniqueItems"] = true
			}
		}
		if f, ok := formats[r.name]; ok {
			o["format"] = f
		}
	}
}

func set(o object, key string, n float64) {
	if key != "" {
		o[key] = n
	}
}
