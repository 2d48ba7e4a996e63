package db_test

import (
	"errors"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
)

func urls(t *testing.T) map[string]string {
	return map[string]string{"sqlite": dbtest.SQLiteURL(t), "postgres": dbtest.PostgresURL(t)}
}

func TestManualClockStandsStillAndSurvives(t *testing.T) {
	for name, url := range urls(t) {
		t.Run(name, func(t *testing.T) {
			before := time.Now().Truncate(time.Microsecond)
			d := dbtest.Open(t, url, db.Manual())
			start := d.Now()
			if start.Before(before) || start.After(time.Now()) {
				t.Error("starts at", start)
			}
			if again := d.Now(); !again.Equal(start) {
				t.Error("moved by itself to", again)
			}
			at, err := d.Advance(t.Context(), 36*time.Hour)
			if err != nil || !at.Equal(start.Add(36*time.Hour)) || !d.Now().Equal(at) {
				t.Error(at, err)
			}
			if err := d.AdvanceTo(t.Context(), start); err != nil || !d.Now().Equal(at) {
				t.Error("went back to", d.Now(), err)
			}
			if next := dbtest.Open(t, url, db.Manual()); !next.Now().Equal(at) {
				t.Error("after a restart:", next.Now())
			}
		})
	}
}

func TestManualClockIsSharedByProcesses(t *testing.T) {
	url := dbtest.PostgresURL(t)
	a, b := dbtest.Open(t, url, db.Manual()), dbtest.Open(t, url, db.Manual())
	at, err := a.Advance(t.Context(), time.Hour)
	if err != nil || !b.Now().Equal(at) {
		t.Error(b.Now(), at, err)
	}
}

func TestRealClockCannotBeMoved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if _, err := d.Advance(t.Context(), time.Hour); !errors.Is(err, db.ErrRealClock) {
			t.Error(err)
		}
		if off := time.Since(d.Now()); off < 0 || off > time.Hour {
			t.Error("off by", off)
		}
	})
}
