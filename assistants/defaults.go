package assistants

import (
	"parley/catalog"
	"parley/ids"
	"parley/toolbox"
	"parley/value"
)

// Built-in texts of the contract's section 4.4.
const (
	ReengagementInstruction = "The other person has been quiet. Ask in one short sentence whether they are still there."
	statusDescription       = "True when the goal of the conversation was reached."
	summaryDescription      = "Short summary of the conversation."
)

// defaults are the stored values of fields that were not sent on create, where they are not zero or null.
// Required fields have none; the models are those of the mode, see resetMode.
func defaults() Settings {
	return Settings{
		SecondaryLanguageIDs: []int64{}, Status: Inactive, KnowledgebaseMode: "function_call", ToolIDs: []ids.Tool{}, Tools: toolbox.Tools{},
		TTSEmotionEnabled: true, VoiceStability: 0.7, VoiceSimilarity: 0.5,
		SpeechSpeed: 1.0, LLMTemperature: 0.1,
		AllowInterruptions: true, InterruptSensitivity: 0.5,
		EndpointType: "vad", EndpointSensitivity: 0.5,
		EnableNoiseCancellation: true,
		MaxDuration:             600, MaxSilenceDuration: 40, RingingTime: 30,
		ReengagementInterval: 30,
		EndCallOnVoicemail:   true,
		AmbientSound:         "off", AmbientSoundVolume: 0.5,
		SendWebhookOnlyOnCompleted: true, IncludeRecordingInWebhook: true,
		PostCallEvaluation: true, PostCallSchema: defaultSchema(),
		Variables:                     value.Scalars{},
		ConversationInactivityTimeout: value.Ptr[int64](30), LabelIDs: []GroupID{}, WidgetSettings: defaultWidget(),
	}
}

func defaultSchema() []SchemaItem {
	return []SchemaItem{
		{Name: "status", Type: "bool", Description: statusDescription},
		{Name: "summary", Type: "string", Description: summaryDescription},
	}
}

func defaultWidget() WidgetSettings {
	return WidgetSettings{
		Enabled: true, VoiceEnabled: true, AllowedOrigins: []string{},
		Position: "bottom-right", Color: "#2f6fed",
		HeaderTitle: "Chat with us", HeaderSubtitle: "We usually answer at once.",
		ButtonMainText: "Questions?", ButtonSubText: "Chat or talk with us",
		StartButtonText: "Start", ModalTitle: "How can we help?",
		ModalDescription: "Write a message, or start a voice call.",
	}
}

// resetMode gives the mode-specific fields the defaults of a mode.
func resetMode(f *Settings, mode catalog.Mode, c *catalog.Catalog) {
	d := defaults()
	f.LLMModelID, f.MultimodalModelID = d.LLMModelID, d.MultimodalModelID
	use := catalog.LLM
	model := &f.LLMModelID
	if mode != catalog.Pipeline {
		use, model = string(mode), &f.MultimodalModelID
	}
	if id := c.DefaultModel(use); id != 0 {
		*model = &id
	}
	f.ChatLLMFallbackID, f.TurnDetectionThreshold = d.ChatLLMFallbackID, d.TurnDetectionThreshold
	f.SynthesizerProviderID, f.TranscriberProviderID = d.SynthesizerProviderID, d.TranscriberProviderID
	f.Fillers, f.KnowledgebaseMode, f.AllowInterruptions = d.Fillers, d.KnowledgebaseMode, d.AllowInterruptions
	if v, ok := c.Voice(f.VoiceID); ok && v.Fits(mode) {
		return
	}
	if v, ok := c.DefaultVoice(f.LanguageID, mode); ok {
		f.VoiceID = v.ID
	}
}

// fillers of the languages whose phrases we know; the others stay silent rather than speak a foreign one.
var fillers = map[string][4][]string{ // positive, negative, question, neutral
	"en": {{"Great.", "Okay, good."}, {"I see.", "All right."}, {"Let me check.", "Good question."}, {"One moment.", "Okay."}},
	"de": {{"Sehr gut.", "Prima."}, {"Verstehe.", "In Ordnung."}, {"Ich sehe nach.", "Gute Frage."}, {"Einen Moment.", "Okay."}},
	"fr": {{"Très bien.", "Parfait."}, {"Je vois.", "D'accord."}, {"Je regarde.", "Bonne question."}, {"Un instant.", "D'accord."}},
	"es": {{"Muy bien.", "Perfecto."}, {"Entiendo.", "De acuerdo."}, {"Déjeme ver.", "Buena pregunta."}, {"Un momento.", "Vale."}},
	"it": {{"Molto bene.", "Perfetto."}, {"Capisco.", "Va bene."}, {"Controllo.", "Buona domanda."}, {"Un momento.", "Va bene."}},
	"pt": {{"Muito bem.", "Perfeito."}, {"Entendo.", "Tudo bem."}, {"Vou verificar.", "Boa pergunta."}, {"Um momento.", "Certo."}},
	"ro": {{"Foarte bine.", "Perfect."}, {"Înțeleg.", "În regulă."}, {"Verific imediat.", "Bună întrebare."}, {"O clipă.", "Bine."}},
	"da": {{"Fint.", "Godt."}, {"Det forstår jeg.", "Okay."}, {"Jeg ser efter.", "Godt spørgsmål."}, {"Et øjeblik.", "Okay."}},
	"lt": {{"Puiku.", "Gerai."}, {"Suprantu.", "Gerai."}, {"Tuoj patikrinsiu.", "Geras klausimas."}, {"Akimirką.", "Gerai."}},
	"ar": {{"رائع.", "جيد."}, {"أفهم.", "حسنًا."}, {"دعني أتحقق.", "سؤال جيد."}, {"لحظة.", "حسنًا."}},
}

// In are the phrases of one of the assistant's languages. Lists that were given are in the primary one: in another they are
// that language's own, but for those that were given empty.
func (c FillerConfig) In(language, primary string) FillerConfig {
	if language != primary {
		for _, list := range []*[]string{&c.Positive, &c.Negative, &c.Question, &c.Neutral} {
			if len(*list) > 0 {
				*list = nil
			}
		}
	}
	return c.Effective(language)
}

// Effective is the configuration with the language's phrases where lists were left out.
func (c FillerConfig) Effective(language string) FillerConfig {
	d := fillers[language]
	or := func(list, phrases []string) []string {
		if list != nil {
			return list
		}
		return append([]string{}, phrases...)
	}
	return FillerConfig{or(c.Positive, d[0]), or(c.Negative, d[1]), or(c.Question, d[2]), or(c.Neutral, d[3])}
}
