package app

import (
	"context"
	"errors"
	"fmt"

	"parley/api"
	"parley/lines"
	"parley/lines/web"
)

// Lines are what the calls of a process come from and go to; the zero value is a process that holds none.
type Lines struct {
	Phones   lines.Dialer
	Browsers api.BrowserLine
}

// open opens the lines.
func (h *App) open(ctx context.Context) (err error) {
	if h.on.Lines != nil {
		h.lines, err = h.on.Lines(ctx, h, h.inbound)
	}
	return err
}

// inbound takes an inbound call. One that comes before everything stands waits a moment.
func (h *App) inbound(leg lines.Leg) {
	if <-h.built; h.API == nil {
		_ = leg.Reject(503)
		return
	}
	h.Switchboard.Inbound(leg)
}

// Browsers is the browser line as the API needs it.
func Browsers(s *web.Server) api.BrowserLine { return browserLine{s} }

type browserLine struct{ *web.Server }

func (b browserLine) Accept(ctx context.Context, offer string) (lines.Leg, string, error) {
	leg, answer, err := b.Server.Accept(ctx, offer)
	if errors.Is(err, web.ErrOffer) {
		return nil, "", fmt.Errorf("%w: %w", api.ErrBadOffer, err)
	}
	if err != nil {
		return nil, "", err
	}
	return leg, answer, nil
}
