package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/db"
	"parley/db/dbtest"
	"parley/once"
)

// kill ends what is done under its context at a step: from then on nothing of it reaches the database.
type kill struct{ left atomic.Int64 }

type killKey struct{}

var errKilled = errors.New("killed")

func step(ctx context.Context) error {
	if k, _ := ctx.Value(killKey{}).(*kill); k != nil && k.left.Add(-1) < 0 {
		return errKilled
	}
	return nil
}

// asked is a request with a key.
type asked struct{ line, kind, body string }

// matrix is every idempotent route; next makes a request that was not made before. From the purchase on jobs are worked off.
var matrix = []struct {
	name string
	next func(s *apitest.Server, have map[string]string, i int) asked
}{
	{"lead", func(_ *apitest.Server, have map[string]string, i int) asked {
		return asked{"/user/lead", "", fmt.Sprintf(`{"campaign_id":%s,"phone_number":"+4917012%05d","secondary_contacts":[{"phone_number":"+4917099%05d"}]}`, have["campaign"], i, i)}
	}},
	{"campaign", func(_ *apitest.Server, have map[string]string, i int) asked {
		return asked{"/user/campaigns", "", fmt.Sprintf(`{"name":"Spring %d","assistant_id":%s}`, i, have["outbound"])}
	}},
	{"assistant", func(_ *apitest.Server, _ map[string]string, i int) asked {
		return asked{"/user/assistant", "", strings.Replace(assistantBody, "Desk", fmt.Sprint("Desk ", i), 1)}
	}},
	{"knowledgebase", func(_ *apitest.Server, _ map[string]string, i int) asked {
		return asked{"/user/knowledgebases", "", fmt.Sprintf(`{"name":"Maps %d"}`, i)}
	}},
	{"document", func(_ *apitest.Server, have map[string]string, i int) asked {
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		_ = form.SetBoundary("parts")
		_ = form.WriteField("name", fmt.Sprint("Roads ", i))
		_ = form.WriteField("type", "txt")
		file, _ := form.CreateFormFile("file", "roads.txt")
		_, _ = file.Write([]byte("Roads lead to Rome."))
		form.Close()
		return asked{"/user/knowledgebases/" + have["base"] + "/documents", form.FormDataContentType(), b.String()}
	}},
	{"tool", func(_ *apitest.Server, _ map[string]string, i int) asked {
		return asked{"/user/tools", "", fmt.Sprintf(`{"name":"look_%d","description":"Looks something up.","endpoint":"https://p.example/x","method":"GET"}`, i)}
	}},
	{"trunk", func(_ *apitest.Server, _ map[string]string, i int) asked {
		return asked{"/user/phone-numbers/sip-trunks", "", fmt.Sprintf(`{"sip_trunk_type":"number","phone_number":"+4930%06d","sip_username":"ada","sip_password":"secret!",
			"sip_address":"sip.p.example","sip_calling_format":"+e164","inbound_authorization_type":"auth"}`, i)}
	}},
	{"call", func(_ *apitest.Server, have map[string]string, i int) asked {
		return asked{"/user/make_call", "", fmt.Sprintf(`{"phone_number":"+4917013%05d","assistant_id":%s}`, i, have["outbound"])}
	}},
	{"template", func(_ *apitest.Server, have map[string]string, i int) asked {
		return asked{"/user/whatsapp/send", "", fmt.Sprintf(`{"sender_id":%s,"template_id":%s,"recipient_phone":"+4917014%05d","variables":{"1":"Mia","2":"tea"}}`, have["sender"], have["template"], i)}
	}},
	{"freeform", func(s *apitest.Server, have map[string]string, i int) asked {
		from := fmt.Sprintf("+4917015%05d", i)
		s.Send("POST /sim/whatsapp/inbound", fmt.Sprintf(`{"sender_id":%s,"from":"%s","text":"Hi"}`, have["sender"], from)).Want(200)
		return asked{"/user/whatsapp/send-freeform", "", fmt.Sprintf(`{"sender_id":%s,"recipient_phone":"%s","message":"Yes?"}`, have["sender"], from)}
	}},
	{"chat", func(s *apitest.Server, have map[string]string, _ int) asked {
		id := s.Send("POST /conversations", `{"assistant_id":`+have["inbound"]+`}`).Want(200).Text("conversation_id")
		return asked{"/conversations/" + id + "/messages", "", `{"message":"When do you open?"}`}
	}},
	{"reply", func(_ *apitest.Server, have map[string]string, i int) asked {
		return asked{"/user/ai/generate-reply", "", fmt.Sprintf(`{"assistant_id":%s,"customer_identifier":"crm-%d","message":"When do you open?"}`, have["inbound"], i)}
	}},
	{"number", func(s *apitest.Server, _ map[string]string, i int) asked {
		number := fmt.Sprintf("+1415556%04d", i)
		s.Send("POST /sim/inventory", `{"phone_number":"`+number+`","price":1.15,"address_requirements":"none","sms_capable":true}`).Want(200)
		return asked{"/user/phone-numbers/purchase", "", `{"phone_number":"` + number + `"}`}
	}},
	{"sms", func(_ *apitest.Server, have map[string]string, i int) asked {
		return asked{"/user/sms", "", fmt.Sprintf(`{"from":%s,"to":"+1415555%04d","body":"Hello %d"}`, have["number"], i, i)}
	}},
}

// Whatever step of whatever idempotent route a process is killed at: after a restart the same key gets the answer, and there
// is exactly one of everything, as after a request that nothing happened to.
//
// Contract: 1.14
func TestKilledAtEveryStep(t *testing.T) {
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			s := apitest.New(t, open(t, db.Manual(), db.Steps(step)))
			have := furnish(t, s)
			for _, route := range matrix {
				if route.name == "number" {
					s.Work()
					have["number"] = s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550101"}`).Want(201).Text("data.id")
				}
				t.Run(route.name, func(t *testing.T) {
					inner := *s
					inner.T = t
					killed(t, &inner, func(i int) asked { return route.next(&inner, have, i) })
				})
			}
		})
	}
}

func furnish(t *testing.T, s *apitest.Server) map[string]string {
	have := map[string]string{}
	have["sender"], have["template"] = shop(t, s, "")
	s.Send("PUT /sim/whatsapp/senders/"+have["sender"], `{"messaging_limit":100000,"sync":true}`).Want(200)
	have["inbound"] = s.Send("POST /user/assistant", assistantBody).Want(201).Text("data.id")
	have["outbound"] = s.Send("POST /user/assistant", strings.Replace(assistantBody, "inbound", "outbound", 1)).Want(201).Text("data.id")
	have["campaign"] = s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+have["outbound"]+`}`).Want(201).Text("data.id")
	have["base"] = s.Send("POST /user/knowledgebases", `{"name":"Maps"}`).Want(201).Text("data.id")
	return have
}

// killed makes requests that are killed one step later each time, until one gets through.
func killed(t *testing.T, s *apitest.Server, next func(i int) asked) {
	fresh := next(0)
	before := everything(t, s)
	if first := send(s, t.Context(), fresh, "whole"); first.Code/100 != 2 {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	want := minus(everything(t, s), before)
	for steps := int64(0); ; steps++ {
		if steps > 300 {
			t.Fatal("it never gets through")
		}
		calm(t, s, steps%10 == 0)
		ask, key := next(int(steps)+1), fmt.Sprint("key ", steps)
		before := everything(t, s)
		k := &kill{}
		k.left.Store(steps)
		first := send(s, context.WithValue(t.Context(), killKey{}, k), ask, key)
		through := k.left.Load() >= 0
		if _, err := once.Open(t.Context(), s.DB, "test"); err != nil { // the next life
			t.Fatal(err)
		}
		again := send(s, t.Context(), ask, key)
		replayed := send(s, t.Context(), ask, key)
		if again.Code/100 != 2 || replayed.Body.String() != again.Body.String() || replayed.Header().Get("Idempotency-Replayed") != "true" {
			t.Errorf("killed at step %d, then %d %s, then %d %s", steps, again.Code, again.Body, replayed.Code, replayed.Body)
		}
		if through && first.Body.String() != again.Body.String() {
			t.Errorf("answered %s, then %s", first.Body, again.Body)
		}
		if got := minus(everything(t, s), before); got != want {
			t.Errorf("killed at step %d there is%s\nmore, want%s", steps, got, want)
		}
		if through {
			t.Logf("%d steps", steps)
			return
		}
	}
}

// calm makes room under the limits of calls and messages, and with a new surface under those in memory.
func calm(t *testing.T, s *apitest.Server, surface bool) {
	if surface {
		s.API = api.New(s.App.Deps)
	}
	for _, query := range []string{`DELETE FROM send_rates`, `DELETE FROM placements`, `UPDATE calls SET status = 'failed'`} {
		if _, err := s.DB.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
}

func send(s *apitest.Server, ctx context.Context, ask asked, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, "POST", api.Base+ask.line, strings.NewReader(ask.body))
	r.Header.Set("Content-Type", ask.kind)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	s.API.ServeHTTP(w, r)
	return w
}

// everything counts the rows of what a request may double, and the money.
func everything(t *testing.T, s *apitest.Server) map[string]int64 {
	out := map[string]int64{}
	var parts []string
	for _, table := range []string{"leads", "campaigns", "assistants", "assistant_versions", "knowledgebases", "documents", "tools", "sip_trunks", "phone_numbers",
		"calls", "placements", "holds", "ledger", "wa_messages", "wa_contacts", "sms", "conversations", "conversation_entries",
		"sim_messages", "sim_sms", "sim_subscriptions", "sim_charges", "idempotency"} {
		parts = append(parts, `SELECT '`+table+`' AS name, count(*) AS n FROM `+table)
	}
	var rows []struct {
		Name string `db:"name"`
		N    int64  `db:"n"`
	}
	if err := s.DB.Select(t.Context(), &rows, strings.Join(parts, " UNION ALL ")); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		out[r.Name] = r.N
	}
	for name, query := range map[string]string{"held": `SELECT CAST(coalesce(sum(held), 0) AS BIGINT) FROM balances`, "total": `SELECT CAST(coalesce(sum(balance), 0) AS BIGINT) FROM balances`} {
		var n int64
		if err := s.DB.Get(t.Context(), &n, query); err != nil {
			t.Fatal(name, err)
		}
		out[name] = n
	}
	var kinds []struct {
		Kind string `db:"kind"`
		N    int64  `db:"n"`
	}
	if err := s.DB.Select(t.Context(), &kinds, `SELECT kind, count(*) AS n FROM jobs GROUP BY kind`); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if k.Kind != "knowledge.erase" && k.Kind != "messaging.abandoned" { // what looks after each try
			out["job "+k.Kind] = k.N
		}
	}
	return out
}

func minus(after, before map[string]int64) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if d := after[name] - before[name]; d != 0 {
			fmt.Fprintf(&b, " %s %d", name, d)
		}
	}
	return b.String()
}
