// Package calls keeps the records of calls: what a call was, said and cost, its events, and the list of numbers
// that are never called.
package calls

import (
	"context"
	"math"
	"strings"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/value"
)

// ID names a call.
type ID int64

// Type says where a call came from.
type Type string

// The three types.
const (
	Inbound  Type = "inbound"
	Outbound Type = "outbound"
	Web      Type = "web"
)

// AnsweredBy says who answered an outbound call.
type AnsweredBy string

// The three answers; unknown until it was found out.
const (
	Human   AnsweredBy = "human"
	Machine AnsweredBy = "machine"
	Unknown AnsweredBy = "unknown"
)

// Snapshot is the part of an assistant's settings that matters once the call is over: a call keeps the configuration it
// started with.
type Snapshot struct {
	AssistantUUID string                  `json:"assistant_uuid"`
	Mode          string                  `json:"mode"`
	Language      string                  `json:"language"`
	Timezone      string                  `json:"timezone"`
	Prompt        string                  `json:"prompt"`
	ModelID       int64                   `json:"model_id"`
	Temperature   float64                 `json:"temperature"`
	Record        bool                    `json:"record"`
	Evaluate      bool                    `json:"evaluate"`
	Schema        []assistants.SchemaItem `json:"schema"`
	Variables     value.Scalars           `json:"variables"`
	Webhook       Webhook                 `json:"webhook"`
}

// Webhook is what the assistant wants reported about its calls.
type Webhook struct {
	Active        bool   `json:"active"`
	URL           string `json:"url"`
	OnlyCompleted bool   `json:"only_completed"`
	Recording     bool   `json:"recording"`
	InboundURL    string `json:"inbound_url"`
}

// Entry is one line of the transcript.
type Entry struct {
	Text        string `json:"text"`
	Assistant   bool   `json:"assistant"`
	At          int64  `json:"at"` // microseconds on the wall clock
	Interrupted bool   `json:"interrupted"`
}

// Call is one call.
type Call struct {
	ID             ID                     `db:"id"`
	Owner          accounts.ID            `db:"account_id"`
	UUID           string                 `db:"uuid"`
	Type           Type                   `db:"type"`
	Status         Status                 `db:"status"`
	Reason         *Reason                `db:"reason"`
	EndedBy        *By                    `db:"ended_by"`
	Stop           *Reason                `db:"stop"`
	AssistantID    *assistants.ID         `db:"assistant_id"`
	AssistantName  string                 `db:"assistant_name"`
	AssistantPhone *string                `db:"assistant_phone"`
	ClientPhone    *string                `db:"client_phone"`
	NumberID       *ids.Number            `db:"number_id"`
	TrunkID        *ids.Number            `db:"trunk_id"`
	CampaignID     *ids.Campaign          `db:"campaign_id"`
	CampaignName   *string                `db:"campaign_name"`
	LeadID         *ids.Lead              `db:"lead_id"`
	DialNo         *int64                 `db:"dial_no"`
	SignalID       *string                `db:"signal_id"`
	RequestID      *string                `db:"request_id"`
	Snapshot       db.JSON[Snapshot]      `db:"snapshot"`
	InputVariables db.JSON[value.Scalars] `db:"input_variables"`
	Variables      db.JSON[value.Scalars] `db:"variables"`
	Evaluation     db.JSON[value.Scalars] `db:"evaluation"`
	Entries        db.JSON[[]Entry]       `db:"entries"`
	AnsweredBy     AnsweredBy             `db:"answered_by"`
	Spoke          bool                   `db:"spoke"`
	Seconds        int64                  `db:"duration"`
	Paid           int64                  `db:"paid"` // seconds its hold covers; 0 = no limit
	AISeconds      int64                  `db:"ai_seconds"`
	AICost         value.Money            `db:"ai_cost"`
	CarrierCost    value.Money            `db:"carrier_cost"`
	Currency       string                 `db:"currency"`
	Recording      *string                `db:"recording"`
	Settled        bool                   `db:"settled"`
	Node           *string                `db:"node"`
	LeaseReal      db.Time                `db:"lease_real"`
	CreatedReal    db.Time                `db:"created_real"`
	AnsweredReal   db.Time                `db:"answered_real"`
	EndedReal      db.Time                `db:"ended_real"`
	CreatedAt      db.Time                `db:"created_at"`
	AnsweredAt     db.Time                `db:"answered_at"`
	EndedAt        db.Time                `db:"ended_at"`
	UpdatedAt      db.Time                `db:"updated_at"`
}

const columns = `id, account_id, uuid, type, status, reason, ended_by, stop, assistant_id, assistant_name, assistant_phone,
	client_phone, number_id, trunk_id, campaign_id, campaign_name, lead_id, dial_no, signal_id, request_id, snapshot,
	input_variables, variables, evaluation, entries, answered_by, spoke, duration, paid, ai_seconds, ai_cost, carrier_cost,
	currency, recording, settled, node, lease_real, created_real, answered_real, ended_real, created_at,
	answered_at, ended_at, updated_at`

// Answered reports whether somebody picked up.
func (c Call) Answered() bool { return !c.AnsweredReal.IsZero() }

// Duration is whole seconds from answer to end, rounded; it grows while the call goes on.
func (c Call) Duration(now time.Time) int64 {
	if c.Status != InProgress {
		return c.Seconds
	}
	return seconds(now.Sub(c.AnsweredReal.Time()))
}

// Begun counts the seconds of a time that were begun, as AI time is paid (contract 16.2). Moments are stored in microseconds:
// what is shorter counts for nothing.
func Begun(d time.Duration) int64 {
	return max(0, int64((d+time.Second-time.Microsecond)/time.Second))
}

func seconds(d time.Duration) int64 { return max(0, int64(math.Round(d.Seconds()))) }

// TotalCost is everything the call cost.
func (c Call) TotalCost() value.Money { return c.AICost + c.CarrierCost }

// Durable is a moment of the wall clock on the clock of the record, which may be a manual one.
func (c Call) Durable(real time.Time) time.Time {
	return c.CreatedAt.Time().Add(real.Sub(c.CreatedReal.Time()))
}

// Transcript is the conversation in lines "Assistant: …" and "Customer: …".
func (c Call) Transcript() string { return c.transcript("Assistant: ") }

// Formatted is the transcript as older clients know it, with "AI: ".
func (c Call) Formatted() string { return c.transcript("AI: ") }

func (c Call) transcript(assistant string) string {
	lines := make([]string, len(c.Entries.V))
	for i, e := range c.Entries.V {
		who := "Customer: "
		if e.Assistant {
			who = assistant
		}
		lines[i] = who + strings.Join(strings.Fields(e.Text), " ")
	}
	return strings.Join(lines, "\n")
}

// Field is one value of the evaluation with what it means.
type Field struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Value       any    `json:"value"`
	Description string `json:"description"`
}

// EvaluationFields are the values of the evaluation in the order of the schema; none when there was no evaluation.
func (c Call) EvaluationFields() []Field {
	out := []Field{}
	if len(c.Evaluation.V) == 0 {
		return out
	}
	for _, s := range c.Snapshot.V.Schema {
		value, _ := c.Evaluation.V.Get(s.Name)
		out = append(out, Field{s.Name, s.Type, value, s.Description})
	}
	return out
}

// ErrNotFound is the answer for a missing or foreign call.
var ErrNotFound = fault.New(fault.NotFound, "", "Call not found")

// Calls is the room.
type Calls struct {
	db     *db.DB
	beside Neighbours
}

// Neighbours are what other rooms do when something of calls changes. A nil func does nothing.
type Neighbours struct {
	// Blocked acts in the transaction that puts a number on the do-not-call list.
	Blocked func(ctx context.Context, tx *db.Tx, owner accounts.ID, phone string) error
	// Changed is told of a call whose status was changed and committed.
	Changed func(Call)
}

// New opens the room.
func New(d *db.DB, n Neighbours) *Calls { return &Calls{db: d, beside: n} }

func (c *Calls) tell(tx *db.Tx, one Call) {
	if c.beside.Changed != nil {
		tx.After(func() { c.beside.Changed(one) })
	}
}
