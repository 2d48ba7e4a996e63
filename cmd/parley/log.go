package main

import (
	"context"
	"log/slog"
	"os"

	"parley/config"
	"parley/fault"
)

// setLog makes the program's logger: fixed words, the request's id on every line that a request caused, and no personal
// data.
func setLog(cfg *config.Config) {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(cfg.Log.Level)) // checked when the configuration was read
	opts := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(os.Stderr, opts)
	if cfg.Log.Format == "json" {
		h = slog.NewJSONHandler(os.Stderr, opts)
	}
	slog.SetDefault(slog.New(withRequest{h}))
}

// withRequest adds the id of the request that a line belongs to.
type withRequest struct{ slog.Handler }

func (h withRequest) Handle(ctx context.Context, r slog.Record) error {
	if id := fault.RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h withRequest) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withRequest{h.Handler.WithAttrs(attrs)}
}

func (h withRequest) WithGroup(name string) slog.Handler {
	return withRequest{h.Handler.WithGroup(name)}
}
