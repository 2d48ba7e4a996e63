package assistants

import (
	"parley/catalog"
	"parley/value"
)

// Built-in texts of the contract's section 4.4.
const (
	ReengagementInstruction = "The other person has been quiet. Ask in one short sentence whether they are still there."
	statusDescription       = "True when the goal of the conversation was reached."
	summaryDescription      = "Short summary of the conversation."
)

func null[T any]() value.Opt[T] { return value.Opt[T]{Set: true, Null: true} }

// defaults are the stored values of fields that were not sent on create.
// Required fields have none; the models are those of the mode, see resetMode.
func defaults() Fields {
	return Fields{
		SecondaryLanguageIDs: value.Some([]int64{}), Status: value.Some(Inactive),
		LLMModelID: null[int64](), MultimodalModelID: null[int64](), ChatLLMFallbackID: null[int64](),
		TurnDetectionThreshold: null[float64](),
		KnowledgebaseID:        null[int64](), KnowledgebaseMode: value.Some("function_call"),
		PhoneNumberID: null[int64](), ToolIDs: value.Some([]int64{}), Tools: value.Some(Tools{}),
		TTSEmotionEnabled: value.Some(true), VoiceStability: value.Some(0.7), VoiceSimilarity: value.Some(0.5),
		SpeechSpeed: value.Some(1.0), LLMTemperature: value.Some(0.1),
		SynthesizerProviderID: null[int64](), TranscriberProviderID: null[int64](),
		AllowInterruptions: value.Some(true), InterruptSensitivity: value.Some(0.5), MinInterruptWords: null[int64](),
		EndpointType: value.Some("vad"), EndpointSensitivity: value.Some(0.5),
		Fillers: value.Some(false), FillerConfig: value.Some(FillerConfig{}),
		Record: value.Some(false), EnableNoiseCancellation: value.Some(true), WaitForCustomer: value.Some(false),
		MaxDuration: value.Some[int64](600), MaxSilenceDuration: value.Some[int64](40),
		MaxInitialSilenceDuration: null[int64](), RingingTime: value.Some[int64](30),
		ReengagementInterval: value.Some[int64](30), ReengagementPrompt: null[string](),
		EndCallOnVoicemail: value.Some(true), VoiceMailMessage: null[string](),
		AmbientSound: value.Some("off"), AmbientSoundVolume: value.Some(0.5),
		IsWebhookActive: value.Some(false), WebhookURL: null[string](),
		SendWebhookOnlyOnCompleted: value.Some(true), IncludeRecordingInWebhook: value.Some(true),
		PostCallEvaluation: value.Some(true), PostCallSchema: value.Some(defaultSchema()),
		Variables:                     value.Some(value.Scalars{}),
		ConversationInactivityTimeout: value.Some[int64](30), ConversationEndedRetrigger: value.Some(false),
		ConversationEndedWebhookURL: null[string](),
		FolderID:                    null[int64](), LabelIDs: value.Some([]int64{}), WidgetSettings: value.Some(defaultWidget()),
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
		Enabled: value.Some(true), VoiceEnabled: value.Some(true), AllowedOrigins: value.Some([]string{}),
		Position: value.Some("bottom-right"), Color: value.Some("#2f6fed"),
		HeaderTitle: value.Some("Chat with us"), HeaderSubtitle: value.Some("We usually answer at once."),
		ButtonMainText: value.Some("Questions?"), ButtonSubText: value.Some("Chat or talk with us"),
		StartButtonText: value.Some("Start"), ModalTitle: value.Some("How can we help?"),
		ModalDescription: value.Some("Write a message, or start a voice call."),
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
		*model = value.Some(id)
	}
	f.ChatLLMFallbackID, f.TurnDetectionThreshold = d.ChatLLMFallbackID, d.TurnDetectionThreshold
	f.SynthesizerProviderID, f.TranscriberProviderID = d.SynthesizerProviderID, d.TranscriberProviderID
	f.Fillers, f.KnowledgebaseMode, f.AllowInterruptions = d.Fillers, d.KnowledgebaseMode, d.AllowInterruptions
	if v, ok := c.Voice(f.VoiceID.V); ok && v.Fits(mode) {
		return
	}
	if v, ok := c.DefaultVoice(f.LanguageID.V, mode); ok {
		f.VoiceID = value.Some(v.ID)
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
	or := func(list value.Opt[[]string], phrases []string) value.Opt[[]string] {
		return value.Some(list.Or(append([]string{}, phrases...)))
	}
	return FillerConfig{or(c.Positive, d[0]), or(c.Negative, d[1]), or(c.Question, d[2]), or(c.Neutral, d[3])}
}
