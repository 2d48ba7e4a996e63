package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/audio"
	"parley/config"
	"parley/voice"
)

// noteOf is a sentence as a WAV file, at a rate that no transcriber takes.
func noteOf(t *testing.T, words string) []byte {
	t.Helper()
	cfg := config.Default()
	cfg.Data = t.TempDir()
	vs, err := openVendors(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	const rate = 44100
	var resampler *audio.Resampler
	w, err := audio.NewWAVWriter(&out, rate, 1)
	if err != nil {
		t.Fatal(err)
	}
	for frame, err := range vs.Now()[0].Synthesizer.Speak(t.Context(), voice.Speech{Text: words, Language: "en", Speed: 0.9, Stability: 0.7}) {
		if resampler == nil {
			resampler = audio.NewResampler(frame.Rate, rate)
		}
		if err == nil {
			err = w.WriteSamples(resampler.Process(frame.PCM))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), vs.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestVoiceNote has a customer speak to a WhatsApp sender: the assistant answers what was said.
//
// Contract: 11.7
func TestVoiceNote(t *testing.T) {
	t.Parallel()
	note := noteOf(t, "When do you open?")
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(note) }))
	defer files.Close()
	data := t.TempDir()
	c := manual(t, data)
	assistant := c.id(c.want(201, "POST", "/user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"FAQ:\nQ: When do you open?\nA: We open at nine.","llm_model_id":1}`), "data", "id")
	sender := c.id(c.want(200, "POST", "/sim/whatsapp/senders", fmt.Sprintf(`{"phone_number":"+14155550123","assistant_id":%d}`, assistant)), "data", "id")
	c.want(200, "POST", "/sim/whatsapp/inbound", fmt.Sprintf(`{"sender_id":%d,"from":"+491701234567","media":[{"type":"audio","url":"%s/note.ogg","filename":"note.ogg"}]}`, sender, files.URL))
	shown := ""
	for end := time.Now().Add(patience); !strings.Contains(shown, "We open at nine.") && time.Now().Before(end); {
		c.want(200, "POST", "/sim/clock/advance", `{"seconds":2}`)
		shown = c.want(200, "GET", "/sim/whatsapp/messages", "")
	}
	talk := c.want(200, "GET", "/conversations/1", "")
	if !strings.Contains(shown, "We open at nine.") || !strings.Contains(talk, "open") {
		t.Errorf("the customer's phone shows %s\nthe conversation %s", shown, talk)
	}
	c.stop(t)
}
