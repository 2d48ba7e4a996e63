package openai

import (
	"slices"
	"strings"

	"parley/agent"
	"parley/voice"
)

// What is sent.
type (
	update struct {
		Type    string  `json:"type"`
		Session session `json:"session"`
	}
	session struct {
		Type         string    `json:"type"`
		Modalities   []string  `json:"output_modalities"`
		Instructions string    `json:"instructions"`
		Audio        soundWays `json:"audio"`
		Tools        []offered `json:"tools"`
		ToolChoice   string    `json:"tool_choice"`
	}
	soundWays struct {
		In  soundIn   `json:"input"`
		Out *soundOut `json:"output,omitempty"`
	}
	soundIn struct {
		Format        format         `json:"format"`
		Transcription *transcription `json:"transcription,omitempty"`
		Turns         detection      `json:"turn_detection"`
	}
	soundOut struct {
		Format format  `json:"format"`
		Voice  string  `json:"voice,omitempty"`
		Speed  float64 `json:"speed,omitempty"`
	}
	format struct {
		Type string `json:"type"`
		Rate int    `json:"rate,omitempty"`
	}
	transcription struct {
		Model    string `json:"model"`
		Language string `json:"language,omitempty"`
	}
	detection struct {
		Type       string   `json:"type"`
		Threshold  *float64 `json:"threshold,omitempty"`
		Before     int      `json:"prefix_padding_ms,omitempty"`
		Silence    int64    `json:"silence_duration_ms,omitempty"`
		Eagerness  string   `json:"eagerness,omitempty"`
		Responds   bool     `json:"create_response"`
		Interrupts bool     `json:"interrupt_response"`
	}
	offered struct {
		Type        string `json:"type"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Parameters  any    `json:"parameters,omitempty"`
	}

	moreSound struct {
		Type  string `json:"type"`
		Audio string `json:"audio"`
	}
	create struct {
		Type  string `json:"type"`
		After string `json:"previous_item_id,omitempty"`
		Item  item   `json:"item"`
	}
	item struct {
		Type      string    `json:"type"`
		ID        string    `json:"id,omitempty"`
		Role      string    `json:"role,omitempty"`
		Content   []content `json:"content,omitempty"`
		CallID    string    `json:"call_id,omitempty"`
		Name      string    `json:"name,omitempty"`
		Arguments string    `json:"arguments,omitempty"`
		Output    string    `json:"output,omitempty"`
	}
	content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	response struct {
		Type     string   `json:"type"`
		ID       string   `json:"event_id"` // errors name it
		Response proposed `json:"response"`
	}
	proposed struct {
		Metadata     map[string]string `json:"metadata"` // comes back with the answer
		Instructions string            `json:"instructions,omitempty"`
		ToolChoice   string            `json:"tool_choice,omitempty"`
	}
	cancel struct {
		Type     string `json:"type"`
		Response string `json:"response_id"`
	}
	truncate struct {
		Type    string `json:"type"`
		Item    string `json:"item_id"`
		Content int    `json:"content_index"`
		End     int64  `json:"audio_end_ms"`
	}
	forget struct {
		Type string `json:"type"`
		Item string `json:"item_id"`
	}
)

// padding is how much sound before the beginning of speech counts to it, in ms: the vendor's default.
const padding = 300

// settings is the first message.
func settings(how voice.RealtimeSetting, transcriber string) update {
	sound := format{Type: "audio/pcmu"}
	if how.Rate != lawRate {
		sound = format{"audio/pcm", pcmRate}
	}
	s := session{Type: "realtime", Modalities: []string{"audio"}, Instructions: how.Instructions, Tools: []offered{}, ToolChoice: "auto",
		Audio: soundWays{In: soundIn{Format: sound, Turns: turns(how)}}}
	for _, n := range how.Notes {
		s.Instructions += "\n- " + n
	}
	if how.Text {
		s.Modalities = []string{"text"}
	} else {
		s.Audio.Out = &soundOut{sound, how.Speech.Voice, how.Speech.Speed}
	}
	if transcriber != "" {
		s.Audio.In.Transcription = &transcription{Model: transcriber}
		if len(how.Languages) == 1 { // of several the vendor finds out which one is spoken
			s.Audio.In.Transcription.Language = how.Languages[0]
		}
	}
	for _, f := range how.Tools {
		s.Tools = append(s.Tools, offered{"function", f.Name, f.Description, f.Parameters})
	}
	return update{"session.update", s}
}

// turns is who ends the caller's turns and who interrupts: the vendor ends them, and answers; it interrupts itself only where
// the first sound does.
func turns(how voice.RealtimeSetting) detection {
	d := detection{Type: "server_vad", Threshold: how.Threshold, Before: padding, Silence: how.Silence.Milliseconds(), Responds: true,
		Interrupts: how.Interrupts}
	if how.Semantic && how.Threshold == nil {
		d = detection{Type: "semantic_vad", Eagerness: "auto", Responds: true, Interrupts: how.Interrupts}
	}
	return d
}

// respond is a wish for an answer.
func respond(a voice.Ask, instructions string) response {
	r := response{Type: "response.create", ID: a.ID, Response: proposed{Metadata: map[string]string{"ask": a.ID}}}
	switch {
	case a.Exactly != "":
		r.Response.Instructions = "Say exactly the following, word for word, and nothing before or after it:\n" + a.Exactly
		r.Response.ToolChoice = "none"
	case a.Instruction != "":
		r.Response.Instructions = instructions + "\n\n" + a.Instruction
	}
	return r
}

func entry(role, kind, text string) item {
	return item{Type: "message", Role: role, Content: []content{{kind, text}}}
}

// itemsOf is a message as the vendor keeps it.
func itemsOf(m agent.Message) (out []item) {
	switch m.Role {
	case agent.RoleTool:
		return []item{{Type: "function_call_output", CallID: m.CallID, Output: m.Text}}
	case agent.RoleAssistant:
		if m.Text != "" {
			out = append(out, entry("assistant", "output_text", m.Text))
		}
		for _, c := range m.Calls {
			out = append(out, item{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: string(c.Arguments)})
		}
		return out
	}
	return []item{entry("user", "input_text", m.Text)}
}

func isFinal(code string) bool {
	return slices.ContainsFunc(finals, func(f string) bool { return strings.Contains(code, f) })
}
