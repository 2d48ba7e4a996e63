package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/agent"
	"parley/fault"
	"parley/providers/providertest"
	"parley/voice"
)

// vendor is a server that speaks the realtime interface: it hears loud samples as speech, answers in two sentences, and calls a
// function when it is asked for a map.
type vendor struct {
	t        *testing.T
	url      string
	creative func(s *sitting, m map[string]any) bool // deals with a message in its own way

	mu   sync.Mutex
	seen []map[string]any // messages but audio
}

// sitting is one conversation.
type sitting struct {
	v      *vendor
	conn   *websocket.Conn
	ctx    context.Context
	law    bool
	text   bool
	last   string // what the caller said or wrote
	tool   bool   // a result came
	loud   bool
	quiet  int // bytes
	n      int
	active string
	stop   context.CancelFunc
	mu     sync.Mutex
	wg     sync.WaitGroup
}

func startVendor(t *testing.T) (*vendor, *Client) {
	v := &vendor{t: t}
	srv := httptest.NewServer(http.HandlerFunc(v.serve))
	t.Cleanup(srv.Close)
	v.url = srv.URL + "/v1/realtime"
	c := New(Config{BaseURL: srv.URL + "/v1", Key: "sk-test"})
	t.Cleanup(c.Close)
	return v, c
}

func (v *vendor) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer sk-test" || r.URL.Query().Get("model") != "live" || r.Header.Get("OpenAI-Beta") != "" {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: sk-test"}}`)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	conn.SetReadLimit(32 << 20)
	s := &sitting{v: v, conn: conn, ctx: r.Context()}
	defer s.wg.Wait()
	defer conn.CloseNow()
	s.tell(`{"type":"session.created","session":{"id":"sess_1"}}`)
	for {
		_, raw, err := conn.Read(s.ctx)
		if err != nil {
			s.cancel()
			return
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			v.t.Errorf("sent %s", raw)
		}
		if v.creative == nil || !v.creative(s, m) {
			s.take(m)
		}
	}
}

func (s *sitting) tell(format string, args ...any) {
	_ = s.conn.Write(s.ctx, websocket.MessageText, []byte(fmt.Sprintf(format, args...)))
}

func (s *sitting) take(m map[string]any) {
	kind := m["type"].(string)
	if kind != "input_audio_buffer.append" {
		s.v.mu.Lock()
		s.v.seen = append(s.v.seen, m)
		s.v.mu.Unlock()
	}
	switch kind {
	case "session.update":
		session := m["session"].(map[string]any)
		s.text = fmt.Sprint(session["output_modalities"]) == "[text]"
		s.law = at(session, "audio.input.format.type") == "audio/pcmu"
		s.tell(`{"type":"session.updated","session":{}}`)
	case "input_audio_buffer.append":
		raw, _ := base64.StdEncoding.DecodeString(m["audio"].(string))
		s.hear(raw)
	case "conversation.item.create":
		it := m["item"].(map[string]any)
		if it["role"] == "user" {
			s.last = it["content"].([]any)[0].(map[string]any)["text"].(string)
		}
		s.tool = it["type"] == "function_call_output"
		s.tell(`{"type":"conversation.item.added","item":{"id":"x"}}`)
	case "response.create":
		s.mu.Lock()
		on := s.active
		s.mu.Unlock()
		if on != "" {
			s.tell(`{"type":"error","error":{"type":"invalid_request_error","code":"conversation_already_has_active_response","message":"busy","event_id":%q}}`, m["event_id"])
			return
		}
		r := m["response"].(map[string]any)
		instructions, _ := r["instructions"].(string)
		meta, _ := json.Marshal(r["metadata"])
		s.answer(string(meta), instructions)
	case "response.cancel":
		s.mu.Lock()
		on := s.active == m["response_id"]
		s.mu.Unlock()
		if !on {
			s.tell(`{"type":"error","error":{"code":"response_cancel_not_active","message":"no"}}`)
			return
		}
		s.cancel()
	}
}

func (s *sitting) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
}

func at(m map[string]any, path string) any {
	var v any = m
	for _, k := range strings.Split(path, ".") {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[k]
	}
	return v
}

// hear tells speech by its loudness; half a second of quiet ends the caller's turn, and is answered.
func (s *sitting) hear(raw []byte) {
	for _, b := range raw {
		if s.law && b != 0xff && b != 0x7f || !s.law && b != 0 {
			s.quiet = 0
			if !s.loud {
				s.loud = true
				s.tell(`{"type":"input_audio_buffer.speech_started","item_id":"u1"}`)
			}
			continue
		}
		s.quiet++
	}
	if s.loud && s.quiet > 4000 {
		s.loud = false
		s.last = "spoken"
		s.tell(`{"type":"input_audio_buffer.speech_stopped","item_id":"u1"}`)
		s.tell(`{"type":"input_audio_buffer.committed","item_id":"u1"}`)
		s.answer("null", "")
		s.tell(`{"type":"conversation.item.input_audio_transcription.delta","item_id":"u1","delta":"a map "}`)
		s.tell(`{"type":"conversation.item.input_audio_transcription.completed","item_id":"u1","transcript":"a map of the town","usage":{"type":"duration","seconds":1.5}}`)
	}
}

func (s *sitting) answer(meta, instructions string) {
	s.mu.Lock()
	s.n++
	id := fmt.Sprintf("resp_%d", s.n)
	ctx, stop := context.WithCancel(s.ctx)
	s.active, s.stop = id, stop
	s.mu.Unlock()
	s.tell(`{"type":"response.created","response":{"id":%q,"status":"in_progress","metadata":%s}}`, id, meta)
	parts := []string{"We sell maps. ", "Of all towns."}
	if _, exact, ok := strings.Cut(instructions, "before or after it:\n"); ok {
		parts = []string{exact}
	}
	call := strings.Contains(s.last, "Find") && !s.tool
	s.wg.Go(func() {
		defer stop()
		status := "completed"
		for i := 0; i < len(parts) && !call; i++ {
			s.piece(id, parts[i])
			select {
			case <-ctx.Done():
				status, i = "cancelled", len(parts)
			case <-time.After(20 * time.Millisecond):
			}
		}
		output := ""
		if call {
			output = `{"type":"function_call","id":"fc","call_id":"call_1","name":"find_map","arguments":"{\"town\":\"Ulm\"}"}`
			s.tell(`{"type":"response.output_item.done","response_id":%q,"item":%s}`, id, output)
		}
		s.mu.Lock()
		s.active = ""
		s.mu.Unlock()
		s.tell(`{"type":"response.done","response":{"id":%q,"status":%q,"output":[%s],"usage":{"input_tokens":30,"output_tokens":12,
			"input_token_details":{"text_tokens":20,"audio_tokens":10,"cached_tokens":8,"cached_tokens_details":{"text_tokens":5,"audio_tokens":3}},
			"output_token_details":{"text_tokens":2,"audio_tokens":10}}}}`, id, status, output)
	})
}

func (s *sitting) piece(id, text string) {
	if s.text {
		s.tell(`{"type":"response.output_text.delta","response_id":%q,"item_id":"i_%s","delta":%q}`, id, id, text)
		return
	}
	s.tell(`{"type":"response.output_audio_transcript.delta","response_id":%q,"item_id":"i_%s","delta":%q}`, id, id, text)
	sound := bytesOf(tone(pcmRate, 0.2, 9000))
	if s.law {
		sound = make([]byte, 1600)
		for i := range sound {
			sound[i] = byte(0x10 + i%2*0x80)
		}
	}
	s.tell(`{"type":"response.output_audio.delta","response_id":%q,"item_id":"i_%s","delta":%q}`, id, id, base64.StdEncoding.EncodeToString(sound))
}

func (v *vendor) sent(kind string) (out []map[string]any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.seen {
		if m["type"] == kind {
			out = append(out, m)
		}
	}
	return out
}

func setting(rate int) voice.RealtimeSetting {
	return voice.RealtimeSetting{Model: "live", Rate: rate, Languages: []string{"en"}, Instructions: "You sell maps.", Silence: 700 * time.Millisecond,
		Speech: voice.Speech{Voice: "marin", Speed: 1.1}, Tools: []agent.Tool{{Name: "find_map", Description: "Finds one.", Parameters: json.RawMessage(`{"type":"object"}`)}}}
}

func TestRealtimeRole(t *testing.T) {
	for _, rate := range []int{8000, 16000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			v, c := startVendor(t)
			providertest.Realtime(t, providertest.Conversation{Open: c.Realtime(v.url, "scribe"), How: setting(rate), Question: "What do you sell?",
				Wish: "Find me a map.", Spoken: providertest.Utterance{PCM: tone(rate, 1, 9000), Words: "a map of the town"}, Silence: time.Second})
		})
	}
}

// How a conversation is opened, in the form of the interface.
//
// Contract: 4.2
func TestRealtimeSettings(t *testing.T) {
	low := 0.3
	for name, c := range map[string]struct {
		change func(*voice.RealtimeSetting)
		want   map[string]any
	}{
		"telephone, spoken": {func(*voice.RealtimeSetting) {}, map[string]any{"type": "realtime", "output_modalities": "[audio]", "audio.input.format.type": "audio/pcmu",
			"audio.output.format.type": "audio/pcmu", "audio.output.voice": "marin", "audio.output.speed": 1.1, "audio.input.turn_detection.type": "server_vad",
			"audio.input.turn_detection.silence_duration_ms": 700.0, "audio.input.turn_detection.threshold": nil, "audio.input.turn_detection.create_response": true,
			"audio.input.turn_detection.interrupt_response": false, "audio.input.transcription.model": "scribe", "audio.input.transcription.language": "en",
			"instructions": "You sell maps.", "tool_choice": "auto"}},
		"browser, written": {func(s *voice.RealtimeSetting) { s.Rate, s.Text = 16000, true }, map[string]any{"output_modalities": "[text]", "audio.output": nil,
			"audio.input.format.type": "audio/pcm", "audio.input.format.rate": 24000.0}},
		"a threshold":    {func(s *voice.RealtimeSetting) { s.Threshold, s.Semantic = &low, true }, map[string]any{"audio.input.turn_detection.type": "server_vad", "audio.input.turn_detection.threshold": 0.3}},
		"by the meaning": {func(s *voice.RealtimeSetting) { s.Semantic = true }, map[string]any{"audio.input.turn_detection.type": "semantic_vad", "audio.input.turn_detection.eagerness": "auto"}},
		"several languages, at once": {func(s *voice.RealtimeSetting) { s.Languages, s.Interrupts = []string{"en", "de"}, true }, map[string]any{"audio.input.transcription.language": nil,
			"audio.input.turn_detection.interrupt_response": true}},
	} {
		t.Run(name, func(t *testing.T) {
			v, client := startVendor(t)
			how := setting(8000)
			c.change(&how)
			r, err := client.Realtime(v.url, "scribe")(t.Context(), how)
			if err != nil {
				t.Fatal(err)
			}
			r.Tell(agent.Message{Role: agent.RoleUser, Text: "Hi."})
			r.Respond(voice.Ask{ID: "a"})
			for ev, err := r.Recv(); ev.Kind != voice.AnswerOver; ev, err = r.Recv() {
				if err != nil {
					t.Fatal(err)
				}
			}
			providertest.End(t, r)
			got := v.sent("session.update")[0]["session"].(map[string]any)
			for path, want := range c.want {
				if have := at(got, path); have != want && !(path == "output_modalities" && fmt.Sprint(have) == want) {
					t.Errorf("%s: %v, want %v", path, have, want)
				}
			}
		})
	}
}

// What was heard of an answer that was cut short: never more, and at most 200 ms less; what was not heard at all is forgotten.
func TestRealtimeHeard(t *testing.T) {
	v, c := startVendor(t)
	r, err := c.Realtime(v.url, "")(t.Context(), setting(8000))
	if err != nil {
		t.Fatal(err)
	}
	r.Tell(agent.Message{Role: agent.RoleUser, Text: "Hi."})
	r.Respond(voice.Ask{ID: "a"})
	var used voice.Usage
	for used == (voice.Usage{}) {
		ev, err := r.Recv()
		if err != nil {
			t.Fatal(err)
		}
		used = ev.Used
	}
	if want := (voice.Usage{InputTokens: 15, CachedInputTokens: 8, OutputTokens: 2, InputAudioTokens: 7, OutputAudioTokens: 10}); used != want {
		t.Errorf("used %+v", used)
	}
	r.Heard("i_resp_1", 320*time.Millisecond, "We sell")
	r.Heard("i_resp_2", 0, "")
	r.Note("last")
	r.Respond(voice.Ask{ID: "b"})
	for ev, err := r.Recv(); ev.Kind != voice.AnswerOver; ev, err = r.Recv() {
		if err != nil {
			t.Fatal(err)
		}
	}
	providertest.End(t, r)
	cut, gone := v.sent("conversation.item.truncate"), v.sent("conversation.item.delete")
	if len(cut) != 1 || cut[0]["item_id"] != "i_resp_1" || cut[0]["audio_end_ms"] != 220.0 || cut[0]["content_index"] != 0.0 {
		t.Errorf("%+v", cut)
	}
	if len(gone) != 1 || gone[0]["item_id"] != "i_resp_2" {
		t.Errorf("%+v", gone)
	}
}

// What a vendor sends that it should not ends no conversation; what cannot be mended says so.
func TestRealtimeStrangeVendor(t *testing.T) {
	long := strings.Repeat("a", 2<<20)
	strange := []string{`not json`, `{"type":"something.new","delta":{}}`, `[]`, `{}`, `{"type":"response.output_audio.delta","response_id":"r","item_id":"i","delta":"%%%"}`,
		`{"type":"response.output_text.delta","response_id":"r","item_id":"i","delta":"` + long + `"}`, `{"type":"response.created"}`, `{"type":"response.done"}`,
		`{"type":"response.output_text.delta","response_id":"nobody","item_id":"i","delta":"late"}`, `{"type":"error"}`, `{"type":"response.cancelled"}`,
		`{"type":"error","error":{"code":"session_odd","message":"sk-test is odd"}}`}
	v, c := startVendor(t)
	v.creative = func(s *sitting, m map[string]any) bool {
		if m["type"] == "session.update" {
			for _, x := range strange {
				s.conn.Write(s.ctx, websocket.MessageText, []byte(x))
			}
			s.conn.Write(s.ctx, websocket.MessageBinary, make([]byte, 1<<20))
		}
		return false
	}
	r, err := c.Realtime(v.url, "")(t.Context(), setting(8000))
	if err != nil {
		t.Fatal(err)
	}
	r.Tell(agent.Message{Role: agent.RoleUser, Text: "Hi."})
	r.Respond(voice.Ask{ID: "a"})
	text := ""
	for {
		ev, err := r.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if ev.Err != nil && strings.Contains(fault.Say(ev.Err, ""), "sk-") {
			t.Error(ev.Err)
		}
		if ev.Kind == voice.AnswerText && ev.Answer == "resp_1" {
			text += ev.Text
		}
		if ev.Kind == voice.AnswerOver && ev.Answer == "resp_1" {
			break
		}
	}
	if text != "We sell maps. Of all towns." {
		t.Error(text)
	}
	providertest.End(t, r)
}

func TestRealtimeEnds(t *testing.T) {
	for name, c := range map[string]struct {
		do      func(s *sitting)
		refused bool
	}{
		"quota used up":        {func(s *sitting) { s.tell(`{"type":"error","error":{"code":"insufficient_quota","message":"no more"}}`) }, true},
		"closed with a reason": {func(s *sitting) { s.conn.Close(4000, "invalid_request_error.beta_api_shape_disabled") }, true},
		"closed":               {func(s *sitting) { s.conn.Close(websocket.StatusGoingAway, "") }, false},
		"gone":                 {func(s *sitting) { s.conn.CloseNow() }, false},
		"too much at once":     {func(s *sitting) { s.tell(`{"type":"x","delta":"%s"}`, strings.Repeat("a", 17<<20)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			v, client := startVendor(t)
			v.creative = func(s *sitting, m map[string]any) bool {
				if m["type"] == "response.create" {
					c.do(s)
					return true
				}
				return false
			}
			r, err := client.Realtime(v.url, "")(t.Context(), setting(8000))
			if err != nil {
				t.Fatal(err)
			}
			r.Respond(voice.Ask{ID: "a"})
			for err == nil {
				_, err = r.Recv()
			}
			if errors.Is(err, io.EOF) || errors.Is(err, voice.ErrRefused) != c.refused {
				t.Errorf("%v, refused for good %v", err, errors.Is(err, voice.ErrRefused))
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	v, _ := startVendor(t)
	wrong := New(Config{BaseURL: strings.TrimSuffix(v.url, "/realtime"), Key: "sk-other"})
	defer wrong.Close()
	if _, err := wrong.Realtime(v.url, "")(t.Context(), setting(8000)); !errors.Is(err, voice.ErrRefused) || fault.Say(err, "") != "the realtime engine refused the API key" {
		t.Error(err)
	}
}
