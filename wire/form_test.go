package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/fault"
	"parley/value"
)

type uploadIn struct {
	Name  string           `json:"name" rule:"required max=20"`
	File  value.File       `json:"file" rule:"required max=1"`
	Links []linkIn         `json:"links" rule:"max=3"`
	Flag  bool             `json:"allow_dupplicate" also:"allow_duplicate"`
	More  []string         `json:"columns"`
	Meta  *json.RawMessage `json:"meta"`
}

type linkIn struct {
	Link string `json:"link" rule:"required url"`
}

// TestForms reads uploads: files, nested names, size limits.
//
// Contract: 1.4 1.10
func TestForms(t *testing.T) {
	s := docs()
	send := func(file string, fields ...string) (int, string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, f := range fields {
			k, v, _ := strings.Cut(f, "=")
			_ = w.WriteField(k, v)
		}
		if file != "" {
			part, _ := w.CreateFormFile("file", "../a b.txt")
			_, _ = io.WriteString(part, file)
		}
		w.Close()
		r := httptest.NewRequest("POST", "/api/docs", &b)
		r.Header.Set("Content-Type", w.FormDataContentType())
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		return rec.Code, rec.Body.String()
	}
	for _, c := range []struct {
		file   string
		fields []string
		status int
		want   string
	}{
		{"hello", []string{"name= x ", "links[0][link]=http://a.example", "links[1][link]=http://b.example", "allow_duplicate=1", "columns[]=p", "columns[]=q"}, 201,
			`{"message":"x a b.txt 5 hello [{http://a.example} {http://b.example}] true [p q]"}`},
		{"", []string{"name=x"}, 422, asErrors("file: The file field is required.")},
		{"", []string{"name=x", "file=text"}, 422, asErrors("file: The file field must be a file.")},
		{strings.Repeat("x", 1025), []string{"name=x"}, 422, asErrors("file: The file field must not be greater than 1 kilobytes.")},
		{"x", []string{"name=x", "links[0][link]=nope"}, 422, asErrors("links.0.link: The links.0.link field must be a valid URL.")},
		{"x", []string{"name=x", "links=nope"}, 422, asErrors("links: The links field must be an array.")},
		{strings.Repeat("x", 23<<20), nil, 413, `{"message":"The request body is too large."}`},
	} {
		if status, body := send(c.file, c.fields...); status != c.status || body != c.want {
			t.Errorf("%v: %d %.300s\nwant %d %s", c.fields, status, body, c.status, c.want)
		}
	}
}

// TestWindow fills a window in virtual time: never more than n in any span, refused ones not counted.
//
// Contract: 1.12
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWindow(5, time.Second)
		var taken []time.Time
		for range 400 {
			if q := w.Take("a"); q.Allowed {
				taken = append(taken, time.Now())
			} else if q.Remaining != 0 || q.Limit != 5 || !q.Reset.After(time.Now()) {
				t.Fatalf("refused with %+v", q)
			}
			time.Sleep(7 * time.Millisecond)
		}
		for i := 5; i < len(taken); i++ {
			if taken[i].Sub(taken[i-5]) < time.Second {
				t.Fatalf("6 requests within %v", taken[i].Sub(taken[i-5]))
			}
		}
		if len(taken) < 14 { // 2.8 s
			t.Errorf("only %d were let through", len(taken))
		}
		time.Sleep(time.Minute)
		w.Take("b")
		if len(w.taken) != 1 {
			t.Errorf("%d names are remembered", len(w.taken))
		}
	})
}

// TestRefusedRequestsCountNowhere asks two limits at once.
//
// Contract: 1.12
func TestRefusedRequestsCountNowhere(t *testing.T) {
	wide, narrow := PerKey(100, time.Minute), PerAccount(1, time.Minute)
	who := Who{Key: "k", Account: 1}
	for n, want := range []bool{true, false, false} {
		if _, err := pass(t.Context(), who, []Limit{wide, narrow}); (err == nil) != want {
			t.Errorf("request %d: %v", n, err)
		}
	}
	if q, _ := wide(t.Context(), who); q.Remaining != 98 {
		t.Errorf("the wide limit has %d left, want 98", q.Remaining)
	}
}

func BenchmarkUpdate(b *testing.B) {
	update := func(context.Context, *thingIn) (Message, error) { return Message{"ok"}, nil }
	s := NewServer(Config{Base: "/api"}, []Route{On(plain, "PUT /things/{id}", 200, update)})
	body := `{"name":"abc","speed":1.1,"kind":"a","tags":["x"],"rows":[{"name":"abc"}],"variables":{"a":1}}`
	for b.Loop() {
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("PUT", "/api/things/1", strings.NewReader(body)))
	}
}

// TestStreams follows events until the server drains; afterwards requests are refused.
//
// Contract: 1.9 18.3
func TestStreams(t *testing.T) {
	follow := func(ctx context.Context, _ *struct{}, w http.ResponseWriter) error {
		e, err := NewEvents(w)
		if err != nil {
			return err
		}
		if err := errors.Join(e.Send("7", "call", map[string]any{"id": 1}), e.Ping()); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	refuse := func(context.Context, *struct{}, http.ResponseWriter) error {
		return fault.New(fault.NotFound, "", "No stream.")
	}
	api := NewServer(Config{Base: "/api"}, []Route{Stream(plain, "GET /events", "text/event-stream", follow), Stream(plain, "GET /none", "text/event-stream", refuse)})
	s := httptest.NewServer(api)
	defer s.Close()
	defer s.Client().CloseIdleConnections()
	read := func(path string) (int, string) {
		res, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if path == "/api/events" && res.StatusCode == 200 {
			first := make([]byte, len("id: 7\n"))
			if _, err := io.ReadFull(res.Body, first); err != nil {
				t.Fatal(err)
			}
			api.Drain()
		}
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	if status, body := read("/api/none"); status != 404 || body != `{"message":"No stream."}` {
		t.Errorf("%d %s", status, body)
	}
	if status, body := read("/api/events"); status != 200 || body != "event: call\ndata: {\"id\":1}\n\n: \n\n" {
		t.Errorf("%d %q", status, body)
	}
	if status, body := read("/api/events"); status != 503 || body != `{"message":"Service Unavailable"}` {
		t.Errorf("%d %s", status, body)
	}
}

// TestRefusedWhole writes a body that is too large to its last byte before it looks for the answer.
//
// Contract: 1.4
func TestRefusedWhole(t *testing.T) {
	s := httptest.NewServer(Paced(docs()))
	defer s.Close()
	for _, header := range []string{"Content-Length: 8388608", "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		body := bytes.Repeat([]byte("x"), 8<<20)
		if strings.HasPrefix(header, "Transfer") {
			body = fmt.Appendf(nil, "800000\r\n%s\r\n0\r\n\r\n", body)
		}
		fmt.Fprintf(conn, "POST /api/docs HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", header)
		if _, err := conn.Write(body); err != nil {
			t.Fatalf("%s: %v", header, err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %v %v", header, answer, err)
		}
	}
}

// docs serves an upload that names what arrived.
func docs() *Server {
	echo := func(_ context.Context, in *uploadIn) (Message, error) {
		f, err := in.File.Open()
		if err != nil {
			return Message{}, err
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		return Message{fmt.Sprintf("%s %s %d %s %v %v %v", in.Name, in.File.Name, in.File.Size, b, in.Links, in.Flag, in.More)}, err
	}
	return NewServer(Config{Base: "/api"}, []Route{On(plain, "POST /docs", 201, echo, Multipart())})
}

// TestFormsBeyondTheBounds sends forms made to cost a lot: each is refused, says which field, and takes little memory.
//
// Contract: 1.4 1.10 17
func TestFormsBeyondTheBounds(t *testing.T) {
	part := func(name string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\nx\r\n"
	}
	many := func(s string, n int) io.Reader { return io.LimitReader(&again{text: s}, int64(len(s)*n)) }
	const nested = "The name of a field must not be longer than 200 bytes."
	s := docs()
	for _, c := range []struct {
		name   string
		body   io.Reader
		status int
		want   string
	}{
		{"2.5 million levels", io.MultiReader(strings.NewReader("--b\r\nContent-Disposition: form-data; name=\"a"), many("[]", 2_500_000),
			strings.NewReader("\"\r\n\r\nx\r\n--b--\r\n")), 422, asErrors("a: " + nested)},
		{"2 thousand levels", strings.NewReader(part("file=a"+strings.Repeat("[]", 2000)) + "--b--\r\n"), 422, asErrors("file=a: " + nested)},
		{"9 levels", strings.NewReader(part("a"+strings.Repeat("[x]", 9)) + "--b--\r\n"), 422,
			asErrors("a: The a field must not be nested deeper than 8 levels.")},
		{"a million parts", many(part("a[]"), 300_000), 422, asErrors("a: The request must not have more than 1000 fields.")},
		{"a million parts without a name", many("--b\r\n\r\n\r\n", 1_000_000), 422, asErrors(": The request must not have more than 1000 fields.")},
		{"a header without end", io.MultiReader(strings.NewReader("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n"), many("X-A: b\r\n", 2_000_000)), 422,
			asErrors("a: The a field has a header that is too long.")},
		{"a line without end before the first part", many("x", 8<<20), 400, `{"message":"The request body is not valid JSON."}`},
		{"a text without end", io.MultiReader(strings.NewReader("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"), many("x", 20<<20)), 413,
			`{"message":"The request body is too large."}`},
		{"a file without end", io.MultiReader(strings.NewReader("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"), many("x", 40<<20)), 413,
			`{"message":"The request body is too large."}`},
	} {
		r := httptest.NewRequest("POST", "/api/docs", c.body)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		rec := httptest.NewRecorder()
		spent := allocated(func() { s.ServeHTTP(rec, r) })
		if rec.Code != c.status || rec.Body.String() != c.want {
			t.Errorf("%s: %d %.300s\nwant %d %s", c.name, rec.Code, rec.Body, c.status, c.want)
		}
		if spent > 8<<20 {
			t.Errorf("%s took %d MB", c.name, spent>>20)
		}
	}
}

// allocated are the bytes that f asks for in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// again is a text without end.
type again struct {
	text string
	at   int
}

func (a *again) Read(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(p[n:], a.text[a.at:])
		n, a.at = n+k, (a.at+k)%len(a.text)
	}
	return n, nil
}

// TestQueriesBeyondTheBounds refuses query strings made to cost a lot, on routes without a key too.
//
// Contract: 1.4 1.10
func TestQueriesBeyondTheBounds(t *testing.T) {
	list := func(context.Context, *struct {
		Page int64 `query:"page"`
	}) (Message, error) {
		return Message{"ok"}, nil
	}
	do := testServer(t, Config{}, On(plain, "GET /list", 200, list, Keyless()), On(chatty, "GET /chat", 200, list, Keyless()))
	for _, c := range []struct {
		query  string
		status int
		want   string
	}{
		{strings.Repeat("a", 8<<10), 422, asErrors(strings.Repeat("a", 200) + ": The name of a field must not be longer than 200 bytes.")},
		{"q=" + strings.Repeat("a", 8<<10-2), 200, `{"message":"ok"}`},
		{"q=" + strings.Repeat("a", 8<<10-1), 422, asErrors("query: The query string must not be longer than 8192 bytes.")},
		{strings.Repeat("a[]&", 1000), 200, `{"message":"ok"}`},
		{strings.Repeat("a[]&", 1001), 422, asErrors("a: The request must not have more than 1000 fields.")},
		{"page" + strings.Repeat("[]", 9), 422, asErrors("page: The page field must not be nested deeper than 8 levels.")},
		{"page[]=1", 422, asErrors("page: The page field must be an integer.")},
	} {
		spent := allocated(func() {
			if status, got, _ := do("GET /api/list?" + c.query); status != c.status || got != c.want {
				t.Errorf("%.20s: %d %.300s\nwant %d %s", c.query, status, got, c.status, c.want)
			}
		})
		if spent > 2<<20 {
			t.Errorf("%.20s took %d kB", c.query, spent>>10)
		}
	}
	if status, got, _ := do("GET /api/chat?page" + strings.Repeat("[]", 9)); status != 422 || got != `{"status":false,"error":"The page field must not be nested deeper than 8 levels."}` {
		t.Errorf("%d %s", status, got)
	}
}

// TestListsBeyondTheBounds says one thing of a list of hundreds of thousands, and not one of each element.
//
// Contract: 1.4 1.10
func TestListsBeyondTheBounds(t *testing.T) {
	type in struct {
		IDs  []int64                    `json:"ids" rule:"distinct"`
		Free map[string]map[string]bool `json:"free"`
	}
	do := testServer(t, Config{}, On(plain, "POST /list", 200, func(context.Context, *in) (Message, error) { return Message{"ok"}, nil }, Keyless()))
	for body, want := range map[string]string{
		`{"ids":["x"` + strings.Repeat(`,"x"`, 250_000) + `]}`: asErrors("ids: The ids field must not have more than 1000 items."),
		`{"ids":[1` + strings.Repeat(`,1`, 500_000) + `]}`:     asErrors("ids: The ids field must not have more than 1000 items."),
	} {
		if status, got, _ := do("POST /api/list\n" + body); status != 422 || got != want {
			t.Errorf("%d %.300s", status, got)
		}
	}
	var all strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&all, `,"k%d":0`, i)
	}
	if status, got, _ := do("POST /api/list\n{\"free\":{" + all.String()[1:] + "}}"); status != 422 || strings.Count(got, "must be an array") > 1001 {
		t.Errorf("%d, %d errors", status, strings.Count(got, "must be an array"))
	}
}
