package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
)

// TestSpecInConsole fails when what the console knows of the API is not what the OpenAPI document says: the types of answers
// and the bounds of an assistant's fields.
func TestSpecInConsole(t *testing.T) {
	made := api.New(api.Deps{}).OpenAPI()
	var doc struct {
		Components struct{ Schemas map[string]typed }
		Paths      map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema typed }
			}
		}
	}
	if err := json.Unmarshal(made, &doc); err != nil {
		t.Fatal(err)
	}
	update := doc.Paths["/user/assistant/{id}"]["put"].RequestBody.Content["application/json"].Schema
	apitest.Golden(t, "../console/openapi.d.ts", types(doc.Components.Schemas), "as the console uses it")
	apitest.Golden(t, "../console/app/bounds.ts", bounds(update.Properties), "as the console uses it")
}

// typed is what a JSON schema says that TypeScript can say too, and the bounds of a value.
type typed struct {
	Ref        string `json:"$ref"`
	Type       any    // a name, several, or nothing
	Const      any
	Enum       []any
	Properties map[string]typed
	Required   []string
	Items      *typed
	Additional any `json:"additionalProperties"`
	AnyOf      []typed
	OneOf      []typed
	Minimum    *json.Number
	Maximum    *json.Number
	MaxLength  *json.Number
	Modes      []any `json:"x-modes"`
}

// types writes the schemas as one interface, which the console imports types from.
func types(schemas map[string]typed) []byte {
	var out bytes.Buffer
	out.WriteString("// Written by go test ./api -update from the OpenAPI document.\nexport interface Schemas {\n")
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		fmt.Fprintf(&out, "  %s: %s\n", name, schemas[name].typescript("  "))
	}
	out.WriteString("}\n")
	return out.Bytes()
}

func (s typed) typescript(indent string) string {
	switch {
	case s.Ref != "":
		return "Schemas['" + s.Ref[strings.LastIndex(s.Ref, "/")+1:] + "']"
	case s.Const != nil:
		return literal(s.Const)
	case len(s.AnyOf)+len(s.OneOf) > 0:
		return union(slices.Concat(s.AnyOf, s.OneOf), func(one typed) string { return one.typescript(indent) })
	}
	kinds, several := s.Type.([]any)
	if !several {
		kinds = []any{s.Type}
	}
	return union(kinds, func(kind any) string { return s.as(kind, indent) })
}

// as is the type of the values of one kind.
func (s typed) as(kind any, indent string) string {
	switch {
	case kind == "null":
		return "null"
	case s.Enum != nil:
		return union(slices.DeleteFunc(slices.Clone(s.Enum), func(v any) bool { return v == nil }), literal)
	case kind == "integer":
		return "number"
	case kind == "array" && s.Items != nil:
		return "Array<" + s.Items.typescript(indent) + ">"
	case kind == "array":
		return "unknown[]"
	case kind == "object":
		return s.object(indent)
	case kind == nil:
		return "unknown"
	}
	return fmt.Sprint(kind)
}

func (s typed) object(indent string) string {
	if s.Properties == nil {
		return "{ [key: string]: " + s.values(indent) + " }"
	}
	var out strings.Builder
	out.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		fmt.Fprintf(&out, "%s  %s%s: %s\n", indent, key(name), mark, s.Properties[name].typescript(indent+"  "))
	}
	return out.String() + indent + "}"
}

// values is the type of an object's values when its keys are anybody's.
func (s typed) values(indent string) string {
	of, ok := s.Additional.(map[string]any)
	if !ok {
		return "unknown"
	}
	var value typed
	text, _ := json.Marshal(of)
	json.Unmarshal(text, &value)
	return value.typescript(indent)
}

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

func key(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return "'" + name + "'"
}

func literal(v any) string {
	if s, ok := v.(string); ok {
		return "'" + strings.ReplaceAll(s, "'", `\'`) + "'"
	}
	return fmt.Sprint(v)
}

func union[T any](of []T, write func(T) string) string {
	all := make([]string, len(of))
	for i, one := range of {
		all[i] = write(one)
	}
	return strings.Join(slices.Compact(all), " | ")
}

// bounds writes what may be put into each field that has any.
func bounds(fields map[string]typed) []byte {
	var out bytes.Buffer
	out.WriteString("// Written by go test ./api -update from the OpenAPI document: what a field of an assistant may be.\n" +
		"export type Bound = {\n  min?: number\n  max?: number\n  whole?: true\n  length?: number\n  options?: string[]\n" +
		"  modes?: string[] // those in which the field has an effect; none = all\n  empty?: true\n}\n\n" +
		"export const bounds: { [field: string]: Bound } = {\n")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if of := fields[name].bound(); of != "" {
			fmt.Fprintf(&out, "  %s: { %s },\n", name, of)
		}
	}
	out.WriteString("}\n")
	return out.Bytes()
}

func (s typed) bound() string {
	var all []string
	number := func(name string, of *json.Number) {
		if of != nil {
			all = append(all, name+": "+of.String())
		}
	}
	number("min", s.Minimum)
	number("max", s.Maximum)
	kinds := fmt.Sprint(s.Type)
	if s.Maximum != nil && strings.Contains(kinds, "integer") {
		all = append(all, "whole: true")
	}
	number("length", s.MaxLength)
	if s.Enum != nil {
		all = append(all, "options: ["+strings.ReplaceAll(union(s.Enum, literal), " | ", ", ")+"]")
	}
	if s.Modes != nil {
		all = append(all, "modes: ["+strings.ReplaceAll(union(s.Modes, literal), " | ", ", ")+"]")
	}
	if strings.Contains(kinds, "null") {
		all = append(all, "empty: true")
	}
	return strings.Join(all, ", ")
}
