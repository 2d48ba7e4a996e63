package extract

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

// stopped ends the interpretation of a page from inside a callback.
type stopped struct{ err error }

// readPDF walks the pages and writes down what they show. The parser panics on much that is broken; that is damage too.
func readPDF(f io.ReaderAt, size int64) (out Text, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stopped:
			err = p.err
		default:
			err = fmt.Errorf("%w (%v)", ErrDamaged, p)
		}
	}()
	r, err := pdf.NewReader(f, size)
	if err != nil {
		if errors.Is(err, pdf.ErrInvalidPassword) || strings.Contains(strings.ToLower(err.Error()), "encrypt") {
			return Text{}, ErrEncrypted
		}
		return Text{}, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	w := &walker{}
	w.tree(r.Trailer().Key("Root").Key("Pages"), pdf.Value{}, 0)
	if w.pages == 0 {
		return Text{}, ErrDamaged
	}
	return found(w.pages, w.text.String())
}

// walker goes through the page tree itself: the library's own look-up starts at the root for each page and follows circles.
type walker struct {
	pages, nodes int
	text         strings.Builder
}

func (w *walker) tree(node, resources pdf.Value, depth int) {
	if w.nodes++; depth > 64 || w.nodes > 4*MaxPages {
		panic(stopped{ErrTooMany})
	}
	if own := node.Key("Resources"); !own.IsNull() {
		resources = own
	}
	if node.Key("Type").Name() == "Page" || node.Key("Kids").IsNull() {
		if node.Key("Contents").IsNull() && node.Key("Type").IsNull() {
			return
		}
		if w.pages++; w.pages > MaxPages {
			panic(stopped{ErrTooMany})
		}
		w.page(node.Key("Contents"), resources)
		return
	}
	kids := node.Key("Kids")
	for i := range kids.Len() {
		w.tree(kids.Index(i), resources, depth+1)
	}
}

// page reads one page; a broken one is skipped, limits are not.
func (w *walker) page(contents, resources pdf.Value) {
	defer func() {
		if p := recover(); p != nil {
			if s, ok := p.(stopped); ok {
				panic(s)
			}
		}
		w.write("\n\n")
	}()
	w.stream(contents, resources, 0)
}

func (w *walker) write(s string) {
	if w.text.Len()+len(s) > MaxText {
		panic(stopped{ErrTooLarge})
	}
	w.text.WriteString(s)
}

// pen is where the next text goes, as far as line breaks depend on it.
type pen struct {
	enc   pdf.TextEncoding
	fonts map[string]*pdf.Font
	moved bool // to another line since the last text
	y     float64
	ops   int
}

// maxOps bounds the operators of one stream.
const maxOps = 1_000_000

func (w *walker) stream(contents, resources pdf.Value, depth int) {
	if contents.IsNull() || depth > 5 {
		return
	}
	p := &pen{fonts: map[string]*pdf.Font{}}
	pdf.Interpret(contents, func(stk *pdf.Stack, op string) {
		if p.ops++; p.ops > maxOps || stk.Len() > 100_000 {
			panic(stopped{ErrTooLarge})
		}
		args := make([]pdf.Value, stk.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stk.Pop()
		}
		w.operator(p, op, args, resources, depth)
	})
}

func (w *walker) operator(p *pen, op string, args []pdf.Value, resources pdf.Value, depth int) {
	switch {
	case op == "Tf" && len(args) == 2:
		p.use(args[0].Name(), resources)
	case op == "BT" || op == "T*":
		p.moved = true
	case (op == "Td" || op == "TD") && len(args) == 2:
		p.moved = p.moved || args[1].Float64() != 0
		if !p.moved {
			w.show(p, " ")
		}
	case op == "Tm" && len(args) == 6:
		p.moved = p.moved || args[5].Float64() != p.y
		p.y = args[5].Float64()
	case op == "Tj" && len(args) == 1:
		w.show(p, p.decode(args[0]))
	case (op == "'" || op == "\"") && len(args) > 0:
		p.moved = true
		w.show(p, p.decode(args[len(args)-1]))
	case op == "TJ" && len(args) == 1:
		w.show(p, p.array(args[0]))
	case op == "Do" && len(args) == 1:
		form := resources.Key("XObject").Key(args[0].Name())
		if form.Key("Subtype").Name() == "Form" {
			inner := form.Key("Resources")
			if inner.IsNull() {
				inner = resources
			}
			w.stream(form, inner, depth+1)
		}
	}
}

func (w *walker) show(p *pen, s string) {
	if s == "" {
		return
	}
	if p.moved {
		w.write("\n")
		p.moved = false
	}
	w.write(s)
}

func (p *pen) use(name string, resources pdf.Value) {
	f, ok := p.fonts[name]
	if !ok {
		f = &pdf.Font{V: resources.Key("Font").Key(name)}
		p.fonts[name] = f
	}
	p.enc = f.Encoder()
}

func (p *pen) decode(v pdf.Value) string {
	if p.enc == nil {
		return v.RawString()
	}
	return p.enc.Decode(v.RawString())
}

// array is text with adjustments between; a wide gap is a blank.
func (p *pen) array(v pdf.Value) string {
	var b strings.Builder
	for i := range v.Len() {
		switch x := v.Index(i); x.Kind() {
		case pdf.String:
			b.WriteString(p.decode(x))
		case pdf.Integer, pdf.Real:
			if x.Float64() < -200 && !strings.HasSuffix(b.String(), " ") {
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}
