package switchboard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/assistants"
	"parley/audio/sounds"
	"parley/calls"
	"parley/catalog"
	"parley/placeholders"
	"parley/toolbox"
	"parley/value"
	"parley/voice"
)

// cast names the engines of an assistant's conversations.
type cast struct {
	transcriber, transcriber2 string // providers; those with a 2 are fallbacks, empty = none
	synthesizer, synthesizer2 string
	voice, voice2             string // voice codes
	provider, provider2       string // of the model
	model, model2             string
	realtime, realtimeModel   string // provider and model of an engine that does all of it; empty = a pipeline
	own                       string // the voice of that engine; empty = it writes
}

// cast chooses the engines of an assistant: its own, else the language's default; the fallbacks are whatever else the
// installation has for the language and may be given the words. A realtime assistant has the same parts to stand in.
func (s *Switchboard) cast(a assistants.Assistant) cast {
	lang := a.LanguageID
	c := cast{transcriber: s.Engines().Default, synthesizer: s.Engines().Default, provider: s.Engines().Default}
	if t, ok := s.Catalog.TranscriberFor(lang, value.Or(a.TranscriberProviderID, 0)); ok && s.Engines().Transcribers[t.Code] != nil {
		c.transcriber = t.Code
	}
	if v, ok := s.Catalog.Voice(a.VoiceID); ok {
		if s.Engines().Synthesizers[v.Provider] != nil {
			c.synthesizer, c.voice = v.Provider, v.Code
		} else if v, ok := s.voiceOf(s.Engines().Default, lang); ok {
			c.voice = v.Code
		}
	}
	if p, ok := s.Catalog.Synthesizer(value.Or(a.SynthesizerProviderID, 0)); ok && s.Engines().Synthesizers[p.Code] != nil &&
		p.Code != c.synthesizer {
		c.synthesizer = p.Code
	}
	id := value.Or(a.LLMModelID, 0)
	if a.ModeOf() != catalog.Pipeline {
		id = value.Or(a.ChatLLMFallbackID, 0)
		s.castRealtime(&c, a)
	}
	c.provider, c.model = s.modelNames(id)
	s.understudies(&c, lang, a.VoiceID)
	return c
}

// understudies chooses the fallbacks. Words go to no vendor that the assistant does not name, unless the operator allows it; the
// built-in engines are no vendor.
func (s *Switchboard) understudies(c *cast, lang, voiceID int64) {
	named := []string{s.Engines().Default, c.transcriber, c.synthesizer, c.provider, c.realtime}
	allowed := func(code string) bool {
		return slices.Contains(named, code) || slices.Contains(s.FallbackVendors, code)
	}
	for _, t := range s.Catalog.Transcribers(catalog.Filter{LanguageID: lang}) {
		if t.Code != c.transcriber && s.Engines().Transcribers[t.Code] != nil && allowed(t.Code) {
			c.transcriber2 = t.Code
			break
		}
	}
	if v, ok := s.likest(voiceID, lang, func(v catalog.Voice) bool {
		return v.Provider != c.synthesizer && s.Engines().Synthesizers[v.Provider] != nil && allowed(v.Provider)
	}); ok {
		c.synthesizer2, c.voice2 = v.Provider, v.Code
	}
	for _, m := range s.Catalog.Models(catalog.LLM) {
		// The engine without a language model answers too differently to stand in for one in the middle of a talk.
		if m.Provider != c.provider && m.Provider != s.Engines().Default && s.Engines().Models[m.Provider] != nil && allowed(m.Provider) {
			c.provider2, c.model2 = m.Provider, m.Code
			break
		}
	}
}

// modelNames are provider and name of a model; where it has no engine for text, those of the default.
func (s *Switchboard) modelNames(id int64) (provider, name string) {
	for _, id := range []int64{id, s.Catalog.DefaultModel(catalog.LLM)} {
		if m, ok := s.Catalog.Model(id); ok && s.Engines().Models[m.Provider] != nil && m.Is(catalog.LLM) {
			return m.Provider, m.Code
		}
	}
	return s.Engines().Default, ""
}

func (s *Switchboard) modelOf(id int64) agent.Engine {
	provider, name := s.modelNames(id)
	return s.engine(provider, name)
}

func (s *Switchboard) engine(provider, name string) agent.Engine {
	make, ok := s.Engines().Models[provider]
	if !ok {
		return agent.Engine{}
	}
	return agent.Engine{Model: make(name), Provider: provider, Name: name}
}

// likest is the voice of a language that comes closest to one: of its sex and accent, of its sex, or any, in the catalog's
// order.
func (s *Switchboard) likest(voiceID, lang int64, may func(catalog.Voice) bool) (best catalog.Voice, ok bool) {
	own, _ := s.Catalog.Voice(voiceID)
	most := -1
	for _, v := range s.Catalog.Voices(catalog.Filter{LanguageID: lang}) {
		if !may(v) || v.SynthesizerID == 0 {
			continue
		}
		like := 0
		if own.Gender != "" && v.Gender == own.Gender {
			like = 2
		}
		if v.Accent == own.Accent {
			like++
		}
		if like > most {
			best, most = v, like
		}
	}
	return best, most >= 0
}

// voiceOf is a provider's first voice of a language.
func (s *Switchboard) voiceOf(provider string, lang int64) (catalog.Voice, bool) {
	for _, v := range s.Catalog.Voices(catalog.Filter{LanguageID: lang}) {
		if v.Provider == provider {
			return v, true
		}
	}
	return catalog.Voice{}, false
}

// providers are what a conversation of the assistant keeps busy.
func (s *Switchboard) providers(a assistants.Assistant) []string {
	c := s.cast(a)
	out := []string{c.transcriber, c.synthesizer, c.provider}
	switch {
	case c.own != "":
		out = []string{c.realtime}
	case c.realtime != "":
		out = []string{c.realtime, c.synthesizer}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// conversation is everything a session needs.
func (s *Switchboard) conversation(a assistants.Assistant, l *live, c cast) (voice.Config, voice.Parts, error) {
	if e := s.Engines(); e.Transcribers[c.transcriber] == nil || e.Synthesizers[c.synthesizer] == nil || e.Models[c.provider] == nil {
		return voice.Config{}, voice.Parts{}, fmt.Errorf("no engines for %s, %s, %s", c.transcriber, c.synthesizer, c.provider)
	}
	values := s.values(a, l.call)
	cfg := configOf(a, values)
	cfg.Speech.Voice = c.voice
	cfg.Hints = hints(a)
	if l.call.Type == calls.Outbound {
		cfg.Answering = answering(a, values)
	}
	m, err := s.thinker(a, l, values, s.engine(c.provider, c.model))
	if err != nil {
		return cfg, voice.Parts{}, err
	}
	p := voice.Parts{
		Transcriber: voice.NamedTranscriber{Open: s.Engines().Transcribers[c.transcriber], Provider: c.transcriber},
		Thinker:     m,
		Synthesizer: voice.NamedSynthesizer{Synthesizer: s.Engines().Synthesizers[c.synthesizer], Provider: c.synthesizer},
		Log:         s.Log.With("call", l.call.ID),
	}
	if c.transcriber2 != "" {
		p.TranscriberFallback = voice.NamedTranscriber{Open: s.Engines().Transcribers[c.transcriber2], Provider: c.transcriber2}
	}
	if c.synthesizer2 != "" {
		p.SynthesizerFallback = voice.NamedSynthesizer{Synthesizer: s.Engines().Synthesizers[c.synthesizer2], Provider: c.synthesizer2,
			Voice: c.voice2}
	}
	m.cfg, m.parts = cfg, p
	if c.provider2 != "" {
		second := *m
		second.engine = s.engine(c.provider2, c.model2)
		p.ThinkerFallback = &second
	}
	if c.realtime != "" {
		s.talks(a, c, m, &cfg, &p)
	}
	return cfg, p, nil
}

// values are the placeholders of a call, strongest first: system values, the call's, the assistant's.
func (s *Switchboard) values(a assistants.Assistant, call calls.Call) placeholders.Values {
	f := agent.Facts{CallID: fmt.Sprint(call.ID)}
	if call.ClientPhone != nil {
		f.CustomerPhone = *call.ClientPhone
	}
	if call.AssistantPhone != nil {
		f.AssistantPhone = *call.AssistantPhone
	}
	return s.Mind.Values(a, f, call.InputVariables.V)
}

// configOf turns an assistant's settings into those of a conversation.
func configOf(a assistants.Assistant, v placeholders.Values) voice.Config {
	secs := func(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
	c := voice.Config{
		Greeting:          placeholders.Fill(a.InitialMessage, v, placeholders.Spoken),
		WaitForCaller:     a.WaitForCustomer,
		Language:          a.Language(),
		Others:            languagesOf(a.SecondaryLanguageIDs),
		Denoise:           a.EnableNoiseCancellation,
		Semantic:          a.EndpointType == "ai",
		EndSilence:        secs(a.EndpointSensitivity),
		Interruptible:     a.AllowInterruptions,
		InterruptAfter:    secs(a.InterruptSensitivity),
		InterruptWords:    int(value.Or(a.MinInterruptWords, 0)),
		MaxDuration:       seconds(a.MaxDuration),
		MaxSilence:        seconds(a.MaxSilenceDuration),
		MaxInitialSilence: seconds(value.Or(a.MaxInitialSilenceDuration, 0)),
		ReengageEvery:     seconds(a.ReengagementInterval),
		ReengagePrompt:    placeholders.Fill(value.Or(a.ReengagementPrompt, ""), v, placeholders.Written),
		Speech: voice.Speech{Speed: a.SpeechSpeed, Stability: a.VoiceStability, Similarity: a.VoiceSimilarity,
			Emotion: a.TTSEmotionEnabled},
	}
	if a.AmbientSound != "off" {
		c.Ambience, c.AmbienceVolume = a.AmbientSound, a.AmbientSoundVolume
	}
	if a.Fillers && a.ModeOf() == catalog.Pipeline {
		c.Fillers = map[string]voice.Fillers{}
		for _, language := range append([]string{c.Language}, c.Others...) {
			f := a.FillerConfig.In(language, c.Language)
			c.Fillers[language] = voice.Fillers{Positive: f.Positive, Negative: f.Negative, Question: f.Question, Neutral: f.Neutral}
		}
	}
	for _, t := range a.Tools {
		if k, ok := t.Spec.(*toolbox.CollectKeypad); ok {
			c.Keypad = &voice.Keypad{Timeout: seconds(k.Timeout), Stop: k.StopKey[0]}
		}
	}
	return c
}

// answering is what becomes of a call that no person picks up.
func answering(a assistants.Assistant, v placeholders.Values) *voice.Answering {
	opening := placeholders.Fill(a.InitialMessage, v, placeholders.Spoken)
	if opening == "" {
		opening = "This is " + a.Name + "."
	}
	return &voice.Answering{HangUp: a.EndCallOnVoicemail, Message: placeholders.Fill(value.Or(a.VoiceMailMessage, ""), v, placeholders.Spoken),
		Opening: opening}
}

func languagesOf(ids []int64) (out []string) {
	for _, id := range ids {
		if l, ok := catalog.LanguageByID(id); ok {
			out = append(out, l.ISO2)
		}
	}
	return out
}

// snapshot is what of the settings matters once the call is over.
func snapshot(a assistants.Assistant) calls.Snapshot {
	if a.ID == 0 {
		return calls.Snapshot{}
	}
	model := value.Or(a.LLMModelID, 0)
	if a.ModeOf() != catalog.Pipeline {
		model = value.Or(a.ChatLLMFallbackID, 0)
	}
	return calls.Snapshot{
		AssistantUUID: a.UUID, Mode: a.Mode, Language: a.Language(), Timezone: a.Timezone, Prompt: a.SystemPrompt,
		ModelID: model, Temperature: a.LLMTemperature, Record: a.Settings.Record, Evaluate: a.PostCallEvaluation,
		Schema: a.PostCallSchema, Variables: a.Variables,
		Webhook: calls.Webhook{Active: a.IsWebhookActive, URL: value.Or(a.WebhookURL, ""), OnlyCompleted: a.SendWebhookOnlyOnCompleted,
			Recording: a.IncludeRecordingInWebhook, InboundURL: a.InboundWebhookURL},
	}
}

// promptOf is the system message of a finished call, for its evaluation.
func (s *Switchboard) promptOf(c calls.Call) agent.Prompt {
	snap := c.Snapshot.V
	loc, err := time.LoadLocation(snap.Timezone)
	if err != nil {
		loc = time.UTC
	}
	f := agent.Facts{AssistantID: snap.AssistantUUID, AssistantName: c.AssistantName, CallID: fmt.Sprint(c.ID), Now: s.DB.Now().In(loc)}
	if c.ClientPhone != nil {
		f.CustomerPhone = *c.ClientPhone
	}
	if c.AssistantPhone != nil {
		f.AssistantPhone = *c.AssistantPhone
	}
	return agent.Prompt{Text: snap.Prompt, Values: placeholders.Layer(f.Values(), c.InputVariables.V, snap.Variables), Language: snap.Language,
		Now: f.Now, Spoken: true}
}

// prepare readies a call's conversation while it rings: its settings stand from now on, the greeting is synthesised and
// the transcriber made ready.
func (s *Switchboard) prepare(l *live, a assistants.Assistant) error {
	c := s.cast(a)
	cfg, parts, err := s.conversation(a, l, c)
	if err != nil {
		return err
	}
	if parts.Realtime != nil {
		parts.Realtime.Open = s.openEarly(l.ctx, parts.Realtime.Open, parts.Realtime.Opening(cfg, rateOf(l.call.Type)))
	}
	if cfg.Greeting != "" && c.own == "" {
		sp := cfg.Speech
		sp.Text, sp.Language = strings.TrimSpace(cfg.Greeting), cfg.Language
		parts.Greeting = voice.OpenWhole(l.ctx, parts.Synthesizer, sp)
	}
	rate := rateOf(l.call.Type)
	s.spawn(func() { s.warm(l.ctx, c, cfg, rate) })
	s.spawn(func() { sounds.Loop(cfg.Ambience, rate) })
	l.cfg, l.parts = cfg, parts
	return nil
}

// rateOf is the rate in Hz a call is prepared for before its line is known.
func rateOf(t calls.Type) int {
	if t == calls.Web {
		return 16000
	}
	return 8000
}

// warm has the transcriber made ready.
func (s *Switchboard) warm(ctx context.Context, c cast, cfg voice.Config, rate int) {
	warm := s.Engines().Warm[c.transcriber]
	if warm == nil || c.realtime != "" && c.realtime != c.transcriber {
		return
	}
	if err := warm(ctx, cfg.Transcription(rate)); err != nil && ctx.Err() == nil {
		s.Log.Debug("transcriber not made ready", "error", err)
	}
}
