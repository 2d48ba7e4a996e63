package builtin

import (
	"parley/providers/builtin/responder"
	"parley/providers/composed"
	"parley/voice"
)

// Realtime hears, answers and speaks in one: the engines of this package behind the role of a realtime engine.
func (e *Engines) Realtime() voice.OpenRealtime {
	return composed.Parts{Transcriber: e.Transcriber, Model: responder.Model{}, Synthesizer: e}.Open
}
