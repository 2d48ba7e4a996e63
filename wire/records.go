package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"parley/db"
)

// keptFor is how long an idempotent request is remembered, in durable time.
const keptFor = 24 * time.Hour

// Stored is Records in the database.
type Stored struct {
	d    *db.DB
	node string
}

// NewStored forgets what this node had in progress when it ended; node is its name over restarts.
func NewStored(ctx context.Context, d *db.DB, node string) (*Stored, error) {
	_, err := d.Exec(ctx, `DELETE FROM idempotency WHERE node = $1 AND status = 0`, node)
	return &Stored{d, node}, err
}

// Begin claims name, or tells what happened under it before.
func (s *Stored) Begin(ctx context.Context, account int64, name, hash string) (*Record, error) {
	for {
		claimed, err := s.claim(ctx, account, name, hash)
		if claimed || err != nil {
			return nil, err
		}
		var row struct {
			Hash   string `db:"hash"`
			Status int    `db:"status"`
			Body   []byte `db:"body"`
		}
		err = s.d.Get(ctx, &row, `SELECT hash, status, body FROM idempotency WHERE account_id = $1 AND name = $2`, account, sum(name))
		if errors.Is(err, db.ErrNone) {
			continue // dropped meanwhile
		}
		return &Record{Hash: row.Hash, Running: row.Status == 0, Status: row.Status, Body: row.Body}, err
	}
}

func (s *Stored) claim(ctx context.Context, account int64, name, hash string) (claimed bool, err error) {
	err = s.d.Do(ctx, func(tx *db.Tx) error {
		now := tx.Now()
		if _, err := tx.Exec(ctx, `DELETE FROM idempotency WHERE account_id = $1 AND name = $2 AND created_at <= $3`,
			account, sum(name), db.At(now.Add(-keptFor))); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `INSERT INTO idempotency (account_id, name, hash, node, status, created_at)
			VALUES ($1, $2, $3, $4, 0, $5) ON CONFLICT (account_id, name) DO NOTHING`, account, sum(name), hash, s.node, db.At(now))
		claimed = n == 1
		return err
	})
	return claimed, err
}

// Done stores the answer.
func (s *Stored) Done(ctx context.Context, account int64, name string, status int, body []byte) error {
	_, err := s.d.Exec(ctx, `UPDATE idempotency SET status = $3, body = $4 WHERE account_id = $1 AND name = $2`, account, sum(name), status, body)
	return err
}

// Drop forgets a name that is still in progress.
func (s *Stored) Drop(ctx context.Context, account int64, name string) error {
	_, err := s.d.Exec(ctx, `DELETE FROM idempotency WHERE account_id = $1 AND name = $2 AND status = 0`, account, sum(name))
	return err
}

// Purge deletes what is older than 24 hours.
func (s *Stored) Purge(ctx context.Context, now time.Time) error {
	_, err := s.d.Exec(ctx, `DELETE FROM idempotency WHERE created_at <= $1`, db.At(now.Add(-keptFor)))
	return err
}

func sum(name string) string {
	h := sha256.Sum256([]byte(name))
	return hex.EncodeToString(h[:])
}
