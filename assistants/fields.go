package assistants

import (
	"parley/value"
	"reflect"
	"strings"
)

// Fields are the configurable fields of an assistant in the order of the contract's table. The same struct is the
// request schema, where a field may be left out, and the stored document, where every field is set.
type Fields struct {
	Name                 value.Opt[string]  `json:"name" rule:"max=255"`
	VoiceID              value.Opt[int64]   `json:"voice_id"`
	LanguageID           value.Opt[int64]   `json:"language_id"`
	SecondaryLanguageIDs value.Opt[[]int64] `json:"secondary_language_ids" rule:"max=10 distinct"`
	Type                 value.Opt[string]  `json:"type" rule:"oneof=inbound|outbound"`
	Mode                 value.Opt[string]  `json:"mode" rule:"oneof=pipeline|multimodal|dualplex"`
	Status               value.Opt[string]  `json:"status" rule:"oneof=active|inactive" doc:"On update only."`
	Timezone             value.Opt[string]  `json:"timezone" rule:"timezone"`
	InitialMessage       value.Opt[string]  `json:"initial_message" rule:"max=200"`
	SystemPrompt         value.Opt[string]  `json:"system_prompt" rule:"min=1 max=100000" trim:"no"`

	LLMModelID             value.Opt[int64]   `json:"llm_model_id" rule:"null"`
	MultimodalModelID      value.Opt[int64]   `json:"multimodal_model_id" rule:"null"`
	ChatLLMFallbackID      value.Opt[int64]   `json:"chat_llm_fallback_id" rule:"null"`
	TurnDetectionThreshold value.Opt[float64] `json:"turn_detection_threshold" rule:"null min=0 max=1"`

	KnowledgebaseID   value.Opt[int64]   `json:"knowledgebase_id" rule:"null"`
	KnowledgebaseMode value.Opt[string]  `json:"knowledgebase_mode" rule:"oneof=function_call|prompt"`
	PhoneNumberID     value.Opt[int64]   `json:"phone_number_id" rule:"null"`
	ToolIDs           value.Opt[[]int64] `json:"tool_ids" rule:"max=50 distinct"`
	Tools             value.Opt[Tools]   `json:"tools" rule:"max=20"`

	TTSEmotionEnabled     value.Opt[bool]    `json:"tts_emotion_enabled"`
	VoiceStability        value.Opt[float64] `json:"voice_stability" rule:"min=0 max=1"`
	VoiceSimilarity       value.Opt[float64] `json:"voice_similarity" rule:"min=0 max=1"`
	SpeechSpeed           value.Opt[float64] `json:"speech_speed" rule:"min=0.7 max=1.2"`
	LLMTemperature        value.Opt[float64] `json:"llm_temperature" rule:"min=0 max=1"`
	SynthesizerProviderID value.Opt[int64]   `json:"synthesizer_provider_id" rule:"null"`
	TranscriberProviderID value.Opt[int64]   `json:"transcriber_provider_id" rule:"null"`

	AllowInterruptions   value.Opt[bool]         `json:"allow_interruptions"`
	InterruptSensitivity value.Opt[float64]      `json:"interrupt_sensitivity" rule:"min=0 max=5"`
	MinInterruptWords    value.Opt[int64]        `json:"min_interrupt_words" rule:"null min=0 max=10"`
	EndpointType         value.Opt[string]       `json:"endpoint_type" rule:"oneof=vad|ai"`
	EndpointSensitivity  value.Opt[float64]      `json:"endpoint_sensitivity" rule:"min=0 max=5"`
	Fillers              value.Opt[bool]         `json:"fillers"`
	FillerConfig         value.Opt[FillerConfig] `json:"filler_config"`

	Record                    value.Opt[bool]    `json:"record"`
	EnableNoiseCancellation   value.Opt[bool]    `json:"enable_noise_cancellation"`
	WaitForCustomer           value.Opt[bool]    `json:"wait_for_customer"`
	MaxDuration               value.Opt[int64]   `json:"max_duration" rule:"min=20 max=1200"`
	MaxSilenceDuration        value.Opt[int64]   `json:"max_silence_duration" rule:"min=1 max=360"`
	MaxInitialSilenceDuration value.Opt[int64]   `json:"max_initial_silence_duration" rule:"null min=1 max=120"`
	RingingTime               value.Opt[int64]   `json:"ringing_time" rule:"min=1 max=60"`
	ReengagementInterval      value.Opt[int64]   `json:"reengagement_interval" rule:"min=7 max=600"`
	ReengagementPrompt        value.Opt[string]  `json:"reengagement_prompt" rule:"null max=1000"`
	EndCallOnVoicemail        value.Opt[bool]    `json:"end_call_on_voicemail"`
	VoiceMailMessage          value.Opt[string]  `json:"voice_mail_message" rule:"null max=1000"`
	AmbientSound              value.Opt[string]  `json:"ambient_sound" rule:"oneof=off|office|city|forest|crowded_room|cafe|nature"`
	AmbientSoundVolume        value.Opt[float64] `json:"ambient_sound_volume" rule:"min=0 max=1"`

	IsWebhookActive            value.Opt[bool]          `json:"is_webhook_active"`
	WebhookURL                 value.Opt[string]        `json:"webhook_url" rule:"null url public"`
	SendWebhookOnlyOnCompleted value.Opt[bool]          `json:"send_webhook_only_on_completed"`
	IncludeRecordingInWebhook  value.Opt[bool]          `json:"include_recording_in_webhook"`
	PostCallEvaluation         value.Opt[bool]          `json:"post_call_evaluation"`
	PostCallSchema             value.Opt[[]SchemaItem]  `json:"post_call_schema" rule:"max=50"`
	Variables                  value.Opt[value.Scalars] `json:"variables" rule:"max=100"`

	ConversationInactivityTimeout value.Opt[int64]          `json:"conversation_inactivity_timeout" rule:"null min=1 max=1440"`
	ConversationEndedRetrigger    value.Opt[bool]           `json:"conversation_ended_retrigger"`
	ConversationEndedWebhookURL   value.Opt[string]         `json:"conversation_ended_webhook_url" rule:"null url public"`
	FolderID                      value.Opt[int64]          `json:"folder_id" rule:"null"`
	LabelIDs                      value.Opt[[]int64]        `json:"label_ids" rule:"max=100 distinct"`
	WidgetSettings                value.Opt[WidgetSettings] `json:"widget_settings"`
}

// FillerConfig are the phrases that bridge a wait. A list that was left out is the language's default.
type FillerConfig struct {
	Positive value.Opt[[]string] `json:"positive" rule:"max=20" each:"min=1 max=50"`
	Negative value.Opt[[]string] `json:"negative" rule:"max=20" each:"min=1 max=50"`
	Question value.Opt[[]string] `json:"question" rule:"max=20" each:"min=1 max=50"`
	Neutral  value.Opt[[]string] `json:"neutral" rule:"max=20" each:"min=1 max=50"`
}

// SchemaItem is one thing to find out from a finished conversation.
type SchemaItem struct {
	Name        string `json:"name" rule:"required min=3 max=16 pattern=^[a-z0-9_]+$ distinct"`
	Type        string `json:"type" rule:"required oneof=string|number|bool"`
	Description string `json:"description" rule:"required min=3 max=255"`
}

// WidgetSettings say what the embedded widget may do and shows. A null text is the built-in one.
type WidgetSettings struct {
	Enabled          value.Opt[bool]     `json:"enabled"`
	VoiceEnabled     value.Opt[bool]     `json:"voice_enabled"`
	AllowedOrigins   value.Opt[[]string] `json:"allowed_origins" rule:"max=20" each:"max=255"`
	Position         value.Opt[string]   `json:"position" rule:"null max=120"`
	Color            value.Opt[string]   `json:"color" rule:"null max=120"`
	HeaderTitle      value.Opt[string]   `json:"header_title" rule:"null max=120"`
	HeaderSubtitle   value.Opt[string]   `json:"header_subtitle" rule:"null max=120"`
	ButtonMainText   value.Opt[string]   `json:"button_main_text" rule:"null max=120"`
	ButtonSubText    value.Opt[string]   `json:"button_sub_text" rule:"null max=120"`
	StartButtonText  value.Opt[string]   `json:"start_button_text" rule:"null max=120"`
	ModalTitle       value.Opt[string]   `json:"modal_title" rule:"null max=120"`
	ModalDescription value.Opt[string]   `json:"modal_description" rule:"null max=120"`
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
