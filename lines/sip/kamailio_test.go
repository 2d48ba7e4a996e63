package sip

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/lines"
	"parley/lines/linetest"
)

// kamailioScript is a registrar that asks for a password, and a proxy that stays in the calls to those registered.
const kamailioScript = `#!KAMAILIO
debug=1
log_stderror=yes
fork=yes
children=1
tcp_children=2
auto_aliases=no
enable_tls=yes
listen=udp:127.0.0.1:%d
listen=tcp:127.0.0.1:%d
listen=tls:127.0.0.1:%d
loadmodule "tls.so"
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "maxfwd.so"
loadmodule "siputils.so"
loadmodule "textops.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "auth.so"
modparam("tls", "tls_method", "TLSv1.2+")
modparam("tls", "certificate", "%s")
modparam("tls", "private_key", "%s")
request_route {
	if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
	force_rport();
	if (is_method("REGISTER")) {
		if (!pv_www_authenticate("127.0.0.1", "secret", "0")) { www_challenge("127.0.0.1", "0"); exit; }
		save("location");
		exit;
	}
	if (has_totag()) {
		if (loose_route()) { t_relay(); exit; }
		if (is_method("ACK")) { if (t_check_trans()) t_relay(); exit; }
		sl_send_reply("404", "Not Here");
		exit;
	}
	if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
	record_route();
	if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
	t_relay();
}
`

// kamailio starts it and returns its ports by transport, and the certificate it shows.
func kamailio(t *testing.T) (ports map[string]int, ca string) {
	t.Helper()
	program := tool(t, "kamailio")
	dir := t.TempDir()
	cert, ca := selfSigned(t)
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	ports = map[string]int{}
	for _, transport := range []string{"udp", "tcp", "tls"} {
		l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free a moment later
		if err != nil {
			t.Fatal(err)
		}
		ports[transport] = l.Addr().(*net.TCPAddr).Port
		l.Close()
	}
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, content := range map[string][]byte{
		certFile: []byte(ca), keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		filepath.Join(dir, "kamailio.cfg"): fmt.Appendf(nil, kamailioScript, ports["udp"], ports["tcp"], ports["tls"], certFile, keyFile),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-f", filepath.Join(dir, "kamailio.cfg"), "-DD", "-E", "-Y", dir, "-P", filepath.Join(dir, "pid"), "-m", "32", "-M", "8")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd.WaitDelay = 2 * time.Second
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends its children
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
	})
	return ports, ca
}

// TestKamailio: an independent registrar and proxy. We register there and it brings us calls over the connection that we
// opened; a caller of ours reaches us through it; both sides hang up through it.
//
// Contract: 10.7
func TestKamailio(t *testing.T) {
	t.Parallel()
	ports, ca := kamailio(t)
	for _, c := range []struct{ transport, srtp string }{{"udp", "off"}, {"tcp", "offered"}, {"tls", "required"}} {
		t.Run(c.transport, func(t *testing.T) {
			t.Parallel()
			far := Trunk{Address: "127.0.0.1", Port: ports[c.transport], Transport: c.transport, SRTP: c.srtp, TLSCA: ca}
			home, away := far, far
			home.ID, home.Number, home.Extension, home.Username, home.Password = 7, "205"+c.transport, true, "ada-"+c.transport, "secret"
			home.Auth, home.Register = "auth", true
			away.Number = "100"
			list, legs := trunks(home), make(chan lines.Leg, 1)
			serve(t, Config{Listen: []string{"udp://127.0.0.1:0"}, Trunks: list, OnCall: func(l lines.Leg) { _ = l.Answer(t.Context()); legs <- l }},
				func(s *Server) { s.backoff, s.routing = 100*time.Millisecond, patience })
			caller := serve(t, Config{Listen: []string{"udp://127.0.0.1:0"}, Default: &away})
			for state := ""; state != "7 registered"; { // it may have to start first
				state = receive(t, list.states, "state")
			}
			for _, weHangUp := range []bool{true, false} {
				leg, err := caller.Dial(t.Context(), lines.Destination{To: home.Username, From: "100", RingFor: patience}, nil)
				if err != nil {
					t.Fatal(err)
				}
				other := receive(t, legs, "call by the registrar")
				linetest.Play(t, leg.Media(), 700, patience/4)
				linetest.Play(t, other.Media(), 1000, patience/4)
				linetest.Hears(t, other.Media(), 700, 0.1)
				linetest.Hears(t, leg.Media(), 1000, 0.1)
				if got := other.(*Leg).audio.crypto() != nil; got != (c.srtp != "off") {
					t.Errorf("encrypted: %v", got)
				}
				if other.Info().TrunkID != 7 || !strings.HasPrefix(other.Info().RemoteAddr, "127.0.0.1:") {
					t.Errorf("%+v", other.Info())
				}
				if first, second := leg, other; weHangUp {
					_ = second.Hangup(t.Context())
				} else {
					_ = first.Hangup(t.Context())
				}
				receive(t, leg.Done(), "end")
				receive(t, other.Done(), "end of the other")
			}
		})
	}
}
