// Package campaigns dials lists of people: leads, dialling hours, retries, limits.
package campaigns

import (
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/calls"
	"parley/db"
	"parley/ids"
	"parley/value"
)

// ID names a campaign.
type ID = ids.Campaign

// Status of a campaign (contract 14.3).
type Status string

// The states of a campaign.
const (
	Draft      Status = "draft"
	InProgress Status = "in-progress"
	Stopped    Status = "stopped"
	Completed  Status = "completed"
)

// StopReason says why a campaign stopped.
type StopReason string

// The reasons of contract 14.3.
const (
	StopUser              StopReason = "user"
	StopNoBalance         StopReason = "insufficient_balance"
	StopFailureRate       StopReason = "failure_rate"
	StopAssistantDeleted  StopReason = "assistant_deleted"
	StopAssistantInactive StopReason = "assistant_inactive"
	StopNoNumber          StopReason = "no_number"
)

// Settings are what a customer chooses.
type Settings struct {
	Name             string        `json:"name"`
	AssistantID      assistants.ID `json:"assistant_id"`
	Timezone         string        `json:"timezone"`        // IANA; the zone of hours and days
	MaxParallel      int           `json:"max_parallel"`    // 1-10 calls at once
	Start            string        `json:"start"`           // HH:MM
	End              string        `json:"end"`             // HH:MM, included; before Start = over midnight
	Days             []string      `json:"days"`            // monday … sunday
	MaxRetries       int           `json:"max_retries"`     // 1-5
	RetryInterval    int           `json:"retry_interval"`  // minutes, 10-4320
	RetryVoicemail   bool          `json:"retry_voicemail"` // a machine counts as not reached
	RetryGoal        bool          `json:"retry_goal"`      // a talk without its goal is retried
	GoalVariable     *string       `json:"goal_variable"`   // nil = the schema's status, when it is a bool
	CompleteWhenDone bool          `json:"complete_when_done"`
	NumberIDs        []ids.Number  `json:"number_ids"` // caller numbers, in turn; empty = the assistant's
}

// Campaign is one stored campaign.
type Campaign struct {
	ID         ID                `db:"id"`
	Owner      accounts.ID       `db:"account_id"`
	Name       string            `db:"name"`
	Assistant  *assistants.ID    `db:"assistant_id"` // nil once deleted
	Status     Status            `db:"status"`
	StopReason *StopReason       `db:"stop_reason"`
	Settings   db.JSON[Settings] `db:"settings"`
	NextNumber int64             `db:"next_number"` // counts calls, for the rotation of numbers
	Recent     db.JSON[[]Finish] `db:"recent"`      // the last attempts, for the failure breaker
	CreatedAt  db.Time           `db:"created_at"`
	UpdatedAt  db.Time           `db:"updated_at"`
}

// Finish is one finished attempt as the failure breaker sees it.
type Finish struct {
	At     db.Time `json:"at"`
	Failed bool    `json:"failed"` // by the carrier, not by the callee
}

// Counts of a campaign's leads, secondary contacts left out.
type Counts struct {
	Total     int `db:"total" json:"total"`
	Open      int `db:"open" json:"open"`
	Completed int `db:"completed" json:"completed"`
	Failed    int `db:"failed" json:"failed"`
}

// LeadID names a lead or a secondary contact.
type LeadID = ids.Lead

// LeadStatus is the state of a lead (contract 14.4).
type LeadStatus string

// The states of a lead.
const (
	Created     LeadStatus = "created"
	Scheduled   LeadStatus = "scheduled"
	Rescheduled LeadStatus = "rescheduled"
	Processing  LeadStatus = "processing"
	Done        LeadStatus = "completed"
	Exhausted   LeadStatus = "reached-max-retries"
	Blacklisted LeadStatus = "blacklisted"
)

// LeadStatuses lists them all.
var LeadStatuses = []LeadStatus{Created, Scheduled, Rescheduled, Processing, Done, Exhausted, Blacklisted}

// over reports a contact that is never dialled again.
func (s LeadStatus) over() bool { return s == Done || s == Exhausted || s == Blacklisted }

// Lead is a person to call, or a secondary contact of one.
type Lead struct {
	ID         LeadID                 `db:"id"`
	Owner      accounts.ID            `db:"account_id"`
	CampaignID ID                     `db:"campaign_id"`
	ParentID   *LeadID                `db:"parent_id"` // nil for a lead
	Phone      string                 `db:"phone_number"`
	Variables  db.JSON[value.Scalars] `db:"variables"`
	Status     LeadStatus             `db:"status"`
	Attempts   int                    `db:"attempts"` // rounds used up
	Round      int                    `db:"round"`    // contacts: the round they were last tried in
	DialNo     int64                  `db:"dial_no"`  // only grows: one call per lead and number
	DueAt      db.Time                `db:"due_at"`
	LastCallID *calls.ID              `db:"last_call_id"`
	CreatedAt  db.Time                `db:"created_at"`
	UpdatedAt  db.Time                `db:"updated_at"`

	CampaignName string `db:"campaign_name"`
	Contacts     []Lead `db:"-"`
}

// Window is the part of a week in which calls may start.
type Window struct {
	Zone       *time.Location
	Start, End int     // minutes of the day; End included
	Days       [7]bool // by time.Weekday
}
