package assistants

import (
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
)

// Only the index of inbound numbers is answered as a number that is taken; any other one is a defect and no wrong input.
func TestWhichIndexRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		id := l.create("")
		insert := func(columns, values string) error {
			_, err := d.Exec(t.Context(), `INSERT INTO assistants (account_id, name, type, mode, status, settings, created_at, updated_at, `+columns+`)
				SELECT account_id, name, type, mode, status, settings, 0, 0, `+values+` FROM assistants WHERE id = $1`, id)
			return err
		}
		if err := insert(`uuid`, `uuid`); !db.IsUnique(err) || taken(err) != err {
			t.Errorf("uuid: %v", taken(err))
		}
		if err := insert(`uuid, phone_number_id`, `'a', 11`); err != nil {
			t.Fatal(err)
		}
		if err := insert(`uuid, phone_number_id`, `'b', 11`); !fault.Is(taken(err), fault.Invalid) {
			t.Errorf("number: %v", taken(err))
		}
	})
}
