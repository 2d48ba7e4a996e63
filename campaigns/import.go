package campaigns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"parley/accounts"
	"parley/db"
)

// ImportError says why a row was left out.
type ImportError struct {
	Row   int    `json:"row"` // as a spreadsheet counts: the header is row 1
	Error string `json:"error"`
}

// Imported is what became of the rows of a file.
type Imported struct {
	Created int           `json:"created"`
	Skipped int           `json:"skipped"` // the number is in the campaign already
	Errors  []ImportError `json:"errors"`
}

// importBatch is how many rows a transaction takes: few, so that others who write get their turn.
const importBatch = 100

// Import adds the rows of a file to a campaign; duplicates are skipped. A file that is refused leaves nothing behind. What
// was added before an outage stays: the same file again skips it.
func (c *Campaigns) Import(ctx context.Context, owner accounts.ID, file io.ReadSeeker, s Sheet) (Imported, error) {
	return c.importWith(ctx, owner, file, s, func(batch []sheetRow) (created int, err error) {
		err = c.db.Do(ctx, func(tx *db.Tx) error {
			created, err = c.addRows(ctx, tx, owner, s, batch)
			return err
		})
		return created, err
	})
}

// Preview counts what Import would add and skip, and stores nothing.
func (c *Campaigns) Preview(ctx context.Context, owner accounts.ID, file io.ReadSeeker, s Sheet) (Imported, error) {
	seen := map[string]bool{}
	return c.importWith(ctx, owner, file, s, func(batch []sheetRow) (int, error) {
		fresh, err := c.fresh(ctx, c.db, s, batch, seen)
		return len(fresh), err
	})
}

// importWith passes the rows that can become leads on in batches, after it has read the whole file once to see that it can
// be taken.
func (c *Campaigns) importWith(ctx context.Context, owner accounts.ID, file io.ReadSeeker, s Sheet,
	add func([]sheetRow) (int, error)) (Imported, error) {
	out := Imported{Errors: []ImportError{}}
	if _, err := c.Get(ctx, c.db, owner, s.Campaign); err != nil {
		return out, err
	}
	if err := s.each(file, func([]sheetRow) error { return ctx.Err() }); err != nil {
		return out, err
	}
	return out, s.each(file, func(batch []sheetRow) error {
		fit := make([]sheetRow, 0, len(batch))
		for _, r := range batch {
			if r.wrong != "" {
				out.Errors = append(out.Errors, ImportError{r.at, r.wrong})
			} else {
				fit = append(fit, r)
			}
		}
		began := time.Now()
		created, err := add(fit)
		out.Created, out.Skipped = out.Created+created, out.Skipped+len(fit)-created
		if err != nil {
			return err
		}
		return rest(ctx, created, time.Since(began))
	})
}

// pace is the time a row may take: a batch that is done sooner rests for what is left.
const pace = time.Second / 6500

// rest leaves the machine to others until the time of a batch is over, and for a quarter of what it took in any case: an
// import is in no hurry, and who waits for the writer gets their turn.
func rest(ctx context.Context, rows int, took time.Duration) error {
	select {
	case <-time.After(max(time.Duration(rows)*pace-took, min(took/4, 20*time.Millisecond))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// each reads the file from its beginning.
func (s Sheet) each(file io.ReadSeeker, do func([]sheetRow) error) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	rows, err := s.open(file)
	if err != nil {
		return err
	}
	for more := true; more; {
		batch := make([]sheetRow, 0, importBatch)
		for len(batch) < importBatch && more {
			row, err := rows.next()
			switch {
			case errors.Is(err, io.EOF):
				more = false
			case err != nil:
				return err
			default:
				batch = append(batch, row)
			}
		}
		if err := do(batch); err != nil {
			return err
		}
	}
	return nil
}

// addRows stores rows whose numbers are not there yet, with their contacts. In a running campaign they are due at once.
func (c *Campaigns) addRows(ctx context.Context, tx *db.Tx, owner accounts.ID, s Sheet, batch []sheetRow) (int, error) {
	one, err := c.locked(ctx, tx, owner, s.Campaign)
	if err != nil {
		return 0, err
	}
	fresh, err := c.fresh(ctx, tx, s, batch, map[string]bool{})
	if err != nil || len(fresh) == 0 {
		return 0, err
	}
	var phones []string
	for _, r := range fresh {
		phones = append(phones, r.Phone)
		for _, k := range r.Contacts {
			phones = append(phones, k.Phone)
		}
	}
	blocked, err := c.caller.Blocked(ctx, tx, owner, phones)
	if err != nil {
		return 0, err
	}
	leads := make([]Lead, len(fresh))
	for i, r := range fresh {
		leads[i] = newLead(one, owner, r.Contact, blocked, tx.Now())
	}
	if err := insertLeads(ctx, tx, leads); err != nil {
		return 0, err
	}
	var contacts []Lead
	for i, r := range fresh {
		for _, k := range r.Contacts {
			contacts = append(contacts, newContact(leads[i], k, blocked))
		}
	}
	tx.After(func() { c.changed(owner, s.Campaign) })
	return len(leads), insertLeads(ctx, tx, contacts)
}

// fresh are the rows whose numbers are neither in the campaign nor among those seen, unless duplicates are wanted.
func (c *Campaigns) fresh(ctx context.Context, q db.Q, s Sheet, batch []sheetRow, seen map[string]bool) ([]sheetRow, error) {
	if s.Duplicates || len(batch) == 0 {
		return batch, nil
	}
	phones := make([]string, len(batch))
	for i, r := range batch {
		phones[i] = r.Phone
	}
	in, args := db.In(2, phones)
	var there []string
	err := q.Select(ctx, &there, `SELECT phone_number FROM leads WHERE campaign_id = $1 AND parent_id IS NULL AND phone_number IN `+in,
		append([]any{s.Campaign}, args...)...)
	for _, phone := range there {
		seen[phone] = true
	}
	var fresh []sheetRow
	for _, r := range batch {
		if !seen[r.Phone] {
			fresh = append(fresh, r)
		}
		seen[r.Phone] = true
	}
	return fresh, err
}

// insertLeads stores leads or contacts in one statement and fills in their ids.
func insertLeads(ctx context.Context, tx *db.Tx, leads []Lead) error {
	if len(leads) == 0 {
		return nil
	}
	now := db.At(tx.Now())
	args := []any{leads[0].Owner, leads[0].CampaignID, now}
	var rows []string
	for i := range leads {
		l := &leads[i]
		l.CreatedAt, l.UpdatedAt = now, now
		n := len(args)
		rows = append(rows, fmt.Sprintf("($1, $2, $%d, $%d, $%d, $%d, 0, 0, 0, $%d, $3, $3)", n+1, n+2, n+3, n+4, n+5))
		args = append(args, l.ParentID, l.Phone, l.Variables, l.Status, l.DueAt)
	}
	var stored []struct {
		ID    LeadID `db:"id"`
		Phone string `db:"phone_number"`
	}
	err := tx.Select(ctx, &stored,
		`INSERT INTO leads (account_id, campaign_id, parent_id, phone_number, variables, status, attempts, round, dial_no, due_at,
		created_at, updated_at) VALUES `+strings.Join(rows, ", ")+` RETURNING id, phone_number`, args...)
	if err != nil {
		return err
	}
	slices.SortFunc(stored, func(a, b struct {
		ID    LeadID `db:"id"`
		Phone string `db:"phone_number"`
	}) int {
		return int(a.ID - b.ID)
	})
	for i, s := range stored {
		if leads[i].ID = s.ID; s.Phone != leads[i].Phone {
			return errors.New("campaigns: leads were numbered out of their order")
		}
	}
	return nil
}
