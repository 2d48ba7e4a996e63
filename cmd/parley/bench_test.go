package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/audio"
	"parley/lines"
	"parley/lines/linetest"
	"parley/lines/media"
	"parley/lines/sip"
)

// A stranger's INVITE is answered and greeted, what the caller says is answered, and the call leaves a record with its
// events and its recording.
func TestBenchServe(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cmd := program(t, "bench", "serve", "--data", data, "--silence", "600ms", "--answer", "700ms", "--greeting", "500ms", "--record")
	s := start(t, cmd)
	c := client{s, t, ran(t, nil, "keys", "create", "--data", data, "--name", "test")}
	leg := dial(t, s)
	linetest.Hears(t, leg.Media(), 440, 0.2)
	var list struct{ Data []recorded }
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/user/calls", "")), &list); err != nil || len(list.Data) != 1 {
		t.Fatalf("%v %+v", err, list)
	}
	id := list.Data[0].ID
	c.until(id, func(one recorded) bool { return one.Transcript == "Assistant: This is the greeting." })
	if _, err := leg.Media().Play(t.Context(), spoken(t)); err != nil {
		t.Fatal(err)
	}
	linetest.Event(t, leg.Media(), lines.Drained)
	linetest.Hears(t, leg.Media(), 440, 0.2)
	c.until(id, func(one recorded) bool {
		return one.Transcript == "Assistant: This is the greeting.\nCustomer: This is what was said.\nAssistant: This is the answer."
	})
	if err := leg.Hangup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if one := c.until(id, final); one.Status != "completed" || *one.Reason != "customer_hangup" || one.Recording == "" {
		t.Errorf("%+v", one)
	}
	events := c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", id), "")
	for _, e := range []string{"speech.end", "turn.user", "tts.request", "turn.assistant", `"endpoint_ms":`} {
		if !strings.Contains(events, e) {
			t.Errorf("no %s in %s", e, events)
		}
	}
	c.stop(t)
}

// dial calls a server from a telephone of its own.
func dial(t *testing.T, s *serving) lines.Leg {
	t.Helper()
	_, at, _ := strings.Cut(s.banner, "udp://")
	target := netip.MustParseAddrPort(strings.Fields(at)[0])
	plane, err := media.New(media.Options{PortMin: 41000, PortMax: 41999})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Close)
	phone, err := sip.Start(sip.Config{Listen: []string{"udp://127.0.0.1:0"}, Media: plane, SessionExpires: -1,
		Default: &sip.Trunk{Number: "100", Address: target.Addr().String(), Port: int(target.Port()), Transport: "udp"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.Close(t.Context()) })
	leg, err := phone.Dial(t.Context(), lines.Destination{To: "+4930123456", From: "100", RingFor: 20 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return leg
}

// spoken is a person speaking, at 8 kHz.
func spoken(t *testing.T) []int16 {
	t.Helper()
	code, err := os.ReadFile("../../audio/silero/testdata/speech8000.ulaw")
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(code))
	audio.DecodeMuLaw(pcm, code)
	return pcm
}

// Who answers everybody must not be reachable by everybody.
func TestBenchServeRefuses(t *testing.T) {
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ env, says, args string }{
		{env: "PARLEY_SIP_LISTEN=udp://0.0.0.0:0", says: "loopback only, not on udp://0.0.0.0:0"},
		{args: "--listen 0.0.0.0:0", says: "loopback only"},
		{args: "--silence 20ms", says: "--silence"},
		{args: "--answer 0s", says: "--answer"},
		{args: "--data " + used, says: "is not empty"},
		{args: "now", says: "now"},
	} {
		cmd := program(t, append([]string{"bench", "serve"}, strings.Fields(c.args)...)...)
		if c.env != "" {
			cmd.Env = append(cmd.Env, c.env)
		}
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), c.says) {
			t.Errorf("%+v: exit code %d\n%s", c, cmd.ProcessState.ExitCode(), out)
		}
	}
	// What is stored goes with the server.
	tmp := t.TempDir()
	cmd := program(t, "bench", "serve")
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	s := start(t, cmd)
	if left, _ := os.ReadDir(tmp); len(left) != 1 {
		t.Errorf("%v while it runs", left)
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(tmp); len(left) != 0 {
		t.Errorf("%v stays", left)
	}
}
