// Package extract gets the text out of files that strangers upload. Every format is bounded in bytes, pages and time; PDF, whose
// parser can be led astray, may run in a process of its own.
package extract

import (
	"bytes"
	"io"
)

// Kind of a file.
type Kind string

// The kinds that can be read.
const (
	PDF  Kind = "pdf"
	DOCX Kind = "docx"
	TXT  Kind = "txt"
)

// Reason says to the customer why a file gives no text.
type Reason string

func (r Reason) Error() string { return string(r) }

// The reasons.
const (
	ErrEncrypted Reason = "Encrypted PDF."
	ErrDamaged   Reason = "Damaged file."
	ErrTooMany   Reason = "Too many pages."
	ErrTooLarge  Reason = "Too large when unpacked."
	ErrTooSlow   Reason = "Took too long to read."
	ErrNoText    Reason = "No text found."
)

// Limits of one file.
const (
	MaxPages = 5000
	MaxText  = 20 << 20 // bytes of text
)

// Text is what was found.
type Text struct {
	Pages int
	Text  string
}

// Read gets the text of a file in this process.
func Read(kind Kind, f io.ReaderAt, size int64) (Text, error) {
	switch kind {
	case PDF:
		return readPDF(f, size)
	case DOCX:
		return readDOCX(f, size)
	case TXT:
		return readTXT(io.NewSectionReader(f, 0, size))
	}
	return Text{}, ErrDamaged
}

// Fits reports whether a file's content is of the kind it claims to be; it looks at no more than it must.
func Fits(kind Kind, f io.ReaderAt, size int64) bool {
	switch kind {
	case PDF:
		head := make([]byte, min(size, 1024))
		_, err := f.ReadAt(head, 0)
		return (err == nil || err == io.EOF) && bytes.Contains(head, []byte("%PDF-"))
	case DOCX:
		_, err := openDOCX(f, size)
		return err == nil
	case TXT:
		head := make([]byte, min(size, 64<<10))
		_, err := f.ReadAt(head, 0)
		return (err == nil || err == io.EOF) && isText(head)
	}
	return false
}
