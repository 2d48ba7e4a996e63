package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/billing"
	"parley/catalog"
	"parley/chats"
	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/messaging"
	"parley/mind"
	"parley/value"
	"parley/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// platform accepts everything and remembers it; step is called before it answers.
type platform struct {
	messaging.Nobody
	mu   sync.Mutex
	sent []messaging.Outgoing
	step func(o messaging.Outgoing) error
}

func (p *platform) Send(_ context.Context, o messaging.Outgoing) (string, error) {
	p.mu.Lock()
	p.sent = append(p.sent, o)
	sid := fmt.Sprintf("SM%d", len(p.sent))
	step := p.step
	p.mu.Unlock()
	if step != nil {
		if err := step(o); err != nil {
			return "", err
		}
	}
	return sid, nil
}

// Sent finds a message by its ref.
func (p *platform) Sent(context.Context, messaging.Sender, string) (string, error) { return "", nil }

func (p *platform) SMS(_ context.Context, from, to, _, ref string) (string, error) {
	return p.Send(context.Background(), messaging.Outgoing{To: to, Ref: ref})
}

func (p *platform) all() []messaging.Outgoing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]messaging.Outgoing{}, p.sent...)
}

// ledger books with the real billing.
type ledger struct{ *billing.Billing }

func (l ledger) Hold(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, price int64) error {
	return l.Billing.Hold(ctx, tx, owner, ref, value.Money(price))
}

func (l ledger) Settle(ctx context.Context, tx *db.Tx, owner accounts.ID, ref, kind string, price int64, assistant *assistants.ID) error {
	_, err := l.Billing.Settle(ctx, tx, owner, ref, billing.Item{Kind: kind, Money: value.Money(price), Assistant: assistant})
	return err
}

func (l ledger) Release(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string) error {
	return l.Billing.Release(ctx, tx, owner, ref)
}

func (l ledger) Refund(ctx context.Context, tx *db.Tx, owner accounts.ID, ref, kind string) error {
	return l.Billing.Refund(ctx, tx, owner, kind, ref)
}

// echo is a model that says what it heard, and ends the conversation after a Bye.
type echo struct{}

func (echo) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		heard := r.Messages[len(r.Messages)-1].Text
		if yield(agent.Chunk{Text: "You said: " + heard}, nil) && heard == "Bye" {
			yield(agent.Chunk{Call: &agent.ToolCall{ID: "1", Name: "end_call"}}, nil)
		}
	}
}

type glass struct{}

func (glass) Seal(b []byte) (string, error) { return string(b), nil }
func (glass) Open(s string) ([]byte, error) { return []byte(s), nil }

// lab is messaging over a platform of its own, for the account 1 with 100 minutes at 0.10.
type lab struct {
	t        *testing.T
	d        *db.DB
	room     *messaging.Messaging
	chats    *chats.Chats
	billing  *billing.Billing
	runner   *jobs.Runner
	platform *platform
	sender   messaging.Sender
	template messaging.Template
	receipts chan messaging.DeliveryStatus
	opens    func(messaging.File) error // sees every file that is fetched; nil = all can be
}

func each(t *testing.T, fn func(t *testing.T, l *lab)) {
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		t.Run(name, func(t *testing.T) { fn(t, newLab(t, open(t, db.Manual()))) })
	}
}

func newLab(t *testing.T, d *db.DB) *lab {
	t.Helper()
	ctx := t.Context()
	l := &lab{t: t, d: d, runner: jobs.NewRunner(d), platform: &platform{}, receipts: make(chan messaging.DeliveryStatus, 100)}
	people := accounts.New(d, accounts.Plan{MinutePrice: value.MoneyUnit / 10})
	ada, err := people.Create(ctx, d, accounts.Draft{Name: "Ada", Email: "ada@p.example"})
	l.must(err)
	l.billing = billing.New(people, billing.Settings{Enforce: true, Currency: "USD"})
	l.must(d.Do(ctx, func(tx *db.Tx) error {
		return l.billing.Credit(ctx, tx, ada.ID, "test", "start", 100*value.MoneyUnit, "")
	}))
	c, err := catalog.Open(ctx, d, catalog.Offer{
		Synthesizers: []catalog.NewSynthesizer{{Code: "builtin", Voices: []catalog.NewVoice{{Code: "slt"}}}},
		Transcribers: []catalog.NewTranscriber{{Code: "builtin"}},
		Models:       []catalog.NewModel{{Provider: "builtin", Code: "responder", Types: []string{"llm"}, Temperature: true}},
	})
	l.must(err)
	a := assistants.New(d, c, glass{}, assistants.Account{})
	l.chats = chats.New(d, l.runner, a, chats.Mind{Mind: mind.Mind{Now: d.Now}, Engine: func(context.Context, assistants.Assistant) (agent.Engine, error) {
		return agent.Engine{Model: echo{}, Provider: "test", Name: "echo"}, nil
	}}, chats.Money{}, chats.Beside{Channels: map[string]chats.Channel{chats.WhatsApp: l}})
	l.room = messaging.New(messaging.Deps{DB: d, Jobs: l.runner, Gateways: map[string]messaging.Gateway{"test": l.platform}, Texter: l.platform, Ledger: ledger{l.billing}, Chats: l.chats, Assistants: a,
		Prices:   messaging.Prices{Marketing: 8e6, Utility: 3e6, Authentication: 3e6, Freeform: 5e5, SMS: func(string) int64 { return 5e6 }},
		Currency: "USD", CallMinLimit: 1000,
		Report: func(_ context.Context, _ *db.Tx, r messaging.Receipt) error {
			l.receipts <- r.Message.Status
			return nil
		},
		Open: func(_ context.Context, _ messaging.Sender, f messaging.File) (chats.Attachment, string, error) {
			if l.opens != nil {
				if err := l.opens(f); err != nil {
					return chats.Attachment{Type: f.Type}, "", err
				}
			}
			words := ""
			if f.Type == "audio" {
				words = "spoken in " + f.Ref
			}
			return chats.Attachment{Type: f.Type, URL: "https://p.example/media/chat/" + f.Ref}, words, nil
		}})
	var change assistants.Change
	l.must(wire.ReadJSON([]byte(`{"name":"Desk","voice_id":1,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC","llm_model_id":1,"initial_message":"Hello.","system_prompt":"Help.","tools":[{"type":"end_call"}]}`), &change.Patch))
	desk, _, err := a.Create(ctx, ada.ID, change)
	l.must(err)
	l.must(d.Do(ctx, func(tx *db.Tx) error {
		l.sender, err = l.room.Attach(ctx, tx, ada.ID, messaging.NewSender{Phone: "+14155550123", DisplayName: "Shop", Carrier: "test", Ref: "1",
			AssistantID: &desk.ID,
			State:       messaging.SenderState{Status: messaging.SenderOnline, Quality: "GREEN", LimitKnown: true}})
		return err
	}))
	url := "https://x.example/receipts"
	l.sender, err = l.room.UpdateSender(ctx, ada.ID, l.sender.ID, messaging.SenderChange{ReceiptsURL: &url})
	l.must(err)
	l.must(d.Do(ctx, func(tx *db.Tx) error {
		l.template, err = l.room.TakeTemplate(ctx, tx, l.sender, messaging.TemplateState{Ref: "T1", Name: "ready", Language: "en", Category: "utility", Status: messaging.TemplateApproved, Body: "It is ready."}, d.Now())
		return err
	}))
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// work runs durable work until the test ends.
func (l *lab) work() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.runner.Run(ctx) }()
	l.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			l.t.Error(err)
		}
	})
}

func (l *lab) send(to string) (messaging.Receipted, error) {
	return l.room.SendTemplate(l.t.Context(), l.sender.Owner, messaging.Send{Sender: l.sender.ID, Template: l.template.ID, To: to})
}

// wantMoney fails unless the account has so much, and so much of it set aside.
func (l *lab) wantMoney(total, held value.Money) {
	l.t.Helper()
	bal, err := l.billing.Balance(l.t.Context(), l.d, accounts.ID(l.sender.Owner))
	if err != nil || bal.Total != total || bal.Held != held {
		l.t.Errorf("balance %v, held %v (%v), want %v and %v", bal.Total, bal.Held, err, total, held)
	}
}

// states are the stored states of messages, oldest first.
func (l *lab) states(table string) (out []string) {
	l.t.Helper()
	l.must(l.d.Select(l.t.Context(), &out, `SELECT status FROM `+table+` ORDER BY id`))
	return out
}

// Send answers a WhatsApp conversation.
func (l *lab) Send(ctx context.Context, c chats.Conversation, o chats.Outgoing) error {
	return l.room.Channel().Send(ctx, c, o)
}
