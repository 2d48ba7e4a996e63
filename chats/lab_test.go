package chats

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/catalog"
	"parley/db"
	"parley/db/dbtest"
	"parley/ids"
	"parley/jobs"
	"parley/mind"
	"parley/value"
	"parley/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	goleak.VerifyTestMain(m)
}

// model answers by a script that tests may replace.
type model struct {
	mu    sync.Mutex
	asked []agent.Request
	reply func(ctx context.Context, r agent.Request) ([]agent.Chunk, error)
}

func (m *model) Reply(ctx context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	reply := m.reply
	m.mu.Unlock()
	return func(yield func(agent.Chunk, error) bool) {
		chunks, err := reply(ctx, r)
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(agent.Chunk{}, err)
		}
	}
}

func (m *model) requests() []agent.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]agent.Request{}, m.asked...)
}

// echo answers "You said: …", and evaluations with a fixed object.
func echo(_ context.Context, r agent.Request) ([]agent.Chunk, error) {
	if r.Purpose == agent.PurposeEvaluation {
		return []agent.Chunk{{Text: `{"status":true,"summary":"Settled."}`}}, nil
	}
	return []agent.Chunk{{Text: "You said: " + r.Messages[len(r.Messages)-1].Text}}, nil
}

func call(name, args string) agent.Chunk {
	return agent.Chunk{Call: &agent.ToolCall{ID: "1", Name: name, Arguments: json.RawMessage(args)}}
}

type lab struct {
	t      *testing.T
	d      *db.DB
	room   *Chats
	people *assistants.Assistants
	runner *jobs.Runner
	model  *model

	mu      sync.Mutex
	endings []Ending
	funds   int64      // answers that can still be paid
	heard   chan Event // every stored message
}

func each(t *testing.T, fn func(t *testing.T, l *lab)) {
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		t.Run(name, func(t *testing.T) { fn(t, newLab(t, open(t, db.Manual()))) })
	}
}

type glass struct{}

func (glass) Seal(b []byte) (string, error) { return string(b), nil }
func (glass) Open(s string) ([]byte, error) { return []byte(s), nil }

func newLab(t *testing.T, d *db.DB) *lab {
	t.Helper()
	l := &lab{t: t, d: d, model: &model{reply: echo}, funds: 1000, heard: make(chan Event, 1000)}
	for range 2 {
		if _, err := d.Exec(t.Context(), `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
			VALUES ('Ada', 'ada@p.example', 'direct', 'UTC', '{}', 'ok', 0, 0)`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Exec(t.Context(), `INSERT INTO knowledgebases (id, account_id, name, created_at, updated_at) VALUES (5, 1, 'Hours', 0, 0)`); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(t.Context(), d, catalog.Offer{
		Synthesizers: []catalog.NewSynthesizer{{Code: "builtin", Voices: []catalog.NewVoice{{Code: "slt"}}}},
		Transcribers: []catalog.NewTranscriber{{Code: "builtin"}},
		Models:       []catalog.NewModel{{Provider: "builtin", Code: "responder", Types: []string{"llm"}, Temperature: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.people = assistants.New(d, c, glass{}, assistants.Account{
		Knowledgebases: func(_ context.Context, _ db.Q, _ accounts.ID, list []ids.Knowledgebase) ([]ids.Knowledgebase, error) {
			return list, nil
		},
	})
	l.runner = jobs.NewRunner(d)
	l.room = New(d, l.runner, l.people, Mind{
		Engine: func(context.Context, assistants.Assistant) (agent.Engine, error) {
			return agent.Engine{Model: l.model, Provider: "test", Name: "script"}, nil
		},
		Mind: mind.Mind{Now: d.Now, Search: func(_ context.Context, _ assistants.Assistant, query string) ([]agent.Passage, error) {
			return []agent.Passage{{DocumentID: 1, Document: "Hours", Text: "Open at nine."}}, nil
		}},
	}, Money{Afford: l.afford, Charge: l.charge}, Beside{
		Report: func(_ context.Context, _ *db.Tx, e Ending) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.endings = append(l.endings, e)
			return nil
		},
		Changed: func(e Event) {
			if e.Kind == "message" {
				l.heard <- e
			}
		}})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.runner.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return l
}

func (l *lab) afford(context.Context, db.Q, accounts.ID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.funds <= 0 {
		return ErrBalance
	}
	return nil
}

func (l *lab) charge(context.Context, *db.Tx, Conversation, int64) (value.Money, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.funds <= 0 {
		return 0, ErrBalance
	}
	l.funds--
	return value.MoneyUnit / 100, nil
}

// assistant makes one; more are JSON fields over a small base.
func (l *lab) assistant(more string) assistants.Assistant {
	l.t.Helper()
	var c assistants.Change
	base := `{"name":"Desk","voice_id":1,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"Europe/Berlin","llm_model_id":1,
		"initial_message":"Hello {name}, this is {{assistant_name}}.","system_prompt":"Be kind to {{name}}.","conversation_ended_webhook_url":"https://x.example/ended"`
	if more != "" {
		base += "," + more
	}
	if err := wire.ReadJSON([]byte(base+"}"), &c.Patch); err != nil {
		l.t.Fatal(err)
	}
	a, _, err := l.people.Create(l.t.Context(), 1, c)
	if err != nil {
		l.t.Fatalf("%+v", err)
	}
	return a
}

func (l *lab) begin(a assistants.Assistant, typ string) Conversation {
	l.t.Helper()
	c, _, err := l.room.Begin(l.t.Context(), Start{Caller: 1, Assistant: value.Ref{UUID: a.UUID}, Type: typ})
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func (l *lab) say(c Conversation, text string) (Reply, error) {
	return l.room.Answer(l.t.Context(), Message{Caller: 1, UUID: c.UUID, Text: text})
}

func (l *lab) must(c Conversation, text string) Reply {
	l.t.Helper()
	r, err := l.say(c, text)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *lab) advance(by time.Duration) {
	l.t.Helper()
	if _, settled, err := l.runner.Advance(l.t.Context(), by); err != nil || !settled {
		l.t.Fatal("not settled:", err)
	}
}

func (l *lab) reported() []Ending {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Ending{}, l.endings...)
}

func (l *lab) state(c Conversation) string {
	l.t.Helper()
	now, err := l.room.ByID(l.t.Context(), l.d, c.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.TrimSuffix(now.State+" "+now.EndReason, " ")
}

// script is the whole history in one line per entry.
func (l *lab) script(c Conversation) string {
	l.t.Helper()
	entries, err := l.room.History(l.t.Context(), l.d, c.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Role + ": " + strings.ReplaceAll(e.Text, "\n", " / ") + "\n")
	}
	return b.String()
}

func ownerID(n int64) accounts.ID { return accounts.ID(n) }

func openSQLite(t *testing.T) *db.DB { return dbtest.SQLite(t, db.Manual()) }
