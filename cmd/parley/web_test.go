package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"testing"
)

// TestConnectionsOfOneAddress lets in so many connections of one address and tells the others; those of a trusted proxy
// stand for many clients. A header without end is refused.
func TestConnectionsOfOneAddress(t *testing.T) {
	for _, proxies := range [][]netip.Prefix{nil, {netip.MustParsePrefix("127.0.0.0/8")}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		web, doors := newWeb(http.NotFoundHandler(), l, proxies)
		go web.Serve(doors)
		defer web.Close()
		got := map[int]int{}
		ask := func(header string) (status int) {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", header)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil { // closed at once, with what we sent unread
				return 0
			}
			res.Body.Close()
			return res.StatusCode
		}
		if status := ask(fmt.Sprintf("X-A: %0*d\r\n", 140<<10, 0)); status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a long header: %d", status)
		}
		for range connsPerAddress + 20 {
			got[ask("")]++
		}
		if in := got[404]; proxies == nil && (in < connsPerAddress-1 || in > connsPerAddress) || proxies != nil && in != connsPerAddress+20 {
			t.Errorf("with proxies %v: %v", proxies, got)
		}
	}
}
