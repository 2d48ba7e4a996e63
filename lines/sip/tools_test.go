package sip

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/audio"
	"parley/lines"
	"parley/lines/linetest"
)

// tool finds a program of Debian that these tests need. A missing one fails the test: `make deps` installs it.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is missing; run make deps", name)
	}
	return path
}

// sipp runs a scenario of testdata to its end.
func sipp(t *testing.T, scenario string, args ...string) <-chan error {
	t.Helper()
	dir := t.TempDir()
	file, err := filepath.Abs(filepath.Join("testdata", scenario))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tool(t, "sipp"), append([]string{"-sf", file, "-i", "127.0.0.1", "-mi", "127.0.0.1", "-m", "1", "-nostdin",
		"-timeout", "30s", "-timeout_error", "-default_behaviors", "all,-abortunexp", "-trace_err", "-error_file", "errors.log", "-mp", fmt.Sprint(40000 + rand.IntN(2000)*10)}, args...)...)
	cmd.Dir = dir
	b := make([]byte, 8000)
	audio.EncodeMuLaw(b, tone(700))
	if err := os.WriteFile(filepath.Join(dir, "tone.ul"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if err != nil {
			log, _ := os.ReadFile(filepath.Join(dir, "errors.log"))
			err = fmt.Errorf("sipp: %w\n%s\n%s", err, log, out.String())
		}
		done <- err
	}()
	return done
}

// tone is a second of one frequency.
func tone(hz float64) []int16 {
	pcm := make([]int16, 8000)
	audio.GenSignal(pcm, 8000, 0, audio.Tone{Hz: hz, Level: 0.3})
	return pcm
}

// TestSippCalls: sipp calls us, is heard, puts us on hold and takes us back, and hangs up.
func TestSippCalls(t *testing.T) {
	t.Parallel()
	t.Run("udp", func(t *testing.T) { sippCalls(t, 0, "u1") })
	t.Run("tcp", func(t *testing.T) { sippCalls(t, 1, "t1") })
}

func sippCalls(t *testing.T, socket int, transport string) {
	t.Parallel()
	s, legs := answering(t)
	done := sipp(t, "uac.xml", "-t", transport, "-s", "205", s.sockets[socket].local.String())
	leg := receive(t, legs, "leg")
	linetest.Hears(t, leg.Media(), 700, 0.1)
	linetest.Event(t, leg.Media(), lines.HeldOn)
	linetest.Event(t, leg.Media(), lines.HeldOff)
	receive(t, leg.Done(), "end")
	if err := receive(t, done, "end of sipp"); err != nil {
		t.Fatal(err)
	}
	if !leg.End().Remote {
		t.Errorf("%+v", leg.End())
	}
}

// TestSippAnswers: we call sipp through a trunk that asks for a password; it rings, answers and echoes our audio.
func TestSippAnswers(t *testing.T) {
	t.Parallel()
	port := 20000 + rand.IntN(5000)
	done := sipp(t, "uas.xml", "-p", fmt.Sprint(port), "-rtp_echo")
	s := serve(t, Config{Default: &Trunk{Number: "+4930777", Username: "ada", Password: "secret", Address: "127.0.0.1", Port: port, Format: "e164"}})
	var codes []int
	leg, err := s.Dial(t.Context(), lines.Destination{To: "+4930123456", From: "+4930777", RingFor: patience}, func(c int) { codes = append(codes, c) })
	if err != nil { // sipp may listen a little later: the INVITE is repeated
		t.Fatal(err, receive(t, done, "end of sipp"))
	}
	slices.Sort(codes) // one may overtake the other, and a repeated INVITE is answered again
	if codes = slices.Compact(codes); fmt.Sprint(codes) != "[180 183]" {
		t.Errorf("%v", codes)
	}
	linetest.Play(t, leg.Media(), 1000, 3*time.Second)
	linetest.Hears(t, leg.Media(), 1000, 0.1)
	if err := leg.Hangup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, done, "end of sipp"); err != nil {
		t.Fatal(err)
	}
}

// neighbour is a network of its own beside ours: baresip refuses to work on loopback.
func neighbour(t *testing.T) (name, ours, theirs string) {
	t.Helper()
	ip := tool(t, "ip")
	id := rand.IntN(1 << 14)
	name = fmt.Sprintf("parley%d", id)
	ours, theirs = fmt.Sprintf("10.203.%d.%d", id>>6, id&63*4+1), fmt.Sprintf("10.203.%d.%d", id>>6, id&63*4+2)
	near, far := fmt.Sprintf("pa%d", id), fmt.Sprintf("pb%d", id)
	for _, c := range []string{
		"netns add " + name,
		"link add " + near + " type veth peer name " + far + " netns " + name,
		"addr add " + ours + "/30 dev " + near, "link set " + near + " up",
		"-n " + name + " addr add " + theirs + "/30 dev " + far, "-n " + name + " link set " + far + " up",
	} {
		if out, err := exec.Command(ip, strings.Fields(c)...).CombinedOutput(); err != nil {
			t.Fatalf("baresip needs a network namespace, and `ip %s` fails (is this root?): %v %s", c, err, out)
		}
		if strings.HasPrefix(c, "netns add") {
			t.Cleanup(func() {
				_ = exec.Command(ip, "link", "del", near).Run()
				_ = exec.Command(ip, "netns", "del", name).Run()
			})
		}
	}
	return name, ours, theirs
}

// TestBaresip: an independent telephone calls us with a tone, presses keys, and hangs up, over every transport, in the clear
// and encrypted.
func TestBaresip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ transport, srtp, theirs string }{
		{"udp", "off", ""}, {"tcp", "off", ""}, {"tls", "off", ""},
		{"udp", "offered", "srtp"}, {"tcp", "required", "srtp-mand"}, {"tls", "offered", "srtp-mand"}, {"tls", "required", "srtp-mandf"},
	} {
		t.Run(c.transport+" "+c.srtp, func(t *testing.T) { baresip(t, c.transport, c.srtp, c.theirs) })
	}
}

func baresip(t *testing.T, transport, srtp, mediaenc string) {
	t.Parallel()
	ns, ours, theirs := neighbour(t)
	legs := make(chan lines.Leg, 1)
	cert, _ := selfSigned(t)
	s := serve(t, Config{Listen: []string{transport + "://" + ours + ":0"},
		Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil },
		Trunks:      trunks(Trunk{ID: 1, Number: "205", Extension: true, Username: "ada", Password: "secret", Auth: "auth", SRTP: srtp}),
		OnCall:      func(l lines.Leg) { _ = l.Ring(); _ = l.Answer(context.Background()); legs <- l }})
	if mediaenc != "" {
		mediaenc = ";mediaenc=" + mediaenc
	}
	dir := t.TempDir()
	for file, content := range map[string]string{
		"accounts": "<sip:ada@" + theirs + ";transport=" + transport + ">;auth_user=ada;auth_pass=secret;regint=0;audio_codecs=pcma/8000" + mediaenc + "\n",
		"contacts": "",
		"config": text("poll_method epoll", "sip_listen "+theirs+":5060", "audio_source aufile,"+dir+"/tone.wav", "audio_player aufile,"+dir+"/heard.wav",
			"audio_alert aufile,"+dir+"/alert.wav", "module_path /usr/lib/baresip/modules", "module stdio.so", "module g711.so",
			"module aufile.so", "module srtp.so", "module_app account.so", "module_app menu.so"),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wav, err := os.Create(filepath.Join(dir, "tone.wav"))
	if err != nil {
		t.Fatal(err)
	}
	w, _ := audio.NewWAVWriter(wav, 8000, 1)
	for range 20 {
		_ = w.WriteSamples(tone(440))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tool(t, "baresip")
	cmd := exec.CommandContext(t.Context(), tool(t, "ip"), "netns", "exec", ns, "baresip", "-4", "-f", dir, "-t", "60")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
	})
	_, _ = io.WriteString(keys, "/dial sip:205@"+s.sockets[0].local.String()+";transport="+transport+"\n")
	leg := receive(t, legs, "call of baresip")
	if got := leg.(*Leg).audio.crypto() != nil; got != (mediaenc != "") {
		t.Errorf("encrypted: %v", got)
	}
	linetest.Hears(t, leg.Media(), 440, 0.05)
	_, _ = io.WriteString(keys, "4")
	if e := linetest.Event(t, leg.Media(), lines.Digit); e.Digit != '4' {
		t.Errorf("key %c", e.Digit)
	}
	_, _ = io.WriteString(keys, "b")
	receive(t, leg.Done(), "end")
	if !leg.End().Remote || leg.Info().TrunkID != 1 {
		t.Errorf("%+v %+v", leg.End(), leg.Info())
	}
}
