package webhooks

import (
	"parley/assistants"
	"parley/value"
	"time"
)

// Call is the body of call.completed and inbound_call.completed.
type Call struct {
	ID                  int64              `json:"id"`
	CustomerPhone       *string            `json:"customer_phone"`
	AssistantPhone      *string            `json:"assistant_phone"`
	Duration            int64              `json:"duration"`
	Status              string             `json:"status"`
	ExtractedVariables  value.Scalars      `json:"extracted_variables"`
	InputVariables      value.Scalars      `json:"input_variables"`
	Transcript          string             `json:"transcript"`
	RecordingURL        *value.Opt[string] `json:"recording_url,omitempty"` // nil = left out; null = there is none
	CreatedAt           value.Time         `json:"created_at"`
	FinishedAt          value.Time         `json:"finished_at"`
	Lead                any                `json:"lead"`
	Campaign            any                `json:"campaign"`
	Event               string             `json:"event"`
	Type                string             `json:"type"`
	AssistantID         int64              `json:"assistant_id"`
	AssistantUUID       string             `json:"assistant_uuid"`
	UUID                string             `json:"uuid"`
	AnsweredBy          string             `json:"answered_by"`
	EndedReason         string             `json:"ended_reason"`
	FormattedTranscript string             `json:"formatted_transcript"`
	TranscriptEntries   []TranscriptEntry  `json:"transcript_entries"`
	Variables           value.Scalars      `json:"variables"`
	TotalCost           value.Money        `json:"total_cost"`
	Test                bool               `json:"test,omitempty"`
}

// TranscriptEntry is one line of a call's transcript.
type TranscriptEntry struct {
	Text        string  `json:"text"`
	Type        string  `json:"type"`      // transcript
	Sender      string  `json:"sender"`    // bot, human
	Timestamp   float64 `json:"timestamp"` // unix seconds with fraction
	Interrupted bool    `json:"interrupted"`
}

// Conversation is the body of conversation.ended.
type Conversation struct {
	ID                  int64         `json:"id"`
	ConversationID      string        `json:"conversation_id"`
	AssistantID         string        `json:"assistant_id"`
	Type                string        `json:"type"`
	MessageCount        int           `json:"message_count"`
	Status              string        `json:"status"`
	ExtractedVariables  value.Scalars `json:"extracted_variables"`
	InputVariables      value.Scalars `json:"input_variables"`
	Transcript          []Line        `json:"transcript"`
	FormattedTranscript string        `json:"formatted_transcript"`
	Attachments         []Attachment  `json:"attachments"`
	CustomerPhone       *string       `json:"customer_phone"`
	CustomerName        *string       `json:"customer_name"`
	Sender              *Sender       `json:"sender"`
	CreatedAt           value.Time    `json:"created_at"`
	EndedAt             value.Time    `json:"ended_at"`
	Event               string        `json:"event"`
	EndReason           string        `json:"end_reason"`
	Test                bool          `json:"test,omitempty"`
}

// Line is one entry of a conversation's transcript.
type Line struct {
	Role    string     `json:"role"` // user, assistant, system
	Content string     `json:"content"`
	At      value.Time `json:"timestamp"`
	Unix    int64      `json:"timestamp_unix"`
}

// Attachment is a file that came with a message.
type Attachment struct {
	Type     string `json:"type"`
	URL      string `json:"url"`
	Filename string `json:"filename"`
}

// Sender is the WhatsApp number of a conversation.
type Sender struct {
	PhoneNumber string `json:"phone_number"`
	DisplayName string `json:"display_name"`
}

// Status is the body of message_status.
type Status struct {
	Event             string       `json:"event"`
	WhatsAppMessageID int64        `json:"whatsapp_message_id"`
	MessageSID        *string      `json:"message_sid"`
	ProviderMessageID *string      `json:"provider_message_id"`
	ConversationID    string       `json:"conversation_id"`
	AssistantID       *string      `json:"assistant_id"`
	Sender            StatusSender `json:"sender"`
	To                string       `json:"to"`
	From              string       `json:"from"`
	Direction         string       `json:"direction"`
	Status            string       `json:"status"`
	ErrorCode         *string      `json:"error_code"`
	ErrorMessage      *string      `json:"error_message"`
	ErrorDescription  *string      `json:"error_description"`
	At                value.Time   `json:"timestamp"`
	ProviderAt        value.Time   `json:"provider_timestamp"`
}

// StatusSender is the sender in a message_status body.
type StatusSender struct {
	ID          int64  `json:"id"`
	PhoneNumber string `json:"phone_number"`
	DisplayName string `json:"display_name"`
}

var sample = value.Scalars{{Name: "status", Value: true}, {Name: "summary", Value: "This is a test."}}

// SampleCall is a made-up call body for trying a receiver.
func SampleCall(event string, assistant assistants.ID, uuid string, now time.Time) Call {
	customer, number, none := "+491701234567", "+4930123456", value.Opt[string]{Set: true, Null: true}
	return Call{CustomerPhone: &customer, AssistantPhone: &number, Duration: 34, Status: "completed",
		ExtractedVariables: sample,
		Transcript:         "Assistant: Hello, how can I help?\nCustomer: This is a test.", RecordingURL: &none,
		CreatedAt: value.At(now.Add(-time.Minute)), FinishedAt: value.At(now), Event: event, Type: "inbound", AssistantID: int64(assistant),
		AssistantUUID: uuid,
		UUID:          "00000000-0000-4000-8000-000000000000", AnsweredBy: "human", EndedReason: "customer_hangup",
		FormattedTranscript: "AI: Hello, how can I help?\nCustomer: This is a test.", TranscriptEntries: []TranscriptEntry{}, Test: true}
}

// SampleConversation is a made-up conversation body for trying a receiver.
func SampleConversation(assistant string, now time.Time) Conversation {
	at := now.Add(-time.Minute)
	return Conversation{ConversationID: "00000000-0000-4000-8000-000000000000", AssistantID: assistant, Type: "widget", MessageCount: 2,
		Status:              "ended",
		ExtractedVariables:  sample,
		Transcript:          []Line{{"user", "This is a test.", value.At(at), at.Unix()}, {"assistant", "Hello!", value.At(at), at.Unix()}},
		FormattedTranscript: "Customer: This is a test.\nAI: Hello!", CreatedAt: value.At(at), EndedAt: value.At(now),
		Event: ConversationEnded, EndReason: "closed", Test: true}
}
