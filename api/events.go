package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"parley/wire"
)

type eventsIn struct {
	Last wire.Opt[int64] `query:"last_event_id" doc:"As the header Last-Event-ID, for clients that cannot set it."`
}

// follow streams the account's changes: ids and short states, no content.
func (a *API) follow(ctx context.Context, in *eventsIn, w http.ResponseWriter) error {
	after := in.Last.V
	if n, err := strconv.ParseInt(wire.RequestHeader(ctx, "Last-Event-ID"), 10, 64); err == nil {
		after = n
	}
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
