package parley

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unguarded are the changes that need no lock and no guard, by file and function, and why.
var unguarded = map[string]string{
	"accounts/accounts.go SetTerms":     "the write before it in the transaction keeps others off the row",
	"accounts/keys.go DeleteKey":        "goes whatever it holds",
	"accounts/sessions.go SignOut":      "goes whatever it holds",
	"accounts/members.go Invite":        "of two invitations the later one counts, and ends the other",
	"accounts/signin.go SetPassword":    "whole and independent of what was there: of two the later one counts",
	"accounts/totp.go RemoveTOTP":       "goes whatever it holds",
	"accounts/users.go SetOperator":     "whole and independent of what was there: of two the later one counts",
	"asks/asks.go Ask":                  "only who asked removes its question",
	"asks/asks.go answer":               "only who took the question answers it",
	"calls/donotcall.go Unblock":        "goes whatever it holds",
	"calls/live.go Covers":              "in the transaction that makes the call",
	"calls/live.go End":                 "the ending before it in the transaction keeps others off the row",
	"calls/live.go Signal":              "only the process that holds the call dials it, and once",
	"calls/sql.go SetRecording":         "long after the call: nobody else writes it any more",
	"chats/reply.go follow":             "the entry stored before it in the transaction keeps others off the row",
	"chats/turns.go leave":              "everybody writes the same, and an entry is answered once by its index",
	"jobs/jobs.go Add":                  "of two arguments the later ones count; the times follow from the row",
	"messaging/senders.go RemoveSender": "goes whatever it holds",
	"numbers/callerid.go pending":       "taken back unless the guarded change after it finds the number still pending",
	"sim/carrier.go Cancel":             "final: a cancelled subscription and a refunded charge stay so",
	"sim/carrier.go addItem":            "one statement that writes the whole row",
	"sim/network.go SetPhone":           "one statement that writes the whole row",
	"sim/network.go setCall":            "only the pretend phone of the call writes it",
	"sim/network.go setSteps":           "only the pretend phone of the call writes it",
	"sim/network.go finishCall":         "only the pretend phone of the call writes it",
	"sim/sim.go SetFault":               "one statement that writes the whole row",
	"tools/sql.go Delete":               "goes whatever it holds",
	"webhooks/secrets.go Rotate":        "the old secret is the row's own; of two rotations one follows the other",
	"webhooks/sql.go Replay":            "pending again whatever it was; a try that runs meanwhile sees it",
}

var (
	changes = regexp.MustCompile(`(?s)^\s*(UPDATE|DELETE)\s|\sDO UPDATE\s`)
	keyOnly = regexp.MustCompile(`^([a-z_]+\.)?(id|account_id|ref|token|scope|key_|sid) = \$\d+$`)
	setPart = regexp.MustCompile(`(?s)^([a-z0-9_]+) = (.*)$`)
)

// TestChangesAreGuarded asks of every fixed statement that changes or deletes rows that two at once cannot lose one: the
// rows are locked on the way to it, it says in its WHERE what it expects of the row, or what it writes follows from what
// stands there. Anything else stands in unguarded with its reason.
func TestChangesAreGuarded(t *testing.T) {
	found, _ := statements(t)
	rooms, used, n := map[string]*functions{}, map[string]bool{}, 0
	for _, q := range found {
		if !changes.MatchString(q.text) || !strings.Contains(q.file, "/") {
			continue
		}
		n++
		dir := filepath.Dir(q.file)
		if rooms[dir] == nil {
			rooms[dir] = readFunctions(t, dir)
		}
		in := rooms[dir].at(q.file, q.line)
		if guarded(q.text) || relative(q.text) || rooms[dir].held(in, nil) {
			continue
		}
		name := q.file + " " + in
		if used[name] = true; unguarded[name] == "" {
			t.Errorf("%s: %s writes what it does not hold: lock the row first, guard the WHERE, or name it in unguarded with the reason\n%s", q.where, in, q.text)
		}
	}
	for name := range unguarded {
		if !used[name] {
			t.Errorf("%s is guarded by now, or gone: strike it from unguarded", name)
		}
	}
	if n < 100 {
		t.Errorf("%d changes cannot be all", n)
	}
}

// TestGuards is what the check above lets through, and what not.
func TestGuards(t *testing.T) {
	for q, want := range map[string]bool{
		`UPDATE a SET x = $1 WHERE id = $2`:                                                         false,
		`UPDATE a SET x = $1, updated_at = $3 WHERE account_id = $4 AND id = $2`:                    false,
		`UPDATE a SET status = 'over' WHERE ref = $1 RETURNING id`:                                  false,
		`UPDATE a SET x = x + 1, y = $2 WHERE id = $1`:                                              false,
		`DELETE FROM a WHERE id = $1`:                                                               false,
		`INSERT INTO a (x) VALUES ($1) ON CONFLICT (x) DO UPDATE SET y = excluded.y`:                false,
		`UPDATE a SET x = $1 WHERE id = $2 AND x IS NULL`:                                           true,
		`UPDATE a SET x = x + $1, updated_at = $3 WHERE id = $2`:                                    true,
		`UPDATE a SET x = coalesce($1, x), y = CASE WHEN $2 = '' THEN y ELSE $2 END WHERE id = $3`:  true,
		`DELETE FROM a WHERE id = $1 AND status = 'failed'`:                                         true,
		`INSERT INTO a (x) VALUES ($1) ON CONFLICT (x) DO UPDATE SET y = coalesce(excluded.y, a.y)`: true,
	} {
		if got := guarded(q) || relative(q); got != want {
			t.Errorf("%s: let through %v, want %v", q, got, want)
		}
	}
}

// guarded reports whether a statement's WHERE says more than which row, and whose.
func guarded(text string) bool {
	upper := strings.Fields(text)
	flat := strings.Join(upper, " ")
	if _, after, ok := strings.Cut(flat, " DO UPDATE "); ok {
		flat = after
	}
	parts := top(flat, " WHERE ")
	if len(parts) < 2 {
		return false
	}
	cond := top(parts[1], " RETURNING ")[0]
	return slices.ContainsFunc(top(cond, " AND "), func(c string) bool { return !keyOnly.MatchString(strings.TrimSpace(c)) })
}

// relative reports whether everything that an UPDATE writes follows from what the row holds.
func relative(text string) bool {
	flat := strings.Join(strings.Fields(text), " ")
	parts := top(flat, " SET ")
	if len(parts) < 2 {
		return false
	}
	list := top(top(parts[1], " WHERE ")[0], " RETURNING ")[0]
	return !slices.ContainsFunc(top(list, ","), func(set string) bool {
		m := setPart.FindStringSubmatch(strings.TrimSpace(set))
		own := m != nil && regexp.MustCompile(`(^|[^a-z_.]|[a-z_]\.)`+m[1]+`\b`).MatchString(strings.ReplaceAll(m[2], "excluded."+m[1], ""))
		return m == nil || m[1] != "updated_at" && !own
	})
}

// top splits at a word that is in no brackets and in no CASE.
func top(text, word string) (out []string) {
	depth, from := 0, 0
	for i := range text {
		switch {
		case text[i] == '(', strings.HasPrefix(text[i:], "CASE "):
			depth++
		case text[i] == ')', strings.HasPrefix(text[i:], " END"):
			depth--
		}
		if depth == 0 && i >= from && strings.HasPrefix(text[i:], word) {
			out, from = append(out, text[from:i]), i+len(word)
		}
	}
	return append(out, text[from:])
}

// functions are those of a package: where they stand, what they call, and which take a lock.
type functions struct {
	spans    []span
	calls    map[string][]string // who is called by whom
	locks    map[string]bool
	declared map[string]bool
}

type span struct {
	file, name string
	from, to   int
}

func readFunctions(t *testing.T, dir string) *functions {
	t.Helper()
	f := &functions{calls: map[string][]string{}, locks: map[string]bool{}, declared: map[string]bool{}}
	set := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				f.spans = append(f.spans, span{path, d.Name.Name, set.Position(d.Pos()).Line, set.Position(d.End()).Line})
				f.declared[d.Name.Name] = true
				f.read(d)
			}
		}
	}
	return f
}

func (f *functions) read(d *ast.FuncDecl) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if n != d.Name {
				f.calls[n.Name] = append(f.calls[n.Name], d.Name.Name)
			}
		case *ast.BasicLit:
			if strings.Contains(n.Value, "{{lock}}") {
				f.locks[d.Name.Name] = true
			}
		}
		return true
	})
}

func (f *functions) at(file string, line int) string {
	for _, s := range f.spans {
		if s.file == file && s.from <= line && line <= s.to {
			return s.name
		}
	}
	return ""
}

// held reports whether a lock is taken on every way to a function: in it, in what it calls, or in all its callers.
func (f *functions) held(name string, seen []string) bool {
	if slices.Contains(seen, name) {
		return true
	}
	if f.locking(name, 2) {
		return true
	}
	callers := f.calls[name]
	return len(callers) > 0 && !slices.ContainsFunc(callers, func(by string) bool {
		return by != name && !f.held(by, append(seen, name))
	})
}

// locking reports whether a function takes a lock, itself or some calls further down.
func (f *functions) locking(name string, depth int) bool {
	if f.locks[name] {
		return true
	}
	for callee, callers := range f.calls {
		if depth > 0 && f.declared[callee] && slices.Contains(callers, name) && f.locking(callee, depth-1) {
			return true
		}
	}
	return false
}
