package campaigns

import (
	"context"
	"slices"
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/ids"
)

// A number is released in the moment in which a campaign takes it up: no rotation keeps it.
func TestReleasedWhileTakenUp(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		w.exec(`CREATE TABLE released (number_id BIGINT)`)
		dbtest.Race(t, w.db, func(ctx context.Context, _ int) {
			_, err := c.Update(ctx, 1, id, func(tx *db.Tx, s Settings) (Settings, error) {
				var gone int
				err := tx.Get(ctx, &gone, `SELECT count(*) FROM released`)
				if gone == 0 {
					s.NumberIDs = []ids.Number{7, 8}
				}
				return s, err
			})
			if err != nil {
				t.Error(err)
			}
		}, func(ctx context.Context, _ int) {
			err := w.db.Do(ctx, func(tx *db.Tx) error {
				if _, err := tx.Exec(ctx, `INSERT INTO released VALUES (7)`); err != nil {
					return err
				}
				return c.ForgetNumber(ctx, tx, 1, 7)
			})
			if err != nil {
				t.Error(err)
			}
		}, func(round int) {
			if one, err := c.Get(t.Context(), w.db, 1, id); err != nil || slices.Contains(one.Settings.V.NumberIDs, 7) {
				t.Errorf("round %d: numbers %v, %v", round, one.Settings.V.NumberIDs, err)
			}
			w.exec(`DELETE FROM released`)
			if _, err := c.Update(t.Context(), 1, id, func(_ *db.Tx, s Settings) (Settings, error) { s.NumberIDs = nil; return s, nil }); err != nil {
				t.Fatal(err)
			}
		})
	})
}
