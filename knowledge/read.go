package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/jobs"
	"parley/knowledge/extract"
)

const (
	jobRead  = "knowledge.read"
	jobErase = "knowledge.erase"
)

// readArgs name the edition of a document that a job reads.
type readArgs struct {
	Document DocumentID
	Edition  int64
}

// harvest is what reading a document gave.
type harvest struct {
	pages  int64
	size   *int64 // bytes fetched; nil keeps the size of the upload
	pieces []piece
}

// refusal is a reason for the customer why a document cannot be read; trying again would not help.
type refusal string

func (r refusal) Error() string { return string(r) }

// errGone says that the document was deleted, or is being read anew, while it was being read.
var errGone = errors.New("the document is gone")

// read does one document. It starts over after a crash: passages of the unfinished edition are thrown away first.
func (r *Room) read(ctx context.Context, j jobs.Job) error {
	var args readArgs
	if err := j.Decode(&args); err != nil {
		return jobs.Never(err)
	}
	d, err := r.wanted(ctx, r.db, args)
	if err != nil {
		return unlessGone(err)
	}
	if err := r.discard(ctx, d.ID, `edition = $2`, d.edition); err != nil {
		return err
	}
	h, err := r.gather(ctx, d)
	if err == nil && len(h.pieces) == 0 {
		err = refusal(extract.ErrNoText)
	}
	if why, ok := errors.AsType[refusal](err); ok {
		return unlessGone(r.fail(ctx, d, string(why)))
	}
	if err == nil {
		err = r.store(ctx, d, h, j.Try)
	}
	return unlessGone(err)
}

func unlessGone(err error) error {
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// wanted is the document, or errGone when this edition is no longer asked for.
func (r *Room) wanted(ctx context.Context, q db.Q, args readArgs) (Document, error) {
	list, err := r.documents(ctx, q, `id = $1 AND edition = $2 AND status = 'processing'`, args.Document, args.Edition)
	if err == nil && len(list) == 0 {
		err = errGone
	}
	if err != nil {
		return Document{}, err
	}
	return list[0], nil
}

// gather reads the document's source.
func (r *Room) gather(ctx context.Context, d Document) (harvest, error) {
	if d.Type == "website" {
		return r.website(ctx, d)
	}
	f, err := r.files.Open(ctx, *d.blob)
	if err != nil {
		return harvest{}, fmt.Errorf("open the upload: %w", err)
	}
	defer f.Close()
	got, err := r.extract(ctx, extract.Kind(d.Type), f)
	if why, ok := errors.AsType[extract.Reason](err); ok {
		return harvest{}, refusal(why)
	}
	if err != nil {
		return harvest{}, err
	}
	return harvest{pages: int64(got.Pages), pieces: cut("", got.Text)}, nil
}

// batch is how many passages one transaction stores: few enough that others need not wait.
const batch = 200

// store writes the passages of a new edition beside the old one, and then lets it take the old one's place.
func (r *Room) store(ctx context.Context, d Document, h harvest, try int) error {
	for part := range slices.Chunk(h.pieces, batch) {
		vectors, err := r.embed(ctx, part)
		if err != nil && try < 3 {
			return err
		}
		err = r.db.Do(ctx, func(tx *db.Tx) error {
			if _, err := r.wanted(ctx, tx, readArgs{d.ID, d.edition}); err != nil {
				return err
			}
			return r.write(ctx, tx, d, part, vectors)
		})
		if err != nil {
			return err
		}
	}
	if err := r.activate(ctx, d, h); err != nil {
		return err
	}
	return r.discard(ctx, d.ID, `edition <> $2`, d.edition)
}

func (r *Room) write(ctx context.Context, tx *db.Tx, d Document, part []piece, vectors [][]float32) error {
	for i, p := range part {
		var vector []byte
		var model *string
		if vectors != nil {
			name := r.embedder.Model()
			vector, model = pack(vectors[i]), &name
		}
		var id int64
		err := tx.Get(ctx, &id, `INSERT INTO passages (knowledgebase_id, document_id, edition, title, text, vector, model)
			VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`, d.Base, d.ID, d.edition, p.title, p.text, vector, model)
		if err != nil {
			return err
		}
		if err := r.index(ctx, tx, id, d.Base, termsOf(d.Name, p)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Room) activate(ctx context.Context, d Document, h harvest) error {
	return r.settle(ctx, d, Active, func(tx *db.Tx) (int64, error) {
		return tx.Exec(ctx, `UPDATE documents SET status = 'active', error = NULL, live = edition, pages = $1, chunks = $2, size = COALESCE($3, size), updated_at = $4
			WHERE id = $5 AND edition = $6 AND status = 'processing'`, h.pages, len(h.pieces), h.size, db.At(r.db.Now()), d.ID, d.edition)
	})
}

// fail ends the reading for good. What an earlier edition left is not found any more: only active documents are searched.
func (r *Room) fail(ctx context.Context, d Document, why string) error {
	err := r.settle(ctx, d, Failed, func(tx *db.Tx) (int64, error) { return r.failIn(ctx, tx, d, why) })
	if err != nil {
		return err
	}
	return r.discard(ctx, d.ID, `edition <> $2`, -1)
}

func (r *Room) failIn(ctx context.Context, tx *db.Tx, d Document, why string) (int64, error) {
	return tx.Exec(ctx, `UPDATE documents SET status = 'failed', error = $1, live = 0, chunks = NULL, updated_at = $2
		WHERE id = $3 AND edition = $4 AND status = 'processing'`, why, db.At(r.db.Now()), d.ID, d.edition)
}

// settle changes the state of a document and tells of it.
func (r *Room) settle(ctx context.Context, d Document, status string, change func(*db.Tx) (int64, error)) error {
	return r.db.Do(ctx, func(tx *db.Tx) error {
		n, err := change(tx)
		if err != nil {
			return err
		}
		if n == 0 {
			return errGone
		}
		return r.tell(ctx, tx, d, status)
	})
}

func (r *Room) tell(ctx context.Context, tx *db.Tx, d Document, status string) error {
	if r.changed == nil {
		return nil
	}
	var owner accounts.ID
	if err := tx.Get(ctx, &owner, `SELECT account_id FROM knowledgebases WHERE id = $1`, d.Base); err != nil {
		return err
	}
	tx.After(func() { r.changed(owner, d.Base, d.ID, status) })
	return nil
}

// gaveUp fails a document whose reading broke down three times.
func (r *Room) gaveUp(ctx context.Context, tx *db.Tx, j jobs.Job, _ error) error {
	var args readArgs
	if err := j.Decode(&args); err != nil {
		return nil // nobody to tell
	}
	d, err := r.wanted(ctx, tx, args)
	if err != nil {
		return unlessGone(err)
	}
	if _, err := r.failIn(ctx, tx, d, "Reading was interrupted three times. Try again."); err != nil {
		return err
	}
	return r.tell(ctx, tx, d, Failed)
}

// discard removes passages of a document in small transactions.
func (r *Room) discard(ctx context.Context, id DocumentID, where string, arg int64) error {
	for {
		var n int
		err := r.db.Do(ctx, func(tx *db.Tx) error {
			var ids []int64
			if err := tx.Select(ctx, &ids, `SELECT id FROM passages WHERE document_id = $1 AND `+where+` LIMIT 500`, id, arg); err != nil {
				return err
			}
			if n = len(ids); n == 0 {
				return nil
			}
			in, args := db.In(1, ids)
			if err := r.unindex(ctx, tx, `id IN `+in, args...); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `DELETE FROM passages WHERE id IN `+in, args...)
			return err
		})
		if err != nil || n < 500 {
			return err
		}
	}
}

// crawlTime bounds the reading of one website.
const crawlTime = 5 * time.Minute
