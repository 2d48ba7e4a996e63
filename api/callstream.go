package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"parley/calllog"
	"parley/calls"
	"parley/events"
	"parley/value"
	"parley/wire"
)

type callStreamIn struct {
	callRef
	resume
}

// followCall streams a call's events: those of the log that the client has not seen first, then each as it happens, until
// the call is over. The id of an event is its number in the log.
func (a *API) followCall(ctx context.Context, in *callStreamIn, w http.ResponseWriter) error {
	c, err := a.Calls.Get(ctx, a.DB, owner(ctx), in.ID)
	if err != nil {
		return err
	}
	out, err := wire.NewEvents(w)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f := follower{a: a, call: c, out: out, changes: a.Live.Subscribe(ctx, int64(owner(ctx)), 0)}
	f.seq, _ = in.after(ctx)
	defer f.close()
	for err == nil && !f.over {
		err = f.round(ctx)
	}
	return nil // the call is over, or the client is gone
}

// follower is one client that watches a call.
type follower struct {
	a    *API
	call calls.Call
	out  *wire.Events
	seq  int64 // last one sent
	over bool

	changes <-chan events.Event    // of the account
	afar    <-chan calllog.Watched // events of a call that another process holds; nil = not asked for
	wanted  func(context.Context)
	forget  func()
}

func (f *follower) close() {
	if f.forget != nil {
		f.forget()
	}
}

// lookAgain is how often the log of a call that another process holds is read, whatever arrives.
const lookAgain = 5 * time.Second

// round sends what is new in the log, then what happens. What another process tells of its call may be lost on the way:
// the log is read again after a while.
func (f *follower) round(ctx context.Context) error {
	events, _, stop, here := f.a.Switchboard.Watch(f.call.ID)
	if here {
		defer stop()
	} else if f.afar == nil {
		f.afar, f.wanted, f.forget = f.a.Logs.WatchElsewhere(f.call.ID)
	}
	one, err := f.a.Calls.ByID(ctx, f.a.DB, f.call.ID)
	if err != nil {
		return err
	}
	f.call = one
	list, err := f.a.Calls.EventsAfter(ctx, f.a.DB, f.call.ID, f.seq)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := f.send(e.Seq, e.At.Time(), e.Type, e.Data.V); err != nil {
			return err
		}
	}
	if f.over = one.Settled || one.Status.Final(); f.over {
		return nil
	}
	if here {
		return f.live(ctx, events)
	}
	f.wanted(ctx)
	return f.listen(ctx)
}

// listen sends what another process tells of the call, until the log is due to be read again: after a while, when
// something before is missing, or when the call's state changes.
func (f *follower) listen(ctx context.Context) error {
	again := time.After(lookAgain)
	for {
		select {
		case e := <-f.afar:
			if e.Type == "" || e.Seq > f.seq+1 {
				return nil
			}
			body, err := value.Marshal(e.Data)
			if err == nil {
				err = f.send(e.Seq, e.At, e.Type, body)
			}
			if err != nil {
				return err
			}
		case e, ok := <-f.changes:
			if !ok { // the words of other processes may be lost
				f.changes = f.a.Live.Subscribe(ctx, int64(f.call.Owner), 0)
				return nil
			}
			if f.about(e) {
				return nil
			}
		case <-again:
			return f.out.Ping()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// about reports whether a change of the account is one of this call.
func (f *follower) about(e events.Event) bool {
	var which struct{ ID calls.ID }
	return e.Kind == "call" && json.Unmarshal(e.Data, &which) == nil && which.ID == f.call.ID
}

func (f *follower) live(ctx context.Context, events <-chan calllog.Watched) error {
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return nil
			}
			body, err := value.Marshal(e.Data)
			if err != nil {
				return err
			}
			if err := f.send(e.Seq, e.At, e.Type, body); err != nil {
				return err
			}
		case <-time.After(heartbeat):
			if err := f.out.Ping(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send passes an event on once; one that is not in the log has no number.
func (f *follower) send(seq int64, at time.Time, kind string, body json.RawMessage) error {
	if seq != 0 && seq <= f.seq {
		return nil
	}
	id := ""
	if seq != 0 {
		f.seq, id = seq, strconv.FormatInt(seq, 10)
	}
	return f.out.Send(id, kind, showEvent(f.call, seq, at, kind, body))
}
