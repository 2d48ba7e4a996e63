package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"parley/catalog"
	"parley/providers"
	"parley/sim/instant"
)

// withPebble is the environment of a server that has one vendor more in its list: all that a new one takes beside its folder.
const withPebble = "PARLEY_TEST_PEBBLE=1"

// pebbleSettings are its keys: pebble.api_key and pebble.voice.
type pebbleSettings struct {
	APIKey string `key:"api_key" secret:"true" also:"PEBBLE_API_KEY"`
	Voice  string `key:"voice" doc:"the only one it has"`
}

// pebble hears and speaks, and does not think.
func pebble() providers.Maker {
	return providers.Make("pebble", "Pebble", "stt tts", pebbleSettings{Voice: "flat"},
		func(_ context.Context, s pebbleSettings, _ providers.Ground) ([]providers.Vendor, error) {
			if s.APIKey == "" {
				return nil, nil
			}
			e := instant.Engines{Greeting: time.Second, Answer: time.Second}
			return []providers.Vendor{{Code: "pebble", About: "a stone", Transcriber: e.Transcriber, Synthesizer: e, Offer: catalog.Offer{
				Synthesizers: []catalog.NewSynthesizer{{Code: "pebble", Name: "Pebble speech", Voices: []catalog.NewVoice{{Code: s.Voice, Name: "Flat"}}}},
				Transcribers: []catalog.NewTranscriber{{Code: "pebble", Name: "Pebble recognition"}}}}}, nil
		})
}

func init() {
	if os.Getenv("PARLEY_TEST_PROGRAM") != "" && os.Getenv("PARLEY_TEST_PEBBLE") != "" {
		makers = append(makers, pebble())
	}
}

// A vendor is one line of the list: its keys are known, shown and checked, its engines are on offer beside the others, and
// a call speaks and hears with it while the built-in model thinks.
//
// Contract: 4.2 4.7 4.9
func TestAnotherVendor(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	env := []string{withPebble, "PEBBLE_API_KEY=hunter2", "PARLEY_PEBBLE_VOICE=round", "PARLEY_LIMITS_PER_KEY_PER_MINUTE=0"}
	shown := program(t, "config", "--data", data)
	shown.Env = append(shown.Env, env...)
	if out, err := shown.CombinedOutput(); err != nil || !strings.Contains(string(out), "pebble.api_key: ****") ||
		!strings.Contains(string(out), `pebble.voice: "round"`) || strings.Contains(string(out), "hunter2") {
		t.Errorf("%v\n%s", err, out)
	}
	wrong := program(t, "config", "--data", data)
	wrong.Env = append(wrong.Env, withPebble, "PARLEY_PEBBLE_VOICES=round")
	if out, err := wrong.CombinedOutput(); err == nil || !strings.Contains(string(out), "unknown variable PARLEY_PEBBLE_VOICES") {
		t.Errorf("%v\n%s", err, out)
	}

	c, number, _ := desk(t, data, env...)
	find := func(path, code string) int64 {
		t.Helper()
		var list []struct {
			ID         int64
			Code, Name string
		}
		if err := json.Unmarshal([]byte(c.want(200, "GET", path, "")), &list); err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			if one.Code == code || one.Name == code {
				return one.ID
			}
		}
		t.Fatalf("%s is not in %s: %v", code, path, list)
		return 0
	}
	voice, hears := find("/user/assistants/voices", "Flat"), find("/user/assistants/transcriber-providers", "pebble")
	find("/user/assistants/synthesizer-providers", "pebble")
	find("/user/assistants/synthesizer-providers", "builtin")
	var all struct {
		Data []struct {
			ID   int64
			Type string
		}
	}
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/user/assistants/get", "")), &all); err != nil {
		t.Fatal(err)
	}
	for _, a := range all.Data {
		c.want(200, "PUT", fmt.Sprintf("/user/assistant/%d", a.ID), fmt.Sprintf(`{"voice_id":%d,"transcriber_provider_id":%d}`, voice, hears))
	}
	for _, id := range []int64{1, 6, voice} { // of a synthesizer, of a realtime model, of the new vendor
		wav(t, fmt.Sprintf("%s/media/voices/%d.wav", c.url, id))
	}
	call := c.id(c.want(200, "POST", "/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":[{"wait_ms":2000},
		{"say":"When do you open?"},{"wait_ms":4000},{"hangup":true}]}`, number)), "data", "call_id")
	one := c.until(call, final)
	if !strings.Contains(one.Transcript, "Customer: This is what was said.") {
		t.Errorf("%+v", one)
	}
	events := c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", call), "")
	for _, want := range []string{`"type":"stt.request","data":{"provider":"pebble"`, `"provider":"pebble","voice":"round"`, `"provider":"builtin","model":"builtin-responder"`} {
		if !strings.Contains(events, want) {
			t.Errorf("%s is not in\n%s", want, events)
		}
	}
	c.stop(t)
}

// wav reads a sample of a voice, whose header and answer must say how long it is.
func wav(t *testing.T, url string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 || res.ContentLength != int64(len(body)) || len(body) < 16000 {
		t.Fatalf("%s: %d, %d bytes of %d, %v", url, res.StatusCode, len(body), res.ContentLength, err)
	}
	if riff, data := binary.LittleEndian.Uint32(body[4:]), binary.LittleEndian.Uint32(body[40:]); int(riff) != len(body)-8 || int(data) != len(body)-44 {
		t.Errorf("%s: %d bytes say %d and %d", url, len(body), riff, data)
	}
}
