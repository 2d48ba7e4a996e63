package assistants

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"parley/catalog"
	"parley/ids"
	"parley/toolbox"
	"parley/value"
)

// Settings are the configurable fields of an assistant in the order of the contract's table. A field that may be null is
// a pointer. The tags are the rules of what a request may set; modes are those in which a field has an effect, all without it.
type Settings struct {
	Name                 string  `json:"name" rule:"max=255"`
	VoiceID              int64   `json:"voice_id"`
	LanguageID           int64   `json:"language_id"`
	SecondaryLanguageIDs []int64 `json:"secondary_language_ids" rule:"max=10 distinct"`
	Type                 string  `json:"type" rule:"oneof=inbound|outbound"`
	Mode                 string  `json:"mode" rule:"oneof=pipeline|multimodal|dualplex"`
	Status               string  `json:"status" rule:"oneof=active|inactive" doc:"On update only."`
	Timezone             string  `json:"timezone" rule:"timezone"`
	InitialMessage       string  `json:"initial_message" rule:"max=200"`
	SystemPrompt         string  `json:"system_prompt" rule:"min=1 max=100000" trim:"no"`

	LLMModelID             *int64   `json:"llm_model_id" rule:"null" modes:"pipeline"`
	MultimodalModelID      *int64   `json:"multimodal_model_id" rule:"null" modes:"multimodal dualplex"`
	ChatLLMFallbackID      *int64   `json:"chat_llm_fallback_id" rule:"null" modes:"multimodal dualplex"`
	TurnDetectionThreshold *float64 `json:"turn_detection_threshold" rule:"null min=0 max=1" modes:"multimodal dualplex"`

	KnowledgebaseID   *ids.Knowledgebase `json:"knowledgebase_id" rule:"null"`
	KnowledgebaseMode string             `json:"knowledgebase_mode" rule:"oneof=function_call|prompt"`
	PhoneNumberID     *ids.Number        `json:"phone_number_id" rule:"null"`
	ToolIDs           []ids.Tool         `json:"tool_ids" rule:"max=50 distinct"`
	Tools             toolbox.Tools      `json:"tools" rule:"max=20"`

	TTSEmotionEnabled     bool    `json:"tts_emotion_enabled"`
	VoiceStability        float64 `json:"voice_stability" rule:"min=0 max=1" modes:"pipeline dualplex"`
	VoiceSimilarity       float64 `json:"voice_similarity" rule:"min=0 max=1" modes:"pipeline dualplex"`
	SpeechSpeed           float64 `json:"speech_speed" rule:"min=0.7 max=1.2"`
	LLMTemperature        float64 `json:"llm_temperature" rule:"min=0 max=1"`
	SynthesizerProviderID *int64  `json:"synthesizer_provider_id" rule:"null" modes:"pipeline dualplex"`
	TranscriberProviderID *int64  `json:"transcriber_provider_id" rule:"null" modes:"pipeline"`

	AllowInterruptions   bool         `json:"allow_interruptions"`
	InterruptSensitivity float64      `json:"interrupt_sensitivity" rule:"min=0 max=5"`
	MinInterruptWords    *int64       `json:"min_interrupt_words" rule:"null min=0 max=10"`
	EndpointType         string       `json:"endpoint_type" rule:"oneof=vad|ai"`
	EndpointSensitivity  float64      `json:"endpoint_sensitivity" rule:"min=0 max=5"`
	Fillers              bool         `json:"fillers" modes:"pipeline"`
	FillerConfig         FillerConfig `json:"filler_config" modes:"pipeline"`

	Record                    bool    `json:"record"`
	EnableNoiseCancellation   bool    `json:"enable_noise_cancellation"`
	WaitForCustomer           bool    `json:"wait_for_customer"`
	MaxDuration               int64   `json:"max_duration" rule:"min=20 max=1200"`
	MaxSilenceDuration        int64   `json:"max_silence_duration" rule:"min=1 max=360"`
	MaxInitialSilenceDuration *int64  `json:"max_initial_silence_duration" rule:"null min=1 max=120"`
	RingingTime               int64   `json:"ringing_time" rule:"min=1 max=60"`
	ReengagementInterval      int64   `json:"reengagement_interval" rule:"min=7 max=600"`
	ReengagementPrompt        *string `json:"reengagement_prompt" rule:"null max=1000"`
	EndCallOnVoicemail        bool    `json:"end_call_on_voicemail"`
	VoiceMailMessage          *string `json:"voice_mail_message" rule:"null max=1000"`
	AmbientSound              string  `json:"ambient_sound" rule:"oneof=off|office|city|forest|crowded_room|cafe|nature"`
	AmbientSoundVolume        float64 `json:"ambient_sound_volume" rule:"min=0 max=1"`

	IsWebhookActive            bool          `json:"is_webhook_active"`
	WebhookURL                 *string       `json:"webhook_url" rule:"null url public"`
	SendWebhookOnlyOnCompleted bool          `json:"send_webhook_only_on_completed"`
	IncludeRecordingInWebhook  bool          `json:"include_recording_in_webhook"`
	PostCallEvaluation         bool          `json:"post_call_evaluation"`
	PostCallSchema             []SchemaItem  `json:"post_call_schema" rule:"max=50"`
	Variables                  value.Scalars `json:"variables" rule:"max=100"`

	ConversationInactivityTimeout *int64         `json:"conversation_inactivity_timeout" rule:"null min=1 max=1440"`
	ConversationEndedRetrigger    bool           `json:"conversation_ended_retrigger"`
	ConversationEndedWebhookURL   *string        `json:"conversation_ended_webhook_url" rule:"null url public"`
	FolderID                      *GroupID       `json:"folder_id" rule:"null"`
	LabelIDs                      []GroupID      `json:"label_ids" rule:"max=100 distinct"`
	WidgetSettings                WidgetSettings `json:"widget_settings"`
}

// modesOf are the modes in which fields have an effect, by key; a field that is not there has one in all.
var modesOf = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for f := range reflect.TypeFor[Settings]().Fields() {
		if modes, ok := f.Tag.Lookup("modes"); ok {
			out[f.Tag.Get("json")] = strings.Fields(modes)
		}
	}
	return out
})

// fits reports whether a field has an effect in a mode.
func fits(key string, m catalog.Mode) bool {
	modes, some := modesOf()[key]
	return !some || slices.Contains(modes, string(m))
}

// Patch is what a request says of the settings: a field may be left out.
type Patch = value.Patch[Settings]

// FillerConfig are the phrases that bridge a wait. A list that was left out is the language's default.
type FillerConfig struct {
	Positive []string `json:"positive,omitzero" rule:"max=20" each:"min=1 max=50"`
	Negative []string `json:"negative,omitzero" rule:"max=20" each:"min=1 max=50"`
	Question []string `json:"question,omitzero" rule:"max=20" each:"min=1 max=50"`
	Neutral  []string `json:"neutral,omitzero" rule:"max=20" each:"min=1 max=50"`
}

// SchemaItem is one thing to find out from a finished conversation.
type SchemaItem struct {
	Name        string `json:"name" rule:"required min=3 max=16 pattern=^[a-z0-9_]+$ distinct"`
	Type        string `json:"type" rule:"required oneof=string|number|bool"`
	Description string `json:"description" rule:"required min=3 max=255"`
}

// WidgetSettings say what the embedded widget may do and shows. A null text is the built-in one.
type WidgetSettings struct {
	Enabled          bool     `json:"enabled"`
	VoiceEnabled     bool     `json:"voice_enabled"`
	AllowedOrigins   []string `json:"allowed_origins" rule:"max=20" each:"max=255"`
	Position         string   `json:"position" rule:"null max=120"`
	Color            string   `json:"color" rule:"null max=120"`
	HeaderTitle      string   `json:"header_title" rule:"null max=120"`
	HeaderSubtitle   string   `json:"header_subtitle" rule:"null max=120"`
	ButtonMainText   string   `json:"button_main_text" rule:"null max=120"`
	ButtonSubText    string   `json:"button_sub_text" rule:"null max=120"`
	StartButtonText  string   `json:"start_button_text" rule:"null max=120"`
	ModalTitle       string   `json:"modal_title" rule:"null max=120"`
	ModalDescription string   `json:"modal_description" rule:"null max=120"`
}

// changed names the fields whose values differ, in their order.
func changed(a, b Settings) []string {
	out := []string{}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			out = append(out, strings.Split(x.Type().Field(i).Tag.Get("json"), ",")[0])
		}
	}
	return out
}
