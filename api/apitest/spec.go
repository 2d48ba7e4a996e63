package apitest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"parley/api"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// spec is the OpenAPI document, ready to check answers.
type spec struct {
	loose, strict *jsonschema.Compiler // strict: an object has no keys but the documented ones
	mu            sync.Mutex
	compiled      map[string]*jsonschema.Schema
}

var specs sync.Map // document → *spec: one per process, compiling takes longer than the tests

func newSpec(t testing.TB, document []byte) *spec {
	t.Helper()
	if s, ok := specs.Load(string(document)); ok {
		return s.(*spec)
	}
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatalf("the OpenAPI document is not valid: %v", err)
	}
	s := &spec{compiled: map[string]*jsonschema.Schema{}}
	for _, strict := range []bool{false, true} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if strict {
			tighten(v)
			s.strict = c
		} else {
			s.loose = c
		}
		if err := c.AddResource("openapi.json", v); err != nil {
			t.Fatal(err)
		}
	}
	specs.Store(string(document), s)
	return s
}

// tighten forbids undocumented keys in every object schema.
func tighten(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, isObject := v["properties"].(map[string]any)
		if _, open := v["additionalProperties"]; isObject && !open && v["type"] != nil {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			tighten(inner)
		}
	case []any:
		for _, inner := range v {
			tighten(inner)
		}
	}
}

// check compares an answer with what its route documents.
func (s *spec) check(a *api.API, r *http.Request, got Answer) error {
	method := r.Method
	if method == http.MethodHead || method == http.MethodOptions || got.Status == http.StatusSwitchingProtocols {
		return nil
	}
	route, err := a.Route(method, r.URL.EscapedPath())
	if err != nil || route.Undocumented() {
		return nil // an unknown route, or one outside the document
	}
	if kind := got.Header.Get("Content-Type"); kind != "application/json" {
		if strings.HasPrefix(route.Produces(), strings.Split(kind, ";")[0]) && kind != "" {
			return nil
		}
		return fmt.Errorf("content type %q", kind)
	}
	compiler, status, kind := s.strict, fmt.Sprint(route.Status), "strict"
	if got.Status != route.Status {
		compiler, status, kind = s.loose, "default", "loose"
		if got.Status < 400 {
			return fmt.Errorf("status %d is not documented, %d is", got.Status, route.Status)
		}
	}
	schema, err := s.compile(compiler, kind, fmt.Sprintf("openapi.json#/paths/%s/%s/responses/%s/content/application~1json/schema",
		strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(route.Path), strings.ToLower(route.Method), status))
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(got.Body))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

func (s *spec) compile(c *jsonschema.Compiler, kind, pointer string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema := s.compiled[kind+pointer]; schema != nil {
		return schema, nil
	}
	schema, err := c.Compile(pointer)
	if err == nil {
		s.compiled[kind+pointer] = schema
	}
	return schema, err
}
