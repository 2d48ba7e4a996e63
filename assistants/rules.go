package assistants

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"parley/catalog"
	"parley/fault"
	"parley/ids"
	"parley/toolbox"
	"parley/value"
)

// Values of type and status.
const (
	Inbound  = "inbound"
	Outbound = "outbound"
	Active   = "active"
	Inactive = "inactive"
)

// Sentences of section 4.2.
const (
	sayVoice         = "This voice does not work in the chosen mode. Pick a voice whose modes include it."
	sayKnowledgeMode = "A %s assistant can use its knowledgebase in function_call mode only."
	sayInterruptions = "Interruptions can be turned off in pipeline mode only. Keep them on, or change the mode."
	sayFillers       = "Fillers are only available in pipeline mode."
	sayPipelineOnly  = "The :f field is only available in pipeline mode."
	sayRealtimeOnly  = "The :f field is only available in multimodal and dualplex modes."
	saySpeechOnly    = "The :f field is only available in pipeline and dualplex modes."
	sayCallerID      = "Caller ID numbers cannot be assigned to inbound assistants."
	sayTaken         = "This phone number is already assigned to another inbound assistant."
	sayCampaign      = "The assistant is used by a running campaign."
	saySelf          = "An assistant cannot transfer to itself."
)

// facts are what the rules need to know of the account beyond the request.
type facts struct {
	catalog         *catalog.Catalog
	self            ID // 0 on create
	selfUUID        string
	numbers         map[ids.Number]Number // those named by the request or already attached
	holders         map[ids.Number]ID     // number → inbound assistant it is attached to
	knowledgebases  map[ids.Knowledgebase]bool
	tools           map[ids.Tool]bool
	folders, labels map[GroupID]bool
	assistants      map[value.Ref]ID // references of transfers → id
	runningCampaign bool
	inboundURL      string // as stored
}

// judgement is one request being decided.
type judgement struct {
	facts
	before *Settings // nil on create
	in     Patch
	after  Settings
	bad    []fault.Field
	warned []Warning
}

// judge applies a request to the stored fields and says what is wrong with the result.
func judge(f facts, before *Settings, in Patch, unknown value.Unknown) *judgement {
	j := &judgement{facts: f, before: before, in: in}
	j.apply()
	j.required()
	j.basics()
	j.models()
	j.belongings()
	j.modeRules()
	j.others()
	j.warn(unknown)
	return j
}

func (j *judgement) mode() catalog.Mode { return catalog.Mode(j.after.Mode) }
func (j *judgement) realtime() bool {
	return j.mode() == catalog.Multimodal || j.mode() == catalog.Dualplex
}
func (j *judgement) fits(key string) bool { return fits(key, j.mode()) }
func (j *judgement) modeChanges() bool {
	return j.before != nil && j.in.Has("mode") && j.in.To.Mode != j.before.Mode
}

func (j *judgement) fail(f fault.Field)          { j.bad = append(j.bad, f) }
func (j *judgement) unknown(key string)          { j.fail(fault.Bad(key, "in")) }
func (j *judgement) say(key, sentence string)    { j.fail(fault.Own(key, sentence)) }
func (j *judgement) at(key string, i int) string { return key + "." + strconv.Itoa(i) }

// apply computes the fields that the request results in.
func (j *judgement) apply() {
	j.after = defaults()
	if j.before != nil {
		j.after = *j.before
	}
	if j.modeChanges() {
		j.after.Mode = j.in.To.Mode
		if j.in.Has("language_id") {
			j.after.LanguageID = j.in.To.LanguageID
		}
		resetMode(&j.after, catalog.Mode(j.in.To.Mode), j.catalog)
	}
	j.after = over(j.in, j.after)
	if j.in.Null("webhook_url") && !j.in.To.IsWebhookActive {
		j.after.IsWebhookActive = false
	}
	primary := slices.Index(j.after.SecondaryLanguageIDs, j.after.LanguageID)
	if primary >= 0 && (j.in.Sent("secondary_language_ids") || j.in.Sent("language_id")) {
		j.after.SecondaryLanguageIDs = slices.Delete(slices.Clone(j.after.SecondaryLanguageIDs), primary, primary+1)
		j.note("secondary_language_ids", "The primary language is always understood and was left out of the list.")
	}
}

// over is what a patch makes of settings whose mode stays.
func over(in Patch, s Settings) Settings {
	after := in.Over(s)
	after.WidgetSettings = widgetTexts(value.Below(in, "widget_settings", in.To.WidgetSettings).Over(s.WidgetSettings))
	return after
}

// Meant is the new assistant that a request asks for, but for what its mode decides.
func Meant(in Patch) Settings { return over(in, defaults()) }

// widgetTexts puts the built-in text where null was sent.
func widgetTexts(w WidgetSettings) WidgetSettings {
	d := defaultWidget()
	for _, t := range []struct{ to, def *string }{
		{&w.Position, &d.Position}, {&w.Color, &d.Color}, {&w.HeaderTitle, &d.HeaderTitle}, {&w.HeaderSubtitle, &d.HeaderSubtitle},
		{&w.ButtonMainText, &d.ButtonMainText}, {&w.ButtonSubText, &d.ButtonSubText}, {&w.StartButtonText, &d.StartButtonText},
		{&w.ModalTitle, &d.ModalTitle}, {&w.ModalDescription, &d.ModalDescription},
	} {
		*t.to = cmp.Or(*t.to, *t.def)
	}
	return w
}

// required checks what a new assistant must have.
func (j *judgement) required() {
	if j.before != nil {
		return
	}
	for _, f := range []struct {
		key string
		ok  bool
	}{
		{"name", j.in.Has("name")}, {"voice_id", j.in.Has("voice_id")}, {"language_id", j.in.Has("language_id")},
		{"type", j.in.Has("type")}, {"mode", j.in.Has("mode")}, {"timezone", j.in.Has("timezone")},
		{"initial_message", j.in.Has("initial_message")}, {"system_prompt", j.in.Has("system_prompt")},
	} {
		if !f.ok {
			j.fail(fault.Bad(f.key, "required"))
		}
	}
	switch {
	case j.mode() == catalog.Pipeline && !j.in.Has("llm_model_id"):
		j.fail(fault.Bad("llm_model_id", "required_if", "mode", "pipeline"))
	case j.realtime() && !j.in.Has("multimodal_model_id"):
		j.fail(fault.Bad("multimodal_model_id", "required_if", "mode", j.after.Mode))
	}
}

func (j *judgement) basics() {
	if j.in.Has("voice_id") || j.modeChanges() {
		v, ok := j.catalog.Voice(j.after.VoiceID)
		switch {
		case !ok:
			j.unknown("voice_id")
		case j.mode() != "" && !v.Fits(j.mode()):
			j.say("voice_id", sayVoice)
		}
	}
	if j.in.Has("language_id") {
		if _, ok := catalog.LanguageByID(j.in.To.LanguageID); !ok {
			j.unknown("language_id")
		}
	}
	for i, id := range j.in.To.SecondaryLanguageIDs {
		if _, ok := catalog.LanguageByID(id); !ok {
			j.unknown(j.at("secondary_language_ids", i))
		}
	}
	if j.before != nil && j.before.Type == Outbound && j.after.Type == Inbound && j.runningCampaign {
		j.say("type", sayCampaign)
	}
}

// models checks the three fields that name one. Their null is a value only where the mode has no use for them.
func (j *judgement) models() {
	j.model("llm_model_id", j.in.To.LLMModelID, sayPipelineOnly, catalog.LLM)
	j.model("multimodal_model_id", j.in.To.MultimodalModelID, sayRealtimeOnly, string(j.mode()))
	if j.in.Has("chat_llm_fallback_id") {
		j.model("chat_llm_fallback_id", j.in.To.ChatLLMFallbackID, sayRealtimeOnly, catalog.LLM)
	}
}

func (j *judgement) model(key string, id *int64, say, typ string) {
	belongs := j.fits(key)
	switch {
	case j.mode() == "" || !j.in.Sent(key):
	case id == nil && belongs && j.before != nil:
		j.fail(fault.Bad(key, "integer"))
	case id == nil:
	case !belongs:
		j.say(key, say)
	default:
		if m, ok := j.catalog.Model(*id); !ok || !m.Is(typ) {
			j.unknown(key)
		}
	}
}

// belongings checks the ids of the account's own things.
func (j *judgement) belongings() {
	if j.in.Has("knowledgebase_id") && !j.knowledgebases[value.Or(j.in.To.KnowledgebaseID, 0)] {
		j.unknown("knowledgebase_id")
	}
	j.phoneNumber()
	for i, id := range j.in.To.ToolIDs {
		if !j.tools[id] {
			j.unknown(j.at("tool_ids", i))
		}
	}
	for i, t := range j.in.To.Tools {
		j.tool(j.at("tools", i), t)
	}
	if j.in.Has("folder_id") && !j.folders[value.Or(j.in.To.FolderID, 0)] {
		j.unknown("folder_id")
	}
	for i, id := range j.in.To.LabelIDs {
		if !j.labels[id] {
			j.unknown(j.at("label_ids", i))
		}
	}
}

// phoneNumber is checked when it is sent, and again when the type changes.
func (j *judgement) phoneNumber() {
	typeChanges := j.before != nil && j.before.Type != j.after.Type
	if j.after.PhoneNumberID == nil || !j.in.Has("phone_number_id") && !typeChanges {
		return
	}
	id := value.Or(j.after.PhoneNumberID, 0)
	n, owned := j.numbers[id]
	holder, held := j.holders[id]
	switch {
	case !owned:
		j.unknown("phone_number_id")
	case j.after.Type != Inbound:
	case n.CallerID():
		j.say("phone_number_id", sayCallerID)
	case held && holder != j.self:
		j.say("phone_number_id", sayTaken)
	}
}

// tool checks what a tool names: a number that can be called from, another assistant of the account.
func (j *judgement) tool(key string, t toolbox.Tool) {
	spec, ok := t.Spec.(toolbox.Needs)
	if !ok {
		return
	}
	for _, n := range spec.Needs() {
		at := key + "." + n.Key
		if n.Assistant == nil {
			if x, owned := j.numbers[n.Number]; !owned || x.CallerID() {
				j.unknown(at)
			}
			continue
		}
		switch id, known := j.assistants[*n.Assistant]; {
		case known && id == j.self:
			j.say(at, saySelf)
		case !known:
			j.unknown(at)
		}
	}
}

// modeRules are section 4.3: what a mode lacks is refused unless it is null or false.
func (j *judgement) modeRules() {
	if j.mode() == "" {
		return
	}
	pipeline := j.mode() == catalog.Pipeline
	if j.in.Has("turn_detection_threshold") && !j.fits("turn_detection_threshold") {
		j.say("turn_detection_threshold", sayRealtimeOnly)
	}
	if j.in.To.KnowledgebaseMode == "prompt" && !pipeline {
		j.say("knowledgebase_mode", fmt.Sprintf(sayKnowledgeMode, j.mode()))
	}
	j.synthesizer()
	if j.in.Has("transcriber_provider_id") {
		if _, ok := j.catalog.Transcriber(value.Or(j.in.To.TranscriberProviderID, 0)); !j.fits("transcriber_provider_id") {
			j.say("transcriber_provider_id", sayPipelineOnly)
		} else if !ok {
			j.unknown("transcriber_provider_id")
		}
	}
	if j.in.Has("allow_interruptions") && !j.in.To.AllowInterruptions && !pipeline {
		j.say("allow_interruptions", sayInterruptions)
	}
	if j.in.To.Fillers && !j.fits("fillers") {
		j.say("fillers", sayFillers)
	}
}

// synthesizer must speak the voice that results from the request.
func (j *judgement) synthesizer() {
	if j.after.SynthesizerProviderID == nil || !j.in.Has("synthesizer_provider_id") && !j.in.Has("voice_id") {
		return
	}
	id := value.Or(j.after.SynthesizerProviderID, 0)
	_, exists := j.catalog.Synthesizer(id)
	voice, known := j.catalog.Voice(j.after.VoiceID)
	switch {
	case !j.fits("synthesizer_provider_id"):
		j.say("synthesizer_provider_id", saySpeechOnly)
	case !exists, known && voice.SynthesizerID != id:
		j.unknown("synthesizer_provider_id")
	}
}

func (j *judgement) others() {
	if j.after.IsWebhookActive && j.after.WebhookURL == nil && (j.in.Sent("is_webhook_active") || j.in.Sent("webhook_url")) {
		j.fail(fault.Bad("webhook_url", "required_if", "is_webhook_active", "true"))
	}
	for _, v := range j.in.To.Variables {
		if n := utf8.RuneCountInString(v.Name); n < 1 || n > 64 {
			j.fail(fault.Bad("variables."+v.Name, "between.string", "1", "64"))
		}
	}
}
