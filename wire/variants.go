package wire

import (
	"reflect"

	"parley/value"
)

// varied is a list, or one element of it, whose "type" says which fields it has.
type varied interface{ Variants() []value.Variant }

// variants describes a varied type; each form is made by fields from its struct.
func variants(t reflect.Type, fields func(reflect.Type) object) (object, bool) {
	v, ok := reflect.New(t).Interface().(varied)
	if !ok {
		return nil, false
	}
	var forms []any
	for _, x := range v.Variants() {
		form := fields(reflect.TypeOf(x.Fields).Elem())
		form["title"] = x.Name
		form["properties"].(object)["type"] = object{"type": "string", "const": x.Name}
		forms = append(forms, form)
	}
	one := object{"oneOf": forms}
	if t.Kind() == reflect.Slice {
		return object{"type": "array", "items": one}, true
	}
	return one, true
}

// inputVariants: fields stand in the element, or below "data", so that none is demanded here.
func (s *schemas) inputVariants(t reflect.Type) (object, bool) {
	return variants(t, func(fields reflect.Type) object {
		form := s.body(planOf(fields), fromBody)
		form["required"], form["additionalProperties"] = []string{"type"}, true
		form["properties"].(object)["data"] = object{"type": "object", "description": "The same fields, nested."}
		return form
	})
}

// outVariants: fields stand in the element and below "data".
func (s *schemas) outVariants(t reflect.Type) (object, bool) {
	return variants(t, func(fields reflect.Type) object {
		form := s.structure(fields)
		form["properties"].(object)["data"] = s.reference(fields)
		form["required"] = append(form["required"].([]string), "type", "data")
		return form
	})
}
