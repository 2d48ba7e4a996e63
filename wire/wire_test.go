package wire

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/fault"
	"parley/value"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	goleak.VerifyTestMain(m)
}

var (
	plain = Area{Name: "plain", Fields: true, Shape: func(f *fault.Fault) any { return Message{f.Message} }}
	coded = Area{Name: "coded", Fields: true, Says: "The given data was invalid.", Shape: func(f *fault.Fault) any {
		return struct {
			Success bool   `json:"success"`
			Error   string `json:"error"`
			Code    string `json:"error_code"`
		}{false, f.Message, f.Code}
	}}
	chatty = Area{Name: "chatty", Phrase: fault.Terse, Shape: func(f *fault.Fault) any {
		return struct {
			Status bool   `json:"status"`
			Error  string `json:"error"`
		}{false, f.Message}
	}}
)

type thingIn struct {
	ID     int64                `path:"id"`
	Name   value.Opt[string]    `json:"name" rule:"max=5"`
	Speed  value.Opt[float64]   `json:"speed" rule:"min=0.7 max=1.2"`
	Number value.Opt[int64]     `json:"number_id" rule:"null"`
	Kind   string               `json:"kind" rule:"oneof=a|b" default:"a"`
	Tags   value.Opt[[]string]  `json:"tags" each:"oneof=x|y" rule:"max=3 distinct"`
	Rows   []rowIn              `json:"rows" rule:"max=2"`
	Vars   value.Scalars        `json:"variables" rule:"max=2"`
	Prompt value.Opt[string]    `json:"prompt" trim:"no"`
	URL    value.Opt[string]    `json:"webhook_url" rule:"url null required_if=is_active:true"`
	Active value.Opt[bool]      `json:"is_active"`
	Ref    value.Opt[value.Ref] `json:"assistant_id"`
	Range  value.Opt[int64]     `json:"range" rule:"min=1"`
	Day    value.Opt[string]    `json:"day" rule:"date"`
	Code   value.Opt[string]    `json:"code" rule:"pattern=^[a-z]+$" say:"pattern: Letters only."`
	Extra  value.Unknown        `json:"-"`
	Free   map[string]any       `json:"free"`
}

type rowIn struct {
	Name  string            `json:"name" rule:"required min=3 max=16 distinct"`
	Value value.Opt[string] `json:"value" trim:"no"`
}

func testServer(t *testing.T, cfg Config, routes ...Route) func(req string, header ...string) (int, string, http.Header) {
	t.Helper()
	cfg.Base = "/api"
	s := NewServer(cfg, routes)
	return func(req string, header ...string) (int, string, http.Header) {
		line, body, _ := strings.Cut(req, "\n")
		method, path, _ := strings.Cut(line, " ")
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		for _, h := range header {
			k, v, _ := strings.Cut(h, ": ")
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Body.String(), w.Header()
	}
}

// TestValidation checks coercion, null and every sentence, in the order of the fields.
//
// Contract: 1.4 1.5 1.10
func TestValidation(t *testing.T) {
	var got thingIn
	do := testServer(t, Config{Aliases: map[string]string{"vendor_name": "name"}},
		On(plain, "PUT /things/{id}", 200, func(_ context.Context, in *thingIn) (Message, error) {
			got = *in
			return Message{"ok"}, nil
		}, Find(func(_ context.Context, in *thingIn) error {
			if in.ID != 1 {
				return fault.New(fault.NotFound, "", "No thing.")
			}
			return nil
		})))
	for _, c := range []struct{ body, want string }{
		{`{"name":"  abcde "}`, ``},
		{`{"name":"abcdef"}`, `name: The name field must not be greater than 5 characters.`},
		{`{"name":null}`, `name: The name field must be a string.`},
		{`{"name":" "}`, `name: The name field must be a string.`},
		{`{"name":7}`, `name: The name field must be a string.`},
		{`{"name":"a\u0000"}`, `name: The name field must be a string.`},
		{`{"vendor_name":"abcdef"}`, `name: The name field must not be greater than 5 characters.`},
		{`{"speed":1.3}`, `speed: The speed field must be between 0.7 and 1.2.`},
		{`{"speed":"1.1"}`, ``},
		{`{"speed":"NaN"}`, `speed: The speed field must be a number.`},
		{`{"number_id":"12"}`, ``},
		{`{"number_id":1.0}`, ``},
		{`{"number_id":1e2}`, ``},
		{`{"number_id":1.5}`, `number_id: The number id field must be an integer.`},
		{`{"number_id":92233720368547758070}`, `number_id: The number id field must be an integer.`},
		{`{"number_id":true}`, `number_id: The number id field must be an integer.`},
		{`{"number_id":null}`, ``},
		{`{"kind":"c"}`, `kind: The selected kind is invalid.`},
		{`{"tags":["x","z"]}`, `tags.1: The selected tags.1 is invalid.`},
		{`{"tags":["x","y","x"]}`, `tags.2: The tags.2 field has a duplicate value.`},
		{`{"tags":["x","x","z"]}`, `tags.1: The tags.1 field has a duplicate value. | tags.2: The selected tags.2 is invalid.`},
		{`{"tags":["x","y","x","y"]}`, `tags: The tags field must not have more than 3 items.`},
		{`{"tags":{}}`, `tags: The tags field must be an array.`},
		{`{"rows":[{"name":"ab"},{}]}`, `rows.0.name: The rows.0.name field must be between 3 and 16 characters. | rows.1.name: The rows.1.name field is required.`},
		{`{"rows":[{"name":"abc"},{"name":" abc "}]}`, `rows.1.name: The rows.1.name field has a duplicate value.`},
		{`{"rows":[1]}`, `rows.0: The rows.0 field must be an array.`},
		{`{"variables":[]}`, ``},
		{`{"variables":{"a":[1]}}`, `variables.a: The variables.a field must be a string, number or boolean.`},
		{`{"variables":{"a":1,"b":2,"c":3}}`, `variables: The variables field must not have more than 2 items.`},
		{`{"is_active":"1"}`, `webhook_url: The webhook url field is required when is active is true.`},
		{`{"is_active":2}`, `is_active: The is active field must be true or false.`},
		{`{"webhook_url":"ftp://x"}`, `webhook_url: The webhook url field must be a valid URL.`},
		{`{"webhook_url":""}`, ``},
		{`{"assistant_id":"5d1c3c1e-1111-4a8f-9C43-9a3a3f0f2d11"}`, ``},
		{`{"assistant_id":"seven"}`, `assistant_id: The assistant id field must be an integer.`},
		{`{"range":0}`, `range: The range field must be at least 1.`},
		{`{"day":"2027-2-1"}`, `day: The day field must match the format Y-m-d.`},
		{`{"day":"2027-02-30"}`, `day: The day field must match the format Y-m-d.`},
		{`{"code":"A"}`, `code: Letters only.`},
		{`{"free":{"deep":{"x":["a\u0000"]}}}`, `free.deep.x.0: The free.deep.x.0 field must be a string.`},
		{`{"code":"A","name":7}`, `name: The name field must be a string. | code: Letters only.`}, // in table order
	} {
		status, body, _ := do("PUT /api/things/1\n" + c.body)
		if c.want == "" {
			if status != 200 {
				t.Errorf("%s: %d %s", c.body, status, body)
			}
			continue
		}
		if want := asErrors(c.want); status != 422 || body != want {
			t.Errorf("%s\n got %d %s\nwant %s", c.body, status, body, want)
		}
	}
	do("PUT /api/things/1\n" + `{"prompt":"  x ","rows":[{"name":" abc ","value":" v "}],"b":1,"a":2,"b":3,"assistant_id":"5d1c3c1e-1111-4a8f-9C43-9a3a3f0f2d11","free":{"x":" y ","z":""}}`)
	if got.Prompt.V != "  x " || got.Rows[0].Name != "abc" || got.Rows[0].Value.V != " v " || got.Kind != "a" ||
		len(got.Extra) != 2 || got.Extra[0].Key != "b" || got.Extra[0].Value.Text() != "3" || got.Extra[1].Key != "a" || got.Ref.V.UUID != "5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11" ||
		got.Free["x"] != "y" || got.Free["z"] != nil || got.Name.Set {
		t.Errorf("bound %+v", got)
	}
	for _, id := range []string{"2", "abc", "99999999999999999999", "-1", "1.0", "%00"} {
		status, body, _ := do("PUT /api/things/" + id + "\n" + `{"name":7}`)
		if status != 404 || body != `{"message":"No thing."}` {
			t.Errorf("id %s: %d %s", id, status, body)
		}
	}
}

// asErrors writes "field: sentence | field: sentence" as the plain area's answer.
func asErrors(list string) string {
	var parts []string
	first := ""
	for e := range strings.SplitSeq(list, " | ") {
		k, s, _ := strings.Cut(e, ": ")
		if first == "" {
			first = s
		}
		parts = append(parts, `"`+k+`":["`+s+`"]`)
	}
	switch {
	case len(parts) == 2:
		first += " (and 1 more error)"
	case len(parts) > 2:
		first += " (and 2 more errors)"
	}
	return `{"message":"` + first + `","errors":{` + strings.Join(parts, ",") + `}}`
}

type pingIn struct {
	Say  string `json:"message" rule:"required max=5"`
	Type string `json:"type" rule:"oneof=widget|test" default:"widget"`
}

// TestChecksInOrder sends requests that fail at each step.
//
// Contract: 1.1 1.2 1.8 1.9 1.12
func TestChecksInOrder(t *testing.T) {
	ping := func(_ context.Context, in *pingIn) (Message, error) {
		switch in.Say {
		case "boom":
			panic("boom")
		case "code":
			return Message{}, fault.New(fault.NeedsPayment, "POOR", "No <money> & such.")
		case "out":
			return Message{}, fault.Wrap(io.ErrUnexpectedEOF, "UNKNOWN", "It failed.")
		case "eof":
			return Message{}, io.ErrUnexpectedEOF
		}
		return Message{in.Say + in.Type}, nil
	}
	auth := func(r *http.Request) (context.Context, Who, error) {
		switch r.Header.Get("Authorization") {
		case "":
			return nil, Who{}, ErrNoCredential
		case "good":
			return r.Context(), Who{Key: "1", Account: 1}, nil
		}
		return nil, Who{}, fault.ErrUnauthenticated
	}
	do := testServer(t, Config{Authenticate: auth, BadKeys: NewWindow(2, time.Minute)},
		On(coded, "POST /ping", 200, ping, Limited(PerAccount(20, time.Minute))),
		On(coded, "GET /ping", 200, ping),
		On(chatty, "POST /chat", 201, ping, KeyOptional(), Alias("POST /talk")),
		On(plain, "DELETE /ping/{id}", 200, ping),
		On(plain, "GET /ping/{id}", 200, ping, Keyless()),
		On(plain, "GET /ping/new", 200, ping, Keyless()))
	big := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		req, auth, kind string
		status          int
		want            string
	}{
		{"GET /api/nope", "", "", 404, `{"message":"The route api/nope could not be found."}`},
		{"GET /nope", "", "", 404, `{"message":"The route nope could not be found."}`},
		{"PUT /api/ping/", "", "", 405, `{"message":"The PUT method is not supported for route api/ping. Supported methods: GET, HEAD, POST."}`},
		{"PUT /api/ping/new", "", "", 405, `{"message":"The PUT method is not supported for route api/ping/new. Supported methods: GET, HEAD."}`},
		{"DELETE /api/ping/new", "good", "", 405, `{"message":"The DELETE method is not supported for route api/ping/new. Supported methods: GET, HEAD."}`},
		{"POST /api/ping\nbroken", "", "", 401, `{"message":"Unauthenticated."}`},
		{"POST /api/ping\n" + big + "x", "good", "", 413, `{"message":"The request body is too large."}`},
		{"POST /api/ping\nhello", "good", "text/plain", 415, `{"message":"Unsupported content type. Send application/json."}`},
		{"POST /api/ping\nhello", "good", "multipart/form-data; boundary=x", 415, `{"message":"Unsupported content type. Send application/json."}`},
		{"POST /api/ping\n{", "good", "", 400, `{"message":"The request body is not valid JSON."}`},
		{"POST /api/ping\n{} {}", "good", "", 400, `{"message":"The request body is not valid JSON."}`},
		{"POST /api/ping\n{\"a\":\"\xff\"}", "good", "", 400, `{"message":"The request body is not valid JSON."}`},
		{"POST /api/ping\n" + strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33), "good", "", 400, `{"message":"The request body is not valid JSON."}`},
		{"POST /api/ping\n" + `{"message":"x","a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + "}", "good", "application/vnd.x+json; charset=latin1", 200, `{"message":"xwidget"}`},
		{"POST /api/ping\n[1]", "good", "", 400, `{"message":"The request body must be a JSON object."}`},
		{"POST /api/ping\n[]", "good", "", 400, `{"message":"The request body must be a JSON object."}`},
		{"POST /api/ping", "good", "text/plain", 422, `{"message":"The given data was invalid.","errors":{"message":["The message field is required."]}}`},
		{"POST /api/ping\n" + `{"message":"x","message":"code"}`, "good", "", 402, `{"success":false,"error":"No <money> & such.","error_code":"POOR"}`},
		{"POST /api/ping\n" + `{"message":"out"}`, "good", "", 500, `{"success":false,"error":"It failed.","error_code":"UNKNOWN"}`},
		{"POST /api/ping\n" + `{"message":"eof"}`, "good", "", 500, `{"message":"Server Error"}`},
		{"POST /api/ping\n" + `{"message":"boom"}`, "good", "", 500, `{"message":"Server Error"}`},
		{"POST /api/chat\n" + `{}`, "", "", 422, `{"status":false,"error":"message is required"}`},
		{"POST /api/chat\n" + `{"message":5}`, "", "", 422, `{"status":false,"error":"message must be a string"}`},
		{"POST /api/chat\n" + `{"message":"abcdef"}`, "", "", 422, `{"status":false,"error":"message must not be greater than 5 characters"}`},
		{"POST /api/chat\n" + `{"message":"a","type":"x"}`, "", "", 422, `{"status":false,"error":"type must be one of: widget, test"}`},
		{"POST /api/talk/\n" + `{"message":"a","type":"test"}`, "good", "", 201, `{"message":"atest"}`},
		{"GET /api/ping/new", "whatever", "", 422, asErrors("message: The message field is required.")},
		{"POST /api/chat\n" + `{}`, "bad", "", 401, `{"message":"Unauthenticated."}`},
		{"GET /api/ping", "bad", "", 401, `{"message":"Unauthenticated."}`},
		{"GET /api/ping", "bad", "", 429, `{"message":"Too many requests. Wait the stated seconds, then try again.","retry_after":60}`},
		{"DELETE /api/ping/1\nbroken", "good", "text/plain", 422, asErrors("message: The message field is required.")},
	} {
		var header []string
		if c.auth != "" {
			header = append(header, "Authorization: "+c.auth)
		}
		if c.kind != "" {
			header = append(header, "Content-Type: "+c.kind)
		}
		status, body, h := do(c.req, header...)
		if status != c.status || body != c.want {
			t.Errorf("%.60s\n got %d %s\nwant %d %s", c.req, status, body, c.status, c.want)
		}
		if h.Get("X-Request-Id") == "" || h.Get("X-Api-Version") != "1" || h.Get("Content-Type") != "application/json" {
			t.Errorf("%.60s: headers %v", c.req, h)
		}
		if (h.Get("WWW-Authenticate") == "Bearer") != (status == 401) || (h.Get("Allow") != "") != (status == 405) || (h.Get("Retry-After") != "") != (status == 429) {
			t.Errorf("%.60s: headers %v", c.req, h)
		}
	}
	_, _, h := do("POST /api/ping\n{\"message\":\"a\"}", "Authorization: good", "X-Request-Id: a-b_1")
	if h.Get("X-Request-Id") != "a-b_1" || h.Get("X-RateLimit-Limit") != "20" || h.Get("X-RateLimit-Remaining") == "" || h.Get("Content-Length") != "21" {
		t.Errorf("headers %v", h)
	}
}

// TestHead asks for the headers of a GET alone.
//
// Contract: 1.1
func TestHead(t *testing.T) {
	do := testServer(t, Config{}, On(plain, "GET /x", 200, func(context.Context, *struct{}) (Message, error) { return Message{"hi"}, nil }))
	if status, body, h := do("HEAD /api/x"); status != 200 || body != "" || h.Get("Content-Length") != "16" {
		t.Errorf("%d %q %v", status, body, h)
	}
}

func TestRoomErrorsAreMerged(t *testing.T) {
	type in struct {
		A value.Opt[string] `json:"a" rule:"max=1"`
		B value.Opt[string] `json:"b"`
		C value.Opt[string] `json:"c" rule:"max=1"`
	}
	do := testServer(t, Config{}, On(plain.Saying("Validation failed"), "POST /x", 200,
		func(context.Context, *in) (Message, error) { return Message{"hi"}, nil },
		Check(func(_ context.Context, i *in) error {
			return fault.Input(fault.Bad("c", "taken"), fault.Own("b", "The :f is odd."), fault.Bad("b", "in"))
		})))
	_, body, _ := do("POST /api/x\n" + `{"a":"22","c":"1"}`)
	want := `{"message":"Validation failed","errors":{"a":["The a field must not be greater than 1 characters."],"b":["The b is odd."],"c":["The c has already been taken."]}}`
	if body != want {
		t.Errorf("got %s\nwant %s", body, want)
	}
	_, body, _ = do("POST /api/x\n" + `{"c":"22"}`)
	want = `{"message":"Validation failed","errors":{"b":["The b is odd."],"c":["The c field must not be greater than 1 characters."]}}`
	if body != want {
		t.Errorf("got %s\nwant %s", body, want)
	}
}

// TestPages checks links, bounds and a page past the end.
//
// Contract: 1.13
func TestPages(t *testing.T) {
	type in struct {
		Paging
		Status string `query:"status"`
	}
	do := testServer(t, Config{PublicURL: "https://p.example/"}, On(plain, "GET /user/calls", 200, func(ctx context.Context, i *in) (Page[int], error) {
		var data []int
		for n := i.Offset(); n < min(41, i.Offset()+i.PerPage); n++ {
			data = append(data, n)
		}
		return NewPage(ctx, i.Paging, 41, data[:min(len(data), 1)]), nil
	}))
	golden(t, "page", func(line string) string { _, body, _ := do("GET /api/user/calls" + line); return body },
		"?page=2", "", "?page=4", "?per_page=1&status=a+b&page=20", "?per_page=2&page=3", "?page=0", "?per_page=101", "?page=x", "?page=99999999999999")
}

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares what each case gives with testdata/name.txt.
func golden(t *testing.T, name string, run func(string) string, cases ...string) {
	t.Helper()
	var b strings.Builder
	for _, c := range cases {
		b.WriteString("> " + c + "\n" + run(c) + "\n")
	}
	file := "testdata/" + name + ".txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != b.String() {
		t.Errorf("%s (%v)\ngot\n%s", file, err, b.String())
	}
}

// TestRefusal refuses for a limit that only the handler knows, such as the places in a conversation's queue.
//
// Contract: 1.12 1.9
func TestRefusal(t *testing.T) {
	until := time.Now().Add(90 * time.Second)
	do := testServer(t, Config{}, On(chatty, "POST /full", 200, func(context.Context, *struct{}) (Message, error) {
		return Message{}, Quota{Limit: 4, Reset: until}.Refusal()
	}))
	status, body, h := do("POST /api/full")
	wait := h.Get("Retry-After")
	if status != 429 || body != `{"message":"Too many requests. Wait the stated seconds, then try again.","retry_after":`+wait+`}` ||
		h.Get("X-RateLimit-Limit") != "4" || h.Get("X-RateLimit-Remaining") != "0" || h.Get("X-RateLimit-Reset") != strconv.FormatInt(until.Unix(), 10) {
		t.Errorf("%d %s %v", status, body, h)
	}
}

// TestFailedCredentials tries keys until the address is refused. Who sends none has not failed, and who has a good one
// is served.
//
// Contract: 1.3 1.12
func TestFailedCredentials(t *testing.T) {
	auth := func(r *http.Request) (context.Context, Who, error) {
		switch r.Header.Get("Authorization") {
		case "":
			return nil, Who{}, ErrNoCredential
		case "good":
			return r.Context(), Who{Key: "1", Account: 1}, nil
		}
		return nil, Who{}, fault.ErrUnauthenticated
	}
	do := testServer(t, Config{Authenticate: auth, BadKeys: NewWindow(30, time.Minute), Limits: []Limit{PerKey(600, time.Minute)}},
		On(plain, "GET /ping", 200, func(context.Context, *struct{}) (Message, error) { return Message{"pong"}, nil }),
		On(chatty, "GET /chat", 200, func(context.Context, *struct{}) (Message, error) { return Message{"pong"}, nil }, KeyOptional()))
	for range 15 {
		for _, c := range []struct {
			req, auth string
			status    int
		}{{"GET /api/ping", "", 401}, {"GET /api/chat", "", 200}, {"GET /api/ping", "bad", 401}, {"GET /api/chat", "bad", 401}, {"GET /api/ping", "good", 200}} {
			if status, body, _ := do(c.req, "Authorization: "+c.auth); status != c.status {
				t.Errorf("%s with %q: %d %s", c.req, c.auth, status, body)
			}
		}
	}
	for range 2 {
		status, body, h := do("GET /api/ping", "Authorization: bad")
		if status != 429 || body != `{"message":"Too many requests. Wait the stated seconds, then try again.","retry_after":`+h.Get("Retry-After")+`}` ||
			h.Get("X-RateLimit-Limit") != "30" || h.Get("X-RateLimit-Remaining") != "0" || h.Get("X-RateLimit-Reset") == "" {
			t.Errorf("%d %s %v", status, body, h)
		}
	}
	for auth, want := range map[string]int{"": 401, "good": 200} {
		if status, body, _ := do("GET /api/ping", "Authorization: "+auth); status != want {
			t.Errorf("%q after the refusals: %d %s", auth, status, body)
		}
	}
}

// TestFullOfOneKind answers 429 for a limit that is no rate, with the headers of one, whatever the key's own limit said.
//
// Contract: 1.9 1.12 5.1
func TestFullOfOneKind(t *testing.T) {
	auth := func(r *http.Request) (context.Context, Who, error) {
		return r.Context(), Who{Key: "1", Account: 1}, nil
	}
	do := testServer(t, Config{Authenticate: auth, Limits: []Limit{PerKey(600, time.Minute)}},
		On(plain, "POST /call", 200, func(context.Context, *struct{}) (Message, error) {
			return Message{}, fault.Full(0, 5, "Too many calls in progress.")
		}))
	from := time.Now().Unix()
	status, body, h := do("POST /api/call")
	reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if status != 429 || body != `{"message":"Too many calls in progress.","retry_after":5}` || h.Get("Retry-After") != "5" ||
		h.Get("X-RateLimit-Limit") != "0" || h.Get("X-RateLimit-Remaining") != "0" || err != nil || reset < from+5 || reset > time.Now().Unix()+5 {
		t.Errorf("%d %s %v", status, body, h)
	}
}

// TestCORS asks from other origins.
//
// Contract: 1.15
func TestCORS(t *testing.T) {
	type in struct {
		Who string `query:"who"`
	}
	hi := func(context.Context, *in) (Message, error) { return Message{"hi"}, nil }
	do := testServer(t, Config{Origins: []string{"https://app.example"}},
		On(chatty, "GET /open", 200, hi, OpenToOrigins(func(_ context.Context, i *in) ([]string, error) {
			if i.Who == "picky" {
				return []string{"https://shop.example"}, nil
			}
			return nil, nil
		})), On(plain, "GET /closed", 200, hi))
	for _, c := range []struct {
		req, origin string
		status      int
		allow       string
	}{
		{"OPTIONS /api/open", "https://a.example", 204, "*"},
		{"GET /api/open", "https://a.example", 200, "*"},
		{"GET /api/open?who=picky", "https://a.example", 403, ""},
		{"GET /api/open?who=picky", "https://shop.example", 200, "https://shop.example"},
		{"GET /api/open?who=picky", "", 200, ""},
		{"POST /api/open", "https://a.example", 405, "*"},
		{"POST /api/closed", "https://a.example", 405, ""},
		{"GET /api/open/nothing/here", "https://a.example", 404, "*"},
		{"OPTIONS /api/open/nothing/here", "https://a.example", 204, "*"},
		{"GET /api/opened", "https://a.example", 404, ""},
		{"OPTIONS /api/nothing", "https://app.example", 404, ""},
		{"OPTIONS /api/closed", "https://a.example", 405, ""},
		{"GET /api/closed", "https://a.example", 200, ""},
		{"OPTIONS /api/closed", "https://app.example", 204, "https://app.example"},
		{"GET /api/closed", "https://app.example", 200, "https://app.example"},
	} {
		status, body, h := do(c.req, "Origin: "+c.origin)
		if status != c.status || h.Get("Access-Control-Allow-Origin") != c.allow {
			t.Errorf("%s from %s: %d %s %v", c.req, c.origin, status, body, h)
		}
	}
}

// TestMoneyAndTimes checks the formats of answers.
//
// Contract: 1.7
func TestMoneyAndTimes(t *testing.T) {
	at := time.Date(2027, 3, 1, 9, 0, 0, 5000, time.FixedZone("x", 3600))
	b, err := value.Marshal([]any{value.Money(0), value.Money(1), value.Money(-150000000), value.Money(6666667), value.Money(1000000000000), value.Time(at), value.DateTime(at), value.Time{}, []int(nil), map[string]int(nil), "<&>"})
	want := `[0,0.00000001,-1.5,0.06666667,10000,"2027-03-01T08:00:00.000005Z","2027-03-01 08:00:00",null,[],{},"<&>"]`
	if string(b) != want || err != nil {
		t.Errorf("got %s\nwant %s (%v)", b, want, err)
	}
	for in, want := range map[string]value.Money{"0.1": 1e7, "118.25": 11825000000, "1e-8": 1, "0.000000005": 1, "-0.000000005": -1, "5": 5e8, ".5": 5e7} {
		if got, err := value.ParseMoney(in); got != want || err != nil {
			t.Errorf("%s = %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "x", "NaN", "1e400", "99999999999999999999", "0x1"} {
		if _, err := value.ParseMoney(in); err == nil {
			t.Errorf("%q was read", in)
		}
	}
}

func TestQuery(t *testing.T) {
	for raw, want := range map[string]string{
		"phone= 4930":                     `{"phone":"+4930"}`,
		"phone=+4930&phone=2":             `{"phone":"2"}`,
		"a[]=1&a[]=2&b[x]=y&c[0][link]=u": `{"a":["1","2"],"b":{"x":"y"},"c":[{"link":"u"}]}`,
		"a=%zz&=x&&q=%20x":                `{"a":"%zz","q":" x"}`,
	} {
		if got, err := readQuery(raw); string(got.JSON()) != want {
			t.Errorf("%s: %s (%v), want %s", raw, got.JSON(), err, want)
		}
	}
}

// TestAddress finds the client behind proxies that are trusted, and behind no others.
//
// Contract: 1.12
func TestAddress(t *testing.T) {
	s := NewServer(Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, nil)
	for _, c := range []struct{ remote, forwarded, want, origin string }{
		{"192.0.2.1:5", "", "192.0.2.1", "http://h"},
		{"192.0.2.1:5", "1.1.1.1", "192.0.2.1", "http://h"},
		{"10.0.0.1:5", "1.1.1.1", "1.1.1.1", "https://h"},
		{"[::ffff:10.0.0.1]:5", "6.6.6.6, 1.1.1.1,10.2.2.2", "1.1.1.1", "https://h"},
		{"10.0.0.1:5", "1.1.1.1, junk", "10.0.0.1", "https://h"},
		{"10.0.0.1:5", "", "10.0.0.1", "https://h"},
		{"[2001:db8::1]:5", "1.1.1.1", "2001:db8::/64", "http://h"},
		{"10.0.0.1:5", "2001:db8:0:1:ffff::1", "2001:db8:0:1::/64", "https://h"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = c.remote, "h"
		r.Header.Set("X-Forwarded-Proto", "https")
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got, origin := s.address(r), s.origin(r); got != c.want || origin != c.origin {
			t.Errorf("%s with %q: %s %s, want %s %s", c.remote, c.forwarded, got, origin, c.want, c.origin)
		}
	}
}
