package parley

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const foundations = "fault ids value safe english sentences placeholders assets ssrf db once jobs blobs events audio"

// TestRooms fails on an import that May does not allow, and on one that it allows and nobody uses. Test files and test
// helpers may import what they need.
func TestRooms(t *testing.T) {
	used := map[string]bool{} // "room target"
	packages := listed(t)
	if len(packages) < 10 {
		t.Errorf("only %d packages were looked at", len(packages))
	}
	for _, p := range packages {
		room, may := roomOf(p.path)
		if may == nil {
			t.Errorf("%s is a new room: say in rooms.go what it may import, and why it exists", p.path)
		}
		for _, to := range p.imports {
			target, _ := roomOf(to)
			used[room+" "+target] = true
			if target != room && !may[target] {
				t.Errorf("%s may not import %s", p.path, to)
			}
		}
	}
	for _, line := range May {
		for _, name := range strings.Fields(line.Imports) {
			if name != "foundations" && !used[line.Room+" "+name] {
				t.Errorf("rooms.go lets %s import %s, which it does not: strike it", line.Room, name)
			}
		}
		if line.Room != "" && !slices.ContainsFunc(packages, func(p listing) bool { r, _ := roomOf(p.path); return r == line.Room }) {
			t.Errorf("rooms.go has a line for %s, which does not exist", line.Room)
		}
	}
}

// apartRooms are rooms without a package at their root, in the words of the map.
var apartRooms = map[string]string{"providers": ", one folder for each", "cmd": "the program, and what measures it"}

var (
	mapLine = regexp.MustCompile(`(?m)^(?:(?:.*\{)?\n\t// ([A-Z].*)|\t\{"(\w+)", ".*)$`) // a layer, or a room
	mapped  = regexp.MustCompile(`(?s)(<!-- made from rooms.go[^\n]*-->\n).*(<!-- end -->)`)
)

// TestMap keeps the map in README.md true: the rooms in the order of rooms.go, each with the first words of its package
// comment.
func TestMap(t *testing.T) {
	source, err := os.ReadFile("rooms.go")
	if err != nil {
		t.Fatal(err)
	}
	is := map[string]string{}
	for _, p := range listed(t) {
		does, _, _ := strings.Cut(strings.TrimPrefix(p.doc, "Package "+p.path+" "), ": ")
		is[p.path] = strings.TrimSuffix(does, ".")
	}
	var b strings.Builder
	b.WriteString("\n| Room | |\n|---|---|\n")
	for _, m := range mapLine.FindAllStringSubmatch(string(source), -1) {
		layer, room := m[1], m[2]
		does := is[room] + apartRooms[room]
		if layer != "" {
			fmt.Fprintf(&b, "| **%s** | |\n", strings.TrimSuffix(layer, "."))
			continue
		}
		if does == "" {
			t.Errorf("package %s says nothing of itself", room)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", room, does)
	}
	golden(t, "README.md", func(old string) string {
		return mapped.ReplaceAllString(old, "${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"\n${2}")
	})
}

type listing struct {
	path    string // below the root
	doc     string // first sentence of its comment
	imports []string
}

// listed are the packages of the program with what each imports of the others; test helpers are left out.
func listed(t *testing.T) (all []listing) {
	t.Helper()
	out, err := goList()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct {
			ImportPath, Doc string
			Imports         []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		l := listing{path: strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "parley"), "/"), doc: p.Doc}
		for _, imp := range p.Imports {
			if to, ours := strings.CutPrefix(imp, "parley/"); ours {
				l.imports = append(l.imports, to)
			}
		}
		if !strings.HasSuffix(l.path, "test") {
			all = append(all, l)
		}
	}
	return all
}

var goList = sync.OnceValues(exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "./...").Output)

// roomOf finds the line of the deepest folder that path belongs to.
func roomOf(path string) (room string, may map[string]bool) {
	for _, line := range May {
		if path != line.Room && !strings.HasPrefix(path, line.Room+"/") || len(line.Room) < len(room) {
			continue
		}
		room, may = line.Room, map[string]bool{}
		for _, name := range strings.Fields(strings.Replace(line.Imports, "foundations", foundations, 1)) {
			may[name] = true
		}
	}
	return room, may
}
