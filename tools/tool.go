// Package tools holds the customers' own mid-call tools: HTTP endpoints a model may call during a conversation.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/ids"
	"parley/ssrf"
	"parley/value"
)

// ID names a tool.
type ID = ids.Tool

// Tool is a stored definition.
type Tool struct {
	ID                   ID
	Owner                accounts.ID
	CreatedAt, UpdatedAt time.Time
	Definition
}

// Definition is what a tool does. Texts may hold placeholders.
type Definition struct {
	Name        string // the function name the model sees
	Description string
	Endpoint    string
	Method      string // GET, POST, PUT, PATCH, DELETE
	BodyFormat  string // json or form
	Timeout     int64  // seconds
	Headers     []Header
	Static      []Static
	Params      []Param
}

// Header is sent with every request.
type Header struct {
	Name  string `json:"name" rule:"required max=255"`
	Value string `json:"value" rule:"required max=2048" trim:"no"`
}

// Bind reads the header and checks what tags cannot say.
func (h *Header) Bind(b value.Binder, v value.Value) {
	type plain Header
	if !v.IsObject() {
		b.Fail("array")
		return
	}
	b.Read(v, (*plain)(h))
	switch {
	case forbidden.MatchString(h.Name):
		b.At("name").Fail("in")
	case h.Name != "" && !httpToken.MatchString(h.Name):
		b.At("name").Fail("pattern")
	}
	if lineBreaks.MatchString(h.Value) {
		b.At("value").Fail("pattern")
	}
}

// Static is a field sent with every request beside the parameters.
type Static struct {
	Key   string `json:"key" rule:"required max=255"`
	Value any    `json:"value" rule:"required"`
}

// Bind reads the field and checks what tags cannot say.
func (f *Static) Bind(b value.Binder, v value.Value) {
	type plain Static
	if !v.IsObject() {
		b.Fail("array")
		return
	}
	b.Read(v, (*plain)(f))
	switch value := f.Value.(type) {
	case map[string]any, []any:
		b.At("value").Fail("scalar")
	case string:
		if len([]rune(value)) > 4000 {
			b.At("value").Fail("max.string", "4000")
		}
	}
}

// Param is an argument the model gives.
type Param struct {
	Name        string `json:"name" rule:"required pattern=^[A-Za-z_][A-Za-z0-9_]{1,31}$ distinct"`
	Type        string `json:"type" rule:"required oneof=string|number|float|integer|boolean"`
	Description string `json:"description" rule:"required min=3 max=255"`
	Required    bool   `json:"required" default:"true"`
}

// Change is the input of create and update; what is absent stays.
type Change struct {
	Name        value.Opt[string]   `json:"name" rule:"pattern=^[A-Za-z_][A-Za-z0-9_]{0,63}$" say:"pattern: Tool name must contain only letters, numbers and underscores, and start with a letter or underscore."`
	Description value.Opt[string]   `json:"description" rule:"max=255"`
	Endpoint    value.Opt[string]   `json:"endpoint"`
	Method      value.Opt[string]   `json:"method" rule:"oneof=GET|POST|PUT|PATCH|DELETE"`
	BodyFormat  value.Opt[string]   `json:"body_format" rule:"oneof=json|form"`
	Timeout     value.Opt[int64]    `json:"timeout" rule:"min=1 max=30"`
	Headers     value.Opt[[]Header] `json:"headers" rule:"max=20" trim:"no"` // white space of a value stays
	Static      value.Opt[[]Static] `json:"static_fields" rule:"max=20"`
	Params      value.Opt[[]Param]  `json:"schema" rule:"max=30"`
}

// Over is the definition after the change.
func (c Change) Over(d Definition) Definition {
	d.Name, d.Description, d.Endpoint = c.Name.Or(d.Name), c.Description.Or(d.Description), c.Endpoint.Or(d.Endpoint)
	d.Method, d.BodyFormat, d.Timeout = c.Method.Or(d.Method), c.BodyFormat.Or(d.BodyFormat), c.Timeout.Or(d.Timeout)
	d.Headers, d.Static, d.Params = c.Headers.Or(d.Headers), c.Static.Or(d.Static), c.Params.Or(d.Params)
	return d
}

// Definition is a new tool of this change alone, with defaults for what is absent.
func (c Change) Definition() Definition { return c.Over(blank()) }

// Meant is the new tool of this change.
func (c Change) Meant() any { return c.Definition() }

// blank is what an absent field of a new tool is.
func blank() Definition {
	return Definition{BodyFormat: "json", Timeout: 10, Headers: []Header{}, Static: []Static{}, Params: []Param{}}
}

// Schema is the JSON Schema of the arguments.
func (d Definition) Schema() json.RawMessage {
	kinds := map[string]string{"float": "number"}
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, p := range d.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		kind := p.Type
		if k, ok := kinds[kind]; ok {
			kind = k
		}
		description, _ := json.Marshal(p.Description)
		fmt.Fprintf(&b, `%q:{"type":%q,"description":%s}`, p.Name, kind, description)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	list, _ := json.Marshal(required)
	fmt.Fprintf(&b, `},"required":%s}`, list)
	return json.RawMessage(b.String())
}

// Box seals secrets at rest.
type Box interface {
	Seal([]byte) (string, error)
	Open(string) ([]byte, error)
}

// Tools is the room.
type Tools struct {
	db    *db.DB
	box   Box
	guard *ssrf.Guard
	limit Limit
}

// Limit is how many tools the account's plan allows, nil when there is no limit. Others that ask wait until the transaction
// ends, so that two creations cannot both count themselves in.
type Limit func(ctx context.Context, tx *db.Tx, owner accounts.ID) (*int64, error)

// New opens the room; a nil limit limits nobody.
func New(d *db.DB, box Box, g *ssrf.Guard, limit Limit) *Tools { return &Tools{d, box, g, limit} }
