package builtin

import (
	"context"

	"parley/agent"
	"parley/catalog"
	"parley/providers"
	"parley/providers/builtin/responder"
)

// Code names these engines everywhere.
const Code = "builtin"

// Vendor is what is inside the binary: it needs no settings.
func Vendor() providers.Maker {
	return providers.Make(Code, "Built in", "llm stt tts", struct{}{}, func(_ context.Context, _ struct{}, on providers.Ground) ([]providers.Vendor, error) {
		e := Open(on.Cache)
		return []providers.Vendor{{Code: Code, About: "built in", Offer: Offer(), Transcriber: e.Transcriber, Warm: e.Warm, Synthesizer: e,
			Realtime: e.Realtime(), Model: func(string) agent.Model { return responder.Model{} }, Limit: e.Capacity(), Close: e.Close}}, nil
	})
}

// Offer is what the engines can do: English only.
func Offer() catalog.Offer {
	english := []string{"en"}
	voices := []catalog.NewVoice{
		{Code: "slt", Name: "SLT", Gender: "female", Accent: "American"},
		{Code: "rms", Name: "RMS", Gender: "male", Accent: "American"},
		{Code: "awb", Name: "AWB", Gender: "male", Accent: "Scottish"},
		{Code: "kal16", Name: "KAL 16", Gender: "male", Accent: "American"},
		{Code: "kal", Name: "KAL", Gender: "male", Accent: "American"},
	}
	return catalog.Offer{
		Synthesizers: []catalog.NewSynthesizer{{Code: Code, Name: "Built-in speech", Languages: english, Voices: voices}},
		Transcribers: []catalog.NewTranscriber{{Code: Code, Name: "Built-in recognition", Languages: english}},
		Models: []catalog.NewModel{
			{Provider: Code, Code: "builtin-responder", Name: "Built-in assistant model", Types: []string{catalog.LLM}, Languages: english},
			{Provider: Code, Code: "builtin-realtime", Name: "Built-in realtime model", Languages: english, Voices: voices,
				Types: []string{string(catalog.Multimodal), string(catalog.Dualplex)}},
		},
	}
}
