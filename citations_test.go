package parley

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	ofContract = regexp.MustCompile(`\b(?:[Cc]ontract,?|[Ss]ections?) ((?:\d+(?:\.\d+)?(?:, (?:and )?| and | to )?)+)`)
	ofPage     = regexp.MustCompile(`\b([a-z]+)\.md(?: §? ?(\d+(?:\.\d+)*)| "([^"]+)")`)
	ofFile     = regexp.MustCompile(`(?:^|[\s("'` + "`" + `])((?:\.\./)*[\w][\w./-]*\.(?:go|md|tsx?|sql|ya?ml|sh|call|py))\b`)
	ofFolder   = regexp.MustCompile(`\b(docs/[\w./-]*\w)`)
	ofDecision = regexp.MustCompile(`\bdecisions?[ /](\d{4})`)
	ofStandard = regexp.MustCompile(`\b(RFC \d+|ITU-T [A-Z]\.\d+|3GPP TS [\d.]*\d)?((?:(?:,| and|;)? ?§ ?(?:[\d.]*\d|[A-Z][\d.]*))+)?`)
	number     = regexp.MustCompile(`\d+(?:\.\d+)*`)
)

// TestCitations fails on a comment that cites what does not exist: a section of the contract, a page, a file, a decision,
// a standard that docs/standards.md does not list.
func TestCitations(t *testing.T) {
	c := citations{t: t, tree: tree(t), standards: standards(t), cited: map[string]bool{}, sections: map[string][]section{}}
	for _, file := range c.tree {
		for _, text := range comments(t, file) {
			c.check(file, text)
		}
	}
	if len(c.cited) == 0 {
		t.Error("no standard is cited: comments are not found")
	}
	for name := range c.standards {
		if !c.cited[name] {
			t.Errorf("docs/standards.md lists %s, which nobody cites", name)
		}
	}
}

type citations struct {
	t         *testing.T
	tree      []string
	standards map[string]int // name → last section; 0: none is cited
	cited     map[string]bool
	sections  map[string][]section
	current   string // the standard that a file named last
}

func (c *citations) check(file, text string) {
	for _, m := range ofContract.FindAllStringSubmatch(text, -1) {
		for _, n := range number.FindAllString(m[1], -1) {
			c.section(file, "docs/contract/api.md", n, "")
		}
	}
	for _, m := range ofPage.FindAllStringSubmatch(text, -1) {
		c.section(file, "docs/contract/"+m[1]+".md", m[2], m[3])
	}
	for _, m := range append(ofFile.FindAllStringSubmatch(text, -1), ofFolder.FindAllStringSubmatch(text, -1)...) {
		if !c.exists(file, m[1]) {
			c.t.Errorf("%s cites the file %s, which does not exist", file, m[1])
		}
	}
	for _, m := range ofDecision.FindAllStringSubmatch(text, -1) {
		if found, _ := filepath.Glob("docs/decisions/" + m[1] + "-*.md"); len(found) == 0 {
			c.t.Errorf("%s cites decision %s, which does not exist", file, m[1])
		}
	}
	c.standard(file, text)
}

// section checks a number or a title among the headings of a page of the contract.
func (c *citations) section(file, page, number, title string) {
	if c.sections[page] == nil {
		c.sections[page] = sectionsOf(c.t, page)
	}
	known := slices.ContainsFunc(c.sections[page], func(s section) bool { return s.number == number })
	if title != "" {
		text, _ := os.ReadFile(page)
		known = strings.Contains(string(text), title)
	}
	if !known {
		c.t.Errorf("%s cites %s %s%s, which does not exist", file, page, number, title)
	}
}

// exists looks for a file as it may be named: from its own folder, from the root, or by the end of its path.
func (c *citations) exists(file, name string) bool {
	for _, at := range []string{path.Join(path.Dir(file), name), path.Clean(name)} {
		if _, err := os.Stat(at); err == nil {
			return true
		}
	}
	return slices.ContainsFunc(c.tree, func(f string) bool {
		return strings.HasSuffix(f, "/"+name) || strings.HasPrefix(f, name+"-") // docs/decisions/0011
	})
}

// standard checks what comes with a § or the name of a standard; a § alone belongs to the standard named before.
func (c *citations) standard(file, text string) {
	for _, m := range ofStandard.FindAllStringSubmatch(text, -1) {
		if m[0] == "" {
			continue
		}
		if m[1] != "" {
			c.current = m[1]
		}
		last, known := c.standards[c.current]
		if !known {
			c.t.Errorf("%s cites %s, which docs/standards.md does not list", file, c.current)
			continue
		}
		c.cited[c.current] = true
		for _, n := range number.FindAllString(m[2], -1) {
			chapter, _, _ := strings.Cut(n, ".")
			if at, _ := strconv.Atoi(chapter); at < 1 || at > last {
				c.t.Errorf("%s cites %s §%s, which has %d sections", file, c.current, n, last)
			}
		}
	}
}

// standards reads docs/standards.md.
func standards(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile("docs/standards.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && strings.Contains(cells[1], ".") || strings.HasPrefix(line, "| RFC") {
			all[strings.TrimSpace(cells[1])], _ = strconv.Atoi(strings.TrimSpace(cells[3]))
		}
	}
	return all
}

// tree are the files of the project, from the root.
func tree(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := at != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci"
		if d.IsDir() && (hidden || d.Name() == "node_modules" || d.Name() == "cache") {
			return fs.SkipDir
		}
		if !d.IsDir() {
			files = append(files, filepath.ToSlash(at))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// comments are those of a file of code, each with its lines joined.
func comments(t *testing.T, file string) (all []string) {
	t.Helper()
	switch path.Ext(file) {
	case ".go":
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return goComments(f)
	case ".ts", ".tsx", ".sql", ".sh", ".py":
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range otherComments.FindAllString(string(text), -1) {
			all = append(all, strings.Join(strings.Fields(m), " "))
		}
	}
	return all
}

var otherComments = regexp.MustCompile(`(?m)^\s*(?://|--|#|/?\*).*$|[;{},)] // .*$`)

func goComments(f *ast.File) (all []string) {
	for _, group := range f.Comments {
		all = append(all, strings.Join(strings.Fields(group.Text()), " "))
	}
	return all
}

var link = regexp.MustCompile(`\]\(([^)#:]+)\)|` + "`(docs/[^`]+)`")

// TestLinks fails on a page that leads to a file that does not exist.
func TestLinks(t *testing.T) {
	c := citations{tree: tree(t)}
	for _, page := range c.tree {
		if path.Ext(page) != ".md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if !c.exists(page, m[1]+m[2]) {
				t.Errorf("%s leads to %s, which does not exist", page, m[1]+m[2])
			}
		}
	}
}
