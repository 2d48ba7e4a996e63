package once

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"parley/db"
)

// keptFor is how long a request is remembered, in durable time.
const keptFor = 24 * time.Hour

// lease is how long a process that went silent keeps its claims. Time is real: a lost process must not block.
const lease = 15 * time.Second

// Store keeps the claims of all processes.
type Store struct {
	db   *db.DB
	node string

	mu   sync.Mutex
	held map[string]bool // holders of this process
}

// Open ends what an earlier life of this node left; node is its name over restarts. What took no effect is forgotten,
// the rest may be taken over at once.
func Open(ctx context.Context, d *db.DB, node string) (*Store, error) {
	s := &Store{db: d, node: node, held: map[string]bool{}}
	return s, d.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM idempotency WHERE node = $1 AND status = 0 AND NOT begun`, node); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE idempotency SET lease_real = 0 WHERE node = $1 AND status = 0`, node)
		return err
	})
}

// Claim begins a try. name is unique per route and key; hash stands for the input. It fails with ErrReused or ErrRunning.
func (s *Store) Claim(ctx context.Context, account int64, name, hash string) (*Claim, error) {
	c := &Claim{store: s, account: account, name: sum(name), ref: uuid.NewString(), holder: rand.Text()}
	s.mu.Lock()
	s.held[c.holder] = true
	s.mu.Unlock()
	err := s.db.Do(ctx, func(tx *db.Tx) error { return c.take(ctx, tx, hash) })
	if err != nil || c.Old != nil {
		s.forget(c.holder)
	}
	return c, err
}

// take writes the claim, or finds what is in its way.
func (c *Claim) take(ctx context.Context, tx *db.Tx, hash string) error {
	now, until := tx.Now(), db.At(time.Now().Add(lease))
	if _, err := tx.Exec(ctx, `DELETE FROM idempotency WHERE account_id = $1 AND name = $2 AND created_at <= $3`,
		c.account, c.name, db.At(now.Add(-keptFor))); err != nil {
		return err
	}
	for {
		n, err := tx.Exec(ctx, `INSERT INTO idempotency (account_id, name, hash, node, status, ref, holder, lease_real, created_at)
			VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8) ON CONFLICT (account_id, name) DO NOTHING`,
			c.account, c.name, hash, c.store.node, c.ref, c.holder, until, db.At(now))
		if err != nil || n == 1 {
			return err
		}
		var row struct {
			Hash   string  `db:"hash"`
			Status int     `db:"status"`
			Body   []byte  `db:"body"`
			Ref    string  `db:"ref"`
			Lease  db.Time `db:"lease_real"`
			Begun  bool    `db:"begun"`
		}
		err = tx.Get(ctx, &row, `SELECT hash, status, body, ref, lease_real, begun FROM idempotency WHERE account_id = $1 AND name = $2 {{lock}}`,
			c.account, c.name)
		switch {
		case errors.Is(err, db.ErrNone):
			continue // dropped meanwhile
		case err != nil:
			return err
		case row.Hash != hash && (row.Status != 0 || row.Begun || row.Lease.Time().After(time.Now())):
			return ErrReused
		case row.Status != 0:
			c.Old = &Answer{row.Status, row.Body}
			return nil
		case row.Lease.Time().After(time.Now()):
			return ErrRunning
		}
		if c.begun = row.Begun; c.begun {
			c.ref = row.Ref
		}
		_, err = tx.Exec(ctx, `UPDATE idempotency SET hash = $3, node = $4, ref = $5, holder = $6, lease_real = $7 WHERE account_id = $1 AND name = $2`,
			c.account, c.name, hash, c.store.node, c.ref, c.holder, until)
		return err
	}
}

// Run renews the leases of this process until ctx ends.
func (s *Store) Run(ctx context.Context) error {
	tick := time.NewTicker(lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.renew(ctx); err != nil && ctx.Err() == nil {
			slog.Error("claims of requests not renewed", "error", err)
		}
	}
}

func (s *Store) renew(ctx context.Context) error {
	s.mu.Lock()
	held := slices.Collect(maps.Keys(s.held))
	s.mu.Unlock()
	if len(held) == 0 {
		return nil
	}
	in, args := db.In(3, held)
	_, err := s.db.Exec(ctx, `UPDATE idempotency SET lease_real = $1 WHERE node = $2 AND status = 0 AND holder IN `+in,
		append([]any{db.At(time.Now().Add(lease)), s.node}, args...)...)
	return err
}

func (s *Store) forget(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, holder)
}

// Purge deletes what is older than 24 hours.
func (s *Store) Purge(ctx context.Context, now time.Time) error {
	_, err := s.db.Exec(ctx, `DELETE FROM idempotency WHERE created_at <= $1`, db.At(now.Add(-keptFor)))
	return err
}

func sum(name string) string {
	h := sha256.Sum256([]byte(name))
	return hex.EncodeToString(h[:])
}
