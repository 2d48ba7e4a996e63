package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/fault"
)

// Document is what an OpenAPI document says beside its operations.
type Document struct {
	Title, Version, Description string
	Base                        string // path prefix of the operations
	Hooks                       []Hook
}

// Hook is a request that the server sends.
type Hook struct {
	Event, Summary string
	payload        reflect.Type
}

// Sends describes a webhook by its event and the type of its body.
func Sends[T any](event, summary string) Hook {
	return Hook{event, summary, reflect.TypeFor[T]()}
}

// Schemed is a type that describes itself in JSON Schema, for types whose JSON form does not follow from their fields.
type Schemed interface{ JSONSchema() map[string]any }

type object = map[string]any

// Section names a group of routes.
func Section(name string, routes ...Route) []Route {
	for i := range routes {
		routes[i].section = name
	}
	return routes
}

// OpenAPI writes the OpenAPI 3.1 document of the routes.
func OpenAPI(d Document, routes []Route) []byte {
	s := &schemas{named: map[string]any{}, types: map[string]reflect.Type{}}
	paths, tags := object{}, []any{}
	for i := range routes {
		r := &routes[i]
		if r.hidden {
			continue
		}
		if tag := (object{"name": r.section}); !slices.ContainsFunc(tags, func(t any) bool { return t.(object)["name"] == r.section }) {
			tags = append(tags, tag)
		}
		at, ok := paths[r.Path].(object)
		if !ok {
			at = object{}
			paths[r.Path] = at
		}
		at[strings.ToLower(r.Method)] = s.operation(r)
	}
	hooks := object{}
	for _, h := range d.Hooks {
		hooks[h.Event] = object{"post": object{"summary": h.Summary,
			"requestBody": object{"content": jsonOf(s.out(h.payload))},
			"responses":   object{"2XX": object{"description": "Received."}}}}
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": d.Title, "version": d.Version, "description": d.Description,
			"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"}},
		"servers": []any{object{"url": d.Base}}, "tags": tags, "paths": paths, "webhooks": hooks,
		"components": object{"schemas": s.named,
			"securitySchemes": object{"key": object{"type": "http", "scheme": "bearer", "description": "API key: <id>|<secret>."}}},
	}
	return indented(doc)
}

// indented writes keys sorted and one per line, so that a change of the document reads well.
func indented(doc object) []byte {
	b, err := Marshal(doc)
	if err != nil {
		panic(err) // built from maps
	}
	var v any
	if err = json.Unmarshal(b, &v); err != nil {
		panic(err) // written by Marshal
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err = e.Encode(v); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// schemas collects the named schemas of a document.
type schemas struct {
	named map[string]any
	types map[string]reflect.Type
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9]+`)

// OperationID is the route's name in the document: put_assistant_id for PUT /user/assistant/{id}.
func (r *Route) OperationID() string {
	path := strings.TrimPrefix(r.Path, "/user")
	return strings.ToLower(r.Method) + strings.TrimRight(notWord.ReplaceAllString("_"+path, "_"), "_")
}

func (s *schemas) operation(r *Route) object {
	op := object{"operationId": r.OperationID(), "tags": []string{r.section}, "responses": s.responses(r)}
	if r.Summary != "" {
		op["summary"] = r.Summary
	}
	if len(r.Aliases) > 0 {
		op["x-aliases"] = r.Aliases
	}
	switch r.auth {
	case withKey:
		op["security"] = []any{object{"key": []string{}}}
	case keyOptional:
		op["security"] = []any{object{}, object{"key": []string{}}}
	default:
		op["security"] = []any{}
	}
	if params := s.parameters(r); len(params) > 0 {
		op["parameters"] = params
	}
	if body := s.body(r.plan, fromBody); body != nil && r.Method != "GET" && r.Method != "DELETE" {
		demanded := append(required(r.plan, fromBody), r.require...)
		if len(demanded) > 0 {
			body["required"] = demanded
		}
		content := jsonOf(body)
		if r.multipart {
			content["multipart/form-data"] = object{"schema": body}
		}
		op["requestBody"] = object{"content": content, "required": len(demanded) > 0}
	}
	return op
}

func jsonOf(schema any) object { return object{"application/json": object{"schema": schema}} }

func (s *schemas) parameters(r *Route) []any {
	var out []any
	for _, f := range r.plan.fields {
		if f.from == fromBody || f.from == fromPath && !r.has(f.name) {
			continue
		}
		p := object{"name": f.name, "in": "query", "schema": s.field(f)}
		if f.from == fromPath {
			p["in"], p["required"] = "path", true
		} else if f.required {
			p["required"] = true
		}
		if f.doc != "" {
			p["description"] = f.doc
		}
		out = append(out, p)
	}
	if r.idempotent {
		out = append(out, object{"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "maxLength": 255}})
	}
	return out
}

// has reports whether the path names such a segment; routes may share an input of which only some have it.
func (r *Route) has(name string) bool { return strings.Contains(r.Path, "{"+name+"}") }

func required(p *plan, from source) []string {
	var out []string
	for _, f := range p.fields {
		if f.required && f.from == from {
			out = append(out, f.name)
		}
	}
	return out
}

// body is the schema of the input fields of one source, nil when there are none.
func (s *schemas) body(p *plan, from source) object {
	props := object{}
	for _, f := range p.fields {
		if f.from == from {
			props[f.name] = s.field(f)
		}
	}
	if len(props) == 0 {
		return nil
	}
	o := object{"type": "object", "properties": props}
	if names := required(p, from); len(names) > 0 {
		o["required"] = names
	}
	return o
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

// responses are the success and, as default, every failure in the area's shape.
func (s *schemas) responses(r *Route) object {
	ok := object{"description": http.StatusText(r.Status)}
	switch {
	case r.stream != nil:
		ok["content"] = object{r.produces: object{"schema": object{"type": "string"}}}
	default:
		ok["content"] = jsonOf(s.out(r.out))
	}
	failures := []any{s.out(reflect.TypeFor[Message]())}
	if r.Area.Shape != nil {
		shape := reflect.TypeOf(r.Area.Shape(&fault.Fault{}))
		if shape != reflect.TypeFor[Message]() {
			failures = append(failures, s.structure(shape))
		}
	}
	if r.Area.Fields {
		failures = append(failures, s.validation())
	}
	return object{strconv.Itoa(r.Status): ok,
		"default": object{"description": "Failure", "content": jsonOf(object{"anyOf": failures})}}
}

func (s *schemas) validation() object {
	s.named["ValidationErrors"] = object{"type": "object", "required": []string{"message", "errors"}, "properties": object{
		"message": object{"type": "string"},
		"errors": object{"type": "object", "minProperties": 1,
			"additionalProperties": object{"type": "array", "items": object{"type": "string"}, "minItems": 1}}}}
	return object{"$ref": "#/components/schemas/ValidationErrors"}
}

// out is the schema of a type in an answer.
func (s *schemas) out(t reflect.Type) object {
	switch {
	case t.Kind() == reflect.Pointer:
		return orNull(s.out(t.Elem()))
	case t.Implements(optionalType):
		return orNull(s.out(reflect.Zero(t).Interface().(optional).optType()))
	case t == reflect.TypeFor[Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[DateTime]():
		return object{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$`}
	case t == reflect.TypeFor[Money]():
		return object{"type": "number"}
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return object{}
	}
	if d, ok := reflect.New(t).Interface().(Schemed); ok {
		return clone(d.JSONSchema())
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
		return outKindOf(reflect.Zero(t).Interface().(optional).optType())
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

// Route finds the route that serves a request, for tests and tools.
func (s *Server) Route(method, path string) (Route, error) {
	rest, ok := strings.CutPrefix(path, s.cfg.Base+"/")
	var methods []string
	if ok {
		if r, _ := s.tree.match(method, segments(rest), nil, &methods); r != nil {
			return *r, nil
		}
	}
	return Route{}, fmt.Errorf("no route for %s %s", method, path)
}
