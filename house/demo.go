package house

import (
	"context"
	"encoding/json"

	"parley/accounts"
	"parley/assistants"
	"parley/catalog"
	"parley/wire"
)

const demoPrompt = `You are the demo assistant of parley, a platform for AI calls and messages that runs on its owner's machine.
Talk like a friendly person on the telephone: one or two short sentences, then let the other person speak.
You can explain what parley does: assistants that answer and place calls, chat on web pages and WhatsApp, use
knowledgebases and tools, and run campaigns. When the other person says goodbye, say goodbye and end the call.`

// firstVisit gives an account that has no assistant one to talk to, when its owner opens the console.
func (h *House) firstVisit(ctx context.Context, owner accounts.ID) error {
	have, err := h.Assistants.List(ctx, h.DB, owner, "")
	if err != nil || len(have) > 0 {
		return err
	}
	language := catalog.LanguageOf("en")
	voice, ok := h.Catalog.DefaultVoice(language.ID, catalog.Pipeline)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(map[string]any{
		"name": "Demo", "type": "inbound", "mode": "pipeline", "timezone": "UTC", "language_id": language.ID, "voice_id": voice.ID,
		"llm_model_id": h.Catalog.DefaultModel(catalog.LLM), "initial_message": "Hello, I am the parley demo assistant. What would you like to know?",
		"system_prompt": demoPrompt, "record": true, "tools": []map[string]any{{"type": "end_call"}},
	})
	if err != nil {
		return err
	}
	change := assistants.Change{By: assistants.By{Name: "parley"}}
	if err := wire.ReadJSON(raw, &change.Fields); err != nil {
		return err
	}
	_, _, err = h.Assistants.Create(ctx, owner, change)
	return err
}
