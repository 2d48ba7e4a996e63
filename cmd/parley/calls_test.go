package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/audio"
)

// recorded is what tests read of a call.
type recorded struct {
	ID           int64
	Type, Status string
	Duration     int64
	Transcript   string
	Reason       *string        `json:"ended_reason"`
	By           *string        `json:"ended_by"`
	AnsweredBy   string         `json:"answered_by"`
	Evaluation   map[string]any `json:"evaluation"`
	Variables    map[string]any `json:"variables"`
	Recording    string         `json:"recording_url"`
	Cost         float64        `json:"total_cost"`
}

// client is a customer's program.
type client struct {
	*serving
	t   *testing.T
	key string
}

func (c client) want(status int, method, path, body string) string {
	c.t.Helper()
	got, answer := c.ask(c.t, c.key, method, "/api"+path, body)
	if got != status {
		c.t.Fatalf("%s %s: %d %s", method, path, got, answer)
	}
	return answer
}

func (c client) call(id int64) (one recorded) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(c.want(200, "GET", fmt.Sprintf("/user/calls/%d", id), "")), &one); err != nil {
		c.t.Fatal(err)
	}
	return one
}

// until asks for a call until ok, at most patience: real speech takes its time.
func (c client) until(id int64, ok func(recorded) bool) recorded {
	c.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		one := c.call(id)
		if ok(one) {
			return one
		}
		if time.Now().After(end) {
			c.t.Fatalf("call %d stays %+v\n%s", id, one, c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", id), ""))
		}
	}
}

// patience is how long a test waits for what must happen, on a machine that is busy with other tests.
const patience = 90 * time.Second

func final(one recorded) bool {
	return strings.Contains("completed busy no-answer failed", one.Status)
}

// id reads a number out of an answer.
func (c client) id(answer string, path ...string) int64 {
	c.t.Helper()
	var v any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		c.t.Fatal(err)
	}
	for _, p := range path {
		v = v.(map[string]any)[p]
	}
	return int64(v.(float64))
}

// desk is a server with an assistant that answers a number, and one that calls.
func desk(t *testing.T, data string, env ...string) (c client, number string, out int64) {
	t.Helper()
	key := ran(t, nil, "keys", "create", "--data", data, "--name", "test")
	c = client{startServer(t, data, env, "--dev"), t, key}
	var found struct {
		Data []struct {
			Number string `json:"phone_number"`
		}
	}
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/user/phone-numbers/search", "")), &found); err != nil {
		t.Fatal(err)
	}
	number = found.Data[0].Number
	bought := c.id(c.want(201, "POST", "/user/phone-numbers/purchase", fmt.Sprintf(`{"phone_number":%q}`, number)), "data", "id")
	assistant := func(typ, number string) int64 {
		return c.id(c.want(201, "POST", "/user/assistant", fmt.Sprintf(`{"name":"Desk","voice_id":2,"language_id":1,"type":%q,"mode":"pipeline","timezone":"UTC",
			"initial_message":"Map shop.","system_prompt":"You sell maps.\n\nFAQ:\nQ: When do you open?\nA: We open at nine.","llm_model_id":1,
			"record":true,"phone_number_id":%s,"tools":[{"type":"collect_keypad"}]}`, typ, number)), "data", "id")
	}
	assistant("inbound", fmt.Sprint(bought))
	return c, number, assistant("outbound", "null")
}

// A conversation with the built-in model and voice over real signalling and audio, in both directions, and what ends calls.
//
// Contract: 4.9 5.1 5.2 5.5 14.5 18.1
func TestCalls(t *testing.T) {
	t.Parallel()
	c, number, out := desk(t, t.TempDir(), sureWords)
	inbound := func(script string) int64 {
		return c.id(c.want(200, "POST", "/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":%s}`, number, script)), "data", "call_id")
	}
	outbound := func(phone, world string) int64 {
		c.want(200, "PUT", "/sim/phones/"+phone, world)
		return c.id(c.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":%q,"assistant_id":%d}`, phone, out)), "call_id")
	}
	talk := inbound(`[{"wait_for":"speech_end","timeout_ms":30000},{"wait_ms":300},{"say":"When do you open?"},{"wait_for":"speech_start","timeout_ms":30000},
		{"wait_for":"speech_end","timeout_ms":30000},{"wait_ms":4000},{"dtmf":"12#"},{"wait_ms":1500},{"hangup":true}]`)
	answered := outbound("+491701111111", `{"behaviour":"answer","script":[{"wait_for":"speech_end","timeout_ms":30000},{"wait_ms":60000}]}`)
	busy := outbound("+491702222222", `{"behaviour":"busy"}`)
	wrong := outbound("+491703333333", `{"behaviour":"invalid"}`)

	for id, want := range map[int64][2]string{busy: {"busy", "busy"}, wrong: {"failed", "invalid_number"}} {
		if one := c.until(id, final); one.Status != want[0] || *one.Reason != want[1] || one.Duration != 0 {
			t.Errorf("call %d: %+v, want %v", id, one, want)
		}
	}
	c.until(answered, func(one recorded) bool { return one.Transcript == "Assistant: Map shop." })
	c.want(409, "DELETE", fmt.Sprintf("/user/calls/%d", answered), "")
	c.want(200, "POST", fmt.Sprintf("/user/calls/%d/hangup", answered), "")
	if one := c.until(answered, final); one.Status != "completed" || *one.Reason != "api_hangup" || *one.By != "system" {
		t.Errorf("hung up: %+v", one)
	}
	c.want(409, "POST", fmt.Sprintf("/user/calls/%d/hangup", answered), "")

	one := c.until(talk, final)
	if one.Status != "completed" || *one.Reason != "customer_hangup" || one.AnsweredBy != "human" || one.Variables["keypad_input"] != "12" {
		t.Errorf("talk: %+v", one)
	}
	for _, line := range []string{"Assistant: Map shop.\n", "\nCustomer: when do you open\n", "We open at nine.", "\nCustomer: [Keypad input: 12]"} {
		if !strings.Contains(one.Transcript, line) {
			t.Errorf("%q is not in\n%s", line, one.Transcript)
		}
	}
	if _, ok := one.Evaluation["summary"].(string); !ok {
		t.Errorf("evaluation %v", one.Evaluation)
	}
	heard(t, one)
	c.log(talk)
	c.want(200, "DELETE", fmt.Sprintf("/user/calls/%d", talk), "")
	if res, err := http.Get(one.Recording); err != nil || res.StatusCode != 404 {
		t.Errorf("the recording outlives its call: %v %v", res, err)
	}
	c.stop(t)
}

// heard fetches a recording and finds both parties on their channels.
func heard(t *testing.T, one recorded) {
	t.Helper()
	long, both := sound(t, one)
	if long < float64(one.Duration)-5 || long > float64(one.Duration)+5 || both[0] < 20 || both[1] < 40 {
		t.Errorf("recording: %.1f s of a call of %d s, %v blocks with sound", long, one.Duration, both)
	}
}

// sound is the length of a recording in seconds and how many of its blocks of 20 ms are not silent, by party.
func sound(t *testing.T, one recorded) (long float64, both [2]int) {
	t.Helper()
	res, err := http.Get(one.Recording)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	r, err := audio.NewWAVReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if r.Channels != 2 {
		t.Fatalf("recording with %d channels", r.Channels)
	}
	block := make([]int16, 2*r.Rate/50)
	total := 0
	for {
		n, err := r.Read(block)
		if err != nil {
			break
		}
		total += n / 2
		for ch := range both {
			var energy float64
			for i := ch; i < n; i += 2 {
				energy += float64(block[i]) * float64(block[i])
			}
			if energy/float64(max(1, n/2)) > 150*150 {
				both[ch]++
			}
		}
	}
	return float64(total) / float64(r.Rate), both
}

// A process that is killed in the middle of a call leaves a record that says so once it runs again: how long the call was
// known to go on, what was said, what was recorded and what it costs, once; nothing stays held (contract 14.5, 16.4).
//
// Contract: 14.5 16.4
func TestKilledInACall(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c, number, _ := desk(t, data, sureWords)
	before, _ := c.money()
	id := c.id(c.want(200, "POST", "/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":[{"wait_ms":20000}]}`, number)), "data", "call_id")
	asked := time.Now()
	alive := c.until(id, func(one recorded) bool { return one.Transcript != "" && one.Duration >= 3 })
	if total, available := c.money(); total != before || available >= total {
		t.Errorf("during the call: balance %v, available %v", total, available)
	}
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.done
	most := int64(time.Since(asked).Seconds()) + 3 // it goes on while we ask
	var after float64
	for life := range 2 {
		c.serving = startServer(t, data, nil, "--dev")
		one := c.until(id, final)
		if one.Status != "completed" || *one.Reason != "server_restart" || *one.By != "system" || one.Transcript != "Assistant: Map shop." {
			t.Errorf("%+v", one)
		}
		if one.Duration < alive.Duration-1 || one.Duration > most || one.Cost <= 0 {
			t.Errorf("life %d: %d s for %v; it was killed between %d and %d s", life, one.Duration, one.Cost, alive.Duration, most)
		}
		if long, both := sound(t, one); long > float64(one.Duration)+1 || long < float64(one.Duration)-4 || both[1] < 20 {
			t.Errorf("recording of %v s, %v blocks with sound, in a call of %d s", long, both, one.Duration)
		}
		total, available := c.money()
		if total != available || total >= before || life > 0 && total != after {
			t.Errorf("life %d: balance %v of %v, then %v, available %v", life, total, before, after, available)
		}
		after = total
		c.stop(t)
	}
}

// money is the balance of the account, and how much of it is not held.
func (c client) money() (total, available float64) {
	c.t.Helper()
	var me struct {
		Total     float64 `json:"total_balance"`
		Available float64 `json:"available_balance"`
	}
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/user/me", "")), &me); err != nil {
		c.t.Fatal(err)
	}
	return me.Total, me.Available
}

// keysOf are the keys of each event's data (contract 4.9). Keys of ours are in brackets.
var keysOf = map[string]string{"call.state": "reason status", "audio.first_in": "", "audio.first_out": "", "audio.denoise": "enabled", "speech.start": "side",
	"speech.end": "side", "turn.end": "probability reason silence_ms threshold", "turn.user": "language source text", "turn.assistant": "interrupted played_ms text [stages]", "stt.request": "denoise language provider",
	"llm.request": "knowledge_chunks model provider purpose temperature tools", "llm.first_token": "ms", "tts.request": "emotion provider similarity speed stability text voice",
	"barge_in": "after_ms words", "dtmf.in": "digit", "keypad": "digits ended_by", "warning": "message [stage]", "error": "message stage", "amd": "after_ms result"}

// log reads the events of a call of the desk: all of them there, in order, each with its keys and its time since the answer.
func (c client) log(id int64) {
	c.t.Helper()
	var log struct {
		Data []struct {
			Seq  int
			At   time.Time
			MS   int64
			Type string
			Data map[string]any
		}
	}
	answer := c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", id), "")
	if err := json.Unmarshal([]byte(answer), &log); err != nil {
		c.t.Fatal(err)
	}
	var answered time.Time
	var states []string
	seen := map[string]bool{}
	for i, e := range log.Data {
		seen[e.Type] = true
		if e.Type == "call.state" {
			states = append(states, fmt.Sprint(e.Data["status"]))
			if e.Data["status"] == "in-progress" {
				answered = e.At
			}
		}
		want, ours, _ := strings.Cut(keysOf[e.Type], "[")
		keys := slices.DeleteFunc(slices.Sorted(maps.Keys(e.Data)), func(k string) bool { return k+"]" == ours })
		if _, known := keysOf[e.Type]; !known || strings.Join(keys, " ") != strings.TrimSpace(want) || e.Seq != i+1 {
			c.t.Errorf("event %d: %+v, want the keys %q", i+1, e, want)
		}
	}
	for _, e := range log.Data {
		if off := e.At.Sub(answered).Milliseconds() - e.MS; off < -1 || off > 1 {
			c.t.Errorf("%+v is %d ms off", e, off)
		}
	}
	if got := strings.Join(states, " "); got != "initiated ringing in-progress ended_by_customer completed" {
		c.t.Errorf("states %s", got)
	}
	for _, kind := range strings.Fields("audio.first_in audio.first_out audio.denoise speech.start speech.end turn.user turn.assistant stt.request llm.request llm.first_token tts.request dtmf.in keypad") {
		if !seen[kind] {
			c.t.Errorf("no %s in\n%s", kind, answer)
		}
	}
}
