package deepgram

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/fault"
	"parley/providers"
	"parley/providers/providertest"
	"parley/providers/socket/sockettest"
	"parley/voice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, base string, patience time.Duration) *Client {
	c := New(base+"/v1/", "dg-key")
	c.rest.Patience.Header, c.rest.Patience.Pause = patience, time.Millisecond
	t.Cleanup(c.rest.Close)
	return c
}

// nova is the first version of the vendor's socket.
func nova(c *sockettest.Conn) {
	mulaw := c.Request.URL.Query().Get("encoding") == "mulaw"
	begin := 0
	results := func(text string, final, asked bool) {
		n := c.Heard()
		c.Send(fmt.Sprintf(`{"type":"Results","channel_index":[0,1],"start":%f,"duration":%f,"is_final":%t,"speech_final":false,"from_finalize":%t,
			"channel":{"alternatives":[{"transcript":%q,"confidence":0.9,"words":%s}]},"metadata":{"request_id":"x"}}`,
			float64(begin)/8000, float64(n)/8000, final, asked, text, novaWords(text)))
		if final {
			begin += n
		}
	}
	c.Send(`{"type":"SpeechStarted","channel":[0,1],"timestamp":0.1}`)
	for {
		data, text, ok := c.Recv()
		switch {
		case !ok:
			return
		case !text:
			if c.Hear(data, mulaw); c.Pieces%10 == 0 {
				results(c.Said(), false, false)
			}
		case string(data) == `{"type":"Finalize"}`:
			if said := c.Said(); said != "" { // nothing is said of an empty buffer
				results(said, true, true)
			}
			c.Turn()
		case string(data) == `{"type":"CloseStream"}`:
			c.Send(`{"type":"Metadata","request_id":"x","duration":1}`)
			return
		case string(data) != `{"type":"KeepAlive"}`:
			c.Refuse(1008, "DATA-0000")
		}
	}
}

func novaWords(text string) string {
	var out []map[string]any
	for i, w := range strings.Fields(text) {
		out = append(out, map[string]any{"word": w, "punctuated_word": strings.ToUpper(w), "start": 0.5 * float64(i), "end": 0.5*float64(i) + 0.4, "confidence": 0.8})
	}
	raw, _ := json.Marshal(out)
	return string(raw)
}

// flux is the second version: it ends turns, and takes nothing but sound and the end.
func flux(c *sockettest.Conn) {
	mulaw := c.Request.URL.Query().Get("encoding") == "mulaw"
	turn, last := 0, ""
	info := func(event, text string) {
		c.Send(fmt.Sprintf(`{"type":"TurnInfo","request_id":"x","sequence_id":1,"event":%q,"turn_index":%d,"transcript":%q,
			"words":[],"end_of_turn_confidence":0.5,"audio_window_start":0,"audio_window_end":0}`, event, turn, text))
	}
	c.Send(`{"type":"Connected","request_id":"x","sequence_id":0}`)
	for {
		data, text, ok := c.Recv()
		if !ok || text && string(data) == `{"type":"CloseStream"}` {
			return
		}
		if text {
			c.Send(`{"type":"Error","sequence_id":1,"code":"UNPARSABLE_CLIENT_MESSAGE","description":"no"}`)
			return
		}
		c.Hear(data, mulaw)
		said := c.Said()
		switch {
		case said != "" && last == "":
			info("StartOfTurn", said)
		case said != last:
			info("Update", said)
		}
		if last = said; c.Quiet(8000) {
			info("EagerEndOfTurn", said)
			info("TurnResumed", said)
			info("EndOfTurn", c.Turn())
			turn, last = turn+1, ""
		}
	}
}

func TestNovaRole(t *testing.T) {
	base := sockettest.Serve(t, func(c *sockettest.Conn) {
		want := "/v1/listen?model=nova-3&encoding=mulaw&sample_rate=8000&channels=1&interim_results=true&smart_format=true&punctuate=true" +
			"&endpointing=300&vad_events=true&utterance_end_ms=1000&language=en"
		if got := c.Request.URL.String(); got != want || c.Request.Header.Get("Authorization") != "Token dg-key" {
			t.Errorf("asked %s %v", got, c.Request.Header)
		}
		nova(c)
	})
	first, second := sockettest.Utterances(8000)
	providertest.Transcriber(t, client(t, base, 5*time.Second).Nova("nova-3"), voice.Transcription{Rate: 8000, Languages: []string{"en"}}, first, second)
}

func TestNovaFaults(t *testing.T) {
	sockettest.Faults(t, sockettest.Vendor{Talk: nova, Open: func(base string, patience time.Duration) voice.OpenTranscriber {
		return client(t, base, patience).Nova("nova-3")
	}, Novelties: []string{`{"type":"Results","channel":7}`, `{"type":"Results","channel":{}}`, `{"type":"Results","is_final":false,"channel":{"alternatives":[{"transcript":"` +
		strings.Repeat("y ", 600<<10) + `"}]}}`}})
}

func TestFluxRole(t *testing.T) {
	for _, turns := range []bool{false, true} {
		base := sockettest.Serve(t, func(c *sockettest.Conn) {
			want := "/v2/listen?model=flux-general-en&encoding=linear16&sample_rate=16000&eot_threshold=0.7&eot_timeout_ms=5000"
			if turns {
				want = strings.Replace(want, "&eot_timeout", "&eager_eot_threshold=0.5&eot_timeout", 1)
			}
			if got := c.Request.URL.String(); got != want || c.Request.Header.Get("Authorization") != "Token dg-key" {
				t.Errorf("asked %s %v", got, c.Request.Header)
			}
			flux(c)
		})
		first, second := sockettest.Utterances(16000)
		first.PCM, second.PCM = sockettest.Pause(first.PCM), sockettest.Pause(second.PCM)
		providertest.Transcriber(t, client(t, base, 5*time.Second).Flux("flux-general-en"), voice.Transcription{Rate: 16000, Languages: []string{"en"},
			Turns: turns, EndSilence: 500 * time.Millisecond}, first, second)
	}
}

func TestFluxFaults(t *testing.T) {
	sockettest.Faults(t, sockettest.Vendor{Talk: flux, Open: func(base string, patience time.Duration) voice.OpenTranscriber {
		return client(t, base, patience).Flux("flux-general-en")
	}, Novelties: []string{`{"type":"TurnInfo","event":"Nod"}`, `{"type":"ConfigureSuccess"}`}})
}

// What the vendor makes of a turn is told to a conversation that believes it, and its end once.
func TestFluxEndsTurns(t *testing.T) {
	base := sockettest.Serve(t, flux)
	tr, err := client(t, base, 5*time.Second).Flux("flux-general-en")(t.Context(), voice.Transcription{Rate: 8000, Languages: []string{"en"}, Turns: true})
	if err != nil {
		t.Fatal(err)
	}
	first, second := sockettest.Utterances(8000)
	for _, u := range []providertest.Utterance{first, second} {
		for frame := range slices.Chunk(sockettest.Pause(u.PCM), 160) {
			if err := tr.Write(frame); err != nil {
				t.Fatal(err)
			}
		}
		var signs []voice.TurnSign
		for {
			got, err := tr.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if got.Turn != voice.NoSign {
				signs = append(signs, got.Turn)
			}
			if got.Final {
				if got.Text != u.Words || !slices.Equal(signs, []voice.TurnSign{voice.TurnLikely, voice.TurnResumed, voice.TurnOver}) {
					t.Errorf("%q after %v", got.Text, signs)
				}
				break
			}
		}
	}
	providertest.Finish(t, tr)
}

// Words carry where they are, and partial transcripts come before the turn's end.
func TestNovaWords(t *testing.T) {
	base := sockettest.Serve(t, nova)
	tr, err := client(t, base, 5*time.Second).Nova("nova-3")(t.Context(), voice.Transcription{Rate: 8000, Languages: []string{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := sockettest.Utterances(8000)
	if partials, final := providertest.Recognise(t, tr, 8000, first.PCM); len(partials) == 0 || final != "one second" {
		t.Errorf("%q %q", partials, final)
	}
	if err := tr.Write(first.PCM); err != nil {
		t.Fatal(err)
	}
	if err := tr.EndTurn(); err != nil {
		t.Fatal(err)
	}
	got := voice.Transcript{}
	for !got.Final {
		if got, err = tr.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	if want := (voice.Word{Text: "SECOND", From: 500 * time.Millisecond, To: 900 * time.Millisecond, Confidence: 0.8}); len(got.Words) != 2 || got.Words[1] != want {
		t.Errorf("%+v", got.Words)
	}
	providertest.Finish(t, tr)
}

// A model is asked for what it knows, and a language that none knows is refused before anything is sent.
func TestLanguages(t *testing.T) {
	for _, c := range []struct {
		models, languages []string
		want              string
	}{
		{[]string{"nova-3"}, []string{"en"}, "nova-3 false true"},
		{[]string{"nova-3"}, []string{"es", "en"}, "nova-3 true true"},
		{[]string{"nova-3"}, []string{"pl", "en"}, "nova-3 false true"},
		{[]string{"nova-3"}, []string{"tlh"}, " false false"},
		{[]string{"flux-general-en", "flux-general-multi"}, []string{"de"}, "flux-general-multi false true"},
		{[]string{"flux-general-en"}, []string{"de"}, " false false"},
		{[]string{"our-own"}, []string{"tlh"}, "our-own false true"},
	} {
		model, together, ok := choose(c.models, voice.Transcription{Languages: c.languages})
		if got := fmt.Sprint(model, " ", together, " ", ok); got != c.want {
			t.Errorf("%v %v: %s", c.models, c.languages, got)
		}
	}
	_, err := New("http://127.0.0.1:1", "k").Flux("flux-general-en")(t.Context(), voice.Transcription{Rate: 8000, Languages: []string{"de"}})
	if fault.Of(err).Message != "the transcription service does not know the language de" {
		t.Error(err)
	}
}

// aura speaks a tone as long as the text.
func aura(t *testing.T, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Text string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		*asked = append(*asked, r.Method+" "+r.URL.String()+" "+in.Text)
		if r.Header.Get("Authorization") != "Token dg-key" || in.Text == "" || len(in.Text) > 2000 {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"err_code":"Bad Request","err_msg":"no text","request_id":"x"}`)
			return
		}
		_, _ = w.Write(providertest.Noise(speechRate, len(in.Text)))
	}
}

func TestAuraRole(t *testing.T) {
	var asked []string
	s := httptest.NewServer(aura(t, &asked))
	defer s.Close()
	c := client(t, s.URL, 5*time.Second)
	how := voice.Speech{Text: "We open at nine in the morning.", Voice: "aura-2-thalia-en", Language: "en", Speed: 1.1}
	providertest.Synthesizer(t, c.Synthesizer(), how)
	if want := "POST /v1/speak?model=aura-2-thalia-en&encoding=linear16&sample_rate=16000&container=none We open at nine in the morning."; asked[0] != want {
		t.Error(asked[0])
	}
	providertest.Speaker(t, c.Synthesizer(), how, "We open at nine, ", "and close at five. ", "Come in.")
	asked, how.Text = nil, strings.Repeat("word ", 1000)
	for _, err := range c.Synthesizer().Speak(t.Context(), how) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(asked) != 3 {
		t.Errorf("%d requests for 5000 letters", len(asked))
	}
}

func TestAuraFaults(t *testing.T) {
	providertest.SpeechFaults(t, `{"err_code":"Bad Request","err_msg":"No such voice.","request_id":"x"}`, "No such voice.",
		func(base string, patience time.Duration) voice.Synthesizer {
			c := client(t, base, patience)
			c.rest.Patience.Idle = patience
			return c.Synthesizer()
		}, voice.Speech{Text: "We open at nine.", Voice: "aura-2-thalia-en", Speed: 1})
}

// A key alone is three engines; without one nothing is offered and nothing asked.
func TestOffer(t *testing.T) {
	r := providers.Start(t.Context(), []providers.Maker{Vendor()}, map[string]any{}, providers.Ground{})
	vs, err := r.Now(), r.Err()
	if err != nil || len(vs) != 0 {
		t.Fatal(vs, err)
	}
	s := defaults
	s.APIKey = "k"
	r = providers.Start(t.Context(), []providers.Maker{Vendor()}, map[string]any{Code: &s}, providers.Ground{})
	if vs, err = r.Now(), r.Err(); err != nil {
		t.Fatal(err)
	}
	o := vs.Offer()
	if len(o.Transcribers) != 2 || o.Transcribers[1].Code != "deepgram-flux" || len(o.Synthesizers) != 1 {
		t.Errorf("%+v", o)
	}
	if v := o.Synthesizers[0].Voices[0]; v.Code != "aura-2-thalia-en" || v.Name != "Thalia" || v.Gender != "female" || !slices.Equal(v.Languages, []string{"en"}) {
		t.Errorf("%+v", v)
	}
	for _, v := range vs {
		if v.Close != nil {
			_ = v.Close()
		}
	}
}

// Two recognisers of one vendor are one role of it in an operator's list.
func TestRolesAreNamedOnce(t *testing.T) {
	r := providers.Start(t.Context(), []providers.Maker{Vendor()}, map[string]any{Code: &Settings{APIKey: "k", Models: defaults.Models,
		FluxModels: defaults.FluxModels, Voices: defaults.Voices}}, providers.Ground{})
	if got := r.List()[0].Roles; !slices.Equal(got, []string{"stt", "tts"}) {
		t.Error(got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
