package agent

import (
	"time"

	"parley/placeholders"
)

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
func (f Facts) Values() placeholders.Values {
	return placeholders.Values{
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
