package assistants

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"parley/accounts"
	"parley/catalog"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/ids"
	"parley/value"
	"parley/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	goleak.VerifyTestMain(m)
}

// Things of account 1 in every lab.
const (
	slt, rtVoice        = 1, 3 // voices: speech, realtime
	llm, realtime       = 1, 2 // models
	other               = 3    // a second text model, with a temperature
	dedicated, callerID = 11, 12
	trunk               = 13
	ownKB, ownTool      = 21, 31
	builtinSpeech       = 1
	otherSpeech         = 2
	builtinEars         = 1
)

// lab serves the room alone, as the API does.
type lab struct {
	t    *testing.T
	d    *db.DB
	room *Assistants
	srv  *wire.Server

	running map[ID]bool
	limit   int64
}

type boxOfGlass struct{}

func (boxOfGlass) Seal(b []byte) (string, error) { return "sealed:" + string(b), nil }
func (boxOfGlass) Open(s string) ([]byte, error) {
	key, ok := strings.CutPrefix(s, "sealed:")
	if !ok {
		return nil, fmt.Errorf("not sealed: %q", s)
	}
	return []byte(key), nil
}

func offer() catalog.Offer {
	en := []string{"en"}
	return catalog.Offer{
		Synthesizers: []catalog.NewSynthesizer{
			{Code: "builtin", Name: "Built-in speech", Languages: en, Voices: []catalog.NewVoice{{Code: "slt", Name: "SLT", Gender: "female"}}},
			{Code: "cloud", Name: "Cloud speech", Languages: []string{"en", "de"}, Voices: []catalog.NewVoice{{Code: "mira", Name: "Mira", Gender: "female", Languages: []string{"de"}}}},
		},
		Transcribers: []catalog.NewTranscriber{{Code: "builtin", Name: "Built-in recognition", Languages: en}},
		Models: []catalog.NewModel{
			{Provider: "builtin", Code: "builtin-responder", Name: "Built-in assistant model", Types: []string{"llm"}},
			{Provider: "builtin", Code: "builtin-realtime", Name: "Built-in realtime", Types: []string{"multimodal", "dualplex"}, Languages: en,
				Voices: []catalog.NewVoice{{Code: "slt", Name: "SLT", Gender: "female"}}},
			{Provider: "cloud", Code: "big", Name: "Big", Types: []string{"llm"}, Temperature: true},
		},
	}
}

func newLab(t *testing.T, d *db.DB) *lab {
	t.Helper()
	l := &lab{t: t, d: d, running: map[ID]bool{}, limit: 1000}
	for range 2 {
		if _, err := d.Exec(t.Context(), `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
			VALUES ('Ada', 'ada@p.example', 'direct', 'UTC', '{}', 'ok', 0, 0)`); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []string{
		fmt.Sprintf(`INSERT INTO phone_numbers (id, account_id, number, country_code, type, state, created_at, updated_at) VALUES
			(%d, 1, '+4930123456', 'DE', 'normal', 'active', 0, 0), (%d, 1, '+4930123457', 'DE', 'caller_id', 'active', 0, 0)`, dedicated, callerID),
		fmt.Sprintf(`INSERT INTO knowledgebases (id, account_id, name, created_at, updated_at) VALUES (%d, 1, 'Hours', 0, 0)`, ownKB),
		fmt.Sprintf(`INSERT INTO tools (id, account_id, name, description, endpoint, method, body_format, timeout, headers, static_fields, params, created_at, updated_at) VALUES
			(%d, 1, 'a', '', '', '', '', 1, '', '', '', 0, 0), (%d, 1, 'b', '', '', '', '', 1, '', '', '', 0, 0)`, ownTool, ownTool+1),
	} {
		if _, err := d.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Open(t.Context(), d, offer())
	if err != nil {
		t.Fatal(err)
	}
	l.room = New(d, c, boxOfGlass{}, Account{
		Numbers: func(_ context.Context, _ db.Q, owner accounts.ID, asked []ids.Number) ([]Number, error) {
			all := []Number{{ID: dedicated, E164: "+4930123456", Country: "DE", Type: "normal"}, {ID: callerID, E164: "+4930123457", Country: "DE", Type: "caller_id"}, {ID: trunk, E164: "+4930123458", Country: "DE", Type: "sip"}}
			return slices.DeleteFunc(all, func(n Number) bool { return owner != 1 || asked != nil && !slices.Contains(asked, n.ID) }), nil
		},
		Knowledgebases:  mine[ids.Knowledgebase](ownKB),
		Tools:           mine[ids.Tool](ownTool, ownTool+1),
		RunningCampaign: func(_ context.Context, _ db.Q, id ID) (bool, error) { return l.running[id], nil },
		Most: func(ctx context.Context, tx *db.Tx, owner accounts.ID) (*int64, error) {
			_, err := accounts.New(d, accounts.Plan{}).LockPlan(ctx, tx, owner)
			return &l.limit, err
		},
	})
	l.serve()
	return l
}

// mine are the ids that account 1 owns, as another room would tell.
func mine[T comparable](own ...T) func(context.Context, db.Q, accounts.ID, []T) ([]T, error) {
	return func(_ context.Context, _ db.Q, owner accounts.ID, asked []T) ([]T, error) {
		return slices.DeleteFunc(slices.Clone(asked), func(id T) bool { return owner != 1 || !slices.Contains(own, id) }), nil
	}
}

type labIn struct {
	ID value.Ref `path:"id"`
	Patch
	Unknown value.Unknown
}

type labOut struct {
	Data     json.RawMessage `json:"data"`
	Warnings []Warning       `json:"warnings,omitempty"`
}

func (l *lab) serve() {
	area := wire.Area{Fields: true, Says: "Validation failed", Shape: func(f *fault.Fault) any { return wire.Message{Message: f.Message} }}
	answer := func(a Assistant, w []Warning, err error) (labOut, error) {
		if err != nil {
			return labOut{}, err
		}
		b, err := value.Marshal(a.Record())
		return labOut{b, w}, err
	}
	l.srv = wire.NewServer(wire.Config{Base: "/api", Public: func(u string) bool { return !strings.Contains(u, "127.0.0.1") }}, []wire.Route{
		wire.On(area, "POST /a", 201, func(ctx context.Context, in *labIn) (labOut, error) {
			return answer(l.room.Create(ctx, 1, Change{in.Patch, in.Unknown, wire.Failed(ctx), By{Name: "key"}}))
		}, wire.Keyless(), wire.Judged(), wire.Require(Required...)),
		wire.On(area, "PUT /a/{id}", 200, func(ctx context.Context, in *labIn) (labOut, error) {
			return answer(l.room.Update(ctx, 1, in.ID, Change{in.Patch, in.Unknown, wire.Failed(ctx), By{Name: "key"}}))
		}, wire.Keyless(), wire.Judged()),
	})
}

// send makes a request; body is JSON.
func (l *lab) send(method, path, body string) (int, string) {
	w := httptest.NewRecorder()
	l.srv.ServeHTTP(w, httptest.NewRequest(method, "/api"+path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

const minimal = `"name":"Desk","voice_id":1,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"Europe/Berlin",` +
	`"initial_message":"Hello","system_prompt":"Be kind.","llm_model_id":1`

// with is the smallest create body with some keys added or replaced (the last of a repeated key counts).
func with(more string) string {
	if more == "" {
		return "{" + minimal + "}"
	}
	return "{" + minimal + "," + more + "}"
}

// create makes an assistant and gives its id.
func (l *lab) create(more string) int64 {
	l.t.Helper()
	code, body := l.send("POST", "/a", with(more))
	if code != 201 {
		l.t.Fatalf("create: %d %s", code, body)
	}
	var out struct{ Data struct{ ID int64 } }
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		l.t.Fatal(err)
	}
	return out.Data.ID
}

// data decodes the record of an answer.
func data(t *testing.T, body string) map[string]any {
	t.Helper()
	var out struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return out.Data
}

// errorsOf decodes the field errors of a 422 answer.
func errorsOf(body string) map[string]string {
	var out struct{ Errors map[string][]string }
	_ = json.Unmarshal([]byte(body), &out)
	got := map[string]string{}
	for k, v := range out.Errors {
		got[k] = strings.Join(v, "|")
	}
	return got
}

func sqlite(t *testing.T) *lab { return newLab(t, dbtest.SQLite(t)) }
