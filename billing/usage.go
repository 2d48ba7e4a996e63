package billing

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/value"
)

// Group says what a line of a usage report stands for.
type Group string

// The groups of a usage report.
const (
	ByDay       Group = "day" // UTC
	ByAssistant Group = "assistant"
	ByKind      Group = "kind"
)

// Usage is what was spent on one day, on one assistant or on one kind of thing; refunds are taken off.
type Usage struct {
	Day       string         // YYYY-MM-DD; empty unless grouped by day
	Assistant *assistants.ID // nil: none, or not grouped by assistant
	Kind      string         // empty unless grouped by kind
	Count     int64          // charges
	Amount    value.Money    // in the account's unit
	Money     value.Money    // in currency
}

// Key is the value the line is grouped by.
func (u Usage) Key() string {
	if u.Assistant != nil {
		return strconv.FormatInt(int64(*u.Assistant), 10)
	}
	return u.Day + u.Kind
}

const dayMicros = 24 * 60 * 60 * 1_000_000

// Usage sums the charges from the first to the last day, both included and both in UTC.
func (b *Billing) Usage(ctx context.Context, q db.Q, owner accounts.ID, first, last time.Time, by Group) ([]Usage, error) {
	key := map[Group]string{ByDay: `created_at / ` + strconv.Itoa(dayMicros), ByAssistant: `nullif(assistant_id, 0)`, ByKind: `type`}[by]
	var rows []struct {
		Day       *int64
		Assistant *assistants.ID
		Kind      *string
		Count     int64
		Amount    value.Money
		Money     value.Money
	}
	name := map[Group]string{ByDay: "day", ByAssistant: "assistant", ByKind: "kind"}[by]
	err := q.Select(ctx, &rows, `SELECT `+key+` AS `+name+`, CAST(coalesce(sum(n) FILTER (WHERE status = 'charge'), 0) AS BIGINT) AS count,
			CAST(-sum(amount) AS BIGINT) AS amount, CAST(sum(money) AS BIGINT) AS money
		FROM `+db.Counted("ledger", `account_id = $1 AND status <> 'credit' AND created_at >= $2 AND created_at < $3`, true)+`
		GROUP BY `+key+` ORDER BY `+key+` NULLS FIRST`, owner, db.At(day(first)), db.At(day(last).AddDate(0, 0, 1)))
	out := make([]Usage, len(rows))
	for i, r := range rows {
		out[i] = Usage{Assistant: r.Assistant, Count: r.Count, Amount: r.Amount, Money: r.Money}
		if r.Day != nil {
			out[i].Day = time.Unix(*r.Day*24*60*60, 0).UTC().Format(time.DateOnly)
		}
		if r.Kind != nil {
			out[i].Kind = *r.Kind
		}
	}
	return out, err
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// WriteCSV writes a usage report with a head line; unit and currency name its columns of amounts.
func WriteCSV(w io.Writer, by Group, unit, currency string, rows []Usage) error {
	c := csv.NewWriter(w)
	lines := [][]string{{string(by), "count", unit, currency}}
	for _, u := range rows {
		lines = append(lines, []string{u.Key(), strconv.FormatInt(u.Count, 10), u.Amount.String(), u.Money.String()})
	}
	return c.WriteAll(lines)
}

// Entry is a line of the ledger.
type Entry struct {
	ID        int64          `db:"id"`
	Entry     string         `db:"entry"` // charge, refund or credit
	Kind      string         `db:"kind"`
	Ref       string         `db:"ref"`
	Amount    value.Money    `db:"amount"` // what it adds to the balance
	Money     value.Money    `db:"money"`
	Assistant *assistants.ID `db:"assistant_id"`
	Note      *string        `db:"note"`
	CreatedAt db.Time        `db:"created_at"`
}

// Entries lists the ledger from the newest line before an id on (0 = the very newest).
func (b *Billing) Entries(ctx context.Context, q db.Q, owner accounts.ID, before int64, most int) (lines []Entry, err error) {
	err = q.Select(ctx, &lines, `SELECT id, entry, kind, ref, amount, money, assistant_id, note, created_at FROM ledger
		WHERE account_id = $1 AND (CAST($2 AS BIGINT) = 0 OR id < $2) ORDER BY id DESC LIMIT $3`, owner, before, most)
	return lines, err
}
