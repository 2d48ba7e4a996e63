package assistants

import (
	"parley/catalog"
	"parley/wire"
)

// Built-in texts of the contract's section 4.4.
const (
	ReengagementInstruction = "The other person has been quiet. Ask in one short sentence whether they are still there."
	statusDescription       = "True when the goal of the conversation was reached."
	summaryDescription      = "Short summary of the conversation."
)

func null[T any]() wire.Opt[T] { return wire.Opt[T]{Set: true, Null: true} }

// defaults are the stored values of fields that were not sent on create.
// Required fields have none; the models are those of the mode, see resetMode.
func defaults() Fields {
	return Fields{
		SecondaryLanguageIDs: wire.Some([]int64{}), Status: wire.Some(Inactive),
		LLMModelID: null[int64](), MultimodalModelID: null[int64](), ChatLLMFallbackID: null[int64](),
		TurnDetectionThreshold: null[float64](),
		KnowledgebaseID:        null[int64](), KnowledgebaseMode: wire.Some("function_call"),
		PhoneNumberID: null[int64](), ToolIDs: wire.Some([]int64{}), Tools: wire.Some(Tools{}),
		TTSEmotionEnabled: wire.Some(true), VoiceStability: wire.Some(0.7), VoiceSimilarity: wire.Some(0.5),
		SpeechSpeed: wire.Some(1.0), LLMTemperature: wire.Some(0.1),
		SynthesizerProviderID: null[int64](), TranscriberProviderID: null[int64](),
		AllowInterruptions: wire.Some(true), InterruptSensitivity: wire.Some(0.5), MinInterruptWords: null[int64](),
		EndpointType: wire.Some("vad"), EndpointSensitivity: wire.Some(0.5),
		Fillers: wire.Some(false), FillerConfig: wire.Some(FillerConfig{}),
		Record: wire.Some(false), EnableNoiseCancellation: wire.Some(true), WaitForCustomer: wire.Some(false),
		MaxDuration: wire.Some[int64](600), MaxSilenceDuration: wire.Some[int64](40),
		MaxInitialSilenceDuration: null[int64](), RingingTime: wire.Some[int64](30),
		ReengagementInterval: wire.Some[int64](30), ReengagementPrompt: null[string](),
		EndCallOnVoicemail: wire.Some(true), VoiceMailMessage: null[string](),
		AmbientSound: wire.Some("off"), AmbientSoundVolume: wire.Some(0.5),
		IsWebhookActive: wire.Some(false), WebhookURL: null[string](),
		SendWebhookOnlyOnCompleted: wire.Some(true), IncludeRecordingInWebhook: wire.Some(true),
		PostCallEvaluation: wire.Some(true), PostCallSchema: wire.Some(defaultSchema()),
		Variables:                     wire.Some(wire.Scalars{}),
		ConversationInactivityTimeout: wire.Some[int64](30), ConversationEndedRetrigger: wire.Some(false),
		ConversationEndedWebhookURL: null[string](),
		FolderID:                    null[int64](), LabelIDs: wire.Some([]int64{}), WidgetSettings: wire.Some(defaultWidget()),
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
		Enabled: wire.Some(true), VoiceEnabled: wire.Some(true), AllowedOrigins: wire.Some([]string{}),
		Position: wire.Some("bottom-right"), Color: wire.Some("#2f6fed"),
		HeaderTitle: wire.Some("Chat with us"), HeaderSubtitle: wire.Some("We usually answer at once."),
		ButtonMainText: wire.Some("Questions?"), ButtonSubText: wire.Some("Chat or talk with us"),
		StartButtonText: wire.Some("Start"), ModalTitle: wire.Some("How can we help?"),
		ModalDescription: wire.Some("Write a message, or start a voice call."),
	}
}

// fill completes a stored document with fields that did not exist when it was written.
func fill(f Fields) Fields {
	out := defaults()
	overlay(&out, &f)
	return out
}

// resetMode gives the mode-specific fields the defaults of a mode.
func resetMode(f *Fields, mode catalog.Mode, c *catalog.Catalog) {
	d := defaults()
	f.LLMModelID, f.MultimodalModelID = d.LLMModelID, d.MultimodalModelID
	use := catalog.LLM
	model := &f.LLMModelID
	if mode != catalog.Pipeline {
		use, model = string(mode), &f.MultimodalModelID
	}
	if id := c.DefaultModel(use); id != 0 {
		*model = wire.Some(id)
	}
	f.ChatLLMFallbackID, f.TurnDetectionThreshold = d.ChatLLMFallbackID, d.TurnDetectionThreshold
	f.SynthesizerProviderID, f.TranscriberProviderID = d.SynthesizerProviderID, d.TranscriberProviderID
	f.Fillers, f.KnowledgebaseMode, f.AllowInterruptions = d.Fillers, d.KnowledgebaseMode, d.AllowInterruptions
	if v, ok := c.Voice(f.VoiceID.V); ok && v.Fits(mode) {
		return
	}
	if v, ok := c.DefaultVoice(f.LanguageID.V, mode); ok {
		f.VoiceID = wire.Some(v.ID)
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

// Effective is the configuration with the language's phrases where lists were left out.
func (c FillerConfig) Effective(language string) FillerConfig {
	d := fillers[language]
	or := func(list wire.Opt[[]string], phrases []string) wire.Opt[[]string] {
		return wire.Some(list.Or(append([]string{}, phrases...)))
	}
	return FillerConfig{or(c.Positive, d[0]), or(c.Negative, d[1]), or(c.Question, d[2]), or(c.Neutral, d[3])}
}
