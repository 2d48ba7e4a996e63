package db

import (
	"context"
	"time"
)

// How long a statement may take, the wait for a connection included. Answers of the API have 5 s in all.
const (
	prompt  = 3500 * time.Millisecond // unless [Prompt] says otherwise
	patient = 30 * time.Second
)

// Prompt sets how long a statement may take under a context that is not [Patient] (default 3.5 s): for tests.
func Prompt(d time.Duration) Option { return func(s *settings) { s.prompt = d } }

type patientKey struct{}

// Patient lets every statement under the context take 30 s instead of 3.5 s: for work that nobody waits for, such as jobs.
// An earlier deadline of ctx counts as always.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, patientKey{}, true)
}

func (d *DB) patience(ctx context.Context) time.Duration {
	if ctx.Value(patientKey{}) != nil {
		return patient
	}
	return d.prompt
}

// limited is ctx for one statement that begins now.
func (d *DB) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.patience(ctx))
}

// unwatched hides the end of a statement's context from database/sql, which would watch for it in goroutines that cost as
// much as a short statement. The connections look for it themselves, see watched.
func unwatched(ctx context.Context) context.Context { return endless{ctx} }

// watched is the context that unwatched hid.
func watched(ctx context.Context) context.Context {
	if e, ok := ctx.(endless); ok {
		return e.ctx
	}
	return ctx
}

// endless is a context that does not tell of its end.
type endless struct{ ctx context.Context }

func (endless) Deadline() (at time.Time, ok bool) { return time.Time{}, false }
func (endless) Done() <-chan struct{}             { return nil }
func (endless) Err() error                        { return nil }
func (e endless) Value(key any) any               { return e.ctx.Value(key) }
