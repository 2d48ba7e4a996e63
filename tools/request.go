package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"parley/placeholders"
)

// Conversation is what a call of a tool belongs to.
type Conversation struct {
	CallID         string // one of the two is set, none in a test
	ConversationID string
	Values         placeholders.Values // of placeholders
}

// shot is a request ready to be sent.
type shot struct {
	method, url string
	body        []byte // nil = none
	header      http.Header
}

// request puts arguments, static fields and placeholders where they belong.
func (d Definition) request(args []argument, c Conversation) shot {
	target, used := d.target(args, c.Values)
	fields := d.fields(args, used, c.Values)
	s := shot{method: d.Method, url: target, header: http.Header{}}
	s.header.Set("User-Agent", "parley-tools/1")
	s.header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.1")
	switch {
	case d.Method == http.MethodGet || d.Method == http.MethodDelete:
		s.url = addQuery(target, fields)
	case d.BodyFormat == "form":
		s.header.Set("Content-Type", "application/x-www-form-urlencoded")
		s.body = []byte(encode(fields))
	default:
		s.header.Set("Content-Type", "application/json")
		s.body = object(fields)
	}
	for _, h := range d.Headers {
		s.header.Set(h.Name, lineBreaks.ReplaceAllString(placeholders.Fill(h.Value, c.Values, placeholders.Spoken), " "))
	}
	if c.CallID != "" {
		s.header.Set("X-Call-Id", c.CallID)
	}
	if c.ConversationID != "" {
		s.header.Set("X-Conversation-Id", c.ConversationID)
	}
	return s
}

// target fills the endpoint. A parameter named in it goes there, URL-encoded, and nowhere else; so does a parameter that was
// left out. Other placeholders are encoded too, except in front of the path, where they are part of scheme and host.
func (d Definition) target(args []argument, v placeholders.Values) (target string, used map[string]bool) {
	used = map[string]bool{}
	front := len(d.Endpoint)
	if _, rest, ok := strings.Cut(d.Endpoint, "://"); ok {
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			front = len(d.Endpoint) - len(rest) + i
		}
	} else {
		front = 0
	}
	params := map[string]bool{}
	for _, p := range d.Params {
		params[p.Name] = true
	}
	return placeholders.Expand(d.Endpoint, func(name string, double bool, at int) (string, bool) {
		s := v[name]
		if params[name] && !double {
			used[name], s = true, ""
			for _, a := range args {
				if a.name == name {
					s = plain(a.value)
				}
			}
		} else if at < front {
			return s, true
		}
		return escape(s), true
	}), used
}

// escape is safe in a path segment and in a query.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// fields are the parameters, then the static fields, which win over a parameter of the same name.
func (d Definition) fields(args []argument, used map[string]bool, v placeholders.Values) []argument {
	fixed := map[string]bool{}
	for _, f := range d.Static {
		fixed[f.Key] = true
	}
	var out []argument
	for _, a := range args {
		if !used[a.name] && !fixed[a.name] {
			out = append(out, a)
		}
	}
	for _, f := range d.Static {
		value := f.Value
		if s, ok := value.(string); ok {
			value = placeholders.Fill(s, v, placeholders.Written)
		}
		out = append(out, argument{f.Key, value})
	}
	return out
}

func encode(fields []argument) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(f.name) + "=" + url.QueryEscape(plain(f.value)))
	}
	return b.String()
}

func addQuery(target string, fields []argument) string {
	if len(fields) == 0 {
		return target
	}
	target, fragment, _ := strings.Cut(target, "#")
	join := "?"
	if strings.Contains(target, "?") {
		join = "&"
		if strings.HasSuffix(target, "?") || strings.HasSuffix(target, "&") {
			join = ""
		}
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	return target + join + encode(fields) + fragment
}

// object writes the fields as a JSON object in their order.
func object(fields []argument) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(f.name)
		b.Write(name)
		b.WriteByte(':')
		if e.Encode(f.value) != nil {
			b.WriteString("null")
			continue
		}
		b.Truncate(b.Len() - 1) // Encode's line break
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (s shot) build(ctx context.Context) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, s.method, s.url, bytes.NewReader(s.body))
	if err != nil {
		return nil, err
	}
	if s.body == nil {
		r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	}
	r.Header = s.header
	return r, nil
}
