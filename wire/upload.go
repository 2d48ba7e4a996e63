package wire

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"os"

	"parley/fault"
	"parley/value"
)

// Bounds of an upload beside those of its fields' names.
const (
	mostText   = 1 << 20  // bytes of all fields that are no files, as much as JSON may have
	inMemory   = 1 << 20  // bytes of files kept in memory; what is more goes to a temporary file
	mostHeader = 16 << 10 // bytes of a part's header
)

// readForm turns a multipart body into an object, part by part. The files in it can be read until spool is closed.
func readForm(parts *multipart.Reader, from *heading, files *spool) (value.Value, error) {
	var form value.Form
	text := 0
	for {
		from.expect()
		part, err := parts.NextPart()
		from.content()
		switch {
		case from.over:
			return value.Value{}, from.refuse(&form)
		case errors.Is(err, io.EOF):
			return form.Object(), nil
		case err != nil:
			return value.Value{}, err
		}
		place, err := form.At(part.FormName())
		if err != nil {
			return value.Value{}, err
		}
		item, err := readPart(part, files, mostText-text)
		if err != nil {
			return value.Value{}, err
		}
		if part.FormName() != "" {
			text += len(item.Digits)
			place.Put(item)
		}
	}
}

// readPart reads a file, or a text of at most so many bytes.
func readPart(part *multipart.Part, files *spool, most int) (value.Value, error) {
	if name := part.FileName(); name != "" {
		f := value.File{Name: name, ContentType: part.Header.Get("Content-Type")}
		var err error
		f.Content, f.Size, err = files.add(part)
		return value.Value{Kind: value.KindFile, Digits: name, File: &f}, err
	}
	var text bytes.Buffer
	switch _, err := io.CopyN(&text, part, int64(most)+1); {
	case err == nil:
		return value.Value{}, errTooLarge
	case !errors.Is(err, io.EOF):
		return value.Value{}, err
	}
	return value.Text(text.String()), nil
}

// heading is a multipart body on its way to its reader, which itself accepts a part's header of 10 MiB.
type heading struct {
	io.ReadCloser
	left int // bytes that may be read while a header is looked for
	over bool
	seen []byte // what a header that is too long began with, and what was read just before
	part bool   // the content of a part is read, which has its own bounds
}

func (h *heading) expect()  { h.part, h.left = false, mostHeader }
func (h *heading) content() { h.part = true }

func (h *heading) Read(p []byte) (int, error) {
	if h.part {
		h.seen = h.seen[:0]
	} else if h.over = h.left <= 0; h.over {
		return 0, errTooLarge
	}
	n, err := h.ReadCloser.Read(p[:min(len(p), mostHeader)])
	h.left -= n
	h.seen = append(h.seen, p[:n]...)
	return n, err
}

// refuse names the part whose header is too long.
func (h *heading) refuse(form *value.Form) error {
	begins := max(0, bytes.LastIndex(h.seen, []byte(`name="`)))
	_, name, _ := bytes.Cut(h.seen[begins:], []byte(`name="`))
	name, _, _ = bytes.Cut(name, []byte(`"`))
	if _, err := form.At(string(name)); err != nil {
		return err
	}
	return fault.Input(fault.Own(string(name), "The :f field has a header that is too long."))
}

// spool keeps the files of one upload, one behind the other.
type spool struct {
	memory []byte
	disk   *os.File // nil = all is in memory
	size   int64
}

// add takes the next file.
func (s *spool) add(content io.Reader) (io.ReaderAt, int64, error) {
	from := s.size
	n, err := io.Copy(spoolWriter{s}, content)
	return spoolFile{s, from}, n, err
}

// errSpool is a failure of ours, such as a full disk.
type errSpool struct{ error }

func (e errSpool) Unwrap() error { return e.error }

type spoolWriter struct{ *spool }

func (w spoolWriter) Write(p []byte) (n int, err error) {
	if w.disk == nil && len(w.memory)+len(p) > inMemory {
		if err := w.toDisk(); err != nil {
			return 0, errSpool{err}
		}
	}
	if w.disk == nil {
		w.memory, n = append(w.memory, p...), len(p)
	} else if n, err = w.disk.Write(p); err != nil {
		err = errSpool{err}
	}
	w.size += int64(n)
	return n, err
}

// toDisk goes on in a file without a name, which no end of the process leaves behind.
func (s *spool) toDisk() (err error) {
	if s.disk, err = os.CreateTemp("", "parley-upload-"); err != nil {
		return err
	}
	if err = os.Remove(s.disk.Name()); err != nil {
		return err
	}
	_, err = s.disk.Write(s.memory)
	s.memory = nil
	return err
}

func (s *spool) close() {
	if s.disk != nil {
		_ = s.disk.Close() // nothing in it is wanted any more
	}
}

// spoolFile is one file of a spool.
type spoolFile struct {
	*spool
	from int64
}

// ReadAt reads from the file's own beginning; who reads knows its size.
func (f spoolFile) ReadAt(p []byte, at int64) (int, error) {
	if f.disk != nil {
		return f.disk.ReadAt(p, f.from+at)
	}
	return bytes.NewReader(f.memory).ReadAt(p, f.from+at)
}
