package assistants

import (
	"fmt"
	"slices"
	"strings"

	"parley/catalog"
	"parley/value"
)

// Warning tells a client about a field it sent that was stored and does nothing for now.
type Warning struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (j *judgement) note(field, message string) {
	j.warned = append(j.warned, Warning{field, message})
}

const (
	warnSwitched  = "This address is set by enable-inbound-webhook and was ignored here."
	warnUnknown   = "This field is not known and was ignored."
	warnStatus    = "The status can be set on update only and was ignored."
	warnLanguage  = "No configured engine supports this language."
	warnOtherMode = "Stored, but without effect in %s mode."
	warnPending   = "Stored, but this installation does not carry it out yet."
	warnModel     = "Stored, but the chosen model has no such setting."
)

// readOnly are fields of the record that the platform fills: a client may send back what it has read.
var readOnly = []string{"id", "uuid", "user_id", "language", "created_at", "updated_at", "deleted_at"}

// warn collects warnings about what was sent; what was left out is never mentioned.
func (j *judgement) warn(unknown value.Unknown) {
	in := &j.in
	if j.before == nil && in.Status.Set {
		j.note("status", warnStatus)
	}
	j.warnLanguages()
	other := fmt.Sprintf(warnOtherMode, j.mode())
	for _, f := range []struct {
		key  string
		when bool
	}{
		{"voice_stability", in.VoiceStability.Set && j.mode() == catalog.Multimodal},
		{"voice_similarity", in.VoiceSimilarity.Set && j.mode() == catalog.Multimodal},
		{"filler_config", in.FillerConfig.Set && j.realtime()},
	} {
		if f.when {
			j.note(f.key, other)
		}
	}
	if in.LLMTemperature.Set && !j.hasTemperature() {
		j.note("llm_temperature", warnModel)
	}
	j.warnPending()
	j.warnTools()
	for _, m := range unknown {
		switch {
		case slices.Contains(readOnly, m.Key):
		case m.Key != "inbound_webhook_url":
			j.note(m.Key, warnUnknown)
		case m.Value.Text() != j.inboundURL:
			j.note(m.Key, warnSwitched)
		}
	}
}

func (j *judgement) warnLanguages() {
	if (j.in.LanguageID.Has() || j.modeChanges()) && !j.catalog.Supports(j.after.LanguageID.V, j.mode()) {
		j.note("language_id", warnLanguage)
	}
	for _, id := range j.in.SecondaryLanguageIDs.V {
		if id != j.after.LanguageID.V && !j.catalog.Supports(id, j.mode()) {
			j.note("secondary_language_ids", warnLanguage)
			return
		}
	}
}

func (j *judgement) hasTemperature() bool {
	id := j.after.LLMModelID.V
	if j.realtime() {
		id = j.after.MultimodalModelID.V
	}
	m, ok := j.catalog.Model(id)
	return !ok || m.Temperature
}

// builtinVoice reports a voice that reads everything in one manner.
func (j *judgement) builtinVoice() bool {
	v, ok := j.catalog.Voice(j.after.VoiceID.V)
	return ok && strings.HasPrefix(v.Provider, "builtin")
}

// warnPending names what the voice engine does not carry out yet.
func (j *judgement) warnPending() {
	in := &j.in
	for _, f := range []struct {
		key  string
		when bool
	}{
		{"mode", in.Mode.Has() && j.realtime()},
		{"tts_emotion_enabled", in.TTSEmotionEnabled.V && j.builtinVoice()},
		{"fillers", in.Fillers.V},
		{"enable_noise_cancellation", in.EnableNoiseCancellation.V},
		{"ambient_sound", in.AmbientSound.Has() && in.AmbientSound.V != "off"},
	} {
		if f.when {
			j.note(f.key, warnPending)
		}
	}
}

func (j *judgement) warnTools() {
	for i, t := range j.in.Tools.V {
		key := j.at("tools", i)
		switch s := t.Spec.(type) {
		case *CallTransfer:
			j.note(key, warnPending)
		case *WarmCallTransfer:
			j.note(key, warnPending)
			if s.CustomCallerID.Has() && s.CallerIDMode != "custom" {
				j.note(key+".custom_caller_id", "Stored, but used only when caller_id_mode is custom.")
			}
		case *CalendarIntegration:
			if s.CustomEndpoint.Has() && s.Endpoint != "custom" {
				j.note(key+".calendar_custom_endpoint", "Stored, but used only when calendar_endpoint is custom.")
			}
		}
	}
}
