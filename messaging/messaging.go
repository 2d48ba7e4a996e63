package messaging

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/chats"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/numbers"
)

// Outgoing is a WhatsApp message for the platform.
type Outgoing struct {
	Sender   Sender
	To       string // E.164; empty when the platform hides it
	ToID     string // the platform's identifier of the customer; empty when it has none beside the number
	Template *Template
	Params   []string // of the template, in placeholder order
	Text     string   // the filled template, or the freeform text
	Ref      string   // ours, the same for a repeated try
}

// Refusal is the platform's no: nothing was sent.
type Refusal struct {
	Code, Message string
	Mismatch      bool // it knows the template with other parameters or in another language
}

func (r *Refusal) Error() string { return fmt.Sprintf("refused (%s): %s", r.Code, r.Message) }

// Gateway is a WhatsApp platform.
type Gateway interface {
	// Send returns the platform's identifier of the accepted message; a *Refusal when it was refused.
	Send(ctx context.Context, o Outgoing) (sid string, err error)
	// Sender reports the platform's side of a sender.
	Sender(ctx context.Context, s Sender) (SenderState, error)
	// Templates reports the platform's templates of a sender.
	Templates(ctx context.Context, s Sender) ([]TemplateState, error)
	// Submit hands a new template in and returns its identifier there.
	Submit(ctx context.Context, s Sender, t Template) (ref string, err error)
	// Sent finds what was accepted under a ref when nobody heard the answer: its identifier, empty when nothing was, and
	// ErrUntold when the platform cannot be asked.
	Sent(ctx context.Context, s Sender, ref string) (sid string, err error)
}

// Texter carries SMS.
type Texter interface {
	// SentSMS does for a text what Gateway.Sent does for a message.
	SentSMS(ctx context.Context, ref string) (sid string, err error)
	// SMS sends a text and returns its identifier; a *Refusal when it was refused.
	SMS(ctx context.Context, from, to, body, ref string) (sid string, err error)
}

// ErrUntold says that a platform does not tell what became of a message.
var ErrUntold = errors.New("messaging: the platform cannot be asked for a message")

// SenderState is what the platform says of a sender.
type SenderState struct {
	Phone       string // empty = as known here
	DisplayName string
	Status      SenderStatus
	Quality     string
	Limit       *int64
	LimitKnown  bool
}

// TemplateState is what the platform says of a template.
type TemplateState struct {
	Ref, Name, Language, Category, Body string
	Status                              TemplateStatus
	Variables                           []string
	AsksCalls                           bool
	RejectedFor                         *string
}

// Ledger books money, in units of 1e-8 of the currency. Every method works in the given transaction.
type Ledger interface {
	// Hold reserves a price; fault.NeedsPayment when it does not fit.
	Hold(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, price int64) error
	// Settle turns a hold into a charge of kind; Release gives it back. Both are harmless when repeated.
	Settle(ctx context.Context, tx *db.Tx, owner accounts.ID, ref, kind string, price int64, assistant *assistants.ID) error
	Release(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string) error
	// Refund returns a settled charge once.
	Refund(ctx context.Context, tx *db.Tx, owner accounts.ID, ref, kind string) error
}

// Receipt is one forward step of a delivery.
type Receipt struct {
	Message  Message
	Sender   Sender
	Talk     chats.Conversation
	At       time.Time
	Provider *time.Time // the platform's own time of the step
	Details  *string    // why it failed, at length
}

// Prices in units of 1e-8 of the currency.
type Prices struct {
	Marketing, Utility, Authentication, Freeform int64
	SMS                                          func(to string) int64 // per segment
}

func (p Prices) template(category string) int64 {
	switch category {
	case "marketing":
		return p.Marketing
	case "authentication":
		return p.Authentication
	}
	return p.Utility
}

// Number is an owned phone number as SMS needs it.
type Number struct {
	ID         numbers.ID
	Phone      string
	SMSCapable bool
	Active     bool // its subscription is paid
}

// Deps are the neighbours.
type Deps struct {
	DB            *db.DB
	Jobs          *jobs.Runner
	Gateways      map[string]Gateway // platforms by the carrier's name
	Joiners       map[string]Joiner  // platforms whose senders customers bring along, likewise
	Texter        Texter             // nil = no SMS is sent
	Ledger        Ledger
	Chats         *chats.Chats
	Assistants    *assistants.Assistants
	Report        func(ctx context.Context, tx *db.Tx, r Receipt) error // stores a message-status webhook
	Prices        Prices
	Currency      string
	ResponseDelay time.Duration  // between the last of several messages and their answer
	Phones        numbers.Policy // where texts may go
	CallMinLimit  int64          // messaging limit from which templates may ask for calls
	// NumberByID and NumberByPhone find an owned number; false when there is none.
	NumberByID    func(ctx context.Context, q db.Q, owner accounts.ID, id numbers.ID) (Number, bool, error)
	NumberByPhone func(ctx context.Context, q db.Q, owner accounts.ID, phone string) (Number, bool, error)
	// Open fetches a customer's file to where it can be linked and says what is spoken in a voice note; an attachment
	// comes back even with an error. Nil = files stay where they are.
	Open func(ctx context.Context, s Sender, f File) (a chats.Attachment, words string, err error)
}

// Messaging is the room.
type Messaging struct{ Deps }

// sendTimeout is how long the platform may take to accept a message (contract 11.5).
const sendTimeout = 10 * time.Second

// New opens the room and registers its periodic work.
func New(d Deps) *Messaging {
	if d.Texter == nil {
		d.Texter = Nobody{}
	}
	m := &Messaging{d}
	d.Jobs.Every("messaging.sync_senders", 5*time.Minute, m.SyncSenders)
	d.Jobs.Every("messaging.sync_templates", 4*time.Hour, m.SyncTemplates)
	d.Jobs.Register("messaging.abandoned", jobs.Options{}, m.abandoned)
	d.Jobs.Register("messaging.files", jobs.Options{Queue: "chats", Timeout: 2 * time.Minute, MaxAttempts: 20}, m.files)
	d.Jobs.Register("messaging.reply", jobs.Options{Queue: "chats", Timeout: 2 * time.Minute, MaxAttempts: 3}, m.reply)
	return m
}

// Channel answers WhatsApp conversations.
func (m *Messaging) Channel() chats.Channel { return channel{m} }

// Faults of contract 11.5.
func noSender() error {
	return fault.New(fault.NotFound, "SENDER_NOT_FOUND", "No sender with this id exists in your account.")
}

func tooLow() error {
	return fault.New(fault.NeedsPayment, "INSUFFICIENT_BALANCE", "Your balance is too low. Top it up, then try again.")
}

// carrierFault words what the platform answered.
func carrierFault(err error) error {
	if r, ok := errors.AsType[*Refusal](err); ok {
		if r.Mismatch {
			return fault.New(fault.Invalid, "TEMPLATE_MISMATCH", "%s", r.Message)
		}
		return fault.New(fault.Invalid, "PROVIDER_ERROR_"+r.Code, "%s", r.Message)
	}
	return &fault.Fault{Kind: fault.Invalid, Code: "UNKNOWN_ERROR", Message: "Failed to send message.", Cause: err}
}

// platform is the gateway of a sender.
func (m *Messaging) platform(s Sender) Gateway {
	if g := m.Gateways[s.Carrier]; g != nil {
		return g
	}
	return Nobody{}
}

// Nobody stands in for a messaging platform that is not there any more: nothing can be sent, and nothing changes.
type Nobody struct{}

var errNobodyThere = &Refusal{Code: "UNAVAILABLE", Message: "No messaging platform is configured."}

// Send refuses.
func (Nobody) Send(context.Context, Outgoing) (string, error) { return "", errNobodyThere }

// Sender leaves everything as it is known.
func (Nobody) Sender(_ context.Context, s Sender) (SenderState, error) {
	return SenderState{s.Phone, s.DisplayName, s.Status, s.Quality, s.Limit, s.LimitKnown}, nil
}

// Templates has none.
func (Nobody) Templates(context.Context, Sender) ([]TemplateState, error) { return nil, nil }

// Submit refuses.
func (Nobody) Submit(context.Context, Sender, Template) (string, error) { return "", errNobodyThere }

// Sent has nothing.
func (Nobody) Sent(context.Context, Sender, string) (string, error) { return "", nil }

// SentSMS has nothing.
func (Nobody) SentSMS(context.Context, string) (string, error) { return "", nil }

// SMS refuses.
func (Nobody) SMS(context.Context, string, string, string, string) (string, error) {
	return "", errNobodyThere
}
