package blobs

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// files is a Store in a folder.
type files struct{ root *os.Root }

// Files being written stand in this folder until they are whole.
const partial = ".partial"

func openFiles(dir string) (Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := files{root}
	if err := root.MkdirAll(partial, 0o700); err != nil {
		return nil, err
	}
	return f, f.sweep()
}

// sweep removes what a crash left half written.
func (f files) sweep() error {
	entries, err := fs.ReadDir(f.root.FS(), partial)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < 24*time.Hour { // another process may be writing it
			continue
		}
		if err := f.root.Remove(path.Join(partial, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (f files) Put(ctx context.Context, key string, r io.Reader, contentType string) error {
	if err := check(key); err != nil {
		return err
	}
	if err := f.root.MkdirAll(path.Dir(key), 0o700); err != nil {
		return err
	}
	if err := f.write(key, ctxReader{ctx, r}); err != nil {
		return err
	}
	note := typeFile(key)
	if contentType == "" || contentType == byName(key) {
		return absent(f.root.Remove(note))
	}
	return f.write(note, strings.NewReader(contentType))
}

// write puts a whole file in place: written aside, flushed to the disk, renamed, and the folder flushed.
func (f files) write(key string, r io.Reader) (err error) {
	temp := path.Join(partial, rand.Text())
	out, err := f.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = f.root.Rename(temp, key)
	}
	if err != nil {
		return errors.Join(err, absent(f.root.Remove(temp)))
	}
	return f.flush(path.Dir(key))
}

func (f files) flush(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f files) Open(_ context.Context, key string) (io.ReadSeekCloser, Info, error) {
	if check(key) != nil {
		return nil, Info{}, ErrNone
	}
	file, err := f.root.Open(key)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, Info{}, ErrNone
	}
	if err != nil {
		return nil, Info{}, err
	}
	stat, err := file.Stat()
	if err == nil && stat.IsDir() {
		err = ErrNone
	}
	if err != nil {
		return nil, Info{}, errors.Join(err, file.Close())
	}
	kind, err := f.root.ReadFile(typeFile(key))
	if err != nil {
		kind = []byte(byName(key))
	}
	return file, Info{stat.Size(), string(kind), stat.ModTime()}, nil
}

func (f files) Delete(_ context.Context, key string) error {
	if err := check(key); err != nil {
		return err
	}
	return errors.Join(absent(f.root.Remove(key)), absent(f.root.Remove(typeFile(key))))
}

// typeFile holds the content type of a file whose name does not tell it.
func typeFile(key string) string { return key + typeSuffix }

// absent forgives that a file is not there.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// known are the types whose file name says it all, on every machine.
var known = map[string]string{".wav": "audio/wav", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".txt": "text/plain; charset=utf-8",
	".pdf": "application/pdf", ".json": "application/json", ".png": "image/png", ".jpg": "image/jpeg"}

func byName(key string) string {
	ext := strings.ToLower(path.Ext(key))
	if t := known[ext]; t != "" {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "application/octet-stream"
}

// ctxReader stops a copy when its context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
