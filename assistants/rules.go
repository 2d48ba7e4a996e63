package assistants

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"parley/catalog"
	"parley/fault"
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
	self            int64 // 0 on create
	selfUUID        string
	numbers         map[int64]Number // those named by the request or already attached
	holders         map[int64]int64  // number → inbound assistant it is attached to
	knowledgebases  map[int64]bool
	tools           map[int64]bool
	folders, labels map[int64]bool
	assistants      map[value.Ref]int64 // references of transfers → id
	runningCampaign bool
	inboundURL      string // as stored
}

// judgement is one request being decided.
type judgement struct {
	facts
	before *Fields // nil on create
	in     Fields
	after  Fields
	bad    []fault.Field
	warned []Warning
}

// judge applies a request to the stored fields and says what is wrong with the result.
func judge(f facts, before *Fields, in Fields, unknown value.Unknown) *judgement {
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

func (j *judgement) mode() catalog.Mode { return catalog.Mode(j.after.Mode.V) }
func (j *judgement) realtime() bool {
	return j.mode() == catalog.Multimodal || j.mode() == catalog.Dualplex
}
func (j *judgement) modeChanges() bool {
	return j.before != nil && j.in.Mode.Has() && j.in.Mode.V != j.before.Mode.V
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
		overlay(&j.after, &Fields{Mode: j.in.Mode, LanguageID: j.in.LanguageID})
		resetMode(&j.after, catalog.Mode(j.in.Mode.V), j.catalog)
	}
	widget := j.after.WidgetSettings.V
	overlay(&j.after, &j.in)
	overlay(&widget, &j.in.WidgetSettings.V)
	j.after.WidgetSettings = value.Some(widgetTexts(widget))
	if j.in.WebhookURL.Null && !j.in.IsWebhookActive.V {
		j.after.IsWebhookActive = value.Some(false)
	}
	if list := j.after.SecondaryLanguageIDs.V; slices.Contains(list, j.after.LanguageID.V) && (j.in.SecondaryLanguageIDs.Set || j.in.LanguageID.Set) {
		i := slices.Index(list, j.after.LanguageID.V)
		j.after.SecondaryLanguageIDs = value.Some(slices.Delete(slices.Clone(list), i, i+1))
		j.note("secondary_language_ids", "The primary language is always understood and was left out of the list.")
	}
}

// widgetTexts puts the built-in text where null was sent.
func widgetTexts(w WidgetSettings) WidgetSettings {
	d := defaultWidget()
	for _, t := range []struct{ to, def *value.Opt[string] }{
		{&w.Position, &d.Position}, {&w.Color, &d.Color}, {&w.HeaderTitle, &d.HeaderTitle}, {&w.HeaderSubtitle, &d.HeaderSubtitle},
		{&w.ButtonMainText, &d.ButtonMainText}, {&w.ButtonSubText, &d.ButtonSubText}, {&w.StartButtonText, &d.StartButtonText},
		{&w.ModalTitle, &d.ModalTitle}, {&w.ModalDescription, &d.ModalDescription},
	} {
		if !t.to.Has() {
			*t.to = *t.def
		}
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
		{"name", j.in.Name.Has()}, {"voice_id", j.in.VoiceID.Has()}, {"language_id", j.in.LanguageID.Has()},
		{"type", j.in.Type.Has()}, {"mode", j.in.Mode.Has()}, {"timezone", j.in.Timezone.Has()},
		{"initial_message", j.in.InitialMessage.Has()}, {"system_prompt", j.in.SystemPrompt.Has()},
	} {
		if !f.ok {
			j.fail(fault.Bad(f.key, "required"))
		}
	}
	switch {
	case j.mode() == catalog.Pipeline && !j.in.LLMModelID.Has():
		j.fail(fault.Bad("llm_model_id", "required_if", "mode", "pipeline"))
	case j.realtime() && !j.in.MultimodalModelID.Has():
		j.fail(fault.Bad("multimodal_model_id", "required_if", "mode", j.after.Mode.V))
	}
}

func (j *judgement) basics() {
	if j.in.VoiceID.Has() || j.modeChanges() {
		v, ok := j.catalog.Voice(j.after.VoiceID.V)
		switch {
		case !ok:
			j.unknown("voice_id")
		case j.mode() != "" && !v.Fits(j.mode()):
			j.say("voice_id", sayVoice)
		}
	}
	if j.in.LanguageID.Has() {
		if _, ok := catalog.LanguageByID(j.in.LanguageID.V); !ok {
			j.unknown("language_id")
		}
	}
	for i, id := range j.in.SecondaryLanguageIDs.V {
		if _, ok := catalog.LanguageByID(id); !ok {
			j.unknown(j.at("secondary_language_ids", i))
		}
	}
	if j.before != nil && j.before.Type.V == Outbound && j.after.Type.V == Inbound && j.runningCampaign {
		j.say("type", sayCampaign)
	}
}

// models checks the three fields that name one. Their null is a value only where the mode has no use for them.
func (j *judgement) models() {
	j.model("llm_model_id", j.in.LLMModelID, j.mode() == catalog.Pipeline, sayPipelineOnly, catalog.LLM)
	j.model("multimodal_model_id", j.in.MultimodalModelID, j.realtime(), sayRealtimeOnly, string(j.mode()))
	if j.in.ChatLLMFallbackID.Has() {
		j.model("chat_llm_fallback_id", j.in.ChatLLMFallbackID, j.realtime(), sayRealtimeOnly, catalog.LLM)
	}
}

func (j *judgement) model(key string, in value.Opt[int64], belongs bool, say, typ string) {
	switch {
	case j.mode() == "" || !in.Set:
	case in.Null && belongs && j.before != nil:
		j.fail(fault.Bad(key, "integer"))
	case in.Null:
	case !belongs:
		j.say(key, say)
	default:
		if m, ok := j.catalog.Model(in.V); !ok || !m.Is(typ) {
			j.unknown(key)
		}
	}
}

// belongings checks the ids of the account's own things.
func (j *judgement) belongings() {
	if j.in.KnowledgebaseID.Has() && !j.knowledgebases[j.in.KnowledgebaseID.V] {
		j.unknown("knowledgebase_id")
	}
	j.phoneNumber()
	for i, id := range j.in.ToolIDs.V {
		if !j.tools[id] {
			j.unknown(j.at("tool_ids", i))
		}
	}
	for i, t := range j.in.Tools.V {
		j.tool(j.at("tools", i), t)
	}
	if j.in.FolderID.Has() && !j.folders[j.in.FolderID.V] {
		j.unknown("folder_id")
	}
	for i, id := range j.in.LabelIDs.V {
		if !j.labels[id] {
			j.unknown(j.at("label_ids", i))
		}
	}
}

// phoneNumber is checked when it is sent, and again when the type changes.
func (j *judgement) phoneNumber() {
	typeChanges := j.before != nil && j.before.Type.V != j.after.Type.V
	if !j.after.PhoneNumberID.Has() || !j.in.PhoneNumberID.Has() && !typeChanges {
		return
	}
	id := j.after.PhoneNumberID.V
	n, owned := j.numbers[id]
	holder, held := j.holders[id]
	switch {
	case !owned:
		j.unknown("phone_number_id")
	case j.after.Type.V != Inbound:
	case n.CallerID():
		j.say("phone_number_id", sayCallerID)
	case held && holder != j.self:
		j.say("phone_number_id", sayTaken)
	}
}

func (j *judgement) tool(key string, t Tool) {
	switch s := t.Spec.(type) {
	case *WarmCallTransfer:
		if n, ok := j.numbers[s.OutboundPhoneID]; !ok || n.CallerID() {
			j.unknown(key + ".outbound_phone_id")
		}
	case *AssistantTransfer:
		id, ok := j.assistants[s.AssistantID]
		switch {
		case ok && id == j.self:
			j.say(key+".assistant_id", saySelf)
		case !ok:
			j.unknown(key + ".assistant_id")
		}
	}
}

// modeRules are section 4.3: what a mode lacks is refused unless it is null or false.
func (j *judgement) modeRules() {
	if j.mode() == "" {
		return
	}
	pipeline := j.mode() == catalog.Pipeline
	if j.in.TurnDetectionThreshold.Has() && pipeline {
		j.say("turn_detection_threshold", sayRealtimeOnly)
	}
	if j.in.KnowledgebaseMode.V == "prompt" && !pipeline {
		j.say("knowledgebase_mode", fmt.Sprintf(sayKnowledgeMode, j.mode()))
	}
	j.synthesizer()
	if j.in.TranscriberProviderID.Has() {
		if _, ok := j.catalog.Transcriber(j.in.TranscriberProviderID.V); !pipeline {
			j.say("transcriber_provider_id", sayPipelineOnly)
		} else if !ok {
			j.unknown("transcriber_provider_id")
		}
	}
	if j.in.AllowInterruptions.Has() && !j.in.AllowInterruptions.V && !pipeline {
		j.say("allow_interruptions", sayInterruptions)
	}
	if j.in.Fillers.V && !pipeline {
		j.say("fillers", sayFillers)
	}
}

// synthesizer must speak the voice that results from the request.
func (j *judgement) synthesizer() {
	if !j.after.SynthesizerProviderID.Has() || !j.in.SynthesizerProviderID.Has() && !j.in.VoiceID.Has() {
		return
	}
	id := j.after.SynthesizerProviderID.V
	_, exists := j.catalog.Synthesizer(id)
	voice, known := j.catalog.Voice(j.after.VoiceID.V)
	switch {
	case j.mode() == catalog.Multimodal:
		j.say("synthesizer_provider_id", saySpeechOnly)
	case !exists, known && voice.SynthesizerID != id:
		j.unknown("synthesizer_provider_id")
	}
}

func (j *judgement) others() {
	if j.after.IsWebhookActive.V && !j.after.WebhookURL.Has() && (j.in.IsWebhookActive.Set || j.in.WebhookURL.Set) {
		j.fail(fault.Bad("webhook_url", "required_if", "is_webhook_active", "true"))
	}
	for _, v := range j.in.Variables.V {
		if n := utf8.RuneCountInString(v.Name); n < 1 || n > 64 {
			j.fail(fault.Bad("variables."+v.Name, "between.string", "1", "64"))
		}
	}
}
