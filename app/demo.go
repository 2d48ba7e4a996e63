package app

import (
	"context"
	"fmt"

	"parley/accounts"
	"parley/assistants"
	"parley/catalog"
	"parley/toolbox"
	"parley/value"
)

// firstVisit gives an account that never had an assistant one to talk to, when its owner opens the console. A demo that
// was deleted does not come back.
func (h *App) firstVisit(ctx context.Context, owner accounts.ID) error {
	had, err := h.Assistants.Had(ctx, h.DB, owner)
	if err != nil || had {
		return err
	}
	english := catalog.LanguageOf("en").ID
	voice, ok := h.Catalog.DefaultVoice(english, catalog.Pipeline)
	model := h.Catalog.DefaultModel(catalog.LLM)
	if !ok || model == 0 {
		return nil // nothing here can hold a conversation
	}
	f := assistants.Settings{
		Name: "Demo: Harbour Bikes", Type: "inbound", Mode: string(catalog.Pipeline),
		VoiceID: voice.ID, LanguageID: english, LLMModelID: value.Ptr(model), Timezone: "UTC",
		InitialMessage: "Hello, this is Harbour Bikes. How can I help you?",
		SystemPrompt:   demoPrompt, Record: true,
		Tools: toolbox.Tools{{Type: "end_call", Spec: &toolbox.EndCall{Description: "Use when the matter is settled and goodbyes were said."}}},
		PostCallSchema: []assistants.SchemaItem{
			{Name: "topic", Type: "string", Description: "What the caller wanted"},
			{Name: "call_back", Type: "bool", Description: "Whether the caller wants to be called back"},
		},
	}
	if _, _, err := h.Assistants.Create(ctx, owner, assistants.Change{Patch: value.Filled(f), By: assistants.By{Name: "parley"}}); err != nil {
		return fmt.Errorf("demo assistant: %w", err)
	}
	return nil
}

// demoPrompt is read by people, by any language model, and literally by the built-in one.
const demoPrompt = `You answer the phone of Harbour Bikes, a bicycle rental and repair shop at the harbour.
Be friendly and brief: one or two short sentences per answer. Answer only from the FAQ below. When you do not know, offer a call back.

FAQ:
Q: What are your opening hours?
A: We are open every day from nine in the morning until six in the evening.
Q: When do you open and close?
A: We are open every day from nine in the morning until six in the evening.
Q: What are your prices?
A: A city bike is 15 euros a day, and an electric bike is 30 euros a day.
Q: How much does it cost to rent a bike?
A: A city bike is 15 euros a day, and an electric bike is 30 euros a day.
Q: How much is a repair?
A: A repair starts at 20 euros, and a flat tyre takes about half an hour.
Q: Where are you? What is your address?
A: We are at Pier 4, right next to the ferry terminal.
Q: Do you have bikes for children?
A: Yes, we have bikes for children from four years on, and seats for the little ones.
Q: Do I need to book or reserve?
A: You do not need to book. On sunny weekends it is better to come early.
Q: Are you a robot? Who are you?
A: I am the demo assistant of parley, running on this machine. You can change everything about me.

If a caller asks for a person, or wants to leave a message, say that you cannot connect them and note their number for a call back.
`
