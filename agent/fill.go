package agent

import (
	"iter"
	"time"

	"parley/value"
	"parley/words"
)

// Values are the texts that stand for placeholders, by name.
type Values = words.Values

const (
	// Spoken is for texts that are heard or read by a person, URLs and header values: unknown names vanish.
	Spoken = words.Spoken
	// Written is for texts a model reads: {{x}} vanishes when unknown, {x} stays.
	Written = words.Written
)

// Fill replaces {name} and {{name}} in one pass.
func Fill(text string, v Values, place words.Place) string { return words.Fill(text, v, place) }

// Layer merges variables, strongest first, below the system values.
func Layer(system Values, layers ...value.Scalars) Values {
	all := make([]iter.Seq2[string, any], len(layers))
	for i, l := range layers {
		all[i] = l.All()
	}
	return words.Layer(system, all...)
}

// Text writes a variable's value as it is inserted.
func Text(x any) string { return words.Text(x) }

// Facts are what the system itself knows of a conversation; they are the strongest placeholders.
type Facts struct {
	CustomerPhone  string // empty on web and chat
	AssistantPhone string
	AssistantID    string // uuid
	AssistantName  string
	CallID         string
	ConversationID string
	Now            time.Time // in the assistant's time zone
}

// Values are the eight system values.
func (f Facts) Values() Values {
	return Values{
		"customer_phone":  f.CustomerPhone,
		"assistant_phone": f.AssistantPhone,
		"assistant_id":    f.AssistantID,
		"assistant_name":  f.AssistantName,
		"current_date":    f.Now.Format("2006-01-02"),
		"current_time":    f.Now.Format("15:04"),
		"call_id":         f.CallID,
		"conversation_id": f.ConversationID,
	}
}
