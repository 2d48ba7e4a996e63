package mind_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/ids"
	"parley/mind"
	"parley/toolbox"
	"parley/tools"
	"parley/value"
)

// TestTurn puts the turns of one assistant together for a call and for a chat.
//
// Contract: 4.4 4.8 9.3
func TestTurn(t *testing.T) {
	noon := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	ran := tools.Conversation{}
	m := mind.Mind{
		Now: func() time.Time { return noon },
		Tools: func(_ context.Context, _ accounts.ID, list []ids.Tool) ([]tools.Tool, error) {
			return []tools.Tool{{ID: list[0], Definition: tools.Definition{Name: "find_order"}}}, nil
		},
		Run: func(_ context.Context, _ tools.Definition, _ json.RawMessage, c tools.Conversation) json.RawMessage {
			ran = c
			return json.RawMessage(`{"found":true}`)
		},
		Search: func(_ context.Context, _ assistants.Assistant, query string) ([]agent.Passage, error) {
			return []agent.Passage{{Text: query}}, nil
		},
		Calendar: func(context.Context, assistants.Assistant, *toolbox.CalendarIntegration, string, map[string]any) (any, error) {
			return "free", nil
		},
	}
	a := assistants.Assistant{UUID: "u7", Settings: assistants.Settings{
		Name: "Desk", LanguageID: 5, Timezone: "Europe/Berlin", SystemPrompt: "You are {{assistant_name}} for {{who}}.", LLMTemperature: 0.3,
		KnowledgebaseID: value.Ptr[ids.Knowledgebase](4), KnowledgebaseMode: "function_call", ToolIDs: []ids.Tool{31},
		Variables:      value.Scalars{{Name: "who", Value: "nobody"}},
		PostCallSchema: []assistants.SchemaItem{{Name: "goal", Type: "bool", Description: "Reached"}},
		Tools:          toolbox.Tools{{Type: "end_call", Spec: &toolbox.EndCall{}}, {Type: "dtmf_input", Spec: &toolbox.DTMFInput{}}},
	}}
	values := m.Values(a, agent.Facts{CallID: "9"}, value.Scalars{{Name: "who", Value: "Mia"}})
	speaker, err := m.Speaker(t.Context(), a, values, tools.Conversation{CallID: "9"})
	if err != nil {
		t.Fatal(err)
	}
	end := func(context.Context) error { return nil }
	for _, c := range []struct {
		name     string
		occasion mind.Occasion
		mode     string
		want     string
	}{
		{"call", mind.Occasion{Spoken: true, Channel: toolbox.Channel{EndCall: end, SendDigits: func(context.Context, string) error { return nil }}},
			"function_call", "end_call send_dtmf find_order search_knowledgebase"},
		{"chat", mind.Occasion{Channel: toolbox.Channel{EndCall: end}}, "function_call", "end_call find_order search_knowledgebase"},
		{"passages in the prompt", mind.Occasion{Language: "fr", Channel: toolbox.Channel{EndCall: end}}, "prompt", "end_call find_order"},
	} {
		speaker.Assistant.KnowledgebaseMode = c.mode
		turn := speaker.Turn(c.occasion)
		var names []string
		for _, f := range turn.Functions {
			names = append(names, f.Name)
			if f.Name == "find_order" {
				f.Run(t.Context(), nil)
			}
		}
		if got := strings.Join(names, " "); got != c.want || (turn.Recall != nil) != (c.mode == "prompt") {
			t.Errorf("%s: %s, recall %v", c.name, got, turn.Recall != nil)
		}
		p := turn.Prompt
		if p.Spoken != c.occasion.Spoken || p.Language != map[string]string{"": "de", "fr": "fr"}[c.occasion.Language] || p.Now.Format("15:04") != "13:00" ||
			!strings.HasPrefix(p.System(), "You are Desk for Mia.") || turn.Temperature != 0.3 || len(turn.Wanted) != 1 {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	if ran.CallID != "9" || ran.Values["who"] != "Mia" {
		t.Errorf("the tool ran for %+v", ran)
	}
}
