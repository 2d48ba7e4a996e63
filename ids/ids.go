// Package ids names the rows that rooms speak of without importing the room they belong to: a call knows its campaign, and
// campaigns import calls. Whose they are calls each of them its ID.
package ids

// Campaign names a campaign.
type Campaign int64

// Lead names a lead of a campaign.
type Lead int64

// Conversation names a chat.
type Conversation int64

// Knowledgebase names a knowledgebase.
type Knowledgebase int64

// Tool names a mid-call tool.
type Tool int64

// Number names a phone number. A trunk has the id of its number.
type Number int64

// Sender names a WhatsApp sender.
type Sender int64
