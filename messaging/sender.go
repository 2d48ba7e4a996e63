// Package messaging sends and receives WhatsApp messages and SMS: senders, templates, the 24-hour window, deliveries.
package messaging

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/ids"
)

// SenderStatus is what the messaging platform says of a sender.
type SenderStatus string

// The states of a sender; customers see every one but online as offline (contract 11.1).
const (
	SenderOnline     SenderStatus = "online"
	SenderOffline    SenderStatus = "offline"
	SenderConnecting SenderStatus = "connecting"
	SenderPending    SenderStatus = "pending"
	SenderSuspended  SenderStatus = "suspended"
	SenderFailed     SenderStatus = "failed"
)

// Shown is the state a customer sees.
func (s SenderStatus) Shown() string {
	if s == SenderOnline {
		return "online"
	}
	return "offline"
}

// Label is the state in a sentence.
func (s SenderStatus) Label() string {
	if s == "" {
		return "Offline"
	}
	return strings.ToUpper(string(s[:1])) + string(s[1:])
}

// SenderID names a sender.
type SenderID = ids.Sender

// TemplateID names a template.
type TemplateID int64

// Sender is a WhatsApp number of a business.
type Sender struct {
	ID            SenderID       `db:"id"`
	Owner         accounts.ID    `db:"account_id"`
	Phone         string         `db:"phone_number"`
	DisplayName   string         `db:"display_name"`
	Status        SenderStatus   `db:"status"`
	Quality       string         `db:"quality_rating"`  // GREEN, YELLOW or RED
	Limit         *int64         `db:"messaging_limit"` // unique recipients in 24 h; nil = unlimited, when LimitKnown
	LimitKnown    bool           `db:"limit_known"`
	AssistantID   *assistants.ID `db:"assistant_id"`
	AIEnabled     bool           `db:"ai_enabled"`
	ResponseDelay *int64         `db:"response_delay"` // seconds; nil = the installation's
	ReceiptsURL   string         `db:"receipts_url"`
	Carrier       string         `db:"carrier"`
	CarrierRef    string         `db:"carrier_ref"`
	Credentials   string         `db:"credentials"` // sealed
	SyncedAt      db.Time        `db:"synced_at"`
	CreatedAt     db.Time        `db:"created_at"`
	UpdatedAt     db.Time        `db:"updated_at"`
}

// LimitFormatted is the messaging limit for people: "1,000 / 24hr".
func (s Sender) LimitFormatted() string {
	switch {
	case !s.LimitKnown:
		return "Unknown"
	case s.Limit == nil:
		return "Unlimited"
	}
	return thousands(*s.Limit) + " / 24hr"
}

func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// TemplateStatus is what the platform says of a template.
type TemplateStatus string

// The states of a template.
const (
	TemplateApproved TemplateStatus = "approved"
	TemplatePending  TemplateStatus = "pending"
	TemplateRejected TemplateStatus = "rejected"
	TemplatePaused   TemplateStatus = "paused"
	TemplateDisabled TemplateStatus = "disabled"
	TemplateDraft    TemplateStatus = "draft"
)

// Shown is the state a customer sees.
func (s TemplateStatus) Shown() string {
	switch s {
	case TemplatePaused, TemplateDisabled:
		return string(TemplateRejected)
	case TemplateDraft:
		return string(TemplatePending)
	}
	return string(s)
}

// Template is a message the platform has to approve.
type Template struct {
	ID          TemplateID        `db:"id"`
	Owner       accounts.ID       `db:"account_id"`
	SenderID    SenderID          `db:"sender_id"`
	Name        string            `db:"name"`
	Language    string            `db:"language"`
	Category    string            `db:"category"` // marketing, utility or authentication
	Status      TemplateStatus    `db:"status"`
	Body        string            `db:"body_text"` // with {{1}}, {{2}}, …
	Variables   db.JSON[[]string] `db:"variables"` // names in placeholder order
	Examples    db.JSON[[]string] `db:"examples"`
	CarrierRef  string            `db:"carrier_ref"` // empty = not at the platform yet
	AsksCalls   bool              `db:"asks_call_permission"`
	RejectedFor *string           `db:"rejected_reason"`
	SyncedAt    db.Time           `db:"synced_at"`
	CreatedAt   db.Time           `db:"created_at"`
	UpdatedAt   db.Time           `db:"updated_at"`
}

var placeholder = regexp.MustCompile(`\{\{\s*(\d+)\s*\}\}`)

// Placeholders are the distinct numbers in the body, in rising order.
func (t Template) Placeholders() []int {
	var all []int
	for _, m := range placeholder.FindAllStringSubmatch(t.Body, -1) {
		n, err := strconv.Atoi(m[1])
		if err == nil && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// mismatch says which placeholders lack a value and which values name no placeholder.
type mismatch struct{ Missing, Unknown []string }

func (m mismatch) Error() string {
	text := "Template variables do not match."
	if len(m.Missing) > 0 {
		text += " Missing: " + strings.Join(m.Missing, ", ") + "."
	}
	if len(m.Unknown) > 0 {
		text += " Unknown: " + strings.Join(m.Unknown, ", ") + "."
	}
	return text
}

// Fill puts values into the body. Keys are placeholder numbers or variable names; a number wins over its name.
// params are the values in placeholder order, as the platform takes them.
func (t Template) Fill(values map[string]string) (text string, params []string, err error) {
	numbers := t.Placeholders()
	byNumber := map[int]string{}
	var m mismatch
	for key := range values {
		if !t.names(key, numbers) {
			m.Unknown = append(m.Unknown, key)
		}
	}
	slices.Sort(m.Unknown)
	for i, n := range numbers {
		value := values[strconv.Itoa(n)]
		if value == "" && i < len(t.Variables.V) {
			value = values[t.Variables.V[i]]
		}
		if strings.TrimSpace(value) == "" {
			m.Missing = append(m.Missing, strconv.Itoa(n))
			continue
		}
		byNumber[n] = value
		params = append(params, value)
	}
	if len(m.Missing)+len(m.Unknown) > 0 {
		return "", nil, m
	}
	return placeholder.ReplaceAllStringFunc(t.Body, func(p string) string {
		n, _ := strconv.Atoi(placeholder.FindStringSubmatch(p)[1])
		return byNumber[n]
	}), params, nil
}

// names reports whether a key of the values means one of the placeholders.
func (t Template) names(key string, numbers []int) bool {
	if n, err := strconv.Atoi(key); err == nil && slices.Contains(numbers, n) {
		return true
	}
	i := slices.Index(t.Variables.V, key)
	return i >= 0 && i < len(numbers)
}

// WindowSpan is how long freeform text may follow a customer's message, or a template (contract 14.8).
const WindowSpan = 24 * time.Hour

// Window is what may be sent to a recipient now.
type Window struct {
	Known    bool // a conversation exists
	EndsAt   time.Time
	Customer time.Time // last message of the customer; zero = never wrote
	Now      time.Time
}

// Open reports whether freeform text may be sent.
func (w Window) Open() bool { return !w.EndsAt.IsZero() && w.Now.Before(w.EndsAt) }

// Minutes are the whole minutes left.
func (w Window) Minutes() int64 { return int64(w.EndsAt.Sub(w.Now) / time.Minute) }

// Message describes the window to a person.
func (w Window) Message() string {
	switch {
	case !w.Known:
		return "You have no conversation with this recipient yet. Start one with a template message."
	case w.Open():
		m := w.Minutes()
		return fmt.Sprintf("The messaging window is open for %d h %d min more. Any text may be sent.", m/60, m%60)
	}
	return "The messaging window is over. Send a template, or wait until the customer writes."
}

// DeliveryStatus is how far an outbound message got.
type DeliveryStatus string

// The steps of a delivery (contract 14.10).
const (
	Sending     DeliveryStatus = "sending" // until the platform has answered; "lost" when it never did
	Queued      DeliveryStatus = "queued"
	Sent        DeliveryStatus = "sent"
	Delivered   DeliveryStatus = "delivered"
	Read        DeliveryStatus = "read"
	Failed      DeliveryStatus = "failed"
	Undelivered DeliveryStatus = "undelivered"
)

// onward lists the steps that may follow each; what is not listed is late and ignored.
var onward = map[DeliveryStatus][]DeliveryStatus{
	Queued:    {Sent, Delivered, Read, Failed, Undelivered},
	Sent:      {Delivered, Read, Failed, Undelivered},
	Delivered: {Read},
}

// Forward reports whether a delivery may go from one step to the other.
func Forward(from, to DeliveryStatus) bool { return slices.Contains(onward[from], to) }
