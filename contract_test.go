package parley

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// contractPage is generated: which test shows which section.
const contractPage = "docs/contract/README.md"

const contractIntro = `# The contract and its tests

What parley promises to the byte. [specification.md](specification.md) was asked for and wins; [api.md](api.md) is the whole
wire contract; [simulator.md](simulator.md) the pretend world; [running.md](running.md) start and configuration;
[vendors.md](vendors.md) what vendors want on the wire; [people.md](people.md) users, roles and privacy;
[proof.md](proof.md) suites, replay and comparison. The last three say what is to be, and are not all built.

Every section of api.md with the tests that show it. A test names its sections in its doc comment, as in
"Contract: 1.4 1.10"; ` + "`go test . -update`" + ` rewrites this page.

| Section | | Tests |
|---|---|---|
`

var mentions = regexp.MustCompile(`(?m)^Contract: (.+)$`)

// TestContract keeps the page of contract and tests true. A test says what it shows in a line of its doc comment,
// "Contract: 1.4 1.10".
func TestContract(t *testing.T) {
	shown := showing(t)
	var b strings.Builder
	b.WriteString(contractIntro)
	for _, s := range shownSections(t) {
		tests := shown[s.number]
		delete(shown, s.number)
		if len(tests) == 0 {
			tests = []string{"–"}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.number, s.title, strings.Join(tests, "<br>"))
	}
	for number, tests := range shown {
		t.Errorf("%v show section %s, which the contract does not have", tests, number)
	}
	golden(t, contractPage, func(string) string { return b.String() })
}

// golden keeps a page what made says it is, from what it was; -update writes it.
func golden(t *testing.T, page string, made func(old string) string) {
	t.Helper()
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := made(string(old))
	if string(old) == want {
		return
	}
	if !*update {
		t.Errorf("%s is not up to date; go test . -update rewrites it", page)
		return
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

type section struct{ number, title string }

var (
	heading = regexp.MustCompile(`(?m)^#{2,4} ([0-9]+(?:\.[0-9]+)*)\.? (.+)$`)
	mark    = regexp.MustCompile(` \(?(optional, )?\[[SC][^\]]*\].*$`)
)

// sectionsOf reads the numbered headings of a page.
func sectionsOf(t *testing.T, page string) (all []section) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		all = append(all, section{m[1], strings.ReplaceAll(mark.ReplaceAllString(m[2], ""), "`", "")})
	}
	return all
}

// shownSections are those of api.md that a test can show: 1 to 20, without chapters that are cut into sections.
func shownSections(t *testing.T) (out []section) {
	all := sectionsOf(t, "docs/contract/api.md")
	for i, s := range all {
		chapter, _, _ := strings.Cut(s.number, ".")
		n, _ := strconv.Atoi(chapter)
		divided := i+1 < len(all) && strings.HasPrefix(all[i+1].number, s.number+".")
		if n >= 1 && n <= 20 && !divided {
			out = append(out, s)
		}
	}
	return out
}

// showing reads the doc comments of all tests: section → tests.
func showing(t *testing.T) map[string][]string {
	t.Helper()
	shown := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Doc == nil || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			for _, m := range mentions.FindAllStringSubmatch(f.Doc.Text(), -1) {
				for _, number := range strings.Fields(strings.ReplaceAll(m[1], ",", " ")) {
					shown[number] = append(shown[number], "`"+filepath.ToSlash(filepath.Dir(path))+"` "+f.Name.Name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tests := range shown {
		slices.Sort(tests)
	}
	return shown
}
