package wire

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/once"
	"parley/value"
)

type buyIn struct {
	Shop  int64  `path:"shop"`
	What  string `json:"what" rule:"required"`
	Count int64  `json:"count"`
}

type bought struct {
	N int `json:"n"`
}

// TestIdempotency repeats requests, at once and later, and restarts a node.
//
// Contract: 1.14
func TestIdempotency(t *testing.T) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL, "postgres": dbtest.PostgresURL} {
		t.Run(name, func(t *testing.T) { testIdempotency(t, dbtest.Open(t, url(t), db.Manual())) })
	}
}

func testIdempotency(t *testing.T, d *db.DB) {
	requests, err := once.Open(t.Context(), d, "n1")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	started, release := make(chan bool), make(chan bool)
	buy := func(_ context.Context, in *buyIn) (bought, error) {
		switch in.What {
		case "poor":
			return bought{}, fault.New(fault.NeedsPayment, "", "No money.")
		case "refund":
			n++
			return bought{}, fault.Final(fault.Wrap(http.ErrHandlerTimeout, "", "It is refunded."))
		case "slow":
			started <- true
			<-release
		}
		n++
		return bought{n}, nil
	}
	auth := func(r *http.Request) (context.Context, Who, error) {
		account := int64(len(r.Header.Get("Authorization")))
		return r.Context(), Who{Key: "k", Account: account}, nil
	}
	do := testServer(t, Config{Authenticate: auth, Once: requests}, On(plain, "POST /shops/{shop}/buy", 201, buy, Idempotent(), Alias("POST /shop/{shop}/buy")))
	check := func(req, key, as string, status int, want string) http.Header {
		t.Helper()
		got, body, h := do(req, "Idempotency-Key: "+key, "Authorization: "+as)
		if got != status || body != want {
			t.Errorf("%q: %d %s, want %d %s", req, got, body, status, want)
		}
		return h
	}
	const reused = `{"message":"Idempotency key already used with a different request."}`
	if h := check("POST /api/shops/1/buy\n{\"what\":\"tea\",\"count\":1}", "a", "me", 201, `{"n":1}`); h.Get("Idempotency-Replayed") != "" {
		t.Error("the first answer says that it is a replay")
	}
	if h := check("POST /api/shop/1/buy\n{ \"count\":1.0, \"what\":\" tea \"}", "a", "me", 201, `{"n":1}`); h.Get("Idempotency-Replayed") != "true" {
		t.Error("a replay does not say so")
	}
	check("POST /api/shops/1/buy\n{\"what\":\"tea\"}", "a", "me", 409, reused)
	check("POST /api/shops/2/buy\n{\"what\":\"tea\"}", "a", "me", 201, `{"n":2}`)
	check("POST /api/shops/1/buy\n{\"what\":\"tea\"}", "a", "other", 201, `{"n":3}`)
	check("POST /api/shops/1/buy\n{}", "b", "me", 422, asErrors("what: The what field is required."))
	check("POST /api/shops/1/buy\n{\"what\":\"poor\"}", "b", "me", 402, `{"message":"No money."}`)
	check("POST /api/shops/1/buy\n{\"what\":\"tea\"}", "b", "me", 201, `{"n":4}`)
	check("POST /api/shops/1/buy\n{\"what\":\"refund\"}", "c", "me", 500, `{"message":"It is refunded."}`)
	check("POST /api/shops/1/buy\n{\"what\":\"refund\"}", "c", "me", 500, `{"message":"It is refunded."}`)
	if n != 5 {
		t.Errorf("%d effects, want 5", n)
	}

	done := make(chan bool)
	go func() {
		defer close(done)
		do("POST /api/shops/1/buy\n{\"what\":\"slow\"}", "Idempotency-Key: d", "Authorization: me")
	}()
	<-started
	h := check("POST /api/shops/1/buy\n{\"what\":\"slow\"}", "d", "me", 409, `{"message":"A request with this idempotency key is still in progress."}`)
	if h.Get("Retry-After") != "1" {
		t.Error("no Retry-After")
	}
	if _, err := once.Open(t.Context(), d, "n2"); err != nil { // another node's start forgets nothing of ours
		t.Fatal(err)
	}
	check("POST /api/shops/1/buy\n{\"what\":\"slow\"}", "d", "me", 409, `{"message":"A request with this idempotency key is still in progress."}`)
	if _, err := once.Open(t.Context(), d, "n1"); err != nil { // a restart of this node does
		t.Fatal(err)
	}
	check("POST /api/shops/1/buy\n{\"what\":\"tea\"}", "d", "me", 201, `{"n":6}`)
	release <- true
	<-done

	if _, err := d.Advance(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	check("POST /api/shops/1/buy\n{\"what\":\"tea\"}", "a", "me", 201, `{"n":8}`)
	if err := requests.Purge(t.Context(), d.Now()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := d.Get(t.Context(), &left, `SELECT count(*) FROM idempotency`); err != nil || left != 1 {
		t.Errorf("%d records left, %v", left, err)
	}
}

type orderIn struct {
	What  string               `json:"what" rule:"required"`
	Count int64                `json:"count" default:"1" rule:"null=default"`
	Note  value.Opt[string]    `json:"note" rule:"null max=9"`
	Gift  bool                 `json:"gift" also:"present"`
	Extra value.Scalars        `json:"extra"`
	Lines []orderLine          `json:"lines"`
	Who   value.Opt[value.Ref] `json:"who"`
}

type orderLine struct {
	Text value.Opt[string] `json:"text" rule:"null"`
}

// Two bodies are the same when the route understands the same by them.
//
// Contract: 1.4 1.5 1.14
func TestSameBody(t *testing.T) {
	requests, err := once.Open(t.Context(), dbtest.SQLite(t), "n1")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	order := func(context.Context, *orderIn) (bought, error) { n++; return bought{n}, nil }
	do := testServer(t, Config{Once: requests, Aliases: map[string]string{"wrapped": "gift"}}, On(plain, "POST /order", 201, order, Idempotent()))
	for i, c := range []struct {
		a, b string
		same bool
	}{
		{`{"what":"tea","count":1}`, `{"what":"tea","count":"1"}`, true},
		{`{"what":"tea","count":1}`, `{"count":1.0,"what":" tea "}`, true},
		{`{"what":"tea"}`, `{"what":"tea","count":null}`, true},
		{`{"what":"tea"}`, `{"what":"tea","count":1}`, true},
		{`{"what":"tea"}`, `{"what":"tea","note":null}`, true},
		{`{"what":"tea"}`, `{"what":"tea","note":"  "}`, true},
		{`{"what":"tea"}`, `{"what":"tea","color":"red"}`, true},
		{`{"what":"tea","gift":true}`, `{"what":"tea","wrapped":"1"}`, true},
		{`{"what":"tea","gift":true}`, `{"what":"tea","present":1}`, true},
		{`{"what":"tea","extra":{"a":1,"b":"x"}}`, `{"what":"tea","extra":{"b":"x","a":1.0}}`, true},
		{`{"what":"tea","lines":[{}]}`, `{"what":"tea","lines":[{"text":null,"x":1}]}`, true},
		{`{"what":"tea","who":7}`, `{"what":"tea","who":"7"}`, true},
		{`{"what":"tea"}`, `{"what":"tea","count":2}`, false},
		{`{"what":"tea"}`, `{"what":"Tea"}`, false},
		{`{"what":"tea"}`, `{"what":"tea","note":"x"}`, false},
		{`{"what":"tea"}`, `{"what":"tea","note":5}`, false},
		{`{"what":"tea","extra":{"a":1}}`, `{"what":"tea","extra":{"a":"1"}}`, false},
		{`{"what":"tea","extra":{"a":1}}`, `{"what":"tea","extra":{"a":null}}`, false},
		{`{"what":"tea","lines":[{}]}`, `{"what":"tea","lines":[{},{}]}`, false},
		{`{"what":"tea","lines":[{"text":"a"},{}]}`, `{"what":"tea","lines":[{},{"text":"a"}]}`, false},
	} {
		key := fmt.Sprint("Idempotency-Key: ", i)
		first, body, _ := do("POST /api/order\n"+c.a, key)
		status, again, h := do("POST /api/order\n"+c.b, key)
		if first != 201 || c.same != (status == 201 && again == body && h.Get("Idempotency-Replayed") == "true") || !c.same && status != 409 {
			t.Errorf("%s and %s: %d %s, then %d %s", c.a, c.b, first, body, status, again)
		}
	}
}
