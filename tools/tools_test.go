package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/ssrf"
	"parley/tools"
	"parley/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// glass is a box that one can look into.
type glass struct{}

func (glass) Seal(b []byte) (string, error) { return "sealed:" + string(b), nil }
func (glass) Open(s string) ([]byte, error) {
	b, ok := strings.CutPrefix(s, "sealed:")
	if !ok {
		return nil, errors.New("not sealed")
	}
	return []byte(b), nil
}

func open(t *testing.T, d *db.DB, limit *int64) (*tools.Tools, accounts.Account) {
	t.Helper()
	dev, err := ssrf.ParseAllow(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	room := tools.New(d, glass{}, ssrf.New(dev...), func(ctx context.Context, tx *db.Tx, owner accounts.ID) (*int64, error) {
		plan, err := accounts.New(d, accounts.Plan{MaxTools: limit}).LockPlan(ctx, tx, owner)
		return plan.MaxTools, err
	})
	return room, account(t, d, "ada")
}

func account(t *testing.T, d *db.DB, name string) accounts.Account {
	t.Helper()
	a := accounts.Account{Name: name}
	err := d.Get(t.Context(), &a.ID, `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
		VALUES ($1, '', 'direct', 'UTC', '{}', 'ok', 1, 1) RETURNING id`, name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func change(name string) tools.Change {
	return tools.Change{
		Name: value.Some(name), Description: value.Some("Looks."), Endpoint: value.Some("https://example.com/{id}"), Method: value.Some("GET"),
		Headers: value.Some([]tools.Header{{Name: "X-Key", Value: "s3cret"}}), Static: value.Some([]tools.Static{{Key: "tenant", Value: 7.0}}),
		Params: value.Some([]tools.Param{{Name: "id", Type: "string", Description: "Order number", Required: true}}),
	}
}

func TestRecords(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		room, ada := open(t, d, nil)
		bob := account(t, d, "bob")
		first, err := room.Create(ctx, ada.ID, change("track"))
		if err != nil {
			t.Fatal(err)
		}
		if first.Timeout != 10 || first.BodyFormat != "json" {
			t.Errorf("defaults: %+v", first)
		}
		second, err := room.Create(ctx, ada.ID, change("Weather"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := room.Create(ctx, bob.ID, change("track")); err != nil {
			t.Errorf("another account may use the name: %v", err)
		}
		if _, err := room.Create(ctx, ada.ID, change("track")); !fault.Is(err, fault.Invalid) {
			t.Errorf("a name twice: %v", err)
		}
		got, err := room.Get(ctx, ada.ID, first.ID)
		if err != nil || got.Headers[0].Value != "s3cret" || got.Static[0].Value != 7.0 || got.Params[0].Name != "id" || !got.CreatedAt.Equal(first.CreatedAt.Truncate(1000)) {
			t.Errorf("%+v %v", got, err)
		}
		var stored string
		if err := d.Get(ctx, &stored, `SELECT headers FROM tools WHERE id = $1`, first.ID); err != nil || !strings.HasPrefix(stored, "sealed:") {
			t.Errorf("headers at rest: %s %v", stored, err)
		}
		for search, want := range map[string][]tools.ID{"": {second.ID, first.ID}, "EATH": {second.ID}, "%": nil, "zz": nil} {
			list, err := room.List(ctx, ada.ID, search)
			if err != nil || len(list) != len(want) || len(want) > 0 && list[0].ID != want[0] {
				t.Errorf("search %q: %v %v", search, list, err)
			}
		}
		of, err := room.Of(ctx, ada.ID, []tools.ID{second.ID, 99, first.ID})
		if err != nil || len(of) != 2 || of[0].ID != second.ID {
			t.Errorf("of an assistant: %v %v", of, err)
		}
		owned, err := room.Owned(ctx, d, bob.ID, []tools.ID{first.ID, second.ID})
		if err != nil || len(owned) != 0 {
			t.Errorf("bob owns %v %v", owned, err)
		}
		updated, err := room.Update(ctx, ada.ID, first.ID, tools.Change{Headers: value.Some([]tools.Header{}), Timeout: value.Some[int64](3)})
		if err != nil || len(updated.Headers) != 0 || updated.Timeout != 3 || updated.Name != "track" || len(updated.Params) != 1 {
			t.Errorf("%+v %v", updated, err)
		}
		if _, err := room.Update(ctx, ada.ID, first.ID, tools.Change{Name: value.Some("Weather")}); !fault.Is(err, fault.Invalid) {
			t.Errorf("rename to a taken name: %v", err)
		}
		for what, err := range map[string]error{
			"get":    second1(room.Get(ctx, bob.ID, first.ID)),
			"update": second1(room.Update(ctx, bob.ID, first.ID, tools.Change{})),
			"delete": room.Delete(ctx, bob.ID, first.ID),
		} {
			if err != tools.ErrNotFound {
				t.Errorf("%s of a foreign tool: %v", what, err)
			}
		}
		if err := room.Delete(ctx, ada.ID, first.ID); err != nil {
			t.Error(err)
		}
		if err := room.Delete(ctx, ada.ID, first.ID); err != tools.ErrNotFound {
			t.Errorf("second delete: %v", err)
		}
	})
}

func second1[T any](_ T, err error) error { return err }

// A plan's limit holds also when many tools are created at once.
func TestPlanLimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		limit := int64(2)
		room, ada := open(t, d, &limit)
		errs := make(chan error)
		for i := range 8 {
			go func() {
				_, err := room.Create(context.Background(), ada.ID, change("tool_"+string(rune('a'+i))))
				errs <- err
			}()
		}
		made := 0
		for range 8 {
			err := <-errs
			if err == nil {
				made++
			} else if f := fault.Of(err); f.Kind != fault.Invalid || f.Message != "Your plan allows 2 mid-call tools, and you have that many. Delete one, or change the plan." {
				t.Error(err)
			}
		}
		if made != 2 {
			t.Errorf("%d tools were made", made)
		}
	})
}

func TestRules(t *testing.T) {
	room, ada := open(t, dbtest.SQLite(t), nil)
	if _, err := room.Create(t.Context(), ada.ID, change("taken")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		edit func(*tools.Change)
		want string
	}{
		{func(c *tools.Change) {}, ""},
		{func(c *tools.Change) { c.Name.V = "taken" }, "name: The name has already been taken."},
		{func(c *tools.Change) { c.Name.V = "end_call" }, "name: This tool name is reserved."},
		{func(c *tools.Change) { c.Name.V = "search_knowledgebase" }, "name: This tool name is reserved."},
		{func(c *tools.Change) { c.Name.V = "transfer_call_2" }, "name: This tool name is reserved."},
		{func(c *tools.Change) { c.Endpoint.V = "ftp://example.com" }, "endpoint: The endpoint field must be a valid URL."},
		{func(c *tools.Change) { c.Endpoint.V = "http://10.0.0.1/{id}" }, "endpoint: The endpoint field must not point to a private or local address."},
		{func(c *tools.Change) { c.Endpoint.V = "http://u:p@example.com" }, "endpoint: The endpoint field must not point to a private or local address."},
		{func(c *tools.Change) { c.Endpoint.V = "https://{{region}}.example.com/{id}?q={{ name }}" }, ""},
	} {
		ch := change("fresh")
		c.edit(&ch)
		got := ""
		made, err := room.Create(t.Context(), ada.ID, ch)
		if err == nil {
			err = room.Delete(t.Context(), ada.ID, made.ID)
		}
		if err != nil {
			f := fault.Of(err).Fields[0]
			got = f.Name + ": " + f.Sentence
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestSchema(t *testing.T) {
	d := tools.Definition{Params: []tools.Param{
		{Name: "id", Type: "string", Description: `The "id"`, Required: true}, {Name: "n", Type: "float", Description: "Amount"}, {Name: "k", Type: "integer", Description: "Count", Required: true},
	}}
	want := `{"type":"object","properties":{"id":{"type":"string","description":"The \"id\""},"n":{"type":"number","description":"Amount"},"k":{"type":"integer","description":"Count"}},"required":["id","k"]}`
	if got := string(d.Schema()); got != want || !json.Valid(d.Schema()) {
		t.Errorf("got %s", got)
	}
}
