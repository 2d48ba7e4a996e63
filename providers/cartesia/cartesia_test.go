package cartesia

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/providers/providertest"
	"parley/providers/socket/sockettest"
	"parley/voice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, base string, patience time.Duration) *Client {
	c := New(base, "ca-key")
	c.rest.Patience.Header, c.rest.Patience.Pause = patience, time.Millisecond
	t.Cleanup(c.rest.Close)
	return c
}

func ink(c *sockettest.Conn) {
	last := ""
	c.Send(`{"type":"connected","request_id":"x"}`)
	for {
		data, text, ok := c.Recv()
		if !ok || text && string(data) == `{"type":"close"}` {
			return
		}
		if text {
			c.Send(`{"type":"error","title":"no","message":"no","status_code":400,"error_code":"bad"}`)
			return
		}
		c.Hear(data, c.Request.URL.Query().Get("encoding") == "pcm_mulaw")
		said := c.Said()
		if said != last && last == "" {
			c.Send(`{"type":"turn.start"}`)
		}
		if said != last {
			c.Send(fmt.Sprintf(`{"type":"turn.update","transcript":%q}`, said))
		}
		if last = said; c.Quiet(8000) {
			c.Send(fmt.Sprintf(`{"type":"turn.eager_end","transcript":%q}`, said))
			c.Send(`{"type":"turn.resume"}`)
			c.Send(fmt.Sprintf(`{"type":"turn.end","transcript":%q}`, c.Turn()))
			last = ""
		}
	}
}

func TestInkRole(t *testing.T) {
	for _, turns := range []bool{false, true} {
		base := sockettest.Serve(t, func(c *sockettest.Conn) {
			want := "/stt/turns/websocket?model=ink-2&encoding=pcm_mulaw&sample_rate=8000&cartesia_version=2026-08-14"
			if got := c.Request.URL.String(); got != want || c.Request.Header.Get("Authorization") != "Bearer ca-key" {
				t.Errorf("asked %s %v", got, c.Request.Header)
			}
			ink(c)
		})
		first, second := sockettest.Utterances(8000)
		first.PCM, second.PCM = sockettest.Pause(first.PCM), sockettest.Pause(second.PCM)
		providertest.Transcriber(t, client(t, base, 5*time.Second).Transcriber("ink-2"),
			voice.Transcription{Rate: 8000, Languages: []string{"en"}, Turns: turns}, first, second)
	}
}

func TestInkFaults(t *testing.T) {
	sockettest.Faults(t, sockettest.Vendor{Talk: ink, Open: func(base string, patience time.Duration) voice.OpenTranscriber {
		return client(t, base, patience).Transcriber("ink-2")
	}, Novelties: []string{`{"type":"turn.nod"}`, `{"type":"turn.update","transcript":7}`}})
}

// A sign that comes without text says nothing about the text.
func TestInkSigns(t *testing.T) {
	tr, err := client(t, sockettest.Serve(t, ink), 5*time.Second).Transcriber("ink-2")(t.Context(), voice.Transcription{Rate: 8000, Turns: true})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := sockettest.Utterances(8000)
	for frame := range slices.Chunk(sockettest.Pause(first.PCM), 160) {
		_ = tr.Write(frame)
	}
	var signs []voice.TurnSign
	for got := (voice.Transcript{}); !got.Final; {
		if got, err = tr.Recv(); err != nil {
			t.Fatal(err)
		}
		if got.Turn != voice.NoSign {
			if signs = append(signs, got.Turn); got.Text != "one second" {
				t.Errorf("%+v", got)
			}
		}
	}
	if !slices.Equal(signs, []voice.TurnSign{voice.TurnLikely, voice.TurnResumed, voice.TurnOver}) {
		t.Error(signs)
	}
	providertest.Finish(t, tr)
}

func TestSpeechRole(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		_ = json.NewDecoder(r.Body).Decode(&in)
		again, _ := json.Marshal(in)
		asked = append(asked, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Cartesia-Version")+" "+string(again))
		_, _ = w.Write(providertest.Noise(speechRate, len(in["transcript"].(string))))
	}))
	defer s.Close()
	c := client(t, s.URL, 5*time.Second)
	how := voice.Speech{Text: "We open at nine in the morning.", Voice: "v1", Language: "en", Speed: 1.1}
	providertest.Synthesizer(t, c.Synthesizer("sonic-3.5"), how)
	if want := `POST /tts/bytes Bearer ca-key 2026-08-14 {"generation_config":{"speed":1.1},"language":"en","model_id":"sonic-3.5",` +
		`"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":16000},"transcript":"We open at nine in the morning.","voice":{"id":"v1"}}`; asked[0] != want {
		t.Error(asked[0])
	}
	providertest.Speaker(t, c.Synthesizer("sonic-3.5"), how, "We open at nine, ", "and close at five. ", "Come in.")
}

func TestSpeechFaults(t *testing.T) {
	providertest.SpeechFaults(t, `{"error_code":"invalid","title":"Bad","message":"No such voice.","status_code":400}`, "No such voice.",
		func(base string, patience time.Duration) voice.Synthesizer {
			c := client(t, base, patience)
			c.rest.Patience.Idle = patience
			return c.Synthesizer("sonic-3.5")
		}, voice.Speech{Text: "We open at nine.", Voice: "v1", Speed: 1})
}

// Voices are the account's, page by page.
func TestVoices(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() == "/voices?limit=100" {
			_, _ = w.Write([]byte(`{"data":[{"id":"a","name":"Ann","language":"en","gender":"feminine"}],"has_more":true}`))
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"id":"` + r.URL.Query().Get("starting_after") + `b","name":"Bob","language":"xx","gender":"masculine"}],"has_more":false}`))
	}))
	defer s.Close()
	all, err := client(t, s.URL, 5*time.Second).Voices(t.Context())
	if err != nil || len(all) != 2 || all[0].Gender != "female" || all[0].Languages[0] != "en" || all[1].Code != "ab" || all[1].Languages != nil {
		t.Errorf("%+v %v", all, err)
	}
}
