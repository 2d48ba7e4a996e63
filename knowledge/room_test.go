package knowledge_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/db"
	"parley/jobs"
	"parley/knowledge"
	"parley/knowledge/extract"
	"parley/ssrf"
	"parley/value"
)

func TestMain(m *testing.M) {
	extract.Child()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	goleak.VerifyTestMain(m)
}

// shelf keeps files in memory.
type shelf struct {
	mu    sync.Mutex
	files map[string][]byte
}

type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

func (s *shelf) Put(_ context.Context, key string, r io.Reader, _ string) error {
	b, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[key] = b
	return err
}

func (s *shelf) Open(_ context.Context, key string) (io.ReadSeekCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.files[key]
	if !ok {
		return nil, errors.New("no such file")
	}
	return file{bytes.NewReader(b)}, nil
}

func (s *shelf) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, key)
	return nil
}

// lab is the room with two accounts and its jobs at work.
type lab struct {
	t        testing.TB
	ctx      context.Context
	d        *db.DB
	room     *knowledge.Room
	files    *shelf
	jobs     *jobs.Runner
	ada, bob accounts.ID
	news     chan string
}

func newLab(t testing.TB, d *db.DB, opts ...knowledge.Option) *lab {
	t.Helper()
	dev, err := ssrf.ParseAllow(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, ctx: context.Background(), d: d, files: &shelf{files: map[string][]byte{}}, jobs: jobs.NewRunner(d), news: make(chan string, 100)}
	opts = append(opts, knowledge.Telling(func(_ accounts.ID, _ knowledge.ID, _ knowledge.DocumentID, status string) { l.news <- status }))
	l.room = knowledge.New(d, l.jobs, l.files, ssrf.New(dev...), opts...)
	for _, id := range []*accounts.ID{&l.ada, &l.bob} {
		err := d.Get(l.ctx, id, `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
			VALUES ('a', '', 'direct', 'UTC', '{}', 'ok', 1, 1) RETURNING id`)
		if err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// work runs the jobs until the test ends.
func (l *lab) work() *lab {
	ctx, stop := context.WithCancel(l.ctx)
	done := make(chan error)
	go func() { done <- l.jobs.Run(ctx) }()
	l.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			l.t.Error(err)
		}
	})
	return l
}

func (l *lab) base(owner accounts.ID, name string) knowledge.ID {
	l.t.Helper()
	b, err := l.room.CreateBase(l.ctx, owner, knowledge.BaseChange{Name: value.Some(name)})
	if err != nil {
		l.t.Fatal(err)
	}
	return b.ID
}

func (l *lab) add(base knowledge.ID, n knowledge.NewDocument) knowledge.Document {
	l.t.Helper()
	d, err := l.room.CreateDocument(l.ctx, l.ada, base, n)
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}

func txt(name, text string) knowledge.NewDocument { return upload("txt", name, []byte(text)) }

func upload(kind, name string, content []byte) knowledge.NewDocument {
	return knowledge.NewDocument{Name: name, Type: kind, Filename: name + "." + kind, File: bytes.NewReader(content), Size: int64(len(content))}
}

// settled waits until the document is read.
func (l *lab) settled(d knowledge.Document) knowledge.Document {
	l.t.Helper()
	<-l.news
	got, err := l.room.Document(l.ctx, l.ada, d.Base, d.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	return got
}

func (l *lab) find(base knowledge.ID, query string) []string {
	l.t.Helper()
	list, err := l.room.Search(l.ctx, base, query, 6)
	if err != nil {
		l.t.Fatal(err)
	}
	var out []string
	for _, p := range list {
		out = append(out, p.Text)
	}
	return out
}
