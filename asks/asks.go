// Package asks carries what processes that share a database ask each other: a row, and a notification that there is
// one. A row that nobody answers in time is taken back (docs/decisions/0011-between-processes.md).
package asks

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"parley/db"
	"parley/fault"
	"parley/safe"
	"parley/value"
)

const (
	askChannel    = "calls.ask"
	answerChannel = "calls.answer"

	askTime = 5 * time.Second        // how long an answer may take
	askPoll = 250 * time.Millisecond // how often it is looked for when no notification comes
)

// Answerer answers what another process asks; its error reaches the asking process as the fault that it is.
type Answerer func(ctx context.Context, body json.RawMessage) (any, error)

// Asks is the room.
type Asks struct {
	db   *db.DB
	node string // this process
	log  *slog.Logger
}

// New opens the room for a process.
func New(d *db.DB, node string) *Asks { return &Asks{db: d, node: node, log: slog.Default()} }

// ErrNobody says that no process answered.
var ErrNobody = fault.New(fault.Unavailable, "", "Service Unavailable")

// Ask has a process that holds calls answer a question, and decodes the answer into dst (nil = only the error counts).
// An empty node means whichever process is first.
func (a *Asks) Ask(ctx context.Context, node, kind string, body, dst any) error {
	if !a.db.Postgres() {
		return ErrNobody // no other process shares this database
	}
	text, err := value.Marshal(body)
	if err != nil {
		return err
	}
	heard := make(chan struct{}, 1)
	forget := a.db.Listen(answerChannel, func(string) {
		select {
		case heard <- struct{}{}:
		default:
		}
	})
	defer forget()
	var id int64
	err = a.db.Get(ctx, &id, `INSERT INTO asks (kind, body, node, at_real) VALUES ($1, $2, $3, $4) RETURNING id`,
		kind, string(text), optional(node), db.At(time.Now()))
	if err != nil {
		return err
	}
	defer func() { // answered or given up: nobody needs the row
		if _, err := a.db.Exec(context.WithoutCancel(ctx), `DELETE FROM asks WHERE id = $1`, id); err != nil {
			a.log.Warn("question not removed", "error", err)
		}
	}()
	if err := a.db.Notify(ctx, askChannel, ""); err != nil {
		a.log.Warn("other processes not told of a question", "error", err) // they look every second
	}
	return a.hearAnswer(ctx, id, heard, dst)
}

func (a *Asks) hearAnswer(ctx context.Context, id int64, heard <-chan struct{}, dst any) error {
	ctx, stop := context.WithTimeoutCause(ctx, askTime, ErrNobody)
	defer stop()
	for {
		select {
		case <-heard:
		case <-time.After(askPoll):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		var text *string
		switch err := a.db.Get(ctx, &text, `SELECT answer FROM asks WHERE id = $1`, id); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case text != nil:
			return decodeAnswer(*text, dst)
		}
	}
}

// answer is what goes back: the value or the fault.
type answer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Fault *fault.Fault    `json:"fault,omitempty"` // its cause stays where it was logged
}

func decodeAnswer(text string, dst any) error {
	var got answer
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return err
	}
	if got.Fault != nil {
		return got.Fault
	}
	if dst == nil {
		return nil
	}
	return json.Unmarshal(got.Value, dst)
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type question struct {
	ID   int64  `db:"id"`
	Kind string `db:"kind"`
	Body string `db:"body"`
}

// Serve answers the questions for this process, and those for any while open says so, until ctx ends.
func (a *Asks) Serve(ctx context.Context, answers map[string]Answerer, open func() bool) error {
	if !a.db.Postgres() {
		return nil // no other process shares this database
	}
	poke := make(chan struct{}, 1)
	defer a.db.Listen(askChannel, func(string) {
		select {
		case poke <- struct{}{}:
		default:
		}
	})()
	var answering safe.Group
	defer answering.Wait()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-poke:
		case <-tick.C:
		}
		for _, q := range a.questions(ctx, open()) {
			answering.Go("question", func() { a.answer(ctx, q, answers[q.Kind]) })
		}
	}
}

// questions takes those that wait for this process, or with any those that wait for whoever comes.
func (a *Asks) questions(ctx context.Context, any bool) (list []question) {
	mine := `node = $1`
	if any {
		mine = `(node = $1 OR node IS NULL)`
	}
	err := a.db.Select(ctx, &list, `UPDATE asks SET taken = TRUE, node = $1
		WHERE id IN (SELECT id FROM asks WHERE NOT taken AND at_real > $2 AND `+mine+` ORDER BY id LIMIT 16 {{skip locked}}) RETURNING id, kind, body`,
		a.node, db.At(time.Now().Add(-askTime)))
	if err != nil && ctx.Err() == nil {
		a.log.Error("questions not read", "error", err)
	}
	return list
}

func (a *Asks) answer(ctx context.Context, q question, by Answerer) {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	text, err := a.answerText(ctx, q, by)
	if err == nil {
		_, err = a.db.Exec(ctx, `UPDATE asks SET answer = $1 WHERE id = $2`, text, q.ID)
	}
	if err == nil {
		err = a.db.Notify(ctx, answerChannel, strconv.FormatInt(q.ID, 10))
	}
	if err != nil && ctx.Err() == nil {
		a.log.Error("question not answered", "kind", q.Kind, "error", err)
	}
}

func (a *Asks) answerText(ctx context.Context, q question, by Answerer) (string, error) {
	if by == nil {
		return "", fmt.Errorf("nobody here answers %s", q.Kind)
	}
	var out answer
	v, err := by(ctx, json.RawMessage(q.Body))
	if err == nil {
		out.Value, err = value.Marshal(v)
	}
	if err != nil {
		out = answer{Fault: fault.Of(err)}
		if out.Fault.Kind == fault.Internal {
			a.log.Error("question failed", "kind", q.Kind, "error", err)
		}
		bare := *out.Fault
		bare.Cause = nil
		out.Fault = &bare
	}
	text, err := value.Marshal(out)
	return string(text), err
}

// Purge removes the questions of processes that died while they waited.
func (a *Asks) Purge(ctx context.Context, _ time.Time) error {
	_, err := a.db.Exec(ctx, `DELETE FROM asks WHERE at_real < $1`, db.At(time.Now().Add(-time.Hour)))
	return err
}
