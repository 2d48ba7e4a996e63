package voice

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The data of each event has the keys of the contract's table; those in brackets are of ours.
//
// Contract: 4.9
func TestEventKeys(t *testing.T) {
	for _, c := range []struct {
		kind string
		data any
		keys string
	}{
		{"audio.first_in, audio.first_out", None{}, ""},
		{"audio.denoise", Denoise{}, "enabled"},
		{"speech.start, speech.end", Side{}, "side"},
		{"turn.end", TurnEnd{}, "probability reason silence_ms threshold"},
		{"turn.user", UserTurn{}, "language source text"},
		{"turn.assistant", AssistantTurn{Stages: &Stages{}}, "interrupted played_ms (stages) text"},
		{"stt.request", ListenRequest{}, "denoise language provider"},
		{"tts.request", SpeechRequest{}, "emotion provider similarity speed stability text voice"},
		{"barge_in", BargeIn{}, "after_ms words"},
		{"filler", Filler{}, "category text"},
		{"reengage", Reengage{}, "n"},
		{"limit", Limit{}, "kind"},
		{"amd", Pickup{}, "after_ms result"},
		{"dtmf.in", Key{}, "digit"},
		{"dtmf.out", KeysSent{}, "digits"},
		{"keypad", KeypadInput{}, "digits ended_by"},
		{"ambient", Ambient{}, "sound volume"},
		{"language.switch", LanguageSwitch{}, "from to"},
		{"warning", Trouble{Stage: "llm"}, "message (stage)"},
		{"error", Trouble{Stage: "llm"}, "message stage"},
	} {
		b, err := json.Marshal(c.data)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		keys := strings.Join(slices.Sorted(maps.Keys(got)), " ")
		if want := strings.NewReplacer("(", "", ")", "").Replace(c.keys); keys != want {
			t.Errorf("%s: %s, want %s", c.kind, keys, want)
		}
	}
}
