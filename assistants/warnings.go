package assistants

import (
	"fmt"
	"slices"

	"parley/toolbox"
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
	warnModel     = "Stored, but the chosen model has no such setting."
)

// readOnly are fields of the record that the platform fills: a client may send back what it has read.
var readOnly = []string{"id", "uuid", "user_id", "language", "created_at", "updated_at", "deleted_at"}

// warn collects warnings about what was sent; what was left out is never mentioned.
func (j *judgement) warn(unknown value.Unknown) {
	in := &j.in
	if j.before == nil && in.Sent("status") {
		j.note("status", warnStatus)
	}
	j.warnLanguages()
	other := fmt.Sprintf(warnOtherMode, j.mode())
	for _, key := range []string{"voice_stability", "voice_similarity", "filler_config"} { // the others are refused
		if in.Sent(key) && j.mode() != "" && !j.fits(key) {
			j.note(key, other)
		}
	}
	if in.Sent("llm_temperature") && !j.hasTemperature() {
		j.note("llm_temperature", warnModel)
	}
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
	if (j.in.Has("language_id") || j.modeChanges()) && !j.catalog.Supports(j.after.LanguageID, j.mode()) {
		j.note("language_id", warnLanguage)
	}
	for _, id := range j.in.To.SecondaryLanguageIDs {
		if id != j.after.LanguageID && !j.catalog.Supports(id, j.mode()) {
			j.note("secondary_language_ids", warnLanguage)
			return
		}
	}
}

func (j *judgement) hasTemperature() bool {
	id := value.Or(j.after.LLMModelID, 0)
	if j.realtime() {
		id = value.Or(j.after.MultimodalModelID, 0)
	}
	m, ok := j.catalog.Model(id)
	return !ok || m.Temperature
}

func (j *judgement) warnTools() {
	for i, t := range j.in.To.Tools {
		key := j.at("tools", i)
		if spec, ok := t.Spec.(toolbox.Unused); ok {
			for field, sentence := range spec.Unused() {
				j.note(key+"."+field, sentence)
			}
		}
	}
}
