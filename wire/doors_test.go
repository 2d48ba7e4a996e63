package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener in memory, where time is virtual.
type pipes struct {
	come chan net.Conn
	done chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.come:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects from an address.
func (p *pipes) dial(from string) net.Conn {
	near, far := net.Pipe()
	p.come <- fromAddress{far, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))}
	return near
}

type fromAddress struct {
	net.Conn
	addr net.Addr
}

func (c fromAddress) RemoteAddr() net.Addr { return c.addr }

// paced serves handlers that clients can hold up.
func paced(t *testing.T, d Doors) *pipes {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	api := NewServer(Config{Base: "/api"}, []Route{
		On(plain, "POST /keyed", 200, func(context.Context, *struct{}) (Message, error) { return Message{"ok"}, nil }),
		On(plain, "POST /keyless", 200, func(_ context.Context, in *struct {
			Name string `json:"name"`
		}) (Message, error) {
			return Message{in.Name}, nil
		}, Keyless()),
		On(plain, "POST /docs", 200, func(context.Context, *uploadIn) (Message, error) { return Message{"ok"}, nil }, Keyless(), Multipart()),
		On(plain, "POST /long", 200, func(ctx context.Context, _ *struct{}) (Message, error) {
			select {
			case <-time.After(10 * time.Minute):
				return Message{"at last"}, nil
			case <-ctx.Done():
				return Message{}, ctx.Err()
			}
		}, Keyless()),
		Stream(plain, "GET /flood", "text/event-stream", func(_ context.Context, _ *struct{}, w http.ResponseWriter) error {
			e, err := NewEvents(w)
			for err == nil {
				err = e.Send("", "x", strings.Repeat("x", 1000))
			}
			return nil
		}, Keyless()),
		Stream(plain, "GET /big", "application/octet-stream", func(_ context.Context, _ *struct{}, w http.ResponseWriter) error {
			_, err := w.Write(make([]byte, 10<<20))
			return err
		}, Keyless()),
	})
	api.cfg.Authenticate = func(*http.Request) (context.Context, Who, error) { return nil, Who{}, ErrNoCredential }
	s := &http.Server{Handler: Paced(api), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	go s.Serve(d.Open(p))
	t.Cleanup(func() { s.Close() })
	return p
}

var open = Doors{All: 100, PerAddress: 100}

// TestClientsThatStop sends less than it promised, in every way: the answer comes at once where it does not depend on the
// rest, and the connection is closed.
//
// Contract: 1.2 1.4
func TestClientsThatStop(t *testing.T) {
	form := "Content-Type: multipart/form-data; boundary=b\r\n"
	for _, c := range []struct {
		sent   string
		status string // "" = none
		within time.Duration
	}{
		{"", "", 11 * time.Second},
		{"POST /api/keyless HTTP/1.1\r\nHost: x\r\nX-A", "400", 11 * time.Second},
		{"POST /api/keyed HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", "401", 40 * time.Second},
		{"POST /api/none HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", "404", 40 * time.Second},
		{"GET /api/keyless HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", "405", 40 * time.Second},
		{"POST /api/keyless HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n", "413", 40 * time.Second},
		{"POST /api/keyless HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", "400", 40 * time.Second},
		{"POST /api/keyless HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "400", 40 * time.Second},
		{"POST /api/keyless HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n", "100", 40 * time.Second},
		{"POST /api/keyed HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n", "401", time.Second},
		{"POST /api/docs HTTP/1.1\r\nHost: x\r\n" + form + "Content-Length: 99\r\n\r\n--b\r\n", "400", 40 * time.Second},
		{"POST /api/docs HTTP/1.1\r\nHost: x\r\n" + form + "Content-Length: 999\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"a" + strings.Repeat("[]", 9) + "\"\r\n\r\n",
			"422", 40 * time.Second},
		{"POST /api/keyless HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "200", 61 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := paced(t, open)
			began := time.Now()
			conn := p.dial("192.0.2.1:1")
			answer := make(chan string)
			go func() {
				b, _ := io.ReadAll(conn)
				answer <- string(b)
			}()
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			got := <-answer
			if took := time.Since(began); took > c.within {
				t.Errorf("%q held the connection for %v", c.sent, took)
			}
			if status, _, _ := strings.Cut(strings.TrimPrefix(got, "HTTP/1.1 "), " "); status != c.status {
				t.Errorf("%q: %.200s", c.sent, got)
			}
		})
	}
}

// TestRefusalsDoNotWait answers a request that is refused before the body has come.
//
// Contract: 1.2
func TestRefusalsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := paced(t, open)
		conn := p.dial("192.0.2.1:1")
		defer conn.Close()
		began := time.Now()
		fmt.Fprintf(conn, "POST /api/keyed HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != 401 || time.Since(began) > 0 {
			t.Fatalf("%v %v after %v", res, err, time.Since(began))
		}
		_, _ = io.Copy(io.Discard, res.Body)
		fmt.Fprintf(conn, "{\"a\":1  }POST /api/keyless HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{\"name\":\"x\"}") // the rest comes after all
		if res, err = http.ReadResponse(in, nil); err != nil || res.StatusCode != 200 {
			t.Errorf("the next request: %v %v", res, err)
		}
	})
}

// TestSlowClientsLive uploads a byte every 20 seconds for minutes, and waits for an answer for minutes.
func TestSlowClientsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := paced(t, open)
		conn := p.dial("192.0.2.1:1")
		defer conn.Close()
		in := bufio.NewReader(conn)
		for _, request := range []struct{ path, body, want string }{
			{"/api/keyless", `{"name":"slowly but surely"}`, `{"message":"slowly but surely"}`},
			{"/api/long", `{}`, `{"message":"at last"}`},
			{"/api/docs", "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nx\r\n--b--\r\nbehind", ""},
		} {
			kind := ""
			if strings.HasPrefix(request.body, "--b") {
				kind = "Content-Type: multipart/form-data; boundary=b\r\n"
			}
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n", request.path, kind, len(request.body))
			for i := range request.body {
				time.Sleep(20 * time.Second)
				if _, err := conn.Write([]byte(request.body[i : i+1])); err != nil {
					t.Fatalf("%s after %d bytes: %v", request.path, i, err)
				}
			}
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(request.path, err)
			}
			if b, _ := io.ReadAll(res.Body); request.want != "" && string(b) != request.want {
				t.Errorf("%s: %s", request.path, b)
			}
		}
	})
}

// TestClientsThatDoNotRead are dropped, in the middle of a stream or of a long answer; one that reads slowly is not.
//
// Contract: 18.3
func TestClientsThatDoNotRead(t *testing.T) {
	for _, path := range []string{"/api/flood", "/api/big"} {
		synctest.Test(t, func(t *testing.T) {
			p := paced(t, open)
			conn := p.dial("192.0.2.1:1")
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
			in := make([]byte, 40<<10)
			for range 20 {
				time.Sleep(25 * time.Second)
				if _, err := io.ReadFull(conn, in); err != nil {
					t.Fatalf("%s: a slow reader was dropped: %v", path, err)
				}
			}
			time.Sleep(31 * time.Second)
			if n, err := io.Copy(io.Discard, conn); n > writeStep || err != nil {
				t.Errorf("%s: %d bytes and %v for one that did not read", path, n, err)
			}
		})
	}
}

// TestDoors counts connections by address, of IPv6 by /64, and all together; a proxy is no address.
func TestDoors(t *testing.T) {
	d := Doors{All: 7, PerAddress: 2, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	synctest.Test(t, func(t *testing.T) {
		p := paced(t, d)
		var held []net.Conn
		enter := func(from string, want int) {
			t.Helper()
			conn := p.dial(from)
			go fmt.Fprintf(conn, "POST /api/keyless HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || res.StatusCode != want {
				t.Errorf("%s: %v %v, want %d", from, res, err, want)
				return
			}
			if b, _ := io.ReadAll(res.Body); want == 503 && string(b) != `{"message":"Service Unavailable"}` {
				t.Errorf("%s", b)
			}
			held = append(held, conn)
		}
		for _, c := range []struct {
			from string
			want int
		}{
			{"192.0.2.1:1", 200}, {"192.0.2.1:2", 200}, {"192.0.2.1:3", 503}, {"[::ffff:192.0.2.1]:4", 503},
			{"[2001:db8::1]:1", 200}, {"[2001:db8::ffff:2]:1", 200}, {"[2001:db8::3]:1", 503},
			{"10.0.0.1:1", 200}, {"10.0.0.1:2", 200}, {"10.0.0.1:3", 200}, {"10.0.0.1:4", 503}, {"192.0.2.2:1", 503},
		} {
			enter(c.from, c.want)
		}
		held[0].Close()
		synctest.Wait()
		enter("192.0.2.1:5", 200)
		for _, conn := range held {
			conn.Close()
		}
	})
}

// TestStreamsAreCounted opens streams until no more are let in, by address, by what they follow and by key.
//
// Contract: 1.9 1.12 18.3
func TestStreamsAreCounted(t *testing.T) {
	follow := func(ctx context.Context, _ *struct {
		UUID string `path:"uuid"`
	}, w http.ResponseWriter) error {
		if _, err := NewEvents(w); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	s := NewServer(Config{Base: "/api", Authenticate: func(r *http.Request) (context.Context, Who, error) {
		if key := r.Header.Get("Authorization"); key != "" {
			return r.Context(), Who{Key: key, Account: 1}, nil
		}
		return nil, Who{}, ErrNoCredential
	}}, []Route{Stream(plain, "GET /conversations/{uuid}/stream", eventStream, follow, KeyOptional())})
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan int)
	open := 0
	enter := func(want int, key, from, uuid string) {
		t.Helper()
		r := httptest.NewRequestWithContext(ctx, "GET", "/api/conversations/"+uuid+"/stream", nil)
		r.RemoteAddr = from
		r.Header.Set("Authorization", key)
		began, w := make(chan int, 1), httptest.NewRecorder()
		go func() {
			s.ServeHTTP(flushed{w, began}, r)
			ended <- w.Code
		}()
		select {
		case <-began:
			if open++; want != 200 {
				t.Errorf("%s %s %s was let in", key, from, uuid)
			}
		case got := <-ended:
			if got != want || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"retry_after":`) {
				t.Errorf("%s %s %s: %d %s, want %d", key, from, uuid, got, w.Body, want)
			}
		}
	}
	for i := range streamsPerAddress {
		enter(200, "", fmt.Sprintf("[2001:db8::%d]:1", i+1), fmt.Sprint("c", i))
	}
	enter(429, "", "[2001:db8::ffff:1]:1", "d")
	for i := range streamsPerPlace {
		enter(200, "", fmt.Sprintf("192.0.2.%d:1", i), "ABC")
	}
	enter(429, "", "192.0.2.200:1", "abc")
	for range streamsPerKey {
		enter(200, "one", "192.0.2.1:1", "abc")
	}
	enter(429, "one", "192.0.2.1:1", "abc")
	enter(200, "two", "192.0.2.1:1", "abc")
	leave()
	for ; open > 0; open-- {
		<-ended
	}
	if len(s.streams.taken) != 0 {
		t.Errorf("still counted: %v", s.streams.taken)
	}
}

// flushed tells of the first flush.
type flushed struct {
	*httptest.ResponseRecorder
	began chan<- int
}

func (f flushed) Flush() { f.began <- 1 }
