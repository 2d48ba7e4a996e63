package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/fault"
	"parley/value"
)

// Document is what an OpenAPI document says beside its operations.
type Document struct {
	Title, Version, Description string
	Base                        string // path prefix of the operations
	Hooks                       []Hook
	Fields                      Fields
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

// Section names a group of routes and what their senders must be allowed: read for what changes nothing, change for the
// others, unless a route says what it needs itself.
func Section[R ~string](name string, read, change R, routes ...Route) []Route {
	for i := range routes {
		r := &routes[i]
		r.section = name
		switch {
		case r.right != "":
		case r.Method == http.MethodGet:
			r.right = string(read)
		default:
			r.right = string(change)
		}
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
	return indented(doc, d.Fields)
}

// indented adds the words of fields and writes keys sorted and one per line, so that a change of the document reads well.
func indented(doc object, words Fields) []byte {
	b, err := value.Marshal(doc)
	if err != nil {
		panic(err) // built from maps
	}
	var v object
	if err = json.Unmarshal(b, &v); err != nil {
		panic(err) // written by value.Marshal
	}
	words.describe(v)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err = e.Encode(v); err != nil {
		panic(err)
	}
	return out.Bytes()
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
	if r.Description != "" {
		op["description"] = r.Description
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
