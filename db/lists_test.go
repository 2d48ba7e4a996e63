package db_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

// countedLists are the lists that are counted by their changes: what is counted, by which columns, and where.
var countedLists = []struct{ table, by, where string }{
	{"calls", `type, status, ended_by, assistant_id, campaign_id, created_at / 86400000000`, `status IN ('completed', 'busy', 'no-answer', 'failed')`},
	{"leads", `status, campaign_id, created_at / 86400000000`, `parent_id IS NULL`},
	{"assistants", `folder_id, created_at / 86400000000`, `deleted_at IS NULL`},
	{"ledger", `kind, entry, assistant_id, created_at / 86400000000`, `TRUE`},
}

// Counts are those of the rows at every moment: while rows come, go and change in many transactions, some of which fail,
// while the changes are folded by two at once, and when all is folded.
func TestCounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newCountWorld(t, d)
		var writers, watchers sync.WaitGroup
		done := make(chan struct{})
		for i := range 3 {
			writers.Go(func() {
				dice := rand.New(rand.NewPCG(1, uint64(i)))
				for range 60 {
					if err := w.change(t.Context(), dice); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 2 {
			watchers.Go(func() {
				for {
					if err := d.FoldCounts(t.Context()); err != nil {
						t.Error(err)
					}
					w.check()
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		writers.Wait()
		close(done)
		watchers.Wait()
		w.exec(`INSERT INTO calls (account_id, uuid, type, status, ended_by, assistant_id, assistant_name, campaign_id, snapshot, input_variables, variables, evaluation, entries, answered_by, currency, created_real, created_at, updated_at)
			VALUES (1, 'last', 'web', 'completed', 'system', 1, 'A', 1, '{}', '{}', '{}', '{}', '[]', 'human', 'USD', 1, 1, 1)`)
		w.check()
		if err := d.FoldCounts(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.check()
		w.equalByKey()
		w.exec(`DELETE FROM campaigns WHERE id = 2`) // with its leads
		w.exec(`DELETE FROM folders WHERE id = 1`)   // its assistants are in none
		w.check()
		if err := d.FoldCounts(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.equalByKey()
		for table := range map[string]bool{"calls": true, "leads": true} {
			w.exec(`DELETE FROM ` + table)
		}
		w.check()
		if err := d.FoldCounts(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.number(`SELECT count(*) FROM list_counts WHERE list IN ('calls', 'leads')`); n != 0 {
			t.Errorf("%d rows count nothing", n)
		}
		if n := w.number(`SELECT count(*) FROM list_changes`); n != 0 {
			t.Errorf("%d changes are left", n)
		}
	})
}

type countWorld struct {
	t *testing.T
	d *db.DB
}

func newCountWorld(t *testing.T, d *db.DB) *countWorld {
	t.Helper()
	w := &countWorld{t, d}
	for i := 1; i <= 2; i++ {
		w.exec(`INSERT INTO accounts (id, name, email, kind, timezone, plan, payment_method, created_at, updated_at) VALUES ($1, 'A', $2, 'direct', 'UTC', '{}', 'ok', 1, 1)`, i, fmt.Sprint(i, "@p.example"))
		w.exec(`INSERT INTO folders (id, account_id, name) VALUES ($1, $1, 'F')`, i)
		w.exec(`INSERT INTO campaigns (id, account_id, name, status, settings, completes, created_at, updated_at) VALUES ($1, 1, 'C', 'draft', '{}', FALSE, 1, 1)`, i)
	}
	return w
}

func (w *countWorld) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.d.Exec(w.t.Context(), query, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *countWorld) number(query string, args ...any) (n int64) {
	w.t.Helper()
	if err := w.d.Get(w.t.Context(), &n, query, args...); err != nil {
		w.t.Error(err)
	}
	return n
}

var errRollback = errors.New("on second thoughts")

// change does a few things at random in one transaction; every fourth is rolled back.
func (w *countWorld) change(ctx context.Context, dice *rand.Rand) error {
	pick := func(of ...string) string { return of[dice.IntN(len(of))] }
	statuses := []string{"initiated", "in-progress", "ended", "completed", "failed"}
	leads := []string{"created", "scheduled", "processing", "completed", "blacklisted"}
	err := w.d.Do(ctx, func(tx *db.Tx) error {
		for range 1 + dice.IntN(4) {
			account, at, some := 1+dice.IntN(2), dice.Int64N(3*86_400_000_000), dice.IntN(7)
			var campaign any
			if dice.IntN(2) == 0 {
				campaign = 1 + dice.IntN(2)
			}
			all := []struct {
				query string
				args  []any
			}{
				{`INSERT INTO calls (account_id, uuid, type, status, ended_by, assistant_id, assistant_name, campaign_id, snapshot, input_variables, variables, evaluation, entries, answered_by, currency, created_real, created_at, updated_at)
					VALUES ($1, $2, $3, $4, $5, $6, 'A', $7, '{}', '{}', '{}', '{}', '[]', 'human', 'USD', 1, $8, 1)`,
					[]any{account, fmt.Sprint(dice.Int64()), pick("web", "inbound"), pick(statuses...), pick("customer", "system"), some, campaign, at}},
				{`UPDATE calls SET status = $1, ended_by = $2 WHERE id % 7 = $3`, []any{pick(statuses...), pick("customer", "system"), some}},
				{`UPDATE calls SET entries = '[1]' WHERE id % 7 = $1`, []any{some}},
				{`DELETE FROM calls WHERE id % 29 = $1`, []any{some}},
				{`INSERT INTO leads (account_id, campaign_id, phone_number, status, attempts, round, dial_no, created_at, updated_at) SELECT 1, id, '+49', $1, 0, 0, 0, $2, 1 FROM campaigns`,
					[]any{pick(leads...), at}},
				{`INSERT INTO leads (account_id, campaign_id, parent_id, phone_number, status, attempts, round, dial_no, created_at, updated_at) SELECT 1, campaign_id, id, '+48', $1, 0, 0, 0, $2, 1 FROM leads WHERE id % 13 = $3`,
					[]any{pick(leads...), at, some}},
				{`UPDATE leads SET status = $1 WHERE id % 7 = $2`, []any{pick(leads...), some}},
				{`UPDATE leads SET campaign_id = 1 + $1 WHERE id % 13 = $2`, []any{dice.IntN(2), some}},
				{`UPDATE leads SET round = 1 WHERE id % 7 = $1`, []any{some}},
				{`DELETE FROM leads WHERE id % 31 = $1`, []any{some}}, // with contacts
				{`INSERT INTO assistants (account_id, uuid, name, type, mode, status, folder_id, settings, created_at, updated_at) VALUES ($1, $2, 'A', 'inbound', 'pipeline', 'active', $1, '{}', $3, 1)`,
					[]any{account, fmt.Sprint(dice.Int64()), at}},
				{`UPDATE assistants SET folder_id = NULL WHERE id % 5 = $1`, []any{some}},
				{`UPDATE assistants SET deleted_at = $1, name = 'B' WHERE id % 19 = $2`, []any{at, some}},
				{`DELETE FROM assistants WHERE id % 37 = $1`, []any{some}},
				{`INSERT INTO ledger (account_id, entry, kind, ref, amount, money, assistant_id, created_at) VALUES ($1, $2, 'call', $3, -3, 2, $4, $5) ON CONFLICT (account_id, entry, kind, ref) DO NOTHING`,
					[]any{account, pick("charge", "refund", "credit"), fmt.Sprint(dice.IntN(60)), campaign, at}},
			}
			one := all[dice.IntN(len(all))]
			if _, err := tx.Exec(ctx, one.query, one.args...); err != nil {
				return err
			}
		}
		if dice.IntN(4) == 0 {
			return errRollback
		}
		return nil
	})
	if errors.Is(err, errRollback) || db.IsForeign(err) { // or a lead was deleted that was to have a contact
		err = nil
	}
	return err
}

// check compares counts with rows, each pair in one statement and so at one moment.
func (w *countWorld) check() {
	w.t.Helper()
	const real, sum = `(SELECT count(*) FROM %s WHERE %s AND %s)`, `(SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM %s)`
	for _, l := range countedLists {
		for where, daily := range map[string]bool{`account_id = 1`: false, `account_id = 2`: false, `account_id = 1 AND created_at >= 86400000000 AND created_at < 172800000000`: true} {
			if off := w.number(`SELECT ` + fmt.Sprintf(real, l.table, l.where, where) + ` - ` + fmt.Sprintf(sum, db.Counted(l.table, where, daily))); off != 0 {
				w.t.Errorf("%s where %s: off by %d", l.table, where, off)
			}
		}
	}
	if off := w.number(`SELECT coalesce((SELECT sum(amount) FROM ledger WHERE account_id = 1), 0) - coalesce((SELECT sum(amount) FROM ` + db.Counted("ledger", "account_id = 1", false) + `), 0)`); off != 0 {
		w.t.Errorf("the sum of amounts is off by %d", off)
	}
}

// equalByKey compares the folded counts of every combination of values with the rows that have it.
func (w *countWorld) equalByKey() {
	w.t.Helper()
	list := func(of, n, where string, columns []string) (all []string) {
		key := `account_id || ''`
		for _, c := range columns {
			key += ` || ' ' || coalesce(nullif(CAST(` + c + ` AS TEXT), '0'), '')`
		}
		err := w.d.Select(w.t.Context(), &all, `SELECT `+key+` || ': ' || CAST(`+n+` AS TEXT) FROM `+of+` WHERE `+where+` GROUP BY `+key+` ORDER BY 1`)
		if err != nil {
			w.t.Fatal(err)
		}
		return all
	}
	for _, l := range countedLists {
		columns := strings.Split(l.by, ", ")
		rows := list(l.table, `count(*)`, l.where, columns)
		for i, c := range columns {
			columns[i] = cmp.Or(map[string]string{"kind": "type", "entry": "status"}[c], c)
		}
		kept := list(`list_counts`, `sum(n)`, `daily AND list = '`+l.table+`'`, columns)
		if !slices.Equal(rows, kept) || len(rows) == 0 {
			w.t.Errorf("%s: counted\n%v, there are\n%v", l.table, kept, rows)
		}
	}
}
