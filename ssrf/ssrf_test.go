package ssrf_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/ssrf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Addresses that may be saved, and those that may not.
//
// Contract: 15.7
func TestCheckURL(t *testing.T) {
	g := ssrf.New(netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32"))
	for _, c := range []struct {
		want error
		urls []string
	}{
		{nil, []string{
			"https://example.com/hook?a=b", "http://example.com:8080", "https://93.184.216.34/", "https://[2606:2800:220:1::1]/x",
			"http://10.1.2.3/allowed", "http://[fd00:1::7]/allowed", "http://localhost/a-name-is-checked-when-dialled",
			"https://bücher.example/", "https://1.2.3.4.5/", "https://dead.beef/", "https://0b1.example/", "http://" + strings.Repeat("a", 2041),
		}},
		{ssrf.ErrInvalid, []string{
			"", "example.com", "ftp://example.com", "https://", "https:///path",
			"http://exa mple.com", "http://example.com:99999", "http://example.com:0", "javascript:alert(1)", "http://{host}/",
			"http://" + strings.Repeat("a", 2042), "http://[::1",
		}},
		{ssrf.ErrRefused, []string{
			"http://user:pw@example.com", "http://user@example.com",
			"http://127.0.0.1/", "http://127.0.0.1:8080", "https://10.0.0.1", "http://10.2.0.1", "http://172.16.5.4", "http://192.168.1.1", "http://169.254.169.254/latest",
			"http://100.64.0.1", "http://100.100.100.200", "http://168.63.129.16", "http://0.0.0.0", "http://224.0.0.1", "http://240.0.0.1", "http://255.255.255.255",
			"http://[::1]/", "http://[::]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fd00:ec2::254]", "http://[ff02::1]", "http://[::ffff:127.0.0.1]/",
			"http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://2130706433/", "http://0x7f000001", "http://0x7f.1", "http://127.1", "http://0177.0.0.1", "http://017700000001", "http://0", "http://127.0.0.1.",
		}},
	} {
		for _, u := range c.urls {
			if got := g.CheckURL(u); got != c.want {
				t.Errorf("%s: got %v, want %v", u, got, c.want)
			}
		}
	}
}

func TestParseAllow(t *testing.T) {
	dev, err := ssrf.ParseAllow([]string{" 10.1.2.3/16 "}, true)
	if err != nil || len(dev) != 3 || dev[2].String() != "10.1.0.0/16" {
		t.Errorf("got %v %v", dev, err)
	}
	g := ssrf.New(dev...)
	for _, u := range []string{"http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/"} {
		if err := g.CheckURL(u); err != nil {
			t.Errorf("%s with --dev: %v", u, err)
		}
	}
	if _, err := ssrf.ParseAllow([]string{"10.1.2.3"}, false); err == nil {
		t.Error("an address is not a network")
	}
}

// A name is resolved once, and what it resolves to is checked.
//
// Contract: 15.7
func TestClientRefusesWhatANameResolvesTo(t *testing.T) {
	hits := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer s.Close()
	byName := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	for _, u := range []string{s.URL, byName} {
		if _, err := ssrf.New().Client(ssrf.Options{}).Get(u); !errors.Is(err, ssrf.ErrRefused) {
			t.Errorf("%s: %v", u, err)
		}
	}
	if hits != 0 {
		t.Errorf("%d requests reached a refused address", hits)
	}
}

func TestClientRedirects(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/1", "/2", "/3", "/4":
			http.Redirect(w, r, "/"+string(r.URL.Path[1]-1), http.StatusFound)
		case "/inside":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			io.WriteString(w, "here")
		}
	}))
	defer s.Close()
	dev, _ := ssrf.ParseAllow(nil, true)
	for _, c := range []struct {
		path      string
		redirects int
		status    int
		err       error
	}{
		{"/1", 0, http.StatusFound, nil},
		{"/3", 3, http.StatusOK, nil},
		{"/4", 3, 0, nil},
		{"/inside", 3, 0, ssrf.ErrRefused},
		{"/file", 3, 0, ssrf.ErrInvalid},
	} {
		client := ssrf.New(dev...).Client(ssrf.Options{Redirects: c.redirects})
		res, err := client.Get(s.URL + c.path)
		if (err == nil) != (c.status != 0) || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.path, err)
		}
		if err == nil {
			res.Body.Close()
			if res.StatusCode != c.status {
				t.Errorf("%s: status %d", c.path, res.StatusCode)
			}
		}
		client.CloseIdleConnections()
	}
}
