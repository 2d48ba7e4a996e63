package catalog

import "strings"

// BuiltIn is the offer of the engines inside the binary: English only, no key needed.
func BuiltIn() Offer {
	english := []string{"en"}
	voices := []NewVoice{
		{Code: "slt", Name: "SLT", Gender: "female", Accent: "American"},
		{Code: "rms", Name: "RMS", Gender: "male", Accent: "American"},
		{Code: "awb", Name: "AWB", Gender: "male", Accent: "Scottish"},
		{Code: "kal16", Name: "KAL 16", Gender: "male", Accent: "American"},
		{Code: "kal", Name: "KAL", Gender: "male", Accent: "American"},
	}
	return Offer{
		Synthesizers: []NewSynthesizer{{Code: "builtin", Name: "Built-in speech", Languages: english, Voices: voices}},
		Transcribers: []NewTranscriber{{Code: "builtin", Name: "Built-in recognition", Languages: english}},
		Models: []NewModel{
			{Provider: "builtin", Code: "builtin-responder", Name: "Built-in assistant model", Types: []string{LLM}, Languages: english},
			{Provider: "builtin", Code: "builtin-realtime", Name: "Built-in realtime model", Types: []string{string(Multimodal), string(Dualplex)},
				Languages: english, Voices: voices},
		},
	}
}

// OpenAI adds what an OpenAI-compatible server is configured for: a chat model, a speech model, a transcription model;
// empty names are left out. The server's health is asked of healthy, nil = always well.
func (o Offer) OpenAI(chat, speech, transcription string, healthy func() bool) Offer {
	const code = "openai"
	if chat != "" {
		o.Models = append(o.Models, NewModel{Provider: code, Code: chat, Name: chat, Types: []string{LLM}, Temperature: true, Healthy: healthy})
	}
	if speech != "" {
		s := NewSynthesizer{Code: code, Name: "OpenAI-compatible speech", Healthy: healthy}
		for _, v := range []NewVoice{{Name: "Alloy"}, {Name: "Ash", Gender: "male"}, {Name: "Coral", Gender: "female"}, {Name: "Echo", Gender: "male"},
			{Name: "Fable"}, {Name: "Nova", Gender: "female"}, {Name: "Onyx", Gender: "male"}, {Name: "Sage", Gender: "female"}, {Name: "Shimmer", Gender: "female"}} {
			v.Code = strings.ToLower(v.Name)
			s.Voices = append(s.Voices, v)
		}
		o.Synthesizers = append(o.Synthesizers, s)
	}
	if transcription != "" {
		o.Transcribers = append(o.Transcribers, NewTranscriber{Code: code, Name: "OpenAI-compatible recognition", Healthy: healthy})
	}
	return o
}
