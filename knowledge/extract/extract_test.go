package extract_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/knowledge/extract"
)

func TestMain(m *testing.M) {
	extract.Child() // this program is its own child in TestIsolated
	goleak.VerifyTestMain(m)
}

// pdf writes a file of objects, numbered from 1, the first one the catalog.
func pdf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

func stream(s string) string { return fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(s), s) }

func flate(write func(io.Writer)) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	write(z)
	z.Close()
	return fmt.Sprintf("<</Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", b.Len(), b.String())
}

const font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"

func onePage(content string) []byte {
	return pdf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1/Resources<</Font<</F1 5 0 R>>/XObject<</X1 6 0 R>>>>>>",
		"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>", content, font, "<</Type/XObject/Subtype/Form/Length 28>>\nstream\nBT /F1 9 Tf (In a form.) Tj ET\nendstream")
}

func docx(body func(io.Writer)) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("word/document.xml")
	body(w)
	z.Close()
	return b.Bytes()
}

func write(s string) func(io.Writer) { return func(w io.Writer) { io.WriteString(w, s) } }

func read(kind extract.Kind, file []byte) (extract.Text, error) {
	return extract.Read(kind, bytes.NewReader(file), int64(len(file)))
}

func TestPDF(t *testing.T) {
	got, err := read(extract.PDF, onePage(stream("BT /F1 12 Tf 72 700 Td (Opening) Tj ( hours) Tj 0 -14 Td [(Mo) -20 (nday) -300 (nine)] TJ T* (caf\\351) Tj ET /X1 Do")))
	want := "Opening hours\nMonday nine\ncafé\nIn a form.\n\n"
	if err != nil || got.Pages != 1 || strings.TrimLeft(got.Text, "\n") != want {
		t.Errorf("%q %v", got.Text, err)
	}
	packed, err := read(extract.PDF, onePage(flate(write("BT /F1 12 Tf (Packed text.) Tj ET"))))
	if err != nil || strings.TrimSpace(packed.Text) != "Packed text." {
		t.Errorf("%q %v", packed.Text, err)
	}
}

func TestDOCX(t *testing.T) {
	body := `<?xml version="1.0"?><w:document xmlns:w="x"><w:body><w:p><w:r><w:t>Opening </w:t></w:r><w:r><w:t xml:space="preserve">hours &amp; more</w:t></w:r></w:p>
		<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Mon</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>nine</w:t><w:tab/><w:t>to five</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`
	got, err := read(extract.DOCX, docx(write(body)))
	if err != nil || got.Text != "Opening hours & more\n\nMon\n\n\tnine\tto five\n\n\t" {
		t.Errorf("%q %v", got.Text, err)
	}
}

func TestTXT(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"utf-8":      {"Öffnungszeiten: neun", "Öffnungszeiten: neun"},
		"with mark":  {"\xEF\xBB\xBFÖffnung", "Öffnung"},
		"utf-16 le":  {"\xFF\xFE\xD6\x00f\x00f\x00", "Öff"},
		"utf-16 be":  {"\xFE\xFF\x00\xD6\x00f\x00f", "Öff"},
		"windows":    {"\xD6ffnung um neun \x80", "Öffnung um neun €"},
		"form feeds": {"one\ftwo", "one\ftwo"},
	} {
		got, err := read(extract.TXT, []byte(c.raw))
		if err != nil || got.Text != c.want || !extract.Fits(extract.TXT, strings.NewReader(c.raw), int64(len(c.raw))) {
			t.Errorf("%s: %q %v", name, got.Text, err)
		}
	}
}

func manyPages(n int) []byte {
	var kids strings.Builder
	for range n {
		kids.WriteString("3 0 R ")
	}
	return pdf("<</Type/Catalog/Pages 2 0 R>>", fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", n, kids.String()), "<</Type/Page/Contents 4 0 R>>", stream("BT (x) Tj ET"))
}

// hostile files and the reason each is refused for
func hostile(t testing.TB) []struct {
	name string
	kind extract.Kind
	file []byte
	want error
} {
	fixture := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	good := onePage(stream("BT /F1 12 Tf (Hello there) Tj ET"))
	circle := pdf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 9/Kids[2 0 R 2 0 R]>>")
	deep := onePage(stream(strings.Repeat("[", 3_000_000)))
	return []struct {
		name string
		kind extract.Kind
		file []byte
		want error
	}{
		{"encrypted, 128 bit", extract.PDF, fixture("locked-128.pdf"), extract.ErrEncrypted},
		{"encrypted, 256 bit", extract.PDF, fixture("locked-256.pdf"), extract.ErrEncrypted},
		{"cut in half", extract.PDF, good[:len(good)/2], extract.ErrDamaged},
		{"only a head", extract.PDF, []byte("%PDF-1.7\n"), extract.ErrDamaged},
		{"nothing on it", extract.PDF, onePage(stream("0 0 100 100 re f")), extract.ErrNoText},
		{"a hundred thousand pages", extract.PDF, manyPages(100_000), extract.ErrTooMany},
		{"pages in a circle", extract.PDF, circle, extract.ErrTooMany},
		{"a bomb of text", extract.PDF, onePage(flate(func(w io.Writer) {
			for range 200 {
				io.WriteString(w, "BT ("+strings.Repeat("a", 1<<17)+") Tj ET\n")
			}
		})), extract.ErrTooLarge},
		{"a bomb of operators", extract.PDF, onePage(flate(func(w io.Writer) {
			for range 1 << 15 {
				io.WriteString(w, strings.Repeat("q ", 64))
			}
		})), extract.ErrTooLarge},
		{"arrays within arrays", extract.PDF, deep, nil},
		{"a zip that is no document", extract.DOCX, []byte("PK\x03\x04 nothing"), extract.ErrDamaged},
		{"a document that is cut", extract.DOCX, docx(write("<w:document><w:p><w:t>text"))[:120], extract.ErrDamaged},
		{"broken markup", extract.DOCX, docx(write("<w:document><w:p><w:t>text<")), extract.ErrDamaged},
		{"a zip bomb of text", extract.DOCX, docx(func(w io.Writer) {
			io.WriteString(w, "<d><t>")
			for range 200 {
				io.WriteString(w, strings.Repeat("a", 1<<17))
			}
		}), extract.ErrTooLarge},
		{"a zip bomb of markup", extract.DOCX, docx(func(w io.Writer) {
			for range 1100 {
				io.WriteString(w, strings.Repeat("<p/>", 1<<14))
			}
		}), extract.ErrTooLarge},
		{"no words", extract.DOCX, docx(write("<w:document><w:p/></w:document>")), extract.ErrNoText},
		{"blanks", extract.TXT, []byte(" \n\t "), extract.ErrNoText},
		{"too long", extract.TXT, bytes.Repeat([]byte("a "), 11<<20), extract.ErrTooLarge},
	}
}

func TestHostileFiles(t *testing.T) {
	for _, c := range hostile(t) {
		if c.want == nil {
			continue // only for a process of its own
		}
		t.Run(c.name, func(t *testing.T) {
			if _, err := read(c.kind, c.file); !isReason(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func isReason(err, want error) bool {
	return err != nil && strings.HasPrefix(err.Error(), want.Error())
}

func TestIsolated(t *testing.T) {
	for _, c := range hostile(t) {
		if c.kind != extract.PDF || strings.HasPrefix(c.name, "a ") { // the large ones were read above
			continue
		}
		_, err := extract.Isolated(t.Context(), c.kind, bytes.NewReader(c.file))
		if err == nil || c.want != nil && !isReason(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	got, err := extract.Isolated(t.Context(), extract.PDF, bytes.NewReader(onePage(stream("BT /F1 12 Tf (Hello) Tj ET"))))
	if err != nil || got.Pages != 1 || strings.TrimSpace(got.Text) != "Hello" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestFits(t *testing.T) {
	word := docx(write("<d/>"))
	page := onePage(stream(""))
	for _, c := range []struct {
		kind extract.Kind
		file []byte
		want bool
	}{
		{extract.PDF, page, true}, {extract.PDF, word, false}, {extract.PDF, []byte("hello"), false}, {extract.PDF, nil, false},
		{extract.DOCX, word, true}, {extract.DOCX, page, false}, {extract.DOCX, []byte{0xD0, 0xCF, 0x11, 0xE0}, false},
		{extract.TXT, []byte("hello\r\n"), true}, {extract.TXT, word, false}, {extract.TXT, page, false}, {extract.TXT, []byte{1, 2, 3, 4}, false},
	} {
		if got := extract.Fits(c.kind, bytes.NewReader(c.file), int64(len(c.file))); got != c.want {
			t.Errorf("%s %.10q: %v", c.kind, c.file, got)
		}
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(onePage(stream("BT /F1 12 Tf (Hello) Tj [(a) -300 (b)] TJ ET")))
	f.Add(onePage(flate(write("BT (Hello) Tj ET"))))
	f.Fuzz(func(t *testing.T, file []byte) { // in a process of its own, as in production: the parser may never come back
		if _, err := extract.Isolated(t.Context(), extract.PDF, bytes.NewReader(file)); err != nil && !isAny(err) {
			t.Error(err)
		}
	})
}

func isAny(err error) bool {
	_, ok := errors.AsType[extract.Reason](err)
	return ok
}

func FuzzDOCX(f *testing.F) {
	f.Add(docx(write("<w:p><w:t>Hello</w:t></w:p>")))
	f.Fuzz(func(t *testing.T, file []byte) { read(extract.DOCX, file) })
}
