package api_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/db/dbtest"
)

// Every operation, parameter and field of the OpenAPI document says what it is, the simulator's included; what is written
// for none of them goes.
//
// Contract: 18.3
func TestEverythingIsDescribed(t *testing.T) {
	d := description{t: t, words: map[string]string{}, used: map[string]bool{}}
	written := regexp.MustCompile(`(?m)^(?:## (\S+ /\S*)|- ([\w.-]+): (.+))$`)
	for _, file := range []string{"operations.md", "fields.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range written.FindAllStringSubmatch(string(text), -1) {
			d.words[m[1]+m[2]] = m[3]
		}
	}
	d.read(api.New(api.Deps{}).OpenAPI())
	d.read(apitest.New(t, dbtest.SQLite(t)).API.OpenAPI())
	for name := range d.words {
		if !d.used[name] {
			t.Errorf("there are words for %s, which nothing needs", name)
		}
	}
}

type description struct {
	t     *testing.T
	words map[string]string // of fields; empty for an operation
	used  map[string]bool
}

type schema struct {
	Ref         string `json:"$ref"`
	Description string
	Properties  map[string]schema
	Items       *schema
	Additional  json.RawMessage `json:"additionalProperties"`
	AnyOf       []schema
	OneOf       []schema
}

func (d *description) read(document []byte) {
	d.t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID, Summary, Description string
			Parameters                        []struct{ Name, Description string }
			RequestBody                       struct {
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		d.t.Fatal(err)
	}
	if len(doc.Paths) < 90 {
		d.t.Errorf("%d paths", len(doc.Paths))
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			d.used[strings.ToUpper(method)+" "+path] = true
			if op.Summary == "" || op.Description == "" {
				d.t.Errorf("operations.md has no words for %s %s", strings.ToUpper(method), path)
			}
			for _, p := range op.Parameters {
				d.field(op.OperationID, p.Name, p.Description)
			}
			for _, c := range op.RequestBody.Content {
				d.schema(op.OperationID, c.Schema)
			}
		}
	}
	for name, s := range doc.Components.Schemas {
		d.schema(name, s)
	}
}

func (d *description) field(record, name, words string) {
	for _, at := range []string{record + "." + name, name} {
		if d.words[at] == words {
			d.used[at] = true
		}
	}
	if words == "" {
		d.t.Errorf("fields.md has no words for %s (of %s)", name, record)
	}
}

func (d *description) schema(record string, s schema) {
	for name, p := range s.Properties {
		d.field(record, name, p.Description)
		d.schema(record, p)
	}
	if s.Items != nil {
		d.schema(record, *s.Items)
	}
	var more schema
	if json.Unmarshal(s.Additional, &more) == nil {
		d.schema(record, more)
	}
	for _, some := range slices.Concat(s.AnyOf, s.OneOf) {
		d.schema(record, some)
	}
}
