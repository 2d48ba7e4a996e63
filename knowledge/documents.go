package knowledge

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/knowledge/extract"
	"parley/value"
)

// NewDocument is the input of create. File is open for reading when the type is a file's.
type NewDocument struct {
	Name        string
	Description *string
	Type        string
	URL         *string
	Links       []Link
	LinkLimit   int64
	Filename    string
	File        io.Reader
	Size        int64
}

// DocumentChange is the input of update; what is absent stays.
type DocumentChange struct {
	Name        value.Opt[string] `json:"name" rule:"max=255"`
	Description value.Opt[string] `json:"description" rule:"null max=255"`
}

type docRow struct {
	ID          int64           `db:"id"`
	Base        int64           `db:"knowledgebase_id"`
	Name        string          `db:"name"`
	Description *string         `db:"description"`
	Type        string          `db:"type"`
	Status      string          `db:"status"`
	Error       *string         `db:"error"`
	URL         *string         `db:"url"`
	Links       db.JSON[[]Link] `db:"links"`
	LinkLimit   int64           `db:"link_limit"`
	Filename    *string         `db:"filename"`
	Blob        *string         `db:"blob"`
	Pages       *int64          `db:"pages"`
	Chunks      *int64          `db:"chunks"`
	Size        *int64          `db:"size"`
	Edition     int64           `db:"edition"`
	CreatedAt   db.Time         `db:"created_at"`
	UpdatedAt   db.Time         `db:"updated_at"`
}

func (d docRow) document() Document {
	return Document{DocumentID(d.ID), ID(d.Base), d.Name, d.Description, d.Type, d.Status, d.Error, d.URL, d.Links.V, d.LinkLimit, d.Filename,
		d.Pages, d.Chunks, d.Size, d.CreatedAt.Time(), d.UpdatedAt.Time(), d.Blob, d.Edition}
}

func (r *Room) documents(ctx context.Context, q db.Q, where string, args ...any) ([]Document, error) {
	var rows []docRow
	err := q.Select(ctx, &rows, `
		SELECT id, knowledgebase_id, name, description, type, status, error, url, links, link_limit, filename, blob, pages, chunks, size, edition, created_at, updated_at
		FROM documents WHERE `+where+` ORDER BY id DESC`, args...)
	if err != nil {
		return nil, fmt.Errorf("load documents: %w", err)
	}
	out := make([]Document, len(rows))
	for i, d := range rows {
		out[i] = d.document()
	}
	return out, nil
}

// Documents is the documents of a knowledgebase, newest first.
func (r *Room) Documents(ctx context.Context, owner accounts.ID, base ID) ([]Document, error) {
	if _, err := r.Base(ctx, owner, base); err != nil {
		return nil, err
	}
	return r.documents(ctx, r.db, `knowledgebase_id = $1`, base)
}

// Document is one document, ErrNoBase or ErrNoDocument.
func (r *Room) Document(ctx context.Context, owner accounts.ID, base ID, id DocumentID) (Document, error) {
	return r.document(ctx, r.db, owner, base, id)
}

func (r *Room) document(ctx context.Context, q db.Q, owner accounts.ID, base ID, id DocumentID) (Document, error) {
	if _, err := r.base(ctx, q, owner, base); err != nil {
		return Document{}, err
	}
	list, err := r.documents(ctx, q, `knowledgebase_id = $1 AND id = $2`, base, id)
	if err == nil && len(list) == 0 {
		err = ErrNoDocument
	}
	if err != nil {
		return Document{}, err
	}
	return list[0], nil
}

// lockedDocument is a document that nobody else changes until tx ends.
func (r *Room) lockedDocument(ctx context.Context, tx *db.Tx, owner accounts.ID, base ID, id DocumentID) (Document, error) {
	if err := r.locked(ctx, tx, owner, base); err != nil {
		return Document{}, err
	}
	return r.document(ctx, tx, owner, base, id)
}

// Fits reports whether an upload is what its type says: by extension and content.
func Fits(kind, filename string, f io.ReaderAt, size int64) bool {
	return size > 0 && strings.EqualFold(filepath.Ext(filename), "."+kind) && extract.Fits(extract.Kind(kind), f, size)
}

// errNotStored is how a failed creation is worded.
const notStored = "The document could not be stored. Try again in a moment."

// CreateDocument stores a document and its file; it is read in the background.
func (r *Room) CreateDocument(ctx context.Context, owner accounts.ID, base ID, n NewDocument) (Document, error) {
	now := r.db.Now()
	out := Document{Base: base, Name: n.Name, Description: n.Description, Type: n.Type, Status: Processing, URL: n.URL, Links: n.Links,
		LinkLimit: n.LinkLimit, CreatedAt: now, UpdatedAt: now, edition: 1}
	if n.File != nil {
		key := "documents/" + uuid.NewString()
		err := r.lose(db.Apart(ctx), key)
		if err == nil {
			err = r.files.Put(ctx, key, n.File, "application/octet-stream")
		}
		if err != nil {
			return Document{}, fault.Wrap(err, "", notStored)
		}
		out.blob, out.Filename, out.Size = &key, &n.Filename, &n.Size
	}
	err := r.db.Do(ctx, func(tx *db.Tx) error {
		if err := r.locked(ctx, tx, owner, base); err != nil {
			return err
		}
		err := tx.Get(ctx, &out.ID, `INSERT INTO documents (knowledgebase_id, name, description, type, status, url, links, link_limit, filename, blob, size, edition, live, created_at, updated_at)
			VALUES ($1, $2, $3, $4, 'processing', $5, $6, $7, $8, $9, $10, 1, 0, $11, $11) RETURNING id`,
			base, out.Name, out.Description, out.Type, out.URL, db.JSON[[]Link]{V: out.Links}, out.LinkLimit, out.Filename, out.blob, out.Size,
			db.At(now))
		if err != nil {
			return err
		}
		return r.queue(ctx, tx, out)
	})
	if err != nil && out.blob != nil {
		_ = r.files.Delete(ctx, *out.blob) // a file nobody points to is only lost space
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		err = fault.Wrap(err, "", notStored)
	}
	return out, err
}

// UpdateDocument changes name and description.
func (r *Room) UpdateDocument(ctx context.Context, owner accounts.ID, base ID, id DocumentID, c DocumentChange) (out Document, err error) {
	err = r.db.Do(ctx, func(tx *db.Tx) error {
		if out, err = r.lockedDocument(ctx, tx, owner, base, id); err != nil {
			return err
		}
		out.Name, out.UpdatedAt = c.Name.Or(out.Name), r.db.Now()
		if c.Description.Set {
			out.Description = c.Description.Ptr()
		}
		_, err := tx.Exec(ctx, `UPDATE documents SET name = $1, description = $2, updated_at = $3 WHERE id = $4`,
			out.Name, out.Description, db.At(out.UpdatedAt), id)
		return err
	})
	return out, err
}

// DeleteDocument removes a document, its file and its passages, which are not found from then on.
func (r *Room) DeleteDocument(ctx context.Context, owner accounts.ID, base ID, id DocumentID) error {
	return r.db.Do(ctx, func(tx *db.Tx) error {
		if _, err := r.lockedDocument(ctx, tx, owner, base, id); err != nil {
			return err
		}
		if err := r.eraseFiles(ctx, tx, `id = $1`, id); err != nil {
			return err
		}
		if err := r.unindex(ctx, tx, `document_id = $1`, id); err != nil {
			return err
		}
		for _, q := range []string{`DELETE FROM passages WHERE document_id = $1`, `DELETE FROM documents WHERE id = $1`} {
			if _, err := tx.Exec(ctx, q, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Reprocess reads a document again; its old passages are found until the new ones replace them.
func (r *Room) Reprocess(ctx context.Context, owner accounts.ID, base ID, id DocumentID) (out Document, err error) {
	err = r.db.Do(ctx, func(tx *db.Tx) error {
		if out, err = r.lockedDocument(ctx, tx, owner, base, id); err != nil {
			return err
		}
		out.Status, out.Error, out.UpdatedAt = Processing, nil, r.db.Now()
		out.edition++
		if _, err := tx.Exec(ctx, `UPDATE documents SET status = 'processing', error = NULL, edition = $1, updated_at = $2 WHERE id = $3`,
			out.edition, db.At(out.UpdatedAt), id); err != nil {
			return err
		}
		return r.queue(ctx, tx, out)
	})
	return out, err
}

// queue asks for the document to be read.
func (r *Room) queue(ctx context.Context, tx *db.Tx, d Document) error {
	return r.jobs.Add(ctx, tx, jobs.New{Kind: jobRead, Unique: fmt.Sprintf("read:%d", d.ID), Args: readArgs{d.ID, d.edition}})
}

// eraseFiles lets the files of documents be deleted once the transaction has committed.
func (r *Room) eraseFiles(ctx context.Context, tx *db.Tx, where string, arg any) error {
	var keys []string
	if err := tx.Select(ctx, &keys, `SELECT blob FROM documents WHERE blob IS NOT NULL AND `+where, arg); err != nil {
		return err
	}
	if len(keys) == 0 {
		return nil
	}
	return r.jobs.Add(ctx, tx, jobs.New{Kind: jobErase, Args: keys})
}

// upload is longer than storing a document takes.
const upload = time.Hour

// lose has a file that is to be stored erased later, unless a document has it by then: a crash may come before that.
func (r *Room) lose(ctx context.Context, key string) error {
	return r.jobs.Add(ctx, r.db, jobs.New{Kind: jobErase, Args: []string{key}, RunAt: r.db.Now().Add(upload)})
}

// erase deletes files that no document has.
func (r *Room) erase(ctx context.Context, j jobs.Job) error {
	var keys []string
	if err := j.Decode(&keys); err != nil {
		return jobs.Never(err)
	}
	for _, k := range keys {
		var used int
		if err := r.db.Get(ctx, &used, `SELECT count(*) FROM documents WHERE blob = $1`, k); err != nil {
			return err
		}
		if used > 0 {
			continue
		}
		if err := r.files.Delete(ctx, k); err != nil {
			return err
		}
	}
	return nil
}
