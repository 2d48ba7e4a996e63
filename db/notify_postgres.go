package db

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// listenPostgres keeps one connection that hears every message, until ctx ends.
func (d *DB) listenPostgres(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.listenOnce(ctx); ctx.Err() == nil {
			slog.Warn("listening connection lost", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (d *DB) listenOnce(ctx context.Context) error {
	cfg, err := postgresConfig(d.url)
	if err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(ctx, `LISTEN parley`); err != nil {
		return err
	}
	select {
	case <-d.bell.ready: // not for the first time: what was said meanwhile is lost
		d.bell.ring("", "")
	default:
		close(d.bell.ready)
	}
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		d.hear(n.Payload)
	}
}

// openClock gives the manual clock its own connection.
func (d *DB) openClock() error {
	cfg, err := postgresConfig(d.url)
	if err != nil {
		return err
	}
	d.clock.row = stdlib.OpenDB(*cfg)
	d.clock.row.SetMaxOpenConns(1)
	return nil
}
