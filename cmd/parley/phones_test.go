package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/audio"
)

// lived is a simulated call as the phone lived it.
type lived struct {
	State string
	Steps []struct {
		At   int64 `json:"at_ms"`
		Step map[string]any
		Done bool
	}
	Heard []struct {
		From int64 `json:"from_ms"`
		To   int64 `json:"to_ms"`
		Text string
	}
	Audio *string `json:"audio_url"`
	Call  int64   `json:"call_id"`
}

func (c client) lived(id int64) (one lived) {
	c.t.Helper()
	var got struct{ Data lived }
	if err := json.Unmarshal([]byte(c.want(200, "GET", fmt.Sprintf("/sim/calls/%d", id), "")), &got); err != nil {
		c.t.Fatal(err)
	}
	return got.Data
}

// TestScripts has simulated callers do every kind of step, and reads what they did, heard and recorded, also after a
// restart. A step that timed out, or a sound that cannot be had, is not done.
//
// Contract: 14.5
func TestScripts(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c, number, _ := desk(t, data)
	beep := make([]int16, 8000)
	audio.GenSignal(beep, 8000, 0, audio.Tone{Hz: 700, Level: 0.3})
	wav := wave(beep)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/beep.wav" {
			_, _ = w.Write(wav)
			return
		}
		http.NotFound(w, r)
	}))
	defer files.Close()
	script := `[{"wait_for":"speech_start","timeout_ms":40000},{"wait_for":"speech_end","timeout_ms":40000},{"noise":"steady","level":0.01},{"wait_for":"silence","timeout_ms":30000},
		{"wait_for":"speech_start","timeout_ms":200},{"dtmf":"12"},{"play":"` + base64.StdEncoding.EncodeToString(wav) + `"},{"play":"` + files.URL + `/beep.wav"},
		{"play":"` + files.URL + `/none.wav"},{"play":"bm90IGEgd2F2"},{"noise":"babble","level":0},{"wait_ms":100},{"hangup":true}]`
	answer := c.want(200, "POST", "/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":%s}`, number, script))
	id, call := c.id(answer, "data", "id"), c.id(answer, "data", "call_id")
	c.until(call, final)
	c.eventually("the phone tells what it heard", func() bool { return c.lived(id).State == "ended" })
	one := c.lived(id)
	want := []bool{true, true, true, true, false, true, true, true, false, false, true, true, true}
	if len(one.Steps) != len(want) {
		t.Fatalf("steps %+v", one.Steps)
	}
	for i, s := range one.Steps {
		if s.Done != want[i] || i > 0 && s.At < one.Steps[i-1].At {
			t.Errorf("step %d (%v) done %v at %d ms", i, s.Step, s.Done, s.At)
		}
	}
	if len(one.Heard) == 0 || one.Heard[0].To <= one.Heard[0].From || one.Heard[0].Text == "" {
		t.Errorf("heard %+v", one.Heard)
	}
	res, err := http.Get(*one.Audio)
	if err != nil || res.StatusCode != 401 {
		t.Errorf("the recording needs no key: %v %v", res, err)
	}
	body := c.want(200, "GET", strings.TrimPrefix(*one.Audio, c.url+"/api"), "")
	if r, err := audio.NewWAVReader(strings.NewReader(body)); err != nil || r.Channels != 2 {
		t.Errorf("recording: %+v, %v", r, err)
	}

	c.want(200, "PUT", "/sim/phones/+491709999999", `{"behaviour":"busy","ring_ms":1}`)
	c.stop(t)
	c.serving = startServer(t, data, nil, "--dev")
	after := c.lived(id)
	if after.State != "ended" || len(after.Steps) != len(one.Steps) || len(after.Heard) != len(one.Heard) {
		t.Errorf("after the restart %+v", after)
	}
	if got := c.want(200, "GET", "/sim/phones", ""); !strings.Contains(got, `"+491709999999","behaviour":"busy","ring_ms":1`) {
		t.Errorf("after the restart %s", got)
	}
	c.stop(t)
}

// TestBehaviours calls phones of every kind; the record says how each call ended.
//
// Contract: 5.1 5.2 14.5
func TestBehaviours(t *testing.T) {
	t.Parallel()
	c, _, out := desk(t, t.TempDir())
	ends := map[string]string{"busy": "busy busy", "decline": "busy declined", "invalid": "failed invalid_number", "carrier_error": "failed carrier_error"}
	ids := map[string]int64{}
	n := 0
	for behaviour := range ends {
		n++
		phone := fmt.Sprintf("+49170111000%d", n)
		c.want(200, "PUT", "/sim/phones/"+phone, fmt.Sprintf(`{"behaviour":%q}`, behaviour))
		ids[behaviour] = c.id(c.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":%q,"assistant_id":%d}`, phone, out)), "call_id")
	}
	c.want(200, "PUT", "/sim/phones/+491701112000", `{"behaviour":"no_answer"}`)
	ringing := c.id(c.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":"+491701112000","assistant_id":%d}`, out)), "call_id")
	unknown := c.id(c.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":"+491701113000","assistant_id":%d}`, out)), "call_id")
	c.want(200, "PUT", "/sim/phones/+491701114000", `{"behaviour":"voicemail"}`)
	mailbox := c.id(c.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":"+491701114000","assistant_id":%d}`, out)), "call_id")
	for behaviour, want := range ends {
		one := c.until(ids[behaviour], final)
		if got := one.Status + " " + *one.Reason; got != want || *one.By != "system" || one.Duration != 0 {
			t.Errorf("%s: %s by %s", behaviour, got, *one.By)
		}
	}
	c.until(ringing, func(one recorded) bool { return one.Status == "ringing" })
	c.want(200, "POST", fmt.Sprintf("/user/calls/%d/hangup", ringing), "")
	if one := c.until(ringing, final); one.Status != "failed" || *one.Reason != "api_hangup" {
		t.Errorf("hung up while it rang: %+v", one)
	}
	// However little is understood of its greeting, a mailbox makes its tone.
	if one := c.until(mailbox, final); one.Status != "completed" || *one.Reason != "voicemail_detected" || one.AnsweredBy != "machine" {
		t.Errorf("a mailbox: %+v", one)
	}
	// A number without an entry answers and says hello.
	c.until(unknown, func(one recorded) bool { return strings.Contains(one.Transcript, "Customer:") })
	c.ask(t, c.key, "POST", fmt.Sprintf("/api/user/calls/%d/hangup", unknown), "") // unless its owner already has
	if one := c.until(unknown, final); one.Status != "completed" {
		t.Errorf("%+v", one)
	}
	// Those that were picked up know their call once it is over.
	c.eventually("the phones are put down", func() bool { return c.lived(1).State == "ended" && c.lived(2).State == "ended" })
	if one, other := c.lived(1).Call, c.lived(2).Call; min(one, other) != min(unknown, mailbox) || max(one, other) != max(unknown, mailbox) {
		t.Errorf("the phones were in the calls %d and %d", one, other)
	}
	c.stop(t)
}

// wave is a mono WAV file at 8 kHz.
func wave(pcm []int16) []byte {
	var b strings.Builder
	le := func(v uint32, n int) {
		for range n {
			b.WriteByte(byte(v))
			v >>= 8
		}
	}
	b.WriteString("RIFF")
	le(uint32(36+2*len(pcm)), 4)
	b.WriteString("WAVEfmt ")
	for _, f := range []struct {
		v uint32
		n int
	}{{16, 4}, {1, 2}, {1, 2}, {8000, 4}, {16000, 4}, {2, 2}, {16, 2}} {
		le(f.v, f.n)
	}
	b.WriteString("data")
	le(uint32(2*len(pcm)), 4)
	for _, s := range pcm {
		le(uint32(uint16(s)), 2)
	}
	return []byte(b.String())
}
