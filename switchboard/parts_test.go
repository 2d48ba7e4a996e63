package switchboard

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/assistants"
	"parley/calls"
	"parley/catalog"
	"parley/db/dbtest"
	"parley/placeholders"
	"parley/voice"
)

// Every setting of how an assistant talks and listens reaches its conversations.
//
// Contract: 4.2 4.8
func TestSettingsOfAConversation(t *testing.T) {
	var a assistants.Assistant
	err := json.Unmarshal([]byte(`{"initial_message":"Hi {{ name }}{nobody}.","wait_for_customer":true,"language_id":5,"secondary_language_ids":[1,3],
		"endpoint_type":"ai","endpoint_sensitivity":0.7,"allow_interruptions":true,"interrupt_sensitivity":0.25,"min_interrupt_words":2,
		"max_duration":120,"max_silence_duration":33,"max_initial_silence_duration":12,"reengagement_interval":17,"reengagement_prompt":"Ask {name}.",
		"speech_speed":1.2,"voice_stability":0.4,"voice_similarity":0.6,"tts_emotion_enabled":true,"mode":"pipeline",
		"ambient_sound":"cafe","ambient_sound_volume":0.3,"fillers":true,"filler_config":{"positive":["Prima."],"negative":[],"question":["Moment."]}}`), &a.Settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`[{"type":"collect_keypad","timeout":4,"stop_key":"*"}]`), &a.Tools); err != nil {
		t.Fatal(err)
	}
	want := voice.Config{Greeting: "Hi Mia.", WaitForCaller: true, Language: "de", Others: []string{"en", "fr"}, Semantic: true, EndSilence: 700 * time.Millisecond,
		Interruptible: true, InterruptAfter: 250 * time.Millisecond, InterruptWords: 2, MaxDuration: 2 * time.Minute, MaxSilence: 33 * time.Second,
		MaxInitialSilence: 12 * time.Second, ReengageEvery: 17 * time.Second, ReengagePrompt: "Ask Mia.",
		Ambience: "cafe", AmbienceVolume: 0.3, Fillers: map[string]voice.Fillers{
			"de": {Positive: []string{"Prima."}, Negative: []string{}, Question: []string{"Moment."}, Neutral: []string{"Einen Moment.", "Okay."}},
			"en": {Positive: []string{"Great.", "Okay, good."}, Negative: []string{}, Question: []string{"Let me check.", "Good question."},
				Neutral: []string{"One moment.", "Okay."}},
			"fr": {Positive: []string{"Très bien.", "Parfait."}, Negative: []string{}, Question: []string{"Je regarde.", "Bonne question."},
				Neutral: []string{"Un instant.", "D'accord."}},
		},
		Speech: voice.Speech{Speed: 1.2, Stability: 0.4, Similarity: 0.6, Emotion: true}, Keypad: &voice.Keypad{Timeout: 4 * time.Second, Stop: '*'}}
	if got := configOf(a, placeholders.Values{"name": "Mia"}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// An assistant's own choice of voice, recogniser, synthesizer and model wins over the defaults of its language.
//
// Contract: 4.2
func TestEnginesOfAnAssistant(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t))
	for _, name := range []string{"fake", "other"} {
		l.Engines().Transcribers[name], l.Engines().Synthesizers[name] = openTranscriber, tone{}
		l.Engines().Models[name] = func(string) agent.Model { return parrot{} }
	}
	offer := catalog.Offer{}
	for _, name := range []string{"fake", "other"} {
		offer.Synthesizers = append(offer.Synthesizers, catalog.NewSynthesizer{Code: name, Name: name, Languages: []string{"en"},
			Voices: []catalog.NewVoice{{Code: name + "-a", Name: "A"}, {Code: name + "-b", Name: "B"}}})
		offer.Transcribers = append(offer.Transcribers, catalog.NewTranscriber{Code: name, Name: name, Languages: []string{"en"}})
		offer.Models = append(offer.Models, catalog.NewModel{Provider: name, Code: name + "-m", Name: name, Types: []string{"llm"}})
	}
	var err error
	l.Catalog, err = catalog.Open(t.Context(), l.DB, offer)
	l.must(err)
	voiceID := func(code string) int64 {
		all := l.Catalog.Voices(catalog.Filter{})
		return all[slices.IndexFunc(all, func(v catalog.Voice) bool { return v.Code == code })].ID
	}
	transcriber := func(code string) *int64 {
		all := l.Catalog.Transcribers(catalog.Filter{})
		return &all[slices.IndexFunc(all, func(v catalog.Provider) bool { return v.Code == code })].ID
	}
	model := func(code string) *int64 {
		all := l.Catalog.Models(catalog.LLM)
		return &all[slices.IndexFunc(all, func(v catalog.Model) bool { return v.Code == code })].ID
	}
	for _, name := range []string{"fake", "other"} {
		for _, code := range []string{name + "-a", name + "-b"} {
			var a assistants.Assistant
			a.LanguageID, a.Mode, a.VoiceID, a.TranscriberProviderID, a.LLMModelID = 1, "pipeline", voiceID(code), transcriber(name), model(name+"-m")
			if c := l.cast(a); c.voice != code || c.synthesizer != name || c.transcriber != name || c.provider != name || c.model != name+"-m" {
				t.Errorf("%s: %+v", code, c)
			}
		}
	}
	var a assistants.Assistant
	a.LanguageID, a.Mode, a.VoiceID = 1, "pipeline", voiceID("fake-b")
	all := l.Catalog.Synthesizers(catalog.Filter{})
	a.SynthesizerProviderID = &all[slices.IndexFunc(all, func(p catalog.Provider) bool { return p.Code == "other" })].ID
	if c := l.cast(a); c.synthesizer != "other" {
		t.Errorf("with another provider: %+v", c)
	}
}

// silent stands for an engine that is never asked.
type silent struct{ voice.Synthesizer }

// The voice that stands in for another has its sex and accent where there is one of them, else its sex.
func TestVoiceThatStandsIn(t *testing.T) {
	voices := func(list ...string) (out []catalog.NewVoice) {
		for _, v := range list {
			gender, accent, _ := strings.Cut(v, "/")
			out = append(out, catalog.NewVoice{Code: v, Name: v, Gender: gender, Accent: accent, Languages: []string{"en"}})
		}
		return out
	}
	for _, c := range []struct {
		own  string
		two  []string
		want string
	}{
		{"female/Scottish", []string{"male/", "female/", "female/Scottish"}, "female/Scottish"},
		{"female/", []string{"male/", "female/Scottish", "female/"}, "female/"},
		{"male/Scottish", []string{"female/Scottish", "male/"}, "male/"},
		{"male/", []string{"female/"}, "female/"},
		{"/", []string{"female/", "male/"}, "female/"},
	} {
		cat, err := catalog.Open(t.Context(), dbtest.SQLite(t), catalog.Offer{Synthesizers: []catalog.NewSynthesizer{
			{Code: "one", Name: "One", Voices: voices(c.own)}, {Code: "two", Name: "Two", Voices: voices(c.two...)}}})
		if err != nil {
			t.Fatal(err)
		}
		engines := Engines{Synthesizers: map[string]voice.Synthesizer{"one": silent{}, "two": silent{}}}
		s := &Switchboard{Deps: Deps{Catalog: cat, Engines: func() *Engines { return &engines }}}
		var a assistants.Assistant
		a.LanguageID, a.VoiceID = 1, cat.Voices(catalog.Filter{})[0].ID
		if got := s.cast(a); got.synthesizer2 != "" {
			t.Errorf("words go to %q, which nobody allowed", got.synthesizer2)
		}
		s.FallbackVendors = []string{"two"}
		if got := s.cast(a); got.voice != c.own || got.synthesizer2 != "two" || got.voice2 != c.want {
			t.Errorf("%q is followed by %q of %q, want %q", got.voice, got.voice2, got.synthesizer2, c.want)
		}
	}
}

// A call whose assistant does not record leaves no recording, and no sound on the disk while it goes on.
//
// Contract: 4.2 5.2
func TestNotRecorded(t *testing.T) {
	each(t, func(l *lab) {
		l.assistant("inbound", func(f *assistants.Settings) { f.Record = false })
		leg := l.call(deskNumber)
		<-leg.Answered()
		c := l.until(status(calls.InProgress))
		watched, _, stop, _ := l.watch(c.ID)
		defer stop()
		l.heard(watched, "turn.assistant")
		if kept, _ := filepath.Glob(filepath.Join(l.scratch, "*")); len(kept) != 0 {
			l.t.Errorf("on the disk: %v", kept)
		}
		leg.FarHangup()
		if c = l.until(status(calls.Completed)); c.Recording != nil || c.Transcript() != "Assistant: Hi Mia." {
			l.t.Errorf("%+v", c)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.files) != 0 {
			l.t.Errorf("%d files", len(l.files))
		}
	})
}
