package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"parley/value"
	"parley/wire"
)

// resume is where a client that reconnects to a stream goes on.
type resume struct {
	Last value.Opt[int64] `query:"last_event_id" doc:"As the header Last-Event-ID, for clients that cannot set it."`
}

// after is the id of the last event the client has seen; known is false for one that begins.
func (r resume) after(ctx context.Context) (id int64, known bool) {
	if n, err := strconv.ParseInt(wire.RequestHeader(ctx, "Last-Event-ID"), 10, 64); err == nil && n >= 0 {
		return n, true
	}
	return r.Last.V, r.Last.Has()
}

// follow streams the account's changes: ids and short states, no content.
func (a *API) follow(ctx context.Context, in *resume, w http.ResponseWriter) error {
	after, _ := in.after(ctx)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes := a.Live.Subscribe(ctx, int64(owner(ctx)), after)
	out, err := wire.NewEvents(w)
	if err != nil {
		return err
	}
	for {
		select {
		case e, ok := <-changes:
			if !ok {
				return nil // it comes back and catches up
			}
			err = out.Send(strconv.FormatInt(e.ID, 10), e.Kind, e.Data)
		case <-time.After(heartbeat):
			err = out.Ping()
		}
		if err != nil {
			return nil // the client is gone
		}
	}
}
