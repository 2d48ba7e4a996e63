package wire

import (
	"context"
	"net/http"
	"net/url"
	"parley/value"
	"strings"
)

// Keyed reports whether the route always needs a credential.
func (r Route) Keyed() bool { return r.auth == withKey }

// Arguments is the JSON Schema of everything the route takes, path, query and body in one object.
func (r Route) Arguments() map[string]any {
	s := &schemas{named: map[string]any{}}
	props, demanded := object{}, []string{}
	for _, from := range []source{fromBody, fromQuery, fromPath} {
		for _, f := range r.plan.fields {
			if f.from != from || from == fromBody && !r.takesBody() || from == fromPath && !r.has(f.name) {
				continue
			}
			p := s.field(f)
			if f.doc != "" {
				p["description"] = f.doc
			}
			props[f.name] = p
			if f.required || from == fromPath {
				demanded = append(demanded, f.name)
			}
		}
	}
	o := object{"type": "object", "properties": props}
	if demanded = append(demanded, r.require...); len(demanded) > 0 {
		o["required"] = demanded
	}
	return o
}

func (r Route) takesBody() bool {
	return r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch
}

// Request makes the HTTP request that carries such arguments.
func (r Route) Request(ctx context.Context, base string, arguments []byte) (*http.Request, error) {
	args, err := value.ParseObject(arguments)
	if err != nil {
		_, err = bodyFault(value.Value{}, err)
		return nil, err
	}
	path, query, body := base+r.Path, url.Values{}, value.Value{Kind: value.KindObject}
	for _, m := range args.Members {
		switch r.plan.sourceOf(m.Key) {
		case fromPath:
			path = strings.Replace(path, "{"+m.Key+"}", url.PathEscape(m.Value.Text()), 1)
		case fromQuery:
			query.Set(m.Key, m.Value.Text())
		default:
			body.Members = append(body.Members, m)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, path, strings.NewReader(string(body.JSON())))
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

func (p *plan) sourceOf(name string) source {
	at := fromBody
	for _, f := range p.fields {
		if f.name == name && f.from > at {
			at = f.from
		}
	}
	return at
}
