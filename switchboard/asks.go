package switchboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/value"
)

// Processes that share a database ask each other through it: a row, and a notification that there is one. A row that
// nobody answers in time is taken back.
const (
	askChannel    = "calls.ask"
	answerChannel = "calls.answer"

	askTime = 5 * time.Second        // how long an answer may take
	askPoll = 250 * time.Millisecond // how often it is looked for when no notification comes
)

// Answerer answers what another process asks; its error reaches the asking process as the fault that it is.
type Answerer func(ctx context.Context, body json.RawMessage) (any, error)

// Answer makes this process answer a kind of question. It is said while the program is put together, before Run.
func (s *Switchboard) Answer(kind string, f Answerer) { s.answers[kind] = f }

// ErrNobody says that no process answered.
var ErrNobody = fault.New(fault.Unavailable, "", "Service Unavailable")

// Ask has a process that holds calls answer a question, and decodes the answer into dst (nil = only the error counts).
// An empty node means whichever process is first.
func (s *Switchboard) Ask(ctx context.Context, node, kind string, body, dst any) error {
	if !s.DB.Postgres() {
		return ErrNobody // no other process shares this database
	}
	text, err := value.Marshal(body)
	if err != nil {
		return err
	}
	heard := make(chan struct{}, 1)
	forget := s.DB.Listen(answerChannel, func(string) {
		select {
		case heard <- struct{}{}:
		default:
		}
	})
	defer forget()
	var id int64
	err = s.DB.Get(ctx, &id, `INSERT INTO asks (kind, body, node, at_real) VALUES ($1, $2, $3, $4) RETURNING id`,
		kind, string(text), optional(node), db.At(time.Now()))
	if err != nil {
		return err
	}
	defer func() { // answered or given up: nobody needs the row
		if _, err := s.DB.Exec(context.WithoutCancel(ctx), `DELETE FROM asks WHERE id = $1`, id); err != nil {
			s.Log.Warn("question not removed", "error", err)
		}
	}()
	if err := s.DB.Notify(ctx, askChannel, ""); err != nil {
		s.Log.Warn("other processes not told of a question", "error", err) // they look every second
	}
	return s.hearAnswer(ctx, id, heard, dst)
}

func (s *Switchboard) hearAnswer(ctx context.Context, id int64, heard <-chan struct{}, dst any) error {
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
		switch err := s.DB.Get(ctx, &text, `SELECT answer FROM asks WHERE id = $1`, id); {
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
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return err
	}
	if a.Fault != nil {
		return a.Fault
	}
	if dst == nil {
		return nil
	}
	return json.Unmarshal(a.Value, dst)
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

// hearQuestions takes the questions for this process, and those for any while it takes new calls, and answers them beside.
func (s *Switchboard) hearQuestions(ctx context.Context) {
	s.mu.Lock()
	mine := `node = $1`
	if !s.draining {
		mine = `(node = $1 OR node IS NULL)`
	}
	s.mu.Unlock()
	var list []question
	err := s.DB.Select(ctx, &list, `UPDATE asks SET taken = TRUE, node = $1
		WHERE id IN (SELECT id FROM asks WHERE NOT taken AND at_real > $2 AND `+mine+` ORDER BY id LIMIT 16 {{skip locked}}) RETURNING id, kind, body`,
		s.Node, db.At(time.Now().Add(-askTime)))
	if err != nil && ctx.Err() == nil {
		s.Log.Error("questions not read", "error", err)
	}
	for _, q := range list {
		s.asked.Go("question", func() { s.answerOne(ctx, q) })
	}
}

func (s *Switchboard) answerOne(ctx context.Context, q question) {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	text, err := s.answerText(ctx, q)
	if err == nil {
		_, err = s.DB.Exec(ctx, `UPDATE asks SET answer = $1 WHERE id = $2`, text, q.ID)
	}
	if err == nil {
		err = s.DB.Notify(ctx, answerChannel, strconv.FormatInt(q.ID, 10))
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Error("question not answered", "kind", q.Kind, "error", err)
	}
}

func (s *Switchboard) answerText(ctx context.Context, q question) (string, error) {
	f := s.answers[q.Kind]
	if f == nil {
		return "", fmt.Errorf("nobody here answers %s", q.Kind)
	}
	var a answer
	v, err := f(ctx, json.RawMessage(q.Body))
	if err == nil {
		a.Value, err = value.Marshal(v)
	}
	if err != nil {
		a = answer{Fault: fault.Of(err)}
		if a.Fault.Kind == fault.Internal {
			s.Log.Error("question failed", "kind", q.Kind, "error", err)
		}
		bare := *a.Fault
		bare.Cause = nil
		a.Fault = &bare
	}
	text, err := value.Marshal(a)
	return string(text), err
}

// purgeAsks removes the questions of processes that died while they waited.
func (s *Switchboard) purgeAsks(ctx context.Context, _ time.Time) error {
	_, err := s.DB.Exec(ctx, `DELETE FROM asks WHERE at_real < $1`, db.At(time.Now().Add(-time.Hour)))
	return err
}

// Kinds of questions about a call, to the process that holds it.
const (
	askHint  = "call.hint"
	askSay   = "call.say"
	askLeave = "call.leave"

	askSignalling = "call.signalling"
)

// AboutCall is a question to the process that holds a call.
type AboutCall struct {
	Call calls.ID `json:"call"`
	UUID string   `json:"uuid"`
	Text string   `json:"text"`
}

func (s *Switchboard) answerCalls() {
	about := func(do func(ctx context.Context, a AboutCall) (any, error)) Answerer {
		return func(ctx context.Context, body json.RawMessage) (any, error) {
			var a AboutCall
			if err := json.Unmarshal(body, &a); err != nil {
				return nil, err
			}
			return do(ctx, a)
		}
	}
	s.Answer(askHint, about(func(ctx context.Context, a AboutCall) (any, error) { return true, s.hint(ctx, a.Call, a.Text) }))
	s.Answer(askSay, about(func(ctx context.Context, a AboutCall) (any, error) { return true, s.say(ctx, a.Call, a.Text) }))
	s.Answer(askLeave, about(func(_ context.Context, a AboutCall) (any, error) { return true, s.leave(a.UUID, a.Text) }))
	s.Answer(askSignalling, about(func(_ context.Context, a AboutCall) (any, error) {
		if l := s.find(a.Call); l != nil {
			return l.signalling(), nil
		}
		return nil, calls.ErrOver
	}))
}

// AskHolder asks the process that holds a call; calls.ErrOver when that is nobody else.
func (s *Switchboard) AskHolder(ctx context.Context, c calls.Call, kind, text string, dst any) error {
	if !c.Status.Live() || c.Node == nil || *c.Node == s.Node || c.LeaseReal.Time().Before(time.Now()) {
		return calls.ErrOver
	}
	err := s.Ask(ctx, *c.Node, kind, AboutCall{c.ID, c.UUID, text}, dst)
	if errors.Is(err, ErrNobody) {
		return calls.ErrOver
	}
	return err
}
