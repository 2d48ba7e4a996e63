// Package knowledge turns customers' documents into passages that an assistant can search: knowledgebases, documents, their reading
// in the background, and the search.
package knowledge

import (
	"context"
	"io"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/jobs"
	"parley/knowledge/extract"
	"parley/ssrf"
)

// ID names a knowledgebase, DocumentID a document.
type (
	ID         = ids.Knowledgebase
	DocumentID int64
)

// Base is a knowledgebase: a container of documents.
type Base struct {
	ID                   ID
	Name                 string
	Description          *string
	Status               string // empty, processing, active, failed
	Documents            int64
	Assistants           int64 // that use it
	CreatedAt, UpdatedAt time.Time
}

// Document states.
const (
	Processing = "processing"
	Active     = "active"
	Failed     = "failed"
)

// Document is one source of passages.
type Document struct {
	ID                   DocumentID
	Base                 ID
	Name                 string
	Description          *string
	Type                 string // website, pdf, txt, docx
	Status               string
	Error                *string // why it failed
	URL                  *string
	Links                []Link
	LinkLimit            int64
	Filename             *string
	Pages, Chunks, Size  *int64
	CreatedAt, UpdatedAt time.Time

	blob    *string
	edition int64
}

// Link is a page of a website named one by one.
type Link struct {
	Link string `json:"link" rule:"required url public"`
}

// Passage is a piece of a document that answers a query.
type Passage struct {
	DocumentID int64   `json:"document_id"`
	Document   string  `json:"document"`
	Text       string  `json:"text"`
	Score      float64 `json:"score"` // 0 to 1
}

var (
	// ErrNoBase answers for a knowledgebase that does not exist or is somebody else's.
	ErrNoBase = fault.New(fault.NotFound, "", "Knowledgebase not found.")
	// ErrNoDocument answers for a document that is not in the knowledgebase.
	ErrNoDocument = fault.New(fault.NotFound, "", "No document with this id exists in this knowledgebase.")
)

// Files keeps uploaded files.
type Files interface {
	Put(ctx context.Context, key string, r io.Reader, contentType string) error
	Open(ctx context.Context, key string) (io.ReadSeekCloser, error)
	Delete(ctx context.Context, key string) error
}

// Embedder turns texts into vectors. Vectors of different models are never compared.
type Embedder interface {
	Model() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Room is the room with everything it needs.
type Room struct {
	db       *db.DB
	jobs     *jobs.Runner
	files    Files
	guard    *ssrf.Guard
	embedder Embedder // nil = words alone
	isolated bool
	vectors  vectorCache

	changed func(owner accounts.ID, base ID, document DocumentID, status string)
}

// Option changes the room.
type Option func(*Room)

// WithEmbedder searches by meaning beside words.
func WithEmbedder(e Embedder) Option { return func(r *Room) { r.embedder = e } }

// Telling has f told after the commit that gave a document a new status.
func Telling(f func(owner accounts.ID, base ID, document DocumentID, status string)) Option {
	return func(r *Room) { r.changed = f }
}

// Isolated reads PDF files in a child process; the program must call extract.Child first of all.
func Isolated() Option { return func(r *Room) { r.isolated = true } }

// New opens the room and registers its jobs.
func New(d *db.DB, j *jobs.Runner, files Files, g *ssrf.Guard, opts ...Option) *Room {
	r := &Room{db: d, jobs: j, files: files, guard: g}
	for _, o := range opts {
		o(r)
	}
	j.Register(jobRead, jobs.Options{Queue: "documents", Timeout: 15 * time.Minute, MaxAttempts: 3, Parallel: 2, GaveUp: r.gaveUp}, r.read)
	j.Register(jobErase, jobs.Options{Queue: "documents"}, r.erase)
	return r
}

func (r *Room) extract(ctx context.Context, kind extract.Kind, f io.ReadSeeker) (extract.Text, error) {
	if r.isolated && kind == extract.PDF {
		return extract.Isolated(ctx, kind, f)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return extract.Text{}, err
	}
	return extract.Read(kind, readerAt{f}, size)
}

// readerAt reads anywhere in a file that can only seek; one reader at a time.
type readerAt struct{ f io.ReadSeeker }

func (r readerAt) ReadAt(p []byte, at int64) (int, error) {
	if _, err := r.f.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r.f, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
