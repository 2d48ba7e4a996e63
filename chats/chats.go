// Package chats holds written conversations: on the widget, over WhatsApp, through the API, and for trying an
// assistant out. It keeps their history, has the assistant answer in order, and ends them.
package chats

import (
	"context"
	"time"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/jobs"
	"parley/mind"
	"parley/value"
)

// ID names a conversation inside the platform; customers mostly see its uuid.
type ID = ids.Conversation

// The types of conversation.
const (
	Widget   = "widget"
	Test     = "test"
	WhatsApp = "whatsapp"
	API      = "api"
)

// The states of a conversation and why it ended.
const (
	Open       = "open"
	Ended      = "ended"
	Inactivity = "inactivity"
	Closed     = "closed"
)

// Conversation is a written exchange with one customer.
type Conversation struct {
	ID            ID
	UUID          string
	Owner         accounts.ID
	Assistant     assistants.ID // whose conversation it is; 0: WhatsApp over a sender without one
	AssistantUUID string
	AssistantName string
	Speaker       assistants.ID // who answers: the same, or the one it was handed to
	Type          string
	State         string
	EndReason     string // empty while it never ended
	AIEnabled     bool
	Variables     value.Scalars // nil when none were given
	External      string        // the caller's own name of the customer; api only
	Sender        Sender        // WhatsApp only
	Customer      Customer
	Messages      int
	Cost          value.Money
	CreatedAt     time.Time
	UpdatedAt     time.Time // last activity
	LastMessageAt time.Time
	EndedAt       time.Time

	switches int
}

// Sender is the WhatsApp number a conversation runs over.
type Sender struct {
	ID          ids.Sender
	Phone, Name string
}

// Customer is the other side; empty fields are unknown.
type Customer struct{ Phone, Name string }

// Roles of entries.
const (
	User      = "user"
	Assistant = "assistant"
	System    = "system" // marks, such as a take-over; not part of the shown history
)

// Entry is one message of a conversation.
type Entry struct {
	ID          int64
	Role        string
	Text        string
	Uses        []agent.Use // functions the assistant used for it
	Attachments []Attachment
	At          time.Time

	trace        []agent.Message // what the model said and saw for it
	ref, answers string          // of a request with a key: names the message, and in its answer the message again
}

// Attachment is a file that came with a message.
type Attachment struct {
	Type     string `json:"type"`
	URL      string `json:"url"`
	Filename string `json:"filename"`
}

// Mind is what answers are thought with. Engine is the text model that chats for an assistant; nil = there is none.
type Mind struct {
	mind.Mind
	Engine func(ctx context.Context, a assistants.Assistant) (agent.Engine, error)
}

// Beside is what other rooms do for conversations. A nil func does nothing.
type Beside struct {
	// Channels deliver the answers of conversations by their type; the others are only stored and read.
	Channels map[string]Channel
	// Report stores the webhook of an ending in the given transaction.
	Report func(ctx context.Context, tx *db.Tx, e Ending) error
	// Changed is told of a conversation that changed, after the commit.
	Changed func(Event)
}

// Money is what chats need of billing. A nil func means that nothing is charged.
type Money struct {
	// Afford fails with a NeedsPayment fault when one answer cannot be paid.
	Afford func(ctx context.Context, q db.Q, owner accounts.ID) error
	// Charge books the price of one answer and returns it in the currency; it fails as Afford does.
	Charge func(ctx context.Context, tx *db.Tx, talk Conversation, entry int64) (value.Money, error)
}

// Channel delivers what the assistant or a person says to the customer, and stores it with [Chats.Said] in the
// transaction that makes the sending true.
type Channel interface {
	Send(ctx context.Context, c Conversation, o Outgoing) error
}

// Outgoing is something to be said to the customer.
type Outgoing struct {
	Text  string
	Human bool // said by a person, not by the assistant
	Uses  []agent.Use
	Trace []agent.Message
	Then  Then // what comes with it, in the transaction that stores it
}

// Then is what the functions of an answer asked for: hand over, end.
type Then struct {
	Speaker  assistants.ID `json:",omitempty"` // who speaks from now on, after Switches
	Switches int           `json:",omitempty"`
	End      bool          `json:",omitempty"`
}

// Ending is a conversation that ended and was evaluated; it is reported to the customer's server.
type Ending struct {
	Conversation
	Reason    string
	EndedAt   time.Time
	Entries   []Entry // marks included
	Extracted value.Scalars
	URL       string
}

// Event tells live views that a conversation changed.
type Event struct {
	Owner accounts.ID `json:"-"`
	UUID  string      `json:"id"`
	Kind  string      `json:"event"` // message, typing, state
	Entry int64       `json:"entry"` // the message; of typing the newest one before
}

// Chats is the room.
type Chats struct {
	db         *db.DB
	runner     *jobs.Runner
	assistants *assistants.Assistants
	mind       Mind
	money      Money
	beside     Beside
	turns      turns
}

// New opens the room and registers its work.
func New(d *db.DB, runner *jobs.Runner, a *assistants.Assistants, mind Mind, money Money, b Beside) *Chats {
	s := &Chats{db: d, runner: runner, assistants: a, mind: mind, money: money, beside: b}
	s.turns.waiting = map[ID]chan struct{}{}
	runner.Register(kindQuiet, jobs.Options{Queue: "chats"}, s.quiet)
	runner.Register(kindReport, jobs.Options{Queue: "chats", Timeout: 2 * evaluationTime, MaxAttempts: 20}, s.reported)
	return s
}

func (s *Chats) tell(q db.Q, c Conversation, kind string, entry int64) {
	if s.beside.Changed == nil {
		return
	}
	call := func() { s.beside.Changed(Event{c.Owner, c.UUID, kind, entry}) }
	if tx, ok := q.(*db.Tx); ok {
		tx.After(call)
		return
	}
	call()
}

// The answers of this room.
var (
	ErrNotFound    = fault.New(fault.NotFound, "", "There is no conversation with this id.")
	ErrNoAssistant = fault.New(fault.NotFound, "", "Assistant not found")
	ErrEnded       = fault.New(fault.Malformed, "", "Conversation has ended")
	ErrBalance     = fault.New(fault.NeedsPayment, "INSUFFICIENT_BALANCE", "Your balance is too low. Top it up, then try again.")
)
