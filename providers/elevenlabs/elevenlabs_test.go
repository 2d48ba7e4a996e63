package elevenlabs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/providers"
	"parley/providers/providertest"
	"parley/providers/socket/sockettest"
	"parley/voice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, base string, patience time.Duration) *Client {
	c := New(base+"/v1", "el-key")
	c.rest.Patience.Header, c.rest.Patience.Pause = patience, time.Millisecond
	t.Cleanup(c.rest.Close)
	return c
}

func scribe(c *sockettest.Conn) {
	mulaw := c.Request.URL.Query().Get("audio_format") == "ulaw_8000"
	c.Send(`{"message_type":"session_started","session_id":"x","config":{}}`)
	for {
		data, text, ok := c.Recv()
		if !ok {
			return
		}
		var in struct {
			Type   string `json:"message_type"`
			Sound  []byte `json:"audio_base_64"`
			Commit bool
			Rate   int `json:"sample_rate"`
		}
		if err := json.Unmarshal(data, &in); err != nil || !text || in.Type != "input_audio_chunk" || in.Rate == 0 {
			c.Send(`{"message_type":"input_error","error":"no"}`)
			return
		}
		c.Hear(in.Sound, mulaw)
		if in.Commit {
			c.Send(fmt.Sprintf(`{"message_type":"committed_transcript","text":%q}`, c.Turn()))
		} else if c.Pieces%5 == 0 {
			c.Send(fmt.Sprintf(`{"message_type":"partial_transcript","text":%q}`, c.Said()))
		}
	}
}

func TestScribeRole(t *testing.T) {
	for rate, format := range map[int]string{8000: "ulaw_8000", 16000: "pcm_16000"} {
		base := sockettest.Serve(t, func(c *sockettest.Conn) {
			want := "/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&audio_format=" + format + "&commit_strategy=manual&language_code="
			if got := c.Request.URL.String(); !strings.HasPrefix(got, want) || c.Request.Header.Get("xi-api-key") != "el-key" {
				t.Errorf("asked %s %v", got, c.Request.Header)
			}
			scribe(c)
		})
		first, second := sockettest.Utterances(rate)
		providertest.Transcriber(t, client(t, base, 5*time.Second).Transcriber("scribe_v2_realtime"), voice.Transcription{Rate: rate, Languages: []string{"en"}}, first, second)
	}
}

func TestScribeFaults(t *testing.T) {
	sockettest.Faults(t, sockettest.Vendor{Talk: scribe, Open: func(base string, patience time.Duration) voice.OpenTranscriber {
		return client(t, base, patience).Transcriber("scribe_v2_realtime")
	}, Novelties: []string{`{"message_type":"commit_throttled","error":"x"}`, `{"message_type":"partial_transcript","text":7}`}})
}

// speech speaks a tone as long as the text.
func speech(t *testing.T, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in request
		raw := json.NewDecoder(r.Body)
		raw.DisallowUnknownFields()
		if err := raw.Decode(&in); err != nil || strings.TrimSpace(in.Text) == "" || r.Header.Get("xi-api-key") != "el-key" {
			t.Errorf("%+v %v", in, err)
		}
		again, _ := json.Marshal(in)
		*asked = append(*asked, r.Method+" "+r.URL.String()+" "+string(again))
		_, _ = w.Write(providertest.Noise(speechRate, len(in.Text)))
	}
}

func TestSpeechRole(t *testing.T) {
	var asked []string
	s := httptest.NewServer(speech(t, &asked))
	defer s.Close()
	c := client(t, s.URL, 5*time.Second)
	how := voice.Speech{Text: "We open at nine in the morning.", Voice: "v1", Language: "en", Speed: 1.1, Stability: 0.5, Similarity: 0.7}
	providertest.Synthesizer(t, c.Synthesizer("eleven_flash_v2_5"), how)
	if want := `POST /v1/text-to-speech/v1/stream?output_format=pcm_16000 {"text":"We open at nine in the morning.","model_id":"eleven_flash_v2_5",` +
		`"voice_settings":{"stability":0.5,"similarity_boost":0.7,"style":0,"speed":1.1},"language_code":"en"}`; asked[0] != want {
		t.Error(asked[0])
	}
	asked = nil
	providertest.Speaker(t, c.Synthesizer("eleven_flash_v2_5"), how, "We open at nine, ", "and close at five. ", "Come in.")
	if !strings.Contains(asked[1], `"previous_text":"We open at nine, "`) {
		t.Error(asked[1])
	}
}

func TestSpeechFaults(t *testing.T) {
	providertest.SpeechFaults(t, `{"detail":{"status":"invalid_voice","message":"No such voice."}}`, "No such voice.",
		func(base string, patience time.Duration) voice.Synthesizer {
			c := client(t, base, patience)
			c.rest.Patience.Idle = patience
			return c.Synthesizer("eleven_flash_v2_5")
		}, voice.Speech{Text: "We open at nine.", Voice: "v1", Speed: 1})
}

// Voices are the account's, page by page; those that were read last are offered while the vendor is away.
func TestVoices(t *testing.T) {
	away := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case away:
			w.WriteHeader(401)
		case r.URL.String() == "/v2/voices?page_size=100":
			_, _ = w.Write([]byte(`{"voices":[{"voice_id":"a","name":"Ann","labels":{"gender":"female","accent":"irish","language":"en"},"verified_languages":[{"language":"de"},{"language":"xx"}],"preview_url":""}],"has_more":true,"next_page_token":"p 2"}`))
		case r.URL.String() == "/v2/voices?page_size=100&next_page_token=p+2":
			_, _ = w.Write([]byte(`{"voices":[{"voice_id":"b","name":"Bob","labels":{}}],"has_more":false}`))
		default:
			w.WriteHeader(404)
		}
	}))
	defer s.Close()
	settings := defaults
	settings.APIKey, settings.BaseURL = "k", s.URL
	on := providers.Ground{Cache: t.TempDir()}
	for range 2 {
		r := providers.Start(t.Context(), []providers.Maker{Vendor()}, map[string]any{Code: &settings}, on)
		vs, err := r.Now(), r.Err()
		if err != nil || len(vs) != 1 {
			t.Fatal(vs, err)
		}
		all := vs.Offer().Synthesizers[0].Voices
		if len(all) != 2 || all[0].Code != "a" || all[0].Gender != "female" || all[0].Accent != "irish" || !slices.Equal(all[0].Languages, []string{"en", "de"}) || all[1].Name != "Bob" {
			t.Errorf("away %t: %+v", away, all)
		}
		if away = true; vs[0].Close() != nil {
			t.Error("does not close")
		}
	}
}

func TestSoundIsPacked(t *testing.T) {
	var got []byte
	done := make(chan struct{})
	base := sockettest.Serve(t, func(c *sockettest.Conn) { got, _, _ = c.Recv(); close(done); c.Recv() })
	tr, err := client(t, base, 5*time.Second).Transcriber("m")(t.Context(), voice.Transcription{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	_ = tr.Write(make([]int16, 480))
	<-done
	if want := `{"message_type":"input_audio_chunk","audio_base_64":"` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xff", 480))) +
		`","commit":false,"sample_rate":8000}`; string(got) != want {
		t.Errorf("%s", got)
	}
	providertest.Finish(t, tr)
}
