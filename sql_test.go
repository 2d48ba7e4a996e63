package parley

import (
	"context"
	"database/sql"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"parley/db"
	"parley/db/dbtest"
)

// statement is the beginning of one: a fragment such as a list of columns is not.
var statement = regexp.MustCompile(`^\s*(SELECT\s|INSERT INTO\s|UPDATE [a-z_]+( [a-z])? SET\s|DELETE FROM\s|WITH [a-z_]+ )`)

// made are the files with statements that are put together at run time in a way the code does not tell: from names of
// tables, lists of values or changes, or by format. The tests of their rooms run them on both databases.
var made = []string{
	"accounts/sessions.go",
	"api/apitest/mutate.go",
	"assistants/assistant.go",
	"assistants/groups.go",
	"billing/usage.go",
	"calls/events.go",
	"calls/live.go",
	"calls/sql.go",
	"campaigns/import.go",
	"campaigns/sql.go",
	"cmd/parley/backup_postgres.go",
	"db/lists.go",
	"jobs/claim.go",
	"jobs/work.go",
}

// apart are files whose statements are for one database, or which speak to none of ours.
var apart = map[string]string{
	"api/apitest/mutate.go":         "sqlite",
	"cmd/parley/backup_postgres.go": "postgres",
	"db/dbtest/postgres.go":         "postgres",
	"db/dbtest/race.go":             "postgres",
	"db/notify.go":                  "postgres",
}

// parts are no statements of their own but stand in others, which are compiled with them or named in made.
var parts = []string{
	"SELECT count(*) FROM assistants a WHERE a.folder_id = g.id",
	"SELECT count(*) FROM assistant_labels l WHERE l.label_id = g.id",
	"SELECT due_at FROM leads l WHERE l.campaign_id = c.id",
	"SELECT status FROM leads l WHERE l.campaign_id = c.id",
}

// TestStatements compiles every SQL statement of the tree on SQLite and on PostgreSQL, without running it: what no test
// happens to reach is checked too. Statements are the texts in the code that begin like one, with the package's
// constants put in. Where a condition, a list or the columns come from run time, the statement is compiled with TRUE,
// (NULL) or * in their place; what is left over stands in made.
func TestStatements(t *testing.T) {
	found, open := statements(t)
	t.Logf("%d statements; put together at run time: %v", len(found), open)
	if len(found) < 300 {
		t.Fatal("so few statements cannot be all")
	}
	for _, file := range made {
		if open[file] == 0 {
			t.Errorf("%s puts no statement together at run time any more: strike it from made", file)
		}
	}
	for file := range open {
		if !slices.Contains(made, file) {
			t.Errorf("%s puts a statement together at run time that is not compiled here: name it in made", file)
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		url := dbtest.SQLiteURL(t)
		d := dbtest.Open(t, url)
		raw, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { raw.Close() })
		compile(t, d, found, func(q query) error {
			rows, err := raw.QueryContext(t.Context(), "EXPLAIN "+d.Words(q.text), make([]any, holes(q.text))...)
			if err != nil {
				return err
			}
			return rows.Close()
		})
	})
	t.Run("postgres", func(t *testing.T) {
		d := dbtest.Postgres(t)
		conn, err := pgx.Connect(t.Context(), d.URL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
		compile(t, d, found, func(q query) error {
			_, err := conn.Prepare(t.Context(), "", d.Words(q.text))
			var refused *pgconn.PgError
			if q.filled && errors.As(err, &refused) && refused.Code == "42P18" {
				return nil // an argument that only the missing part uses has no type
			}
			return err
		})
	})
}

type query struct {
	file, where, text string
	line              int
	filled            bool // parts that are made at run time are filled in
}

func compile(t *testing.T, d *db.DB, all []query, one func(q query) error) {
	not, mine := "_postgres.go", "sqlite"
	if d.Postgres() {
		not, mine = "_sqlite.go", "postgres"
	}
	for _, q := range all {
		if strings.HasSuffix(q.file, not) || apart[q.file] != "" && apart[q.file] != mine {
			continue
		}
		if slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(q.text, p) }) {
			continue
		}
		if err := one(q); err != nil {
			t.Errorf("%s: %v\n%s", q.where, err, q.text)
		}
	}
}

var hole = regexp.MustCompile(`\$(\d+)`)

// holes is the number of arguments of a statement.
func holes(q string) int {
	n := 0
	for _, m := range hole.FindAllStringSubmatch(q, -1) {
		i, _ := strconv.Atoi(m[1])
		n = max(n, i)
	}
	return n
}

// statements reads the code: the complete statements, and how many of each file are not complete.
func statements(t *testing.T) (found []query, open map[string]int) {
	t.Helper()
	open = map[string]int{}
	packages := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range packages {
		set := token.NewFileSet()
		var parsed []*ast.File
		known := texts{}
		for _, path := range files {
			f, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
			known.learn(f)
		}
		for i, f := range parsed {
			ast.Inspect(f, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok || !statement.MatchString(first(e)) {
					return true
				}
				if q := known.query(e); q.text != "" {
					at := set.Position(e.Pos())
					q.file, q.line, q.where = files[i], at.Line, at.String()
					found = append(found, q)
				} else {
					open[files[i]]++
				}
				return false
			})
		}
	}
	slices.SortFunc(found, func(a, b query) int { return strings.Compare(a.where, b.where) })
	return found, open
}

// first is the literal that a text begins with.
func first(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return first(e.X)
		}
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value)
			return s
		}
	}
	return ""
}

// texts are the constants and the variables with a fixed text that a package has outside of functions.
type texts map[string]ast.Expr

func (k texts) learn(f *ast.File) {
	for _, decl := range f.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			v, ok := spec.(*ast.ValueSpec)
			for i := 0; ok && i < min(len(v.Names), len(v.Values)); i++ {
				k[v.Names[i].Name] = v.Values[i]
			}
		}
	}
}

// query is the statement that e makes; empty when the code does not tell it.
func (k texts) query(e ast.Expr) query {
	var q query
	pieces := k.pieces(e, 0)
	for i, p := range pieces {
		if p == nil {
			q.filled = true
			fill := filler(q.text, i == len(pieces)-1)
			if fill == nil {
				return query{}
			}
			p = fill
		}
		q.text += *p
	}
	if strings.Contains(q.text, "%s") || strings.Contains(q.text, "%d") {
		return query{}
	}
	return q
}

// fillers stand for an unknown part, by what is before it.
var fillers = []struct {
	after *regexp.Regexp
	text  string
}{
	{regexp.MustCompile(`(SELECT|RETURNING)\s*$`), " * "},
	{regexp.MustCompile(`(WHERE|AND)\s*$`), " TRUE "},
	{regexp.MustCompile(` IN\s*$`), "(NULL)"},
}

func filler(before string, last bool) *string {
	for _, f := range fillers {
		if f.after.MatchString(before) {
			return &f.text
		}
	}
	if end := ""; last && !strings.HasSuffix(strings.TrimSpace(before), "VALUES") && !strings.HasSuffix(strings.TrimSpace(before), "FROM") {
		return &end
	}
	return nil
}

// pieces are the texts that e puts together; nil is one that the code alone does not tell.
func (k texts) pieces(e ast.Expr, depth int) []*string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return k.pieces(e.X, depth)
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return []*string{&s}
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return append(k.pieces(e.X, depth), k.pieces(e.Y, depth)...)
		}
	case *ast.Ident:
		if v := k.value(e); v != nil && depth < 5 {
			return k.pieces(v, depth+1)
		}
	}
	return []*string{nil}
}

// value is what a name stands for: a constant, or a variable of the package.
func (k texts) value(e *ast.Ident) ast.Expr {
	if e.Obj == nil {
		return k[e.Name] // of another file
	}
	spec, ok := e.Obj.Decl.(*ast.ValueSpec)
	for i := 0; ok && i < min(len(spec.Names), len(spec.Values)); i++ {
		if v := spec.Values[i]; spec.Names[i].Name == e.Name && (e.Obj.Kind == ast.Con || k[e.Name] == v) {
			return v
		}
	}
	return nil
}
