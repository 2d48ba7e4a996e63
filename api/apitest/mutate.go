package apitest

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"parley/api"
	"parley/app"
	"parley/db"
	"parley/db/dbtest"
	"parley/wire"
)

// Mutator sends bad input to every writing route and looks for what must never happen: an answer of 5xx, a shape that is
// not documented, a refused request that changed something.
type Mutator struct {
	*Server
	file   *sql.DB
	routes []wire.Route
}

// NewMutator starts the API on SQLite; prepare fills its world.
func NewMutator(t testing.TB, prepare func(*Server), with ...func(*app.Foundations)) *Mutator {
	t.Helper()
	url := dbtest.SQLiteURL(t)
	s := New(t, dbtest.Open(t, url, db.Manual()), with...)
	prepare(s)
	file, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	m := &Mutator{Server: s, file: file}
	for _, r := range s.API.Routes() {
		if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
			m.routes = append(m.routes, r)
		}
	}
	return m
}

// barred are routes whose good answer waits for durable work, which stands still here: this field of theirs is always
// bad. Their good answers have tests of their own.
var barred = map[string]string{"/user/phone-numbers/purchase": "phone_number", "/sim/clock/advance": "seconds", "/sim/calls": "from"}

// Len is the number of routes.
func (m *Mutator) Len() int { return len(m.routes) }

// Try sends one bad request to the n-th route. The same seed sends the same request; raw, when not empty, is the body.
func (m *Mutator) Try(t testing.TB, n int, seed uint64, raw []byte) {
	t.Helper()
	r := m.routes[n%len(m.routes)]
	g := gen{rand.New(rand.NewPCG(seed, uint64(n)))}
	schema, err := plain(r.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	args := g.value(schema, 0).(map[string]any)
	path := r.Path
	for name := range args {
		if strings.Contains(path, "{"+name+"}") {
			path = strings.Replace(path, "{"+name+"}", g.id(), 1)
			delete(args, name)
		}
	}
	bar := barred[r.Path]
	if bar != "" {
		args[bar] = nasty[g.IntN(len(nasty))]
	}
	body := g.spoil(args)
	if len(raw) > 0 && bar == "" {
		body = raw
	}
	before := m.sum(t)
	req := httptest.NewRequest(r.Method, api.Base+strings.NewReplacer(" ", "%20").Replace(path), strings.NewReader(string(body)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+m.Token)
	a := m.on(t).Do(req)
	if bar != "" && a.Status < 400 {
		t.Errorf("%s %s\n%s\n%d %s\nthe bad %s was taken", r.Method, path, body, a.Status, a.Body, bar)
	}
	if a.Status >= 500 {
		t.Errorf("%s %s\n%s\n%d %s", r.Method, path, body, a.Status, a.Body)
	}
	if after := m.sum(t); a.Status >= 400 && after != before {
		t.Errorf("%s %s\n%s\n%d %s\nrefused, but this changed: %s", r.Method, path, body, a.Status, a.Body, differ(before, after))
	}
}

// on reports to t, which with fuzzing is another one every time.
func (m *Mutator) on(t testing.TB) *Server {
	s := *m.Server
	s.T = t
	return &s
}

// volatile are columns that reading changes too, or a refusal on purpose: a wrong code is a try.
var volatile = map[string]string{"api_keys": "last_used_at", "phone_numbers": "code_tries"}

// sum is the content of the database, one hash per table and line.
func (m *Mutator) sum(t testing.TB) string {
	t.Helper()
	names, err := m.file.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'goose%' AND name <> 'sign_in_tries' ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for names.Next() {
		var name string
		if err := names.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	names.Close()
	var out strings.Builder
	for _, table := range tables {
		h, err := m.sumTable(table)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s\n", table, h)
	}
	return out.String()
}

func (m *Mutator) sumTable(table string) (string, error) {
	rows, err := m.file.Query(`SELECT * FROM "` + table + `"`)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	h, n := sha256.New(), 0
	for ; rows.Next(); n++ {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return "", err
		}
		for i, c := range columns {
			if volatile[table] != c {
				fmt.Fprintf(h, "%v|", *values[i].(*any))
			}
		}
	}
	return fmt.Sprintf("%d rows %x", n, h.Sum(nil)[:6]), rows.Err()
}

func differ(before, after string) string {
	var out []string
	old := strings.Split(before, "\n")
	for _, line := range strings.Split(after, "\n") {
		if !slices.Contains(old, line) {
			out = append(out, line)
		}
	}
	return strings.Join(out, ", ")
}

// plain is a schema as maps and lists.
func plain(schema map[string]any) (map[string]any, error) {
	b, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(b, &out)
}

// gen makes values that fit a schema, and spoils them.
type gen struct{ *rand.Rand }

func (g gen) pick(list ...any) any { return list[g.IntN(len(list))] }

func (g gen) id() string {
	if g.IntN(3) > 0 {
		return "1"
	}
	return g.pick("1", "2", "3", "9999", "0", "x", "99999999999999999999", "5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11").(string)
}

func (g gen) value(schema map[string]any, depth int) any {
	if list, ok := schema["enum"].([]any); ok && len(list) > 0 {
		return g.pick(list...)
	}
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok {
		kind, _ = kinds[g.IntN(len(kinds))].(string)
	}
	switch kind {
	case "integer":
		return g.number(schema, 3)
	case "number":
		return g.number(schema, 1)
	case "boolean":
		return g.IntN(2) == 0
	case "string":
		return g.text(schema)
	case "array":
		items, _ := schema["items"].(map[string]any)
		list := []any{}
		for range g.IntN(3) {
			if depth < 4 {
				list = append(list, g.value(items, depth+1))
			}
		}
		return list
	case "object":
		out := map[string]any{}
		props, _ := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(keys(props)) {
			if inner, ok := props[name].(map[string]any); ok && (g.IntN(3) > 0 || depth == 0) {
				out[name] = g.value(inner, depth+1)
			}
		}
		if len(props) == 0 {
			out[g.text(nil).(string)] = g.pick("x", 1, true, nil, []any{1})
		}
		return out
	}
	return g.pick(nil, "x", 7, map[string]any{"type": "end_call"})
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (g gen) number(schema map[string]any, span float64) any {
	lo, hi := 1.0, span
	if n, ok := schema["minimum"].(float64); ok {
		lo, hi = n, n+span
	}
	if n, ok := schema["maximum"].(float64); ok {
		hi = n
	}
	if schema["type"] == "number" {
		return lo + (hi-lo)*g.Float64()
	}
	return int64(lo) + g.Int64N(max(1, int64(hi-lo)+1))
}

func (g gen) text(schema map[string]any) any {
	switch format, _ := schema["format"].(string); format {
	case "uri":
		return "https://receiver.example/hook"
	case "email":
		return "a@b.example"
	case "uuid":
		return "5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11"
	case "date":
		return "2027-03-01"
	}
	return g.pick("abc", "+14155550123", "Europe/Berlin", "09:30", "x y", "{{name}} {x}", "a_b")
}

// nasty are values that have broken servers before.
var nasty = []any{nil, "", " ", "0", "-1", "1e400", "\u0000", "a\u0000b", "\u202e\u200b", "𝒳\U0001F600", strings.Repeat("x", 5000),
	strings.Repeat("é", 100001),
	0, -1, 1.5, 1e300, -9223372036854775808, 9223372036854775807, true, false, []any{}, map[string]any{}, []any{nil}, []any{[]any{}},
	map[string]any{"": ""}, map[string]any{"a": map[string]any{"b": []any{1}}}, "'; DROP TABLE accounts; --", "../../etc/passwd",
	"http://127.0.0.1/", "file:///etc/passwd",
	"https://user:pw@x.example/", "javascript:alert(1)", "99999999999999999999", "NaN", "+0", "١٢٣", "{{{", "%s%n", "<script>"}

// spoil breaks a body in one to three places, or leaves it whole.
func (g gen) spoil(args map[string]any) []byte {
	for range g.IntN(4) {
		g.break1(args, 0)
	}
	b, err := json.Marshal(args)
	if err != nil {
		return []byte("{")
	}
	switch g.IntN(40) {
	case 0:
		return b[:len(b)/2]
	case 1:
		return append(b, b...)
	case 2:
		return []byte(`{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}")
	case 3:
		return []byte(strings.Replace(string(b), `":`, "\":\xff", 1))
	}
	return b
}

func (g gen) break1(at map[string]any, depth int) {
	names := slices.Sorted(keys(at))
	if len(names) == 0 {
		at["unknown"] = nasty[g.IntN(len(nasty))]
		return
	}
	name := names[g.IntN(len(names))]
	switch inner := at[name].(type) {
	case map[string]any:
		if depth < 4 && g.IntN(2) == 0 {
			g.break1(inner, depth+1)
			return
		}
	case []any:
		if len(inner) > 0 && g.IntN(2) == 0 {
			i := g.IntN(len(inner))
			if object, ok := inner[i].(map[string]any); ok && g.IntN(3) > 0 {
				g.break1(object, depth+1)
				return
			}
			inner[i] = nasty[g.IntN(len(nasty))]
			return
		}
	}
	if g.IntN(6) == 0 {
		delete(at, name)
		return
	}
	at[name] = nasty[g.IntN(len(nasty))]
}
