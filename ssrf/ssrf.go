// Package ssrf keeps requests to addresses that customers choose away from our own network: webhook receivers, tool
// endpoints, documents to fetch, custom calendar hosts.
package ssrf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

var (
	// ErrInvalid is a URL nobody could fetch: no http or https, no host, longer than 2048 characters.
	ErrInvalid = errors.New("invalid URL")
	// ErrRefused is an address, or a URL with credentials, that policy forbids; its text is what customers read.
	ErrRefused = errors.New("address not allowed")
	// ErrRedirects is a chain of redirects longer than a client follows.
	ErrRedirects = errors.New("too many redirects")
)

// Guard decides where requests may go. The zero Guard is not usable; see New.
type Guard struct {
	check *ssrf.Guardian
	allow []netip.Prefix
}

// metadata services outside the special-purpose ranges
var metadata = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// New makes a guard that refuses loopback, private, link-local, unique-local, multicast, unspecified, carrier-grade NAT and
// metadata addresses, except those inside allow.
func New(allow ...netip.Prefix) *Guard {
	var v4, v6 []netip.Prefix
	for _, p := range allow {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return &Guard{ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(metadata...)), allow}
}

// documentation are the networks of examples, which nobody has.
var documentation = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8::/32")}

// Telephony is the guard of trunk and transfer addresses: it allows some networks more, where a PBX may be, and the networks
// of examples.
func (g *Guard) Telephony(allow ...netip.Prefix) *Guard {
	return New(slices.Concat(g.allow, documentation, allow)...)
}

// CheckHost says whether a host may be stored: nil, or ErrRefused for a literal address that policy forbids, in any spelling.
// A host name passes; what it resolves to is checked when it is called.
func (g *Guard) CheckHost(host string) error {
	if ip, ok := literal(host); ok && !g.Allowed(ip) {
		return ErrRefused
	}
	return nil
}

// ParseAllow reads outbound.allow_cidrs; dev adds the loopback ranges.
func ParseAllow(cidrs []string, dev bool) ([]netip.Prefix, error) {
	if dev {
		cidrs = append([]string{"127.0.0.0/8", "::1/128"}, cidrs...)
	}
	var out []netip.Prefix
	for _, s := range cidrs {
		p, err := netip.ParsePrefix(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("%q is not a network in CIDR form", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// CheckURL says whether a URL may be stored: nil, ErrInvalid, or ErrRefused for credentials or a literal address that policy forbids.
// A host name passes; what it resolves to is checked at each connection.
func (g *Guard) CheckURL(raw string) error {
	if len([]rune(raw)) > 2048 {
		return ErrInvalid
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") || !validPort(u.Port()) {
		return ErrInvalid
	}
	host := u.Hostname()
	if strings.ContainsAny(host, " \t{}<>\"'|\\^`") {
		return ErrInvalid
	}
	if u.User != nil {
		return ErrRefused
	}
	return g.CheckHost(host)
}

func validPort(p string) bool {
	if p == "" {
		return true
	}
	n, err := strconv.ParseUint(p, 10, 16)
	return err == nil && n > 0
}

// literal reads an address in any spelling a resolver could take for one, the ancient ones (127.1, 0x7f000001, 017700000001)
// included.
func literal(host string) (netip.Addr, bool) {
	if ip, err := netip.ParseAddr(strings.TrimSuffix(host, ".")); err == nil {
		return ip.WithZone("").Unmap(), true
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(octal(part), 0, bits)
		if err != nil || strings.ContainsAny(part, "_bBoO") && !strings.HasPrefix(strings.ToLower(part), "0x") {
			return netip.Addr{}, false
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// octal keeps a leading zero meaning base 8, as inet_aton has it.
func octal(s string) string {
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '7' {
		return "0o" + s[1:]
	}
	return s
}

// Allowed reports whether connections to ip are permitted.
func (g *Guard) Allowed(ip netip.Addr) bool { return g.check.SafeAddr(ip.Unmap()) == nil }

// Options of a client.
type Options struct {
	Timeout   time.Duration // whole exchange, body included; 0 = the context's
	Connect   time.Duration // connection and TLS handshake each; 0 = 10 s
	Redirects int           // how many are followed, each checked like a new request; 0 = the redirect is the answer
	PerHost   int           // connections at once to one host; 0 = any number
}

// Client is an HTTP client whose connections the guard checks at the moment of dialling, on the address really dialled.
// A refused connection is an error that Is ErrRefused. Environment proxies are not used: they would dial for us.
func (g *Guard) Client(o Options) *http.Client {
	if o.Connect == 0 {
		o.Connect = 10 * time.Second
	}
	d := &net.Dialer{Timeout: o.Connect, ControlContext: g.control}
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			DialContext: d.DialContext, TLSHandshakeTimeout: o.Connect, ForceAttemptHTTP2: true,
			MaxConnsPerHost: o.PerHost, MaxIdleConnsPerHost: 2, MaxIdleConns: 100, IdleConnTimeout: 30 * time.Second,
			ExpectContinueTimeout: time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if o.Redirects == 0 {
				return http.ErrUseLastResponse
			}
			if len(via) > o.Redirects {
				return ErrRedirects
			}
			return g.CheckURL(r.URL.String())
		},
	}
}

func (g *Guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") || !g.Allowed(at.Addr()) {
		return ErrRefused
	}
	return nil
}
