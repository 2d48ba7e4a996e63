package sip

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"
)

// torture is where sipgo keeps the messages of RFC 4475.
func torture(t testing.TB) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/emiago/sipgo").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "sip/testdata/torture/*/*.dat"))
	if err != nil || len(files) < 45 {
		t.Fatalf("%d torture messages, %v", len(files), err)
	}
	return files
}

// FuzzMessage: whatever gets through the gate can be looked at by everything behind it.
func FuzzMessage(f *testing.F) {
	for _, file := range torture(f) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(text("INVITE sip:+4930123456@192.0.2.1 SIP/2.0", "Via: SIP/2.0/UDP 192.0.2.2;branch=z9hG4bKx;rport", "Max-Forwards: 70",
		"From: \"A\" <sip:anonymous@anonymous.invalid>;tag=1", "To: <tel:+4930123456>", "Call-ID: x", "CSeq: 1 INVITE", "Contact: <sip:a@192.0.2.2>",
		"P-Asserted-Identity: <tel:+4930111>", "Session-Expires: 1800;refresher=uac", "Supported: timer, 100rel", "Content-Type: multipart/mixed;boundary=b",
		"Authorization: Digest username=\"a\", realm=\"sip\", nonce=\"x\", uri=\"sip:x\", response=\"y\"", "Content-Length: 0", "")))
	s := &Server{minSE: 90, auth: &challenger{key: []byte("k")}, cfg: Config{SessionExpires: 1800e9}}
	p := newParser()
	f.Fuzz(func(t *testing.T, data []byte) {
		if !parses(p, data) {
			return
		}
		m, err := p.ParseSIP(data)
		req, ok := m.(*sip.Request)
		if err != nil || !ok || inspect(req) != (verdict{}) {
			return
		}
		called(req)
		caller(req, "DE")
		s.understands(req)
		credentials(req)
		(&Leg{s: s, audio: &sound{}}).agree(req)
		if body, ok := sdpBody(req); ok {
			_, _ = parseSDP(body, srtpOffered)
		}
		_ = newResponse(req, 401, s.auth.tag(req)).String()
		(&trace{}).add(req, false)
	})
}
