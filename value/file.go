package value

import (
	"io"
	"mime/multipart"
)

// File is an uploaded file. It may be opened several times while the request runs and is gone afterwards.
type File struct {
	Name        string      // as the client called it, without folders
	ContentType string      // as the client claims
	Size        int64       // bytes
	Content     io.ReaderAt // nil when none arrived
}

// Sent reports whether a file arrived.
func (f File) Sent() bool { return f.Content != nil }

// Open starts reading the file.
func (f File) Open() (multipart.File, error) {
	return reading{io.NewSectionReader(f.Content, 0, f.Size)}, nil
}

// reading needs no end.
type reading struct{ *io.SectionReader }

func (reading) Close() error { return nil }
