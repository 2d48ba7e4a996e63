package extract

import (
	"archive/zip"
	"encoding/xml"
	"io"
	"strings"
)

// maxXML bounds the unpacked body of a document, markup included.
const maxXML = 64 << 20

// openDOCX finds the body of a Word document.
func openDOCX(f io.ReaderAt, size int64) (*zip.File, error) {
	z, err := zip.NewReader(f, size)
	if err != nil || len(z.File) > 10000 {
		return nil, ErrDamaged
	}
	for _, e := range z.File {
		if e.Name == "word/document.xml" {
			return e, nil
		}
	}
	return nil, ErrDamaged
}

// readDOCX reads paragraphs, tabs, breaks and table cells in the order of the body. What the zip claims about sizes is not believed.
func readDOCX(f io.ReaderAt, size int64) (Text, error) {
	body, err := openDOCX(f, size)
	if err != nil {
		return Text{}, err
	}
	r, err := body.Open()
	if err != nil {
		return Text{}, ErrDamaged
	}
	defer r.Close()
	limited := &io.LimitedReader{R: r, N: maxXML}
	text, err := bodyText(xml.NewDecoder(limited))
	if limited.N <= 0 || err == ErrTooLarge {
		return Text{}, ErrTooLarge
	}
	if err != nil {
		return Text{}, ErrDamaged
	}
	return found(1, text)
}

func bodyText(d *xml.Decoder) (string, error) {
	d.Strict = false // entities that are not defined stay as they are; none is ever fetched
	var b strings.Builder
	inText := 0
	for {
		tok, err := d.RawToken()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "t":
				inText++
			case "tab":
				b.WriteByte('\t')
			case "br", "cr":
				b.WriteByte('\n')
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				inText--
			case "p":
				b.WriteString("\n\n")
			case "tc":
				b.WriteByte('\t')
			}
		case xml.CharData:
			if inText > 0 {
				b.Write(t)
			}
		}
		if b.Len() > MaxText {
			return "", ErrTooLarge
		}
	}
}
