package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/audio"
	"parley/providers/providertest"
	"parley/voice"
)

func TestModelRole(t *testing.T) {
	c := quick(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, hello) })
	providertest.Model(t, c.Model("m"), agent.Request{System: "You sell maps.", Messages: []agent.Message{{Role: agent.RoleUser, Text: "Hello?"}}})
	refused := quick(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: sk-test"}}`)
	})
	providertest.Away(t, refused.Model("m"), "sk-test")
}

func TestEmbedderRole(t *testing.T) {
	c := quick(t, func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		var data []map[string]any
		for i := len(in.Input) - 1; i >= 0; i-- { // any order: the index counts
			text := in.Input[i]
			data = append(data, map[string]any{"index": i, "embedding": []int{len(text), strings.Count(text, "e") + 1}})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
			t.Error(err)
		}
	})
	providertest.Embedder(t, c.Embedder("e"))
}

func TestTranscriberRole(t *testing.T) {
	first := providertest.Utterance{PCM: tone(8000, 1, 8000), Words: "one second"}
	second := providertest.Utterance{PCM: tone(8000, 2, 8000), Words: "two of them"}
	c := quick(t, func(w http.ResponseWriter, r *http.Request) {
		f, _, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		heard, err := audio.ReadWAV(f, 1<<20)
		if err != nil {
			t.Error(err)
		}
		said := "" // a turn that carries sound of another one is not understood
		switch {
		case equal(heard.PCM, first.PCM):
			said = first.Words
		case equal(heard.PCM, second.PCM):
			said = second.Words
		}
		if err := json.NewEncoder(w).Encode(map[string]string{"text": said}); err != nil {
			t.Error(err)
		}
	})
	providertest.Transcriber(t, c.Transcriber("m"), voice.Transcription{Rate: 8000, Languages: []string{"en"}}, first, second)
}

func TestSynthesizerRole(t *testing.T) {
	c := quick(t, func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if strings.TrimSpace(in.Input) == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = w.Write(bytesOf(tone(pcmRate, 2, 9000)))
	})
	sentence := voice.Speech{Text: "We open at nine in the morning.", Voice: "alloy", Language: "en", Speed: 1}
	providertest.Synthesizer(t, c.Synthesizer("m"), sentence)
	providertest.Speaker(t, c.Synthesizer("m"), sentence, "We open at nine, ", "and close at five. ", "Come in.")
}
