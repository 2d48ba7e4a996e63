package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"parley/audio"
	"parley/fault"
	"parley/providers/rest"
	"parley/voice"
)

func tone(rate int, seconds float64, amplitude float64) []int16 {
	pcm := make([]int16, int(float64(rate)*seconds))
	for i := range pcm {
		pcm[i] = int16(amplitude * math.Sin(float64(i)*440*2*math.Pi/float64(rate)))
	}
	return pcm
}

func TestTranscriber(t *testing.T) {
	var heard audio.Frame
	form := map[string]string{}
	fail := false
	client := quick(t, func(w http.ResponseWriter, r *http.Request) {
		if fail {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(401)
			return
		}
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			t.Error(err)
			return
		}
		for k, v := range r.MultipartForm.Value {
			form[k] = v[0]
		}
		f, _, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		heard, err = audio.ReadWAV(f, 1<<20)
		if err != nil {
			t.Error(err)
		}
		io.WriteString(w, `{"text":" Hello there. ","language":"german"}`)
	})
	hears, err := client.Transcriber("whisper-1")(t.Context(), voice.Transcription{Rate: 8000, Languages: []string{"de"}, Hints: []string{"Blue Door", strings.Repeat("ü", 900)}})
	if err != nil {
		t.Fatal(err)
	}
	silence := make([]int16, 16000)
	for _, part := range [][]int16{silence, tone(8000, 1, 8000), silence[:4000]} {
		if err := hears.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	hears.EndTurn()
	got, err := hears.Recv()
	if err != nil || !reflect.DeepEqual(got, voice.Transcript{Text: "Hello there.", Final: true, Language: "de"}) {
		t.Errorf("%+v %v", got, err)
	}
	if n := len(heard.PCM); heard.Rate != 8000 || n < 8000+4000 || n > 8000+4000+3000 {
		t.Errorf("%d samples at %d Hz: the silence before should be cut", len(heard.PCM), heard.Rate)
	}
	if form["model"] != "whisper-1" || form["language"] != "de" || !strings.HasPrefix(form["prompt"], "Blue Door ü") || len(form["prompt"]) > 800 {
		t.Errorf("form %v", form)
	}

	hears.EndTurn() // nothing was written since
	if got, err := hears.Recv(); err != nil || !got.Final || got.Text != "" {
		t.Errorf("empty turn: %+v %v", got, err)
	}

	fail = true
	hears.Write(tone(8000, 1, 8000))
	hears.EndTurn()
	if _, err := hears.Recv(); fault.Of(err).Message != "the transcription service refused the API key" {
		t.Errorf("bad key: %v", err)
	}
	fail = false
	hears.Write(tone(8000, 1, 8000))
	hears.EndTurn()
	if got, err := hears.Recv(); err != nil || got.Text != "Hello there." {
		t.Errorf("after a failed turn: %+v %v", got, err)
	}
	hears.Close()
	if _, err := hears.Recv(); err != io.EOF {
		t.Errorf("after Close: %v", err)
	}
}

func TestSpeak(t *testing.T) {
	want := tone(24000, 0.5, 9000)
	raw := make([]byte, 0, 2*len(want))
	for _, s := range want {
		raw = append(raw, byte(s), byte(s>>8))
	}
	var wav bytes.Buffer
	if err := audio.WriteWAV(&wav, audio.Frame{Rate: 24000, PCM: want}); err != nil {
		t.Fatal(err)
	}
	var asked map[string]any
	for name, body := range map[string][]byte{"pcm": raw, "wav": wav.Bytes()} {
		client := quick(t, func(w http.ResponseWriter, r *http.Request) {
			json.NewDecoder(r.Body).Decode(&asked)
			w.Write(body)
		})
		var got []int16
		for f, err := range client.Synthesizer("tts-1").Speak(t.Context(), voice.Speech{Text: "Hi.", Voice: "alloy", Speed: 1.1, Stability: 0.7, Similarity: 0.5, Emotion: true}) {
			if err != nil || f.Rate != 24000 {
				t.Fatalf("%s: %d Hz, %v", name, f.Rate, err)
			}
			got = append(got, f.PCM...)
		}
		if !equal(got, want) {
			t.Errorf("%s: %d samples, want %d", name, len(got), len(want))
		}
	}
	if asked["voice"] != "alloy" || asked["speed"] != 1.1 || asked["response_format"] != "pcm" || asked["input"] != "Hi." ||
		!strings.Contains(asked["instructions"].(string), "0.70") {
		t.Errorf("asked %v", asked)
	}
	var torn []int16
	for f, err := range rest.Samples(iotest.OneByteReader(bytes.NewReader(raw)), 24000) {
		if torn = append(torn, f.PCM...); err != nil {
			t.Error(err)
		}
	}
	if !equal(torn, want) {
		t.Errorf("byte by byte: %d samples", len(torn))
	}
	for _, c := range []struct {
		status  int
		body    string
		message string
	}{{200, "", "the speech service could not be reached"}, {500, "", "the speech service failed"}, {200, "RIFFnonsense", "the speech service gave an answer that cannot be read"}} {
		client := quick(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		for _, err := range client.Synthesizer("tts-1").Speak(t.Context(), voice.Speech{Text: "Hi."}) {
			if fault.Of(err).Message != c.message {
				t.Errorf("%d %q: %v", c.status, c.body, err)
			}
		}
	}
}

func equal(a, b []int16) bool {
	return string(bytesOf(a)) == string(bytesOf(b))
}

func bytesOf(pcm []int16) (out []byte) {
	for _, s := range pcm {
		out = append(out, byte(s), byte(s>>8))
	}
	return out
}

func TestTrimKeepsQuietSpeech(t *testing.T) {
	for _, amplitude := range []float64{0, 20, 200, 20000} {
		pcm := append(make([]int16, 40000), tone(8000, 1, amplitude)...)
		if got := trim(pcm, 8000); len(got) < 8000 {
			t.Errorf("amplitude %v: %d samples left", amplitude, len(got))
		}
	}
	if got := trim(nil, 8000); got != nil {
		t.Errorf("nothing became %d samples", len(got))
	}
}
