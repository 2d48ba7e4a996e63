package sip

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	"go.uber.org/goleak"

	"parley/ids"
	"parley/lines"
	"parley/lines/media"
)

// Short SIP timers: 64·T1, which ends what nobody answers, is 3.2 s.
func TestMain(m *testing.M) {
	sip.SetTimers(50*time.Millisecond, 400*time.Millisecond, 50*time.Millisecond)
	sip.Timer_D = 100 * time.Millisecond
	flag.Parse()
	_ = flag.Set("test.parallel", "16") // they wait, they do not compute
	goleak.VerifyTestMain(m)
}

// loopback is where trunks of tests may be called from.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// patience is how long a test waits for something that should come at once.
const patience = 10 * time.Second

func plane(t testing.TB) *media.Plane {
	t.Helper()
	p, err := media.New(media.Options{PortMin: 30000, PortMax: 39999})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// serve starts a server on free loopback ports, udp first.
func serve(t testing.TB, cfg Config, tune ...func(*Server)) *Server {
	t.Helper()
	if cfg.Listen == nil {
		cfg.Listen = []string{"udp://127.0.0.1:0", "tcp://127.0.0.1:0"}
	}
	if cfg.Media == nil {
		cfg.Media = plane(t)
	}
	if cfg.OnCall == nil {
		cfg.OnCall = func(leg lines.Leg) { _ = leg.Reject(603) }
	}
	s, err := start(cfg, tune...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer stop()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// uri is the address of user at s.
func uri(s *Server, network, user string) string {
	for _, k := range s.sockets {
		if k.network == network {
			return fmt.Sprintf("sip:%s@%s;transport=%s", user, k.local, network)
		}
	}
	panic("no such socket")
}

// trunkList is a set of trunks.
type trunkList struct {
	mu     sync.Mutex
	list   []Trunk
	stamp  int
	states chan string // "7 registered"
}

func trunks(list ...Trunk) *trunkList { return &trunkList{list: list, states: make(chan string, 100)} }

func (l *trunkList) set(list ...Trunk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list, l.stamp = list, l.stamp+1
}

func (l *trunkList) Called(context.Context, string) ([]Trunk, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Trunk(nil), l.list...), nil
}

func (l *trunkList) Trunk(_ context.Context, id ids.Number) (Trunk, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.list {
		if t.ID == id {
			return t, nil
		}
	}
	return Trunk{}, fmt.Errorf("no trunk %d", id)
}

func (l *trunkList) Registrations(context.Context, string) ([]Trunk, string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Trunk(nil), l.list...), fmt.Sprint("v", l.stamp), nil
}

func (l *trunkList) Registered(_ context.Context, t Trunk, state Registration, refusal string) error {
	l.states <- strings.TrimSpace(fmt.Sprintf("%d %s %s", t.ID, state, refusal))
	return nil
}

// receive takes the next value or fails.
func receive[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s", what)
		panic("")
	}
}

// phone is a telephone that says exactly what the test writes, over UDP.
type phone struct {
	t    testing.TB
	conn *net.UDPConn
	to   netip.AddrPort
	call string
	tag  string // of the far end, once known
	from string // our tag
	seq  int
	had  map[string]bool // messages already returned by expect
}

func newPhone(t testing.TB, s *Server) *phone {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	var to netip.AddrPort
	for _, k := range s.sockets {
		if k.network == "udp" {
			to = k.local
		}
	}
	return &phone{t: t, conn: conn, to: to, call: sip.GenerateTagN(10), from: sip.GenerateTagN(6), had: map[string]bool{}}
}

func (p *phone) addr() string { return p.conn.LocalAddr().String() }

// sdp is the phone's session description.
func (p *phone) sdp(attrs ...string) string {
	_, port, _ := net.SplitHostPort(p.addr())
	return text(append([]string{"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
		"m=audio " + port + " RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000"}, attrs...)...)
}

// request writes a request; headers are added or, when their name is there already, replace ours. "Name:" alone removes it.
func (p *phone) request(method, user, body string, headers ...string) string {
	if method != "ACK" && method != "CANCEL" {
		p.seq++
	}
	to := fmt.Sprintf("<sip:%s@%s>", user, p.to)
	if p.tag != "" {
		to += ";tag=" + p.tag
	}
	all := []string{
		"Via: SIP/2.0/UDP " + p.addr() + ";branch=" + sip.GenerateBranchN(10),
		"Max-Forwards: 70",
		"From: <sip:phone@127.0.0.1>;tag=" + p.from,
		"To: " + to,
		"Call-ID: " + p.call,
		fmt.Sprintf("CSeq: %d %s", p.seq, method),
		"Contact: <sip:phone@" + p.addr() + ">",
		fmt.Sprintf("Content-Length: %d", len(body)),
	}
	if body != "" {
		all = append(all, "Content-Type: application/sdp")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		replaced := false
		for i, have := range all {
			if strings.HasPrefix(have, name+":") {
				all[i], replaced = h, true
				if value == "" {
					all = append(all[:i], all[i+1:]...)
				}
				break
			}
		}
		if !replaced {
			all = append(all, h)
		}
	}
	return text(append([]string{fmt.Sprintf("%s sip:%s@%s SIP/2.0", method, user, p.to)}, append(all, "")...)...) + body
}

func (p *phone) send(msg string) {
	p.t.Helper()
	if _, err := p.conn.WriteToUDPAddrPort([]byte(msg), p.to); err != nil {
		p.t.Fatal(err)
	}
}

// message is a parsed SIP message.
type message struct {
	line   string
	header textproto.MIMEHeader
	body   string
	raw    string
}

func parse(raw string) message {
	r := textproto.NewReader(bufio.NewReader(strings.NewReader(raw)))
	line, _ := r.ReadLine()
	h, _ := r.ReadMIMEHeader()
	body, _ := io.ReadAll(r.R)
	return message{line, h, string(body), raw}
}

// read is the next datagram, "" when none comes within d.
func (p *phone) read(d time.Duration) string {
	b := make([]byte, 65536)
	_ = p.conn.SetReadDeadline(time.Now().Add(d))
	for {
		n, err := p.conn.Read(b)
		if err != nil {
			return ""
		}
		if s := string(b[:n]); strings.Contains(s, "SIP/2.0") { // not RTP
			return s
		}
	}
}

// expect waits for a message whose first line contains what, and notes the far end's tag. Others, and repetitions of
// what it returned before, are passed over.
func (p *phone) expect(what string) message {
	p.t.Helper()
	return p.wait(what, false)
}

func (p *phone) wait(what string, again bool) message {
	p.t.Helper()
	var seen []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		raw := p.read(time.Until(deadline))
		m := parse(raw)
		if strings.Contains(m.line, what) && p.had[raw] == again {
			p.had[raw] = true
			if _, tag, ok := strings.Cut(m.header.Get("To"), ";tag="); ok && strings.HasPrefix(m.line, "SIP/2.0 2") && strings.HasSuffix(m.header.Get("Cseq"), "INVITE") {
				p.tag = tag
			}
			return m
		}
		seen = append(seen, m.line)
	}
	p.t.Fatalf("expected %q, got %q", what, seen)
	panic("")
}

// never fails the test when a message with what in its first line comes within d.
func (p *phone) never(what string, d time.Duration) {
	p.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		if m := parse(p.read(time.Until(end))); m.line != "" && strings.Contains(m.line, what) {
			p.t.Fatalf("unexpected %s", m.line)
		}
	}
}

// answer writes a response to a request the phone got.
func (p *phone) answer(m message, status string, headers ...string) string {
	all := []string{"SIP/2.0 " + status}
	for _, name := range []string{"Via", "From", "To", "Call-Id", "Cseq"} {
		for _, v := range m.header[name] {
			if name == "To" && !strings.Contains(v, "tag=") {
				v += ";tag=" + p.from
			}
			all = append(all, name+": "+v)
		}
	}
	return text(append(append(all, headers...), "Content-Length: 0", "")...)
}

// overTCP sends raw bytes on a connection of their own.
func overTCP(t testing.TB, s *Server, b []byte) {
	t.Helper()
	for _, k := range s.sockets {
		if k.network != "tcp" {
			continue
		}
		c, err := net.Dial("tcp", k.local.String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(b)
		t.Cleanup(func() { c.Close() })
	}
}
