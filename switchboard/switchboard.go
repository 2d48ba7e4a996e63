// Package switchboard joins lines to conversations: it decides who answers an inbound call, places outbound ones, runs the
// conversation on the line, and closes the record with everything that follows from the end of a call.
package switchboard

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parley/accounts"
	"parley/agent"
	"parley/asks"
	"parley/assistants"
	"parley/calllog"
	"parley/calls"
	"parley/campaigns"
	"parley/catalog"
	"parley/db"
	"parley/jobs"
	"parley/lines"
	"parley/mind"
	"parley/numbers"
	"parley/recordings"
	"parley/safe"
	"parley/value"
	"parley/voice"
	"parley/webhooks"
)

// Number is a phone number as far as calls are concerned with it.
type Number struct {
	ID      numbers.ID
	Owner   accounts.ID
	Phone   string     // E.164, or the extension of a trunk
	TrunkID numbers.ID // 0 = a number at the installation's carrier
}

// Numbers knows the numbers of the installation.
type Numbers interface {
	// Called finds the number that an inbound call was for; ok is false when there is none.
	Called(ctx context.Context, q db.Q, trunk numbers.ID, called string) (n Number, ok bool, err error)
	// Caller chooses the number an outbound call leaves from: the preferred one (0 = none), the account's oldest callable
	// one, the installation's default line. ok is false when there is none.
	Caller(ctx context.Context, q db.Q, owner accounts.ID, preferred numbers.ID) (n Number, ok bool, err error)
}

// Billing sets money aside for a call, and takes what it cost.
type Billing interface {
	// HoldCall reserves money for a call of at most most; paid is how long the hold lasts, 0 = without limit.
	// A fault.NeedsPayment says that not even a minute is covered.
	HoldCall(ctx context.Context, tx *db.Tx, c calls.Call, most time.Duration) (paid time.Duration, err error)
	// HoldLeg reserves money for a further leg of a call, ReleaseLeg gives it back when nobody answered.
	HoldLeg(ctx context.Context, tx *db.Tx, c calls.Call, l calls.Leg, most time.Duration) (paid time.Duration, err error)
	ReleaseLeg(ctx context.Context, tx *db.Tx, c calls.Call, l calls.Leg) error
	// ChargeCall replaces the hold by what the ended call costs.
	ChargeCall(ctx context.Context, tx *db.Tx, c calls.Call) (ai, carrier value.Money, err error)
}

// Campaigns moves the leads of ended calls on.
type Campaigns interface {
	Settle(ctx context.Context, tx *db.Tx, e campaigns.Ended) error
	// Shown gives lead and campaign of a call as receivers see them; both nil when there is none, or not any more.
	Shown(ctx context.Context, q db.Q, c calls.Call) (lead, campaign any, err error)
}

// Webhooks delivers what customers' servers are told.
type Webhooks interface {
	Add(ctx context.Context, q db.Q, e webhooks.Event) error
}

// Engines are the engines of the installation by the code of their provider.
type Engines struct {
	Transcribers map[string]voice.OpenTranscriber
	Synthesizers map[string]voice.Synthesizer
	Realtime     map[string]voice.OpenRealtime
	Models       map[string]func(model string) agent.Model
	// Warm makes ready what a transcriber will be opened with, while it rings.
	Warm map[string]func(context.Context, voice.Transcription) error
	// Most is how many conversations of this process may use a provider at once; a provider that is not named has no limit.
	Most map[string]int
	// Default is the provider that stands in where an assistant's own has no engine of a kind.
	Default string
}

// Deps are the rooms and engines that calls need.
type Deps struct {
	DB         *db.DB
	Jobs       *jobs.Runner
	Calls      *calls.Calls
	Assistants *assistants.Assistants
	Catalog    *catalog.Catalog
	Mind       mind.Mind
	Accounts   *accounts.Accounts
	Numbers    Numbers
	Billing    Billing
	Campaigns  Campaigns
	Webhooks   Webhooks
	Logs       *calllog.Logs
	Recordings *recordings.Recordings
	Asks       *asks.Asks
	Engines    func() *Engines // those there are now
	Dialer     lines.Dialer
	Node       string         // names this process among those that share the database
	Home       string         // scheme and host of links to recordings
	Currency   string         // of costs
	Phones     numbers.Policy // destinations that may be called
	// Refers reports whether callers on a trunk (0 = the installation's line) are transferred by their own side (SIP REFER)
	// instead of being bridged; nil = nobody is.
	Refers          func(ctx context.Context, trunk numbers.ID) (bool, error)
	FallbackVendors []string // may get the words of any call, besides the vendors its assistant names
	CallsPerMinute  int      // outbound, of an account; 0 = no limit
	Log             *slog.Logger
}

// Switchboard holds the calls of this process.
type Switchboard struct {
	Deps
	wg      safe.Group
	ctx     context.Context // ends when calls must end
	stop    context.CancelCauseFunc
	began   time.Time
	waiting chan assistants.ID // to be made ready

	mu       sync.Mutex
	live     map[calls.ID]*live
	byUUID   map[string]*live
	seats    map[*seat]struct{}
	draining bool
}

// live is a call that this process holds.
type live struct {
	call  calls.Call
	ctx   context.Context
	stop  context.CancelCauseFunc
	seat  *seat        // of an outbound call; set before it is dialled
	token string       // of a web call
	cfg   voice.Config // both from prepare on
	parts voice.Parts
	relay *calllog.Relay

	mu      sync.Mutex
	session *voice.Session // nil until the call is answered
	record  *calllog.Log
	tap     *recordings.Tap // nil until the call is answered
	leg     lines.Leg
	attempt []calls.Message // signalling of a call that nobody answered
	parties []*party        // further legs
	joined  *joint          // the caller talks to one of them
	closed  bool            // nobody can be joined any more

	hanging  safe.Group // ends legs
	switches int        // assistants that took over; the thinker's
}

// lease is how long a silent process keeps its calls; it renews four times as often.
const lease = 20 * time.Second

// New makes a switchboard and registers its jobs. Run keeps its leases.
func New(d Deps) *Switchboard {
	if d.Log == nil {
		d.Log = slog.Default()
	}
	s := &Switchboard{Deps: d, live: map[calls.ID]*live{}, byUUID: map[string]*live{}, seats: map[*seat]struct{}{}, began: time.Now(),
		waiting: make(chan assistants.ID, 16)}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.registerJobs()
	return s
}

// begin enters a call into the list of live ones.
func (s *Switchboard) begin(c calls.Call, leg lines.Leg) *live {
	ctx, stop := context.WithCancelCause(s.ctx)
	l := &live{call: c, ctx: ctx, stop: stop, leg: leg, relay: s.Logs.Relay(c.ID, s.spawn)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[c.ID], s.byUUID[c.UUID] = l, l
	return l
}

func (s *Switchboard) forget(l *live) {
	l.stop(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, l.call.ID)
	delete(s.byUUID, l.call.UUID)
}

func (s *Switchboard) find(id calls.ID) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

func (s *Switchboard) held() []calls.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]calls.ID, 0, len(s.live))
	for id := range s.live {
		ids = append(ids, id)
	}
	return ids
}

// Holding is the number of calls of this process.
func (s *Switchboard) Holding() int { return len(s.held()) }

// spawn runs f on a goroutine that Drain waits for; false when no new calls are taken any more.
func (s *Switchboard) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.wg.Go("call", f)
	return true
}
