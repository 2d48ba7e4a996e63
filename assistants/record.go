package assistants

import (
	"parley/toolbox"
	"parley/value"
)

// Required are the fields a new assistant cannot do without; its mode demands a model besides.
var Required = []string{"name", "voice_id", "language_id", "type", "mode", "timezone", "initial_message", "system_prompt"}

// Item is an assistant in the outbound list.
type Item struct {
	ID              int64         `json:"id"`
	UserID          int64         `json:"user_id"`
	Name            string        `json:"name"`
	Type            string        `json:"type"`
	Mode            string        `json:"mode"`
	Status          string        `json:"status"`
	VoiceID         int64         `json:"voice_id"`
	LanguageID      int64         `json:"language_id"`
	Timezone        string        `json:"timezone"`
	InitialMessage  string        `json:"initial_message"`
	SystemPrompt    string        `json:"system_prompt"`
	Variables       value.Scalars `json:"variables"`
	WebhookURL      *string       `json:"webhook_url"`
	IsWebhookActive bool          `json:"is_webhook_active"`
	CreatedAt       value.Time    `json:"created_at"`
	UpdatedAt       value.Time    `json:"updated_at"`
	UUID            string        `json:"uuid"`
}

// Item is the assistant as the outbound list shows it.
func (a Assistant) Item() Item {
	return Item{int64(a.ID), int64(a.Owner), a.Name, a.Type, a.Mode, a.Status, a.VoiceID, a.LanguageID,
		a.Timezone, a.InitialMessage, a.SystemPrompt, a.Variables, a.WebhookURL, a.IsWebhookActive,
		value.At(a.CreatedAt), value.At(a.UpdatedAt), a.UUID}
}

// Record is an assistant as reads return it: every configurable field and what the platform adds.
type Record struct {
	ID     int64  `json:"id"`
	UUID   string `json:"uuid"`
	UserID int64  `json:"user_id"`
	Settings
	Tools             []toolbox.Shown `json:"tools"`
	Language          string          `json:"language"`
	InboundWebhookURL *string         `json:"inbound_webhook_url"`
	CreatedAt         value.Time      `json:"created_at"`
	UpdatedAt         value.Time      `json:"updated_at"`
	DeletedAt         *value.Time     `json:"deleted_at"` // always null
}

// Record is the assistant as reads return it.
func (a Assistant) Record() Record {
	r := Record{ID: int64(a.ID), UUID: a.UUID, UserID: int64(a.Owner), Settings: a.Settings, Language: a.Language(),
		CreatedAt: value.At(a.CreatedAt), UpdatedAt: value.At(a.UpdatedAt)}
	if a.InboundWebhookURL != "" {
		r.InboundWebhookURL = &a.InboundWebhookURL
	}
	r.FillerConfig = a.FillerConfig.Effective(r.Language)
	r.Tools = a.Settings.Tools.Shown()
	return r
}
