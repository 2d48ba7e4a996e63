package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"parley/value"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

type shelf struct {
	ID      int64           `json:"id"`
	Kind    string          `json:"kind" rule:"oneof=a|b"`
	Owner   *person         `json:"owner"`
	Made    value.Time      `json:"made"`
	Gone    value.Time      `json:"gone" rule:"null"`
	Price   value.Money     `json:"price"`
	Books   []book          `json:"books"`
	Notes   map[string]any  `json:"notes"`
	Answer  json.RawMessage `json:"answer"`
	Comment string          `json:"comment,omitempty"`
}

type person struct {
	Name string `json:"name" doc:"As on the passport."`
}

type book struct {
	Title string `json:"title"`
	Shelf *shelf `json:"shelf,omitempty"`
}

func TestOpenAPI(t *testing.T) {
	routes := Section("Things", "read", "write",
		On(plain, "PUT /things/{id}", 200, func(context.Context, *thingIn) (Page[shelf], error) { return Page[shelf]{}, nil },
			Alias("PATCH /things/{id}"), func(r *Route) { r.Summary = "Change a thing" }, Idempotent()),
		On(chatty, "GET /things", 200, func(context.Context, *struct{ Paging }) ([]shelf, error) { return nil, nil }, KeyOptional()),
		Stream(coded, "GET /things.csv", "text/csv", func(context.Context, *struct{}, http.ResponseWriter) error { return nil }, Keyless()))
	got := OpenAPI(Document{Title: "t", Version: "1", Base: "/api", Hooks: []Hook{Sends[person]("person.born", "A person is born.")}}, routes)
	if *update {
		if err := os.WriteFile("testdata/openapi.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile("testdata/openapi.json"); err != nil || string(want) != string(got) {
		t.Errorf("testdata/openapi.json differs (%v); go test ./wire -update rewrites it", err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(got)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	for _, op := range []string{"put_things_id", "get_things", "get_things_csv"} {
		if !contains(doc, op) {
			t.Errorf("no operation %s", op)
		}
	}
}

func contains(doc *openapi3.T, id string) bool {
	for _, p := range doc.Paths.Map() {
		for _, op := range p.Operations() {
			if op.OperationID == id {
				return true
			}
		}
	}
	return false
}
