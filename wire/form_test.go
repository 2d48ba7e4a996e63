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
	echo := func(_ context.Context, in *uploadIn) (Message, error) {
		f, err := in.File.Open()
		if err != nil {
			return Message{}, err
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		return Message{fmt.Sprintf("%s %s %d %s %v %v %v", in.Name, in.File.Name, in.File.Size, b, in.Links, in.Flag, in.More)}, err
	}
	s := NewServer(Config{Base: "/api"}, []Route{On(plain, "POST /docs", 201, echo, Multipart())})
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
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := readBody(w, r, true); !errors.Is(err, errTooLarge) {
			t.Errorf("%v", err)
		}
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	})
	s := httptest.NewServer(refuse)
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
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", header)
		if _, err := conn.Write(body); err != nil {
			t.Fatalf("%s: %v", header, err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %v %v", header, answer, err)
		}
	}
}
