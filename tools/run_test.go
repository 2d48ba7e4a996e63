package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/db/dbtest"
	"parley/ssrf"
	"parley/tools"
)

func runner(t *testing.T) *tools.Tools {
	room, _ := open(t, dbtest.SQLite(t), nil)
	return room
}

var params = []tools.Param{
	{Name: "id", Type: "string", Description: "Order", Required: true}, {Name: "count", Type: "integer", Description: "Count"},
	{Name: "price", Type: "number", Description: "Price"}, {Name: "vip", Type: "boolean", Description: "Vip"},
}

// What reaches the endpoint, for each method and body format.
func TestRequests(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprintf("%s %s|%s|%s", r.Method, r.RequestURI, r.Header.Get("Content-Type"), body)
		for _, h := range []string{"User-Agent", "X-Call-Id", "X-Conversation-Id", "X-Key"} {
			if v := r.Header.Get(h); v != "" {
				got += "|" + h + ": " + v
			}
		}
		io.WriteString(w, `{"ok":true}`)
	}))
	defer s.Close()
	room := runner(t)
	conv := tools.Conversation{CallID: "912", Values: map[string]string{"name": "Mia Lee", "tenant": "{id}"}}
	static := []tools.Static{{Key: "tenant", Value: "{{tenant}}"}, {Key: "n", Value: 7.0}, {Key: "raw", Value: `{"a":{b}}`}}
	const tail = "|User-Agent: parley-tools/1|X-Call-Id: 912"
	for _, c := range []struct {
		method, format, path string
		args                 string
		static               []tools.Static
		want                 string
	}{
		{"GET", "json", "/o", `{"id":"a b&c","count":"2","vip":"yes","junk":1}`, nil, "GET /o?id=a+b%26c&count=2&vip=true||" + tail},
		{"DELETE", "json", "/o?x=1", `{"id":5}`, static[:2], "DELETE /o?x=1&id=5&tenant=%7Bid%7D&n=7||" + tail},
		{"GET", "json", "/o/{id}/x?n={{name}}&gone={{gone}}", `{"id":"a/b c","price":2.50}`, nil, "GET /o/a%2Fb%20c/x?n=Mia%20Lee&gone=&price=2.50||" + tail},
		{"POST", "json", "/o", `{"id":"1","count":3.0,"price":"1.5","vip":0}`, static, `POST /o|application/json|{"id":"1","count":3,"price":1.5,"vip":false,"tenant":"{id}","n":7,"raw":"{\"a\":{b}}"}` + tail},
		{"PUT", "form", "/o/{id}", `{"id":"1","count":3}`, static[:1], "PUT /o/1|application/x-www-form-urlencoded|count=3&tenant=%7Bid%7D" + tail},
		{"PATCH", "json", "/o/{id}/{count}", `{"id":"<1>"}`, nil, "PATCH /o/%3C1%3E/|application/json|{}" + tail},
		{"POST", "json", "/o", `{"id":"1"}`, []tools.Static{{Key: "id", Value: "fixed"}}, `POST /o|application/json|{"id":"fixed"}` + tail},
	} {
		d := tools.Definition{Endpoint: s.URL + c.path, Method: c.method, BodyFormat: c.format, Timeout: 5, Params: params, Static: c.static}
		if res := room.Run(t.Context(), d, json.RawMessage(c.args), conv); string(res) != `{"ok":true}` || got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", res, got, c.want)
		}
	}
	d := tools.Definition{Endpoint: s.URL, Method: "GET", Timeout: 5, Headers: []tools.Header{{Name: "X-Key", Value: "{{name}}:{{gone}}"}, {Name: "User-Agent", Value: "mine"}}}
	room.Run(t.Context(), d, nil, tools.Conversation{ConversationID: "uuid", Values: map[string]string{"name": "a\r\nb"}})
	if want := "GET /|||User-Agent: mine|X-Conversation-Id: uuid|X-Key: a  b:"; got != want {
		t.Errorf("headers: %s", got)
	}
}

// What a model is told of each kind of answer.
func TestResults(t *testing.T) {
	hits := 0
	status, contentType, body := 200, "", ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		hits++
		switch r.URL.Path {
		case "/slow":
			<-r.Context().Done()
			return
		case "/drop":
			panic(http.ErrAbortHandler)
		case "/drop-once":
			if hits == 1 {
				panic(http.ErrAbortHandler)
			}
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	defer s.Close()
	room := runner(t)
	big := `{"a":"` + strings.Repeat("x", 20000) + `"}`
	for _, c := range []struct {
		method, path, args string
		status             int
		contentType, body  string
		want               string
		hits               int
	}{
		{"POST", "/", `{"id":"1"}`, 200, "application/json", ` {"b":2, "a":"<&>"}`, ` {"b":2, "a":"<&>"}`, 1},
		{"POST", "/", `{"id":"1"}`, 201, "text/plain", "Hello <you>", `{"result":"Hello <you>"}`, 1},
		{"POST", "/", `{"id":"1"}`, 200, "text/plain", "[1,2]", "[1,2]", 1},
		{"POST", "/", `{"id":"1"}`, 200, "application/json", `"done"`, `"done"`, 1},
		{"POST", "/", `{"id":"1"}`, 200, "text/plain", "42", `{"result":"42"}`, 1},
		{"POST", "/", `{"id":"1"}`, 200, "application/json", "{broken", `{"result":"{broken"}`, 1},
		{"POST", "/", `{"id":"1"}`, 204, "", "", `{"result":""}`, 1},
		{"POST", "/", `{"id":"1"}`, 200, "application/json", big, `{"result":"` + strings.ReplaceAll(big[:16384], `"`, `\"`) + `"}`, 1},
		{"POST", "/", `{"id":"1"}`, 500, "text/plain", strings.Repeat("é", 600), `{"error":"HTTP 500","body":"` + strings.Repeat("é", 500) + `"}`, 1},
		{"POST", "/", `{"id":"1"}`, 302, "", "", `{"error":"HTTP 302","body":""}`, 1},
		{"POST", "/", `{"count":1}`, 200, "", "", `{"error":"missing argument: id"}`, 0},
		{"POST", "/", ``, 200, "", "", `{"error":"missing argument: id"}`, 0},
		{"POST", "/", `{"id":""}`, 200, "", "", `{"error":"missing argument: id"}`, 0},
		{"POST", "/", `{"id":"1","count":"many"}`, 200, "", "", `{"error":"invalid argument: count must be of type integer"}`, 0},
		{"POST", "/", `{"id":"1","count":1.5}`, 200, "", "", `{"error":"invalid argument: count must be of type integer"}`, 0},
		{"POST", "/drop", `{"id":"1"}`, 200, "", "", `{"error":"connection failed"}`, 1},
		{"GET", "/drop", `{"id":"1"}`, 200, "", "", `{"error":"connection failed"}`, 2},
		{"GET", "/drop-once", `{"id":"1"}`, 200, "", "ok", `{"result":"ok"}`, 2},
		{"GET", "/slow", `{"id":"1"}`, 200, "", "", `{"error":"timeout"}`, 1},
	} {
		hits, status, contentType, body = 0, c.status, c.contentType, c.body
		d := tools.Definition{Endpoint: s.URL + c.path, Method: c.method, BodyFormat: "json", Timeout: 1, Params: params}
		got := string(room.Run(t.Context(), d, json.RawMessage(c.args), tools.Conversation{}))
		if got != c.want || hits != c.hits {
			t.Errorf("%s %s %s: got %.200s after %d requests, want %.200s", c.method, c.path, c.args, got, hits, c.want)
		}
	}
	refused := tools.New(dbtest.SQLite(t), glass{}, ssrf.New(), nil)
	for _, u := range []string{s.URL, strings.Replace(s.URL, "127.0.0.1", "localhost", 1)} {
		hits = 0
		d := tools.Definition{Endpoint: u, Method: "GET", Timeout: 5}
		if got := string(refused.Run(t.Context(), d, nil, tools.Conversation{})); got != `{"error":"address not allowed"}` || hits != 0 {
			t.Errorf("%s: %s after %d requests", u, got, hits)
		}
	}
}

func TestTry(t *testing.T) {
	status := 200
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		io.Copy(w, r.Body)
	}))
	defer s.Close()
	room := runner(t)
	d := tools.Definition{Endpoint: s.URL + "/{{who}}", Method: "POST", BodyFormat: "json", Timeout: 5, Params: params}
	got := room.Try(t.Context(), d, map[string]any{"count": 4}, tools.Conversation{Values: map[string]string{"who": "mia"}})
	const sent = `{"id":"test","count":4,"price":1,"vip":true}`
	if !got.Success || *got.StatusCode != 200 || got.Body != sent || *got.Request.Body != sent || got.Request.URL != s.URL+"/mia" || got.Error != nil {
		t.Errorf("%+v", got)
	}
	status = 503
	if got := room.Try(t.Context(), d, nil, tools.Conversation{}); got.Success || *got.StatusCode != 503 || *got.Error != "HTTP 503" {
		t.Errorf("%+v", got)
	}
	d.Endpoint, d.Method = "http://127.0.0.1:1/", "GET"
	if got := room.Try(t.Context(), d, nil, tools.Conversation{}); got.Success || got.StatusCode != nil || *got.Error != "connection failed" || got.Request.Body != nil {
		t.Errorf("%+v", got)
	}
}

func FuzzRun(f *testing.F) {
	f.Add("/{id}?q={{name}}", `{"id":"x","count":2}`, "a b")
	f.Add("{{name}}", `[]`, "http://x/")
	room := tools.New(nil, glass{}, ssrf.New(), nil) // nothing is reached, nothing is stored
	f.Fuzz(func(t *testing.T, path, args, value string) {
		def := tools.Definition{Endpoint: "http://127.0.0.1:1" + path, Method: "POST", BodyFormat: "json", Timeout: 1, Params: params}
		res := room.Run(t.Context(), def, json.RawMessage(args), tools.Conversation{Values: map[string]string{"name": value}})
		if !json.Valid(res) {
			t.Errorf("not JSON: %s", res)
		}
	})
}
