package extract

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
)

// isText: no NUL outside UTF-16, few control characters, and not the beginning of a PDF.
func isText(head []byte) bool {
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return false
	}
	if bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}) {
		return true
	}
	odd := 0
	for _, b := range head {
		if b == 0 {
			return false
		}
		if b < 0x20 && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 0x1B {
			odd++
		}
	}
	return odd*50 <= len(head)
}

func readTXT(r io.Reader) (Text, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	if err != nil {
		return Text{}, ErrDamaged
	}
	if len(raw) > MaxText {
		return Text{}, ErrTooLarge
	}
	return found(1, decode(raw))
}

// decode reads UTF-8, UTF-16 with a byte order mark, and else what the bytes look most like.
func decode(raw []byte) string {
	if bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) || bytes.HasPrefix(raw, []byte{0xFE, 0xFF}) {
		if out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(raw); err == nil {
			return string(out)
		}
	}
	raw = bytes.TrimPrefix(raw, []byte{0xEF, 0xBB, 0xBF})
	if utf8.Valid(raw) {
		return string(raw)
	}
	enc, _, _ := charset.DetermineEncoding(raw[:min(len(raw), 1024)], "text/plain")
	out, err := enc.NewDecoder().Bytes(raw)
	if err != nil {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	return string(out)
}

// found is a text worth keeping, or ErrNoText.
func found(pages int, text string) (Text, error) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if strings.TrimSpace(text) == "" {
		return Text{}, ErrNoText
	}
	return Text{pages, text}, nil
}
