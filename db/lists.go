package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Counted is what stands for the rows of a list in a count, as the text of a subquery: the sum of its column n is how many
// of them satisfy where, exactly, however many there are. The columns are those of list_changes; where must begin with the
// account and is the same text as for the table itself. daily is for a where that asks for created_at, in whole days of UTC.
func Counted(list, where string, daily bool) string {
	const columns = `created_at, campaign_id, assistant_id, folder_id, type, status, ended_by, n, amount, money`
	level := `daily = FALSE`
	if daily {
		level = `daily`
	}
	where = ` WHERE list = '` + list + `' AND ` + where
	return `(SELECT ` + columns + ` FROM list_counts` + where + ` AND ` + level + ` UNION ALL SELECT ` + columns + ` FROM list_changes` + where + `) counted`
}

// Count is the number of rows of a list, see [Counted].
func Count(ctx context.Context, q Q, list, where string, daily bool, args ...any) (n int, err error) {
	err = q.Get(ctx, &n, `SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM `+Counted(list, where, daily), args...)
	return n, err
}

// counted is what rows are counted by: a row of list_counts without its sums.
type counted struct {
	Daily     bool   `db:"daily"`
	List      string `db:"list"`
	Account   int64  `db:"account_id"`
	CreatedAt int64  `db:"created_at"`
	Campaign  int64  `db:"campaign_id"`
	Assistant int64  `db:"assistant_id"`
	Folder    int64  `db:"folder_id"`
	Type      string `db:"type"`
	Status    string `db:"status"`
	EndedBy   string `db:"ended_by"`
}

type sums struct {
	N      int64 `db:"n"`
	Amount int64 `db:"amount"`
	Money  int64 `db:"money"`
}

const foldAtOnce = 2000

// FoldCounts adds what lists grew and shrank by to their counts. It may run at any time, on several nodes: counts are exact
// before, during and after. It is to run often, because every count reads what is not folded yet.
func (d *DB) FoldCounts(ctx context.Context) error {
	for {
		var some bool // to look is cheaper than to write nothing
		if err := d.Get(ctx, &some, `SELECT EXISTS (SELECT 1 FROM list_changes)`); err != nil || !some {
			return err
		}
		var n int
		err := d.Do(ctx, func(tx *Tx) (err error) {
			n, err = fold(ctx, tx)
			return err
		})
		if err != nil || n < foldAtOnce {
			return err
		}
	}
}

// fold moves some lines of list_changes into list_counts.
func fold(ctx context.Context, tx *Tx) (int, error) {
	var lines []struct {
		counted
		sums
	}
	err := tx.Select(ctx, &lines, `DELETE FROM list_changes WHERE id IN (SELECT id FROM list_changes ORDER BY id LIMIT $1 {{skip locked}})
		RETURNING TRUE AS daily, list, account_id, created_at - created_at % 86400000000 AS created_at, coalesce(campaign_id, 0) AS campaign_id,
			coalesce(assistant_id, 0) AS assistant_id, coalesce(folder_id, 0) AS folder_id, coalesce(type, '') AS type,
			coalesce(status, '') AS status, coalesce(ended_by, '') AS ended_by, n, amount, money`, foldAtOnce)
	if err != nil {
		return 0, err
	}
	all := map[counted]sums{}
	add := func(k counted, s sums) {
		old := all[k]
		all[k] = sums{old.N + s.N, old.Amount + s.Amount, old.Money + s.Money}
	}
	for _, l := range lines {
		add(l.counted, l.sums)
		l.Daily, l.CreatedAt = false, 0
		add(l.counted, l.sums)
	}
	maps.DeleteFunc(all, func(_ counted, s sums) bool { return s == sums{} })
	// Two nodes that fold lock rows in one order.
	keys := slices.SortedFunc(maps.Keys(all), func(a, b counted) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for part := range slices.Chunk(keys, 50) {
		if err := addCounts(ctx, tx, part, all); err != nil {
			return 0, err
		}
	}
	return len(lines), nil
}

// addCounts adds sums to rows of list_counts, and removes the rows that count nothing any more.
func addCounts(ctx context.Context, tx *Tx, keys []counted, all map[counted]sums) error {
	var values []string
	var args []any
	for _, k := range keys {
		s := all[k]
		row := []any{k.Daily, k.List, k.Account, k.CreatedAt, k.Campaign, k.Assistant, k.Folder, k.Type, k.Status, k.EndedBy, s.N, s.Amount,
			s.Money}
		holes, _ := In(len(args)+1, row)
		values, args = append(values, holes), append(args, row...)
	}
	var rows []struct {
		ID    int64 `db:"id"`
		Empty bool  `db:"empty"`
	}
	err := tx.Select(ctx, &rows, `INSERT INTO list_counts (daily, list, account_id, created_at, campaign_id, assistant_id, folder_id,
			type, status, ended_by, n, amount, money) VALUES `+strings.Join(values, ", ")+`
		ON CONFLICT (list, account_id, daily, campaign_id, assistant_id, folder_id, type, status, ended_by, created_at)
		DO UPDATE SET n = list_counts.n + excluded.n, amount = list_counts.amount + excluded.amount, money = list_counts.money + excluded.money
		RETURNING id, n = 0 AND amount = 0 AND money = 0 AS empty`, args...)
	if err != nil {
		return err
	}
	var empty []int64
	for _, r := range rows {
		if r.Empty {
			empty = append(empty, r.ID)
		}
	}
	if len(empty) == 0 {
		return nil
	}
	in, args := In(1, empty)
	_, err = tx.Exec(ctx, `DELETE FROM list_counts WHERE id IN `+in, args...)
	return err
}

// Span reads a page from the nearer end of a list of total rows, so that skipping never costs more than half of it: with
// back the order is turned around, and offset and limit count from the other end.
func Span(total, offset, limit int) (back bool, from, most int) {
	if after := total - offset - limit; offset > 0 && after < offset {
		return true, max(after, 0), min(limit, total-offset)
	}
	return false, offset, limit
}
