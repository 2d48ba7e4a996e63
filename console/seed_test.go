package console_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/calls"
	"parley/db"
	"parley/value"
	"parley/webhooks"
)

// view is something a person looks at: a page, and what was pressed there.
type view struct {
	name, path string
	press      []string
}

// seed fills the account with something of everything, and names what there is to see.
func seed(t *testing.T, s site) []view {
	t.Helper()
	assistant := s.Send("GET /user/assistants", "").Want(200).Text("0.id")
	base := s.Send("POST /user/knowledgebases", `{"name":"Menu"}`).Want(201).Text("data.id")
	s.Send("POST /user/tools", `{"name":"weather","description":"Tells the weather","endpoint":"https://p.example/weather","method":"GET"}`).Want(201)
	s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550100"}`).Want(201)
	s.Send("POST /user/phone-numbers/sip-trunks", `{"sip_trunk_type":"extension","phone_number":"205","sip_username":"205","sip_password":"secret","sip_address":"pbx.example",
		"sip_calling_format":"+e164","inbound_authorization_type":"auth","country_code":"DE"}`).Want(201)
	sender := s.Send("POST /sim/whatsapp/senders", fmt.Sprintf(`{"phone_number":"+14155550199","display_name":"Shop","assistant_id":%s}`, assistant)).ID("data.id")
	s.Send(fmt.Sprintf("POST /sim/whatsapp/senders/%d/templates", sender), `{"name":"order_ready","language":"en","category":"utility","status":"approved",
		"body_text":"Hello {{1}}, your order {{2}} is ready.","variables":["name","order"]}`)
	s.Send("POST /sim/whatsapp/inbound", fmt.Sprintf(`{"sender_id":%d,"from":"+491701234567","name":"Mia","text":"Is my order ready?"}`, sender))
	delivered(t, s)
	talked := talked(t, s)
	campaign := "/console/campaigns/" + campaign(t, s)
	number := "/console/numbers"
	return []view{{"talk", "/console", nil}, {"calls", "/console/calls", nil}, {"call", "/console/calls/" + talked, []string{"Tool order_status…"}},
		{"call-signalling", "/console/calls/" + talked, []string{"Signalling"}}, {"call-events", "/console/calls/" + talked, []string{"Events"}}, {"call-busy", "/console/calls/" + busy(t, s), nil},
		{"usage", "/console/usage", nil}, {"providers", "/console/providers", nil}, {"people", "/console/people", nil}, {"assistants", "/console/assistants", nil}, {"assistants-new", "/console/assistants", []string{"New assistant"}},
		{"assistant", "/console/assistants/" + assistant, nil}, {"assistant-tools", "/console/assistants/" + assistant, []string{"Its tools"}}, {"assistant-webhooks", "/console/assistants/" + assistant, []string{"Webhooks"}},
		{"assistant-versions", "/console/assistants/" + assistant, []string{"Versions"}},
		{"conversations", "/console/conversations", []string{"Mia"}}, {"whatsapp", "/console/whatsapp", []string{"Mia"}}, {"whatsapp-template", "/console/whatsapp", []string{"Mia", "Send a template"}},
		{"whatsapp-templates", "/console/whatsapp", []string{"Templates"}}, {"whatsapp-senders", "/console/whatsapp", []string{"Senders"}},
		{"campaigns", "/console/campaigns", nil}, {"campaigns-new", "/console/campaigns", []string{"New campaign"}}, {"campaign", campaign, nil}, {"campaign-edit", campaign, []string{"Edit"}}, {"campaign-leads", campaign, []string{"Add leads"}},
		{"numbers", number, nil}, {"numbers-search", number, []string{"Search and buy"}}, {"numbers-trunks", number, []string{"SIP trunks"}}, {"numbers-trunk", number, []string{"SIP trunks", "New trunk"}}, {"numbers-ids", number, []string{"Caller IDs"}},
		{"knowledge", "/console/knowledge", nil}, {"base", "/console/knowledge/" + base, nil}, {"base-add", "/console/knowledge/" + base, []string{"Add a document"}},
		{"tools", "/console/tools", nil}, {"tool", "/console/tools", []string{"weather"}}, {"developers", "/console/developers", nil}, {"delivery", "/console/developers", []string{"Open delivery…"}}, {"reference", "/console/reference", nil},
		{"simulator", "/console/simulator", nil}, {"simulator-whatsapp", "/console/simulator", []string{"WhatsApp customer"}}, {"simulator-money", "/console/simulator", []string{"Money"}}, {"simulator-clock", "/console/simulator", []string{"Clock"}},
		{"settings", "/console/settings", nil}, {"nowhere", "/console/nowhere", nil}}
}

func first(t *testing.T, s site) accounts.ID {
	t.Helper()
	acc, err := s.App.Accounts.First(t.Context(), s.DB)
	must(t, err)
	return acc.ID
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// talkedLog is a conversation: moment in ms, type, data.
const talkedLog = `
	150 tts.request {"provider":"builtin","voice":"rms","text":"Map shop, how can I help you?"}
	1070 speech.start {"side":"assistant"}
	3600 speech.end {"side":"assistant"}
	3600 turn.assistant {"text":"Map shop, how can I help you?","interrupted":false,"played_ms":2531}
	4580 speech.start {"side":"customer"}
	6530 speech.end {"side":"customer"}
	7100 turn.user {"text":"where is my order","language":"en","source":"speech"}
	7110 llm.request {"provider":"builtin","model":"builtin-responder","temperature":0.1,"tools":["order_status"],"knowledge_chunks":0,"purpose":"turn"}
	7300 tool.call {"name":"order_status","arguments":{"order":17}}
	8400 tool.result {"name":"order_status","result":{"state":"sent"},"ms":1100}
	8600 speech.start {"side":"assistant"}
	11200 speech.start {"side":"customer"}
	11700 barge_in {"after_ms":500,"words":2}
	11700 speech.end {"side":"assistant"}
	12900 speech.end {"side":"customer"}
	13500 turn.assistant {"text":"Your order was sent on","interrupted":true,"played_ms":3100,"stages":{"endpoint_ms":500,"heard_ms":880,"first_token_ms":1900,"first_audio_ms":2040,"first_packet_ms":2070}}
	13500 turn.user {"text":"wait what do maps cost","language":"en","source":"speech"}
	13700 speech.start {"side":"assistant"}
	16200 speech.end {"side":"assistant"}
	16200 turn.assistant {"text":"A map costs twelve euros.","interrupted":false,"played_ms":2500,"stages":{"endpoint_ms":500,"heard_ms":640,"first_token_ms":720,"first_audio_ms":790,"first_packet_ms":810}}
	18800 dtmf.in {"digit":"1"}
	19000 dtmf.in {"digit":"2"}
	20100 warning {"message":"The caller’s line is bad."}`

// talked is a finished call with everything that happens in calls.
func talked(t *testing.T, s site) string {
	t.Helper()
	ctx := t.Context()
	c, err := s.App.Calls.Create(ctx, s.DB, calls.NewCall{Owner: first(t, s), Type: calls.Inbound, ClientPhone: "+491701234567", AssistantPhone: "+14155550100", AssistantName: "Desk",
		Currency: "USD", Variables: value.Scalars{{Name: "customer_name", Value: "Mia"}}, Snapshot: calls.Snapshot{Schema: []assistants.SchemaItem{{Name: "sold", Type: "bool", Description: "Whether a map was sold."}}}})
	must(t, err)
	c, err = s.App.Calls.Answers(ctx, s.DB, c.ID)
	must(t, err)
	at := func(ms int64) time.Time { return c.AnsweredReal.Time().Add(time.Duration(ms) * time.Millisecond) }
	var log []calls.Event
	for line := range strings.Lines(strings.TrimSpace(talkedLog)) {
		var ms int64
		var kind string
		_, err := fmt.Sscan(line, &ms, &kind)
		must(t, err)
		e, err := calls.MakeEvent(at(ms), kind, json.RawMessage(strings.TrimSpace(line[strings.Index(line, "{"):])))
		must(t, err)
		log = append(log, e)
	}
	const far = "UDP 192.0.2.7:5060"
	signalling := []calls.Message{{At: at(-900), Remote: far, Title: "INVITE", Text: "INVITE sip:+14155550100@p.example SIP/2.0\r\nCall-ID: 1"}, {At: at(-880), Sent: true, Remote: far, Title: "180 Ringing", Text: "SIP/2.0 180 Ringing"},
		{At: at(-10), Sent: true, Remote: far, Title: "200 OK", Text: "SIP/2.0 200 OK"}, {At: at(0), Remote: far, Title: "ACK", Text: "ACK sip:+14155550100@p.example SIP/2.0"},
		{At: at(21_000), Remote: far, Title: "BYE", Text: "BYE sip:+14155550100@p.example SIP/2.0"}, {At: at(21_003), Sent: true, Remote: far, Title: "200 OK", Text: "SIP/2.0 200 OK"}}
	must(t, s.DB.Do(ctx, func(tx *db.Tx) error {
		if err := s.App.Calls.Log(ctx, tx, c.ID, log); err != nil {
			return err
		}
		if err := s.App.Calls.KeepSignalling(ctx, tx, c.ID, signalling); err != nil {
			return err
		}
		if c, err = s.App.Calls.End(ctx, tx, c.ID, calls.Over{Reason: calls.CustomerHangup, At: at(21_000), AISeconds: 21, Spoke: true}); err != nil {
			return err
		}
		c.Evaluation.V, c.Variables.V, c.AICost, c.CarrierCost = value.Scalars{{Name: "sold", Value: true}}, value.Scalars{{Name: "sold", Value: true}, {Name: "keypad_input", Value: "12"}}, 5_000_000, 1_000_000
		_, err = s.App.Calls.Finish(ctx, tx, c)
		return err
	}))
	return fmt.Sprint(c.ID)
}

// busy is a call that nobody answered.
func busy(t *testing.T, s site) string {
	t.Helper()
	c, err := s.App.Calls.Create(t.Context(), s.DB, calls.NewCall{Owner: first(t, s), Type: calls.Outbound, ClientPhone: "+491709999999", AssistantPhone: "+14155550100", AssistantName: "Desk", Currency: "USD"})
	must(t, err)
	_, err = s.App.Calls.End(t.Context(), s.DB, c.ID, calls.Over{Reason: calls.BusyReason})
	must(t, err)
	return fmt.Sprint(c.ID)
}

// campaign has leads, one of them with a second number.
func campaign(t *testing.T, s site) string {
	t.Helper()
	assistant := s.Send("POST /user/assistant", `{"name":"Caller","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"Sell maps.","llm_model_id":1}`).Want(201).ID("data.id")
	id := s.Send("POST /user/campaigns", fmt.Sprintf(`{"name":"Autumn maps","assistant_id":%d,"timezone":"Europe/Berlin","max_calls_in_parallel":5}`, assistant)).ID("data.id")
	for n := range 12 {
		s.Send("POST /user/lead", fmt.Sprintf(`{"campaign_id":%d,"phone_number":"+4917055500%02d","variables":{"customer_name":"Mia","city":"Bonn"},"secondary_contacts":[{"phone_number":"+4917066600%02d"}]}`, id, n, n))
	}
	return fmt.Sprint(id)
}

// delivered is a webhook that waits to be sent.
func delivered(t *testing.T, s site) {
	t.Helper()
	must(t, s.App.Webhooks.Add(t.Context(), s.DB, webhooks.Event{Owner: first(t, s), Name: webhooks.CallCompleted, URL: "https://p.example/hook", Payload: map[string]string{"status": "completed"}}))
}
