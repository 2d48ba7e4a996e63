package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/db"
)

// overlap is how long the secret before still signs after a rotation.
const overlap = 24 * time.Hour

type secretRow struct {
	Current  string  `db:"current"`
	Previous *string `db:"previous"`
	Until    db.Time `db:"previous_until"`
}

// Secret is the signing secret of a scope; it is made at the first use.
func (s *Webhooks) Secret(ctx context.Context, q db.Q, scope string) (string, error) {
	list, err := s.secrets(ctx, q, scope)
	if err != nil {
		return "", err
	}
	return list[0], nil
}

// Rotate replaces the secret of a scope; the old one goes on signing beside it for 24 hours.
func (s *Webhooks) Rotate(ctx context.Context, q db.Q, scope string) (string, error) {
	if _, err := s.Secret(ctx, q, scope); err != nil {
		return "", err
	}
	fresh := newSecret()
	sealed, err := s.box.Seal([]byte(fresh))
	if err != nil {
		return "", err
	}
	_, err = q.Exec(ctx, `UPDATE webhook_secrets SET previous = current, previous_until = $3, current = $2 WHERE scope = $1`,
		scope, sealed, db.At(s.db.Now().Add(overlap)))
	if err != nil {
		return "", fmt.Errorf("rotate webhook secret: %w", err)
	}
	return fresh, nil
}

// secrets are those that sign now, the present one first.
func (s *Webhooks) secrets(ctx context.Context, q db.Q, scope string) ([]string, error) {
	var r secretRow
	err := q.Get(ctx, &r, `SELECT current, previous, previous_until FROM webhook_secrets WHERE scope = $1`, scope)
	if errors.Is(err, db.ErrNone) {
		if err = s.first(ctx, q, scope); err == nil {
			err = q.Get(ctx, &r, `SELECT current, previous, previous_until FROM webhook_secrets WHERE scope = $1`, scope)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("webhook secret: %w", err)
	}
	sealed := []string{r.Current}
	if r.Previous != nil && s.db.Now().Before(r.Until.Time()) {
		sealed = append(sealed, *r.Previous)
	}
	out := make([]string, len(sealed))
	for i, x := range sealed {
		b, err := s.box.Open(x)
		if err != nil {
			return nil, fmt.Errorf("webhook secret: %w", err)
		}
		out[i] = string(b)
	}
	return out, nil
}

// first makes a secret unless somebody else did meanwhile.
func (s *Webhooks) first(ctx context.Context, q db.Q, scope string) error {
	sealed, err := s.box.Seal([]byte(newSecret()))
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `INSERT INTO webhook_secrets (scope, current) VALUES ($1, $2) ON CONFLICT (scope) DO NOTHING`, scope, sealed)
	return err
}
