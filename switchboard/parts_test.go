package switchboard

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"parley/assistants"
	"parley/calls"
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
		"speech_speed":1.2,"voice_stability":0.4,"voice_similarity":0.6,"tts_emotion_enabled":true,"mode":"pipeline"}`), &a.Settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`[{"type":"collect_keypad","timeout":4,"stop_key":"*"}]`), &a.Tools); err != nil {
		t.Fatal(err)
	}
	want := voice.Config{Greeting: "Hi Mia.", WaitForCaller: true, Language: "de", Others: []string{"en", "fr"}, Semantic: true, EndSilence: 700 * time.Millisecond,
		Interruptible: true, InterruptAfter: 250 * time.Millisecond, InterruptWords: 2, MaxDuration: 2 * time.Minute, MaxSilence: 33 * time.Second,
		MaxInitialSilence: 12 * time.Second, ReengageEvery: 17 * time.Second, ReengagePrompt: "Ask Mia.",
		Speech: voice.Speech{Speed: 1.2, Stability: 0.4, Similarity: 0.6, Emotion: true}, Keypad: &voice.Keypad{Timeout: 4 * time.Second, Stop: '*'}}
	if got := configOf(a, placeholders.Values{"name": "Mia"}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
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
