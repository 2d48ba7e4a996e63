package assistants

import (
	"reflect"
	"strings"

	"parley/wire"
)

// Fields are the configurable fields of an assistant in the order of the contract's table. The same struct is the
// request schema, where a field may be left out, and the stored document, where every field is set.
type Fields struct {
	Name                 wire.Opt[string]  `json:"name" rule:"max=255"`
	VoiceID              wire.Opt[int64]   `json:"voice_id"`
	LanguageID           wire.Opt[int64]   `json:"language_id"`
	SecondaryLanguageIDs wire.Opt[[]int64] `json:"secondary_language_ids" rule:"max=10 distinct"`
	Type                 wire.Opt[string]  `json:"type" rule:"oneof=inbound|outbound"`
	Mode                 wire.Opt[string]  `json:"mode" rule:"oneof=pipeline|multimodal|dualplex"`
	Status               wire.Opt[string]  `json:"status" rule:"oneof=active|inactive" doc:"On update only."`
	Timezone             wire.Opt[string]  `json:"timezone" rule:"timezone"`
	InitialMessage       wire.Opt[string]  `json:"initial_message" rule:"max=200"`
	SystemPrompt         wire.Opt[string]  `json:"system_prompt" rule:"min=1 max=100000" trim:"no"`

	LLMModelID             wire.Opt[int64]   `json:"llm_model_id" rule:"null"`
	MultimodalModelID      wire.Opt[int64]   `json:"multimodal_model_id" rule:"null"`
	ChatLLMFallbackID      wire.Opt[int64]   `json:"chat_llm_fallback_id" rule:"null"`
	TurnDetectionThreshold wire.Opt[float64] `json:"turn_detection_threshold" rule:"null min=0 max=1"`

	KnowledgebaseID   wire.Opt[int64]   `json:"knowledgebase_id" rule:"null"`
	KnowledgebaseMode wire.Opt[string]  `json:"knowledgebase_mode" rule:"oneof=function_call|prompt"`
	PhoneNumberID     wire.Opt[int64]   `json:"phone_number_id" rule:"null"`
	ToolIDs           wire.Opt[[]int64] `json:"tool_ids" rule:"max=50 distinct"`
	Tools             wire.Opt[Tools]   `json:"tools" rule:"max=20"`

	TTSEmotionEnabled     wire.Opt[bool]    `json:"tts_emotion_enabled"`
	VoiceStability        wire.Opt[float64] `json:"voice_stability" rule:"min=0 max=1"`
	VoiceSimilarity       wire.Opt[float64] `json:"voice_similarity" rule:"min=0 max=1"`
	SpeechSpeed           wire.Opt[float64] `json:"speech_speed" rule:"min=0.7 max=1.2"`
	LLMTemperature        wire.Opt[float64] `json:"llm_temperature" rule:"min=0 max=1"`
	SynthesizerProviderID wire.Opt[int64]   `json:"synthesizer_provider_id" rule:"null"`
	TranscriberProviderID wire.Opt[int64]   `json:"transcriber_provider_id" rule:"null"`

	AllowInterruptions   wire.Opt[bool]         `json:"allow_interruptions"`
	InterruptSensitivity wire.Opt[float64]      `json:"interrupt_sensitivity" rule:"min=0 max=5"`
	MinInterruptWords    wire.Opt[int64]        `json:"min_interrupt_words" rule:"null min=0 max=10"`
	EndpointType         wire.Opt[string]       `json:"endpoint_type" rule:"oneof=vad|ai"`
	EndpointSensitivity  wire.Opt[float64]      `json:"endpoint_sensitivity" rule:"min=0 max=5"`
	Fillers              wire.Opt[bool]         `json:"fillers"`
	FillerConfig         wire.Opt[FillerConfig] `json:"filler_config"`

	Record                    wire.Opt[bool]    `json:"record"`
	EnableNoiseCancellation   wire.Opt[bool]    `json:"enable_noise_cancellation"`
	WaitForCustomer           wire.Opt[bool]    `json:"wait_for_customer"`
	MaxDuration               wire.Opt[int64]   `json:"max_duration" rule:"min=20 max=1200"`
	MaxSilenceDuration        wire.Opt[int64]   `json:"max_silence_duration" rule:"min=1 max=360"`
	MaxInitialSilenceDuration wire.Opt[int64]   `json:"max_initial_silence_duration" rule:"null min=1 max=120"`
	RingingTime               wire.Opt[int64]   `json:"ringing_time" rule:"min=1 max=60"`
	ReengagementInterval      wire.Opt[int64]   `json:"reengagement_interval" rule:"min=7 max=600"`
	ReengagementPrompt        wire.Opt[string]  `json:"reengagement_prompt" rule:"null max=1000"`
	EndCallOnVoicemail        wire.Opt[bool]    `json:"end_call_on_voicemail"`
	VoiceMailMessage          wire.Opt[string]  `json:"voice_mail_message" rule:"null max=1000"`
	AmbientSound              wire.Opt[string]  `json:"ambient_sound" rule:"oneof=off|office|city|forest|crowded_room|cafe|nature"`
	AmbientSoundVolume        wire.Opt[float64] `json:"ambient_sound_volume" rule:"min=0 max=1"`

	IsWebhookActive            wire.Opt[bool]         `json:"is_webhook_active"`
	WebhookURL                 wire.Opt[string]       `json:"webhook_url" rule:"null url public"`
	SendWebhookOnlyOnCompleted wire.Opt[bool]         `json:"send_webhook_only_on_completed"`
	IncludeRecordingInWebhook  wire.Opt[bool]         `json:"include_recording_in_webhook"`
	PostCallEvaluation         wire.Opt[bool]         `json:"post_call_evaluation"`
	PostCallSchema             wire.Opt[[]SchemaItem] `json:"post_call_schema" rule:"max=50"`
	Variables                  wire.Opt[wire.Scalars] `json:"variables" rule:"max=100"`

	ConversationInactivityTimeout wire.Opt[int64]          `json:"conversation_inactivity_timeout" rule:"null min=1 max=1440"`
	ConversationEndedRetrigger    wire.Opt[bool]           `json:"conversation_ended_retrigger"`
	ConversationEndedWebhookURL   wire.Opt[string]         `json:"conversation_ended_webhook_url" rule:"null url public"`
	FolderID                      wire.Opt[int64]          `json:"folder_id" rule:"null"`
	LabelIDs                      wire.Opt[[]int64]        `json:"label_ids" rule:"max=100 distinct"`
	WidgetSettings                wire.Opt[WidgetSettings] `json:"widget_settings"`
}

// FillerConfig are the phrases that bridge a wait. A list that was left out is the language's default.
type FillerConfig struct {
	Positive wire.Opt[[]string] `json:"positive" rule:"max=20" each:"min=1 max=50"`
	Negative wire.Opt[[]string] `json:"negative" rule:"max=20" each:"min=1 max=50"`
	Question wire.Opt[[]string] `json:"question" rule:"max=20" each:"min=1 max=50"`
	Neutral  wire.Opt[[]string] `json:"neutral" rule:"max=20" each:"min=1 max=50"`
}

// SchemaItem is one thing to find out from a finished conversation.
type SchemaItem struct {
	Name        string `json:"name" rule:"required min=3 max=16 pattern=^[a-z0-9_]+$ distinct"`
	Type        string `json:"type" rule:"required oneof=string|number|bool"`
	Description string `json:"description" rule:"required min=3 max=255"`
}

// WidgetSettings say what the embedded widget may do and shows. A null text is the built-in one.
type WidgetSettings struct {
	Enabled          wire.Opt[bool]     `json:"enabled"`
	VoiceEnabled     wire.Opt[bool]     `json:"voice_enabled"`
	AllowedOrigins   wire.Opt[[]string] `json:"allowed_origins" rule:"max=20" each:"max=255"`
	Position         wire.Opt[string]   `json:"position" rule:"null max=120"`
	Color            wire.Opt[string]   `json:"color" rule:"null max=120"`
	HeaderTitle      wire.Opt[string]   `json:"header_title" rule:"null max=120"`
	HeaderSubtitle   wire.Opt[string]   `json:"header_subtitle" rule:"null max=120"`
	ButtonMainText   wire.Opt[string]   `json:"button_main_text" rule:"null max=120"`
	ButtonSubText    wire.Opt[string]   `json:"button_sub_text" rule:"null max=120"`
	StartButtonText  wire.Opt[string]   `json:"start_button_text" rule:"null max=120"`
	ModalTitle       wire.Opt[string]   `json:"modal_title" rule:"null max=120"`
	ModalDescription wire.Opt[string]   `json:"modal_description" rule:"null max=120"`
}

// overlay copies the fields that were sent in from over those of into; both point to structs of Opts.
func overlay(into, from any) {
	dst, src := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	for i := range src.NumField() {
		if src.Field(i).Field(0).Bool() {
			dst.Field(i).Set(src.Field(i))
		}
	}
}

// changed names the fields whose values differ, in their order.
func changed(a, b Fields) []string {
	out := []string{}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			out = append(out, strings.Split(x.Type().Field(i).Tag.Get("json"), ",")[0])
		}
	}
	return out
}
