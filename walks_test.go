package parley

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const walksPage = "docs/walks.md"

// walkRow is a line of a walk: | 1 | `lines/media` | `Stream.drain` | place | what it does |, or with "queue" for the room
// and `put` → `take` for the function, what fills the queue and what empties it.
var walkRow = regexp.MustCompile("^\\| ([0-9]*|⇉) \\| (`[\\w/]+`|queue) \\| `([\\w.]+)`(?: → `([\\w.]+)`)? \\|([^|]*)\\| (.*) \\|$")

// linked is the line that a place leads to. It may be off by less than a screen before the page has to be written again.
var linked = regexp.MustCompile(`#L(\d+)\)`)

const onScreen = 25

// walkEnd is the line under a walk that counts it.
var walkEnd = regexp.MustCompile(`^\d+ hops?, \d+ queues?\.$`)

// TestWalks keeps docs/walks.md true: every function of a walk exists and names the next one, or is named by it and
// hands back; where a queue lies between them, one names what fills it and the other what empties it; places and counts are written by -update.
func TestWalks(t *testing.T) {
	golden(t, walksPage, func(old string) string {
		w := walker{t: t, packages: map[string]map[string]place{}}
		var out []string
		for line := range strings.Lines(old) {
			out = append(out, w.line(strings.TrimSuffix(line, "\n")))
		}
		if w.walks < 4 {
			t.Errorf("%s has %d walks", walksPage, w.walks)
		}
		return strings.Join(out, "\n") + "\n"
	})
}

type place struct {
	file  string
	line  int
	names map[string]bool // every name in the body; nil for a method of an interface
}

type walker struct {
	t         *testing.T
	packages  map[string]map[string]place // room → function → where
	title     string
	last      *place // the step before
	name      string // of that step
	queue     string // between that step and the next: what empties it
	functions int
	queues    int
	walks     int
}

func (w *walker) line(text string) string {
	if strings.HasPrefix(text, "## ") {
		w.title, w.last, w.queue, w.functions, w.queues = text, nil, "", 0, 0
		return text
	}
	if walkEnd.MatchString(text) {
		if w.walks++; w.functions < 3 {
			w.t.Errorf("%s: %d functions are no walk", w.title, w.functions)
		}
		return fmt.Sprintf("%s, %s.", plural(w.functions-1, "hop"), plural(w.queues, "queue"))
	}
	m := walkRow.FindStringSubmatch(text)
	switch {
	case m == nil:
		return text
	case m[2] == "queue":
		w.queues++
		w.calls(m[3])
		w.queue = m[4]
		return fmt.Sprintf("| ⇉ | queue | `%s` → `%s` | | %s |", m[3], m[4], m[6])
	}
	room, function := strings.Trim(m[2], "`"), m[3]
	at, ok := w.find(room)[function]
	if !ok {
		w.t.Errorf("%s: %s has no %s", w.title, room, function)
		return text
	}
	w.functions++
	switch back := w.last; {
	case w.queue != "":
		w.last, w.name = &at, function
		w.calls(w.queue)
	case back != nil && !at.names[lastOf(w.name)]: // else it is called by this one and hands back
		w.calls(function)
	}
	w.last, w.name, w.queue = &at, function, ""
	line := at.line
	if was := linked.FindStringSubmatch(m[5]); was != nil && !*update {
		if n, _ := strconv.Atoi(was[1]); n >= line-onScreen && n <= line+onScreen {
			line = n
		}
	}
	return fmt.Sprintf("| %d | `%s` | `%s` | [%s:%d](../%s#L%d) | %s |", w.functions, room, function, path.Base(at.file), line, at.file, line, m[6])
}

// calls checks that the step before names what comes now.
func (w *walker) calls(what string) {
	if w.last == nil || w.last.names == nil {
		w.t.Errorf("%s: %s comes after nothing that could call it", w.title, what)
		return
	}
	if !w.last.names[lastOf(what)] {
		w.t.Errorf("%s: %s does not name %s any more", w.title, w.name, lastOf(what))
	}
}

func lastOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// find reads the functions of a room, and the methods of its interfaces.
func (w *walker) find(room string) map[string]place {
	if known := w.packages[room]; known != nil {
		return known
	}
	known := map[string]place{}
	files, err := filepath.Glob(room + "/*.go")
	if err != nil || len(files) == 0 {
		w.t.Errorf("there is no room %s", room)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, decl := range f.Decls {
			functionsOf(decl, func(name string, n ast.Node, names map[string]bool) {
				known[name] = place{filepath.ToSlash(file), set.Position(n.Pos()).Line, names}
			})
		}
	}
	w.packages[room] = known
	return known
}

func functionsOf(decl ast.Decl, found func(name string, n ast.Node, names map[string]bool)) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
		}
		found(name, d, namesIn(d.Body))
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			s, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if i, ok := s.Type.(*ast.InterfaceType); ok {
				for _, m := range i.Methods.List {
					for _, n := range m.Names {
						found(s.Name.Name+"."+n.Name, m, nil)
					}
				}
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func namesIn(body ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	})
	return names
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
