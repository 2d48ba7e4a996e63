package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Tally counts the rows of lists that grow at one end and hardly ever lose a row: what is settled is counted once, later
// only what came after. Counts are exact. A table needs a column id that rises with time.
type Tally struct {
	list string // the table
	// settled is an id up to which no row will come, go or change in what lists are filtered by, other than by Removed.
	settled func(ctx context.Context, q Q, owner int64) (id int64, err error)

	mu     sync.Mutex
	counts map[string]tallied
}

type tallied struct {
	edition int64 // of the list
	upTo    int64 // id
	n       int   // rows up to it
	tail    int   // rows after it, the last time
}

const (
	tallyTail = 500  // rows that are counted every time before the mark is moved
	tallyKept = 2000 // counts remembered
)

// NewTally counts a table whose rows belong to accounts.
func NewTally(table string, settled func(ctx context.Context, q Q, owner int64) (id int64, err error)) *Tally {
	return &Tally{list: table, settled: settled, counts: map[string]tallied{}}
}

// Removed notes, in the transaction that does it, that rows of an account went away or changed in what they are listed by.
func (t *Tally) Removed(ctx context.Context, q Q, owner int64) error {
	_, err := q.Exec(ctx, `INSERT INTO list_editions (account_id, list, n) VALUES ($1, $2, 1)
		ON CONFLICT (account_id, list) DO UPDATE SET n = list_editions.n + 1`, owner, t.list)
	return err
}

// Count is the number of an account's rows that satisfy where. It is not for transactions that have called Removed: what
// they count may never come true.
func (t *Tally) Count(ctx context.Context, q Q, owner int64, where string, args ...any) (int, error) {
	var edition int64
	err := q.Get(ctx, &edition, `SELECT n FROM list_editions WHERE account_id = $1 AND list = $2`, owner, t.list)
	if err != nil && !errors.Is(err, ErrNone) {
		return 0, err
	}
	key := fmt.Sprintf("%d %s %#v", owner, where, args) // quoted: ("a b", "c") is not ("a", "b c")
	t.mu.Lock()
	one, known := t.counts[key]
	t.mu.Unlock()
	if !known || one.edition != edition {
		one = tallied{edition: edition, tail: tallyTail + 1}
	}
	count := func(more string, ids ...any) (n int, err error) {
		err = q.Get(ctx, &n, `SELECT count(*) FROM `+t.list+` WHERE `+where+more, append(args[:len(args):len(args)], ids...)...)
		return n, err
	}
	if one.tail > tallyTail {
		mark, err := t.settled(ctx, q, owner)
		if err != nil {
			return 0, err
		}
		if mark > one.upTo {
			n, err := count(fmt.Sprintf(` AND id > $%d AND id <= $%d`, len(args)+1, len(args)+2), one.upTo, mark)
			if err != nil {
				return 0, err
			}
			one.n, one.upTo = one.n+n, mark
		}
	}
	var last int64
	if err := q.Get(ctx, &last, `SELECT coalesce(max(id), 0) FROM `+t.list); err != nil {
		return 0, err
	}
	one.tail = 0
	if last > one.upTo {
		// In this order also where an index of the filter looks better to SQLite: the tail is shorter.
		err := q.Get(ctx, &one.tail, fmt.Sprintf(`SELECT count(*) FROM (SELECT id AS tail_id FROM %s WHERE account_id = $%d AND id > $%d) tail
			CROSS JOIN %s WHERE id = tail_id AND %s`, t.list, len(args)+1, len(args)+2, t.list, where), append(args[:len(args):len(args)], owner, one.upTo)...)
		if err != nil {
			return 0, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.counts) >= tallyKept {
		clear(t.counts)
	}
	t.counts[key] = one
	return one.n + one.tail, nil
}

// SettledUpTo is what [NewTally] needs of a table whose rows have a column created_at and are listed by nothing that
// changes: rows younger than a minute may still be joined by others whose transaction is open.
func (d *DB) SettledUpTo(table string) func(ctx context.Context, q Q, owner int64) (id int64, err error) {
	return func(ctx context.Context, q Q, owner int64) (id int64, err error) {
		err = q.Get(ctx, &id, `SELECT coalesce((SELECT id FROM `+table+` WHERE account_id = $1 AND created_at < $2 ORDER BY id DESC LIMIT 1), 0)`,
			owner, At(d.Now().Add(-time.Minute)))
		return id, err
	}
}
