package toolbox

import "parley/agent"

var collectKeypad = kind{name: "collect_keypad", blank: func() Spec { return new(CollectKeypad) }, once: true}

// CollectKeypad takes the keys that the caller presses as a turn: the voice engine carries it out, no model calls it.
type CollectKeypad struct {
	Timeout int64  `json:"timeout" rule:"null=default min=1 max=30" default:"5"` // seconds after the last key
	StopKey string `json:"stop_key" rule:"null=default oneof=#|*" default:"#"`
}

// About is nothing.
func (*CollectKeypad) About() string { return "" }

// Functions are none.
func (*CollectKeypad) Functions(Scene) []agent.Function { return nil }
