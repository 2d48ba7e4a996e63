package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nyaruka/phonenumbers"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/messaging"
	"parley/sim"
	"parley/wire"
)

// world admits a request to the simulator: it belongs to the installation's first account alone.
func (a *API) world(ctx context.Context) (int64, error) {
	first, err := a.Accounts.First(ctx, a.DB)
	if err != nil {
		return 0, err
	}
	if first.ID != owner(ctx) {
		return 0, sim.NotFound()
	}
	return int64(first.ID), nil
}

// power admits a request that reaches beyond the pretend world: clock, users, balance, crashes.
func (a *API) power(ctx context.Context) (int64, error) {
	id, err := a.world(ctx)
	if err == nil && !a.Sim.Power {
		err = sim.NotFound()
	}
	return id, err
}

type clockOut struct {
	Mode string    `json:"mode"`
	Now  wire.Time `json:"now"`
}

func (a *API) simClock(ctx context.Context, _ *struct{}) (data[clockOut], error) {
	_, err := a.power(ctx)
	mode := "real"
	if a.DB.IsManual() {
		mode = "manual"
	}
	return data[clockOut]{clockOut{mode, wire.At(a.DB.Now())}}, err
}

type advanceIn struct {
	Seconds int64 `json:"seconds" rule:"required min=1 max=31536000"`
}

type advanced struct {
	Now     wire.Time `json:"now"`
	Settled bool      `json:"settled"`
}

// settleTime is how long an answer may wait for the work that fell due.
const settleTime = 60 * time.Second

func (a *API) simAdvance(ctx context.Context, in *advanceIn) (data[advanced], error) {
	if _, err := a.power(ctx); err != nil {
		return data[advanced]{}, err
	}
	if !a.DB.IsManual() {
		return data[advanced]{}, fault.New(fault.Conflict, "", "The clock runs in real time. Start with clock.mode manual to move it.")
	}
	limited, stop := context.WithTimeout(ctx, settleTime)
	defer stop()
	_, settled, err := a.Jobs.Advance(limited, time.Duration(in.Seconds)*time.Second)
	if err != nil {
		return data[advanced]{}, err
	}
	return data[advanced]{advanced{wire.At(a.DB.Now()), settled}}, nil
}

type simAccountIn struct {
	Balance wire.Opt[wire.Money]         `json:"balance"`
	Kind    wire.Opt[string]             `json:"account_kind" rule:"oneof=direct|tenant"`
	Payment wire.Opt[string]             `json:"payment_method" rule:"oneof=ok|none|declined"`
	Plan    wire.Opt[accounts.Overrides] `json:"plan"`
}

func (a *API) simAccount(ctx context.Context, in *simAccountIn) (data[me], error) {
	admit := a.world
	if in.Balance.Has() {
		admit = a.power
	}
	id, err := admit(ctx)
	if err != nil {
		return data[me]{}, err
	}
	terms := accounts.Terms{}
	if in.Kind.Has() {
		k := accounts.Kind(in.Kind.V)
		terms.Kind = &k
	}
	if in.Payment.Has() {
		p := accounts.Payment(in.Payment.V)
		terms.PaymentMethod = &p
	}
	if in.Plan.Has() {
		terms.Plan = &in.Plan.V
	}
	if _, err := a.Accounts.SetTerms(ctx, a.DB, accounts.ID(id), terms); err != nil {
		return data[me]{}, err
	}
	if in.Balance.Has() {
		err := a.DB.Do(ctx, func(tx *db.Tx) error {
			return a.Billing.SetBalance(ctx, tx, accounts.ID(id), "sim:"+uuid.NewString(), in.Balance.V, "simulator")
		})
		if err != nil {
			return data[me]{}, err
		}
	}
	now, err := a.me(ctx, &struct{}{})
	return data[me]{now}, err
}

type simUserIn struct {
	Name  string `json:"name" rule:"required max=255"`
	Email string `json:"email" rule:"required email"`
}

type simUser struct {
	ID    accounts.ID `json:"id"`
	Token string      `json:"token"`
}

func (a *API) simUsers(ctx context.Context, in *simUserIn) (data[simUser], error) {
	if _, err := a.power(ctx); err != nil {
		return data[simUser]{}, err
	}
	acc, err := a.Accounts.Create(ctx, a.DB, accounts.Draft{Name: in.Name, Email: in.Email})
	if err != nil {
		return data[simUser]{}, err
	}
	_, token, err := a.Accounts.CreateKey(ctx, a.DB, acc.ID, "simulator")
	return data[simUser]{simUser{acc.ID, token}}, err
}

type faultsIn struct {
	Carrier   wire.Opt[string] `json:"carrier" rule:"oneof=ok|search_fails|order_fails|release_fails|crash_before_order|crash_after_order"`
	WhatsApp  wire.Opt[string] `json:"whatsapp" rule:"pattern=^(ok|timeout|reject:[A-Za-z0-9_]{1,32})$"`
	Remaining int64            `json:"remaining" rule:"min=0 max=1000000" default:"1"`
}

type faultsOut struct {
	Carrier  string `json:"carrier,omitempty"`
	WhatsApp string `json:"whatsapp,omitempty"`
	Left     int64  `json:"remaining"`
}

func (a *API) simFaults(ctx context.Context, in *faultsIn) (data[faultsOut], error) {
	id, err := a.world(ctx)
	if c := in.Carrier.V; err == nil && len(c) > 6 && c[:6] == "crash_" {
		_, err = a.power(ctx)
	}
	if err == nil && in.Carrier.Has() {
		err = a.Sim.SetFault(ctx, id, sim.CarrierFault, in.Carrier.V, in.Remaining)
	}
	if err == nil && in.WhatsApp.Has() {
		err = a.Sim.SetFault(ctx, id, sim.WhatsAppFault, in.WhatsApp.V, in.Remaining)
	}
	return data[faultsOut]{faultsOut{in.Carrier.V, in.WhatsApp.V, in.Remaining}}, err
}

type simText struct {
	sim.Text
	At wire.Time `json:"at"`
}

type simTextsIn struct {
	Phone wire.Opt[string] `query:"phone" rule:"e164" doc:"Of one handset; all when left out."`
}

func (a *API) simTexts(ctx context.Context, in *simTextsIn) (data[[]simText], error) {
	if _, err := a.world(ctx); err != nil {
		return data[[]simText]{}, err
	}
	all, err := a.Sim.Texts(ctx, in.Phone.V)
	return data[[]simText]{each(all, func(t sim.Text) simText { return simText{t, wire.At(t.At.Time())} })}, err
}

// simLimit is an integer, null for unlimited, or "unknown".
type simLimit struct {
	value   *int64
	unknown bool
}

// BindWire takes the three forms.
func (l *simLimit) BindWire(b wire.Binder, v wire.Value) {
	switch {
	case v.IsNull():
	case v.IsString() && v.Text() == "unknown":
		l.unknown = true
	default:
		n, err := strconv.ParseInt(v.Text(), 10, 64)
		if err != nil || n < 0 {
			b.Fail("integer")
		}
		l.value = &n
	}
}

type simSenderIn struct {
	ID          int64              `path:"id"`
	Phone       wire.Opt[string]   `json:"phone_number" rule:"e164"`
	DisplayName wire.Opt[string]   `json:"display_name" rule:"max=255"`
	Status      wire.Opt[string]   `json:"status" rule:"oneof=online|offline|connecting|pending|suspended|failed"`
	Quality     wire.Opt[string]   `json:"quality_rating" rule:"oneof=GREEN|YELLOW|RED"`
	Limit       wire.Opt[simLimit] `json:"messaging_limit" rule:"null"`
	Assistant   wire.Opt[wire.Ref] `json:"assistant_id" rule:"null"`
	Sync        bool               `json:"sync"`
}

type newSimSenderIn struct {
	Phone       string             `json:"phone_number" rule:"required e164"`
	DisplayName string             `json:"display_name" rule:"max=255" default:"Shop"`
	Status      string             `json:"status" rule:"oneof=online|offline|connecting|pending|suspended|failed" default:"online"`
	Quality     string             `json:"quality_rating" rule:"oneof=GREEN|YELLOW|RED" default:"GREEN"`
	Limit       wire.Opt[simLimit] `json:"messaging_limit" rule:"null"`
	Assistant   wire.Opt[wire.Ref] `json:"assistant_id" rule:"null"`
}

func (a *API) attachable1(ctx context.Context, ref wire.Opt[wire.Ref]) (*int64, error) {
	if !ref.Has() {
		return nil, nil
	}
	found, err := a.Assistants.Get(ctx, a.DB, owner(ctx), ref.V)
	if fault.Is(err, fault.NotFound) {
		return nil, wire.Invalid(wire.Bad("assistant_id", "in"))
	}
	if err == nil {
		err = a.Assistants.Activate(ctx, a.DB, found.ID)
	}
	return (*int64)(&found.ID), err
}

func (a *API) newSimSender(ctx context.Context, in *newSimSenderIn) (data[senderOut], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[senderOut]{}, err
	}
	assistant, err := a.attachable1(ctx, in.Assistant)
	if err != nil {
		return data[senderOut]{}, err
	}
	state := messaging.SenderState{DisplayName: in.DisplayName, Status: messaging.SenderStatus(in.Status), Quality: in.Quality, Limit: in.Limit.V.value, LimitKnown: !in.Limit.V.unknown}
	s, err := a.Sim.AddSender(ctx, id, sim.NewSender{Phone: in.Phone, AssistantID: assistant, SenderState: state})
	return data[senderOut]{senderOf(s)}, err
}

func (a *API) changeSimSender(ctx context.Context, in *simSenderIn) (data[senderOut], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[senderOut]{}, err
	}
	if in.Assistant.Set {
		assistant, err := a.attachable1(ctx, in.Assistant)
		if err != nil {
			return data[senderOut]{}, err
		}
		if _, err := a.Messaging.UpdateSender(ctx, id, in.ID, messaging.SenderChange{Assistant: &assistant}); err != nil {
			return data[senderOut]{}, sim.NotFound()
		}
	}
	s, err := a.Sim.ChangeSender(ctx, id, in.ID, func(st *messaging.SenderState) {
		st.DisplayName = in.DisplayName.Or(st.DisplayName)
		st.Status = messaging.SenderStatus(in.Status.Or(string(st.Status)))
		st.Quality = in.Quality.Or(st.Quality)
		if in.Limit.Set {
			st.Limit, st.LimitKnown = in.Limit.V.value, !in.Limit.V.unknown
		}
	}, in.Sync)
	return data[senderOut]{senderOf(s)}, err
}

type simTemplateIn struct {
	ID        int64              `path:"id"`
	Name      wire.Opt[string]   `json:"name" rule:"max=512"`
	Language  wire.Opt[string]   `json:"language" rule:"max=15"`
	Category  wire.Opt[string]   `json:"category" rule:"oneof=marketing|utility|authentication"`
	Status    wire.Opt[string]   `json:"status" rule:"oneof=approved|pending|rejected|paused|disabled|draft"`
	Body      wire.Opt[string]   `json:"body_text" rule:"max=4096"`
	Variables wire.Opt[[]string] `json:"variables" rule:"max=50"`
	Synced    wire.Opt[bool]     `json:"synced"`
	AsksCalls wire.Opt[bool]     `json:"asks_call_permission"`
	Sync      bool               `json:"sync"`
}

func (in *simTemplateIn) over(t *messaging.TemplateState) {
	t.Name, t.Language, t.Category = in.Name.Or(t.Name), in.Language.Or(t.Language), in.Category.Or(t.Category)
	t.Status, t.Body = messaging.TemplateStatus(in.Status.Or(string(t.Status))), in.Body.Or(t.Body)
	t.Variables, t.AsksCalls = in.Variables.Or(t.Variables), in.AsksCalls.Or(t.AsksCalls)
}

func (a *API) newSimTemplate(ctx context.Context, in *simTemplateIn) (data[templateOut], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[templateOut]{}, err
	}
	if !in.Name.Has() {
		return data[templateOut]{}, wire.Invalid(wire.Bad("name", "required"))
	}
	t := messaging.TemplateState{Language: "en", Category: "utility", Status: messaging.TemplateApproved, Variables: []string{}}
	in.over(&t)
	made, err := a.Sim.AddTemplate(ctx, id, in.ID, t, in.Synced.Or(true))
	return data[templateOut]{templateOf(made)}, err
}

func (a *API) changeSimTemplate(ctx context.Context, in *simTemplateIn) (data[templateOut], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[templateOut]{}, err
	}
	t, err := a.Sim.ChangeTemplate(ctx, id, in.ID, in.over, in.Sync)
	return data[templateOut]{templateOf(t)}, err
}

type simInboundIn struct {
	Sender int64            `json:"sender_id" rule:"required"`
	From   string           `json:"from" rule:"required e164"`
	Name   wire.Opt[string] `json:"name" rule:"null max=255"`
	Text   wire.Opt[string] `json:"text" rule:"null max=65536" trim:"no"`
	Media  []struct {
		Type     string           `json:"type" rule:"required oneof=image|audio|video|document"`
		URL      string           `json:"url" rule:"required url"`
		Filename wire.Opt[string] `json:"filename" rule:"null max=255"`
	} `json:"media" rule:"max=10"`
	ID wire.Opt[string] `json:"id" rule:"null max=255"`
}

type simInbound struct {
	ID string `json:"id"`
}

func (a *API) simInboundMessage(ctx context.Context, in *simInboundIn) (data[simInbound], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[simInbound]{}, err
	}
	msg := messaging.Incoming{SenderID: in.Sender, From: messaging.Peer{Phone: in.From}, ID: in.ID.V, Name: in.Name.V, Text: in.Text.V}
	for _, m := range in.Media {
		msg.Files = append(msg.Files, messaging.File{Type: m.Type, URL: m.URL, Filename: m.Filename.V})
	}
	sid, err := a.Sim.Write(ctx, id, msg)
	return data[simInbound]{simInbound{sid}}, err
}

type simMessagesIn struct {
	Sender int64  `query:"sender_id"`
	Phone  string `query:"phone"`
}

type simMessage struct {
	SID       string    `json:"message_sid"`
	Direction string    `json:"direction"`
	Text      string    `json:"text"`
	Template  *string   `json:"template"`
	Status    string    `json:"status"`
	At        wire.Time `json:"at"`
}

func (a *API) simMessages(ctx context.Context, in *simMessagesIn) (data[[]simMessage], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[[]simMessage]{}, err
	}
	all, err := a.Sim.Messages(ctx, id, in.Sender, in.Phone)
	return data[[]simMessage]{each(all, func(m sim.Shown) simMessage {
		out := simMessage{m.SID, m.Direction, m.Text, nil, m.Status, wire.At(m.At.Time())}
		if m.Template != "" {
			out.Template = &m.Template
		}
		return out
	})}, err
}

type simStatusIn struct {
	SID       string `path:"message_sid"`
	Status    string `json:"status" rule:"required oneof=sent|delivered|read|failed|undelivered"`
	ErrorCode string `json:"error_code" rule:"max=64"`
	ErrorText string `json:"error_message" rule:"max=1000"`
}

type simStatus struct {
	SID    string `json:"message_sid"`
	Status string `json:"status"`
}

func (a *API) simStatus(ctx context.Context, in *simStatusIn) (data[simStatus], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[simStatus]{}, err
	}
	err = a.Sim.SetStatus(ctx, id, in.SID, messaging.DeliveryStatus(in.Status), in.ErrorCode, in.ErrorText)
	return data[simStatus]{simStatus{in.SID, in.Status}}, err
}

type stepIn struct {
	Say       string            `json:"say" rule:"max=2000"`
	Voice     string            `json:"voice" rule:"max=64"`
	Play      string            `json:"play" trim:"no"`
	WaitMS    wire.Opt[int64]   `json:"wait_ms" rule:"min=0 max=600000"`
	WaitFor   string            `json:"wait_for" rule:"oneof=speech_end|speech_start|silence"`
	TimeoutMS int64             `json:"timeout_ms" rule:"min=0 max=600000"`
	DTMF      string            `json:"dtmf" rule:"pattern=^[0-9*#A-Dw]{1,32}$"`
	Noise     string            `json:"noise" rule:"oneof=steady|babble"`
	Level     wire.Opt[float64] `json:"level" rule:"min=0 max=1"`
	Hangup    bool              `json:"hangup"`
}

// kinds counts what a step does before it hangs up, if it does.
func (s stepIn) kinds() (n int) {
	for _, set := range []bool{s.Say != "", s.Play != "", s.WaitMS.Has(), s.WaitFor != "", s.DTMF != "", s.Noise != ""} {
		if set {
			n++
		}
	}
	return n
}

// checkScript refuses steps that do nothing, or two things.
func checkScript(script []stepIn) error {
	var bad []fault.Field
	for i, s := range script {
		if n := s.kinds(); n > 1 || n == 0 && !s.Hangup {
			bad = append(bad, wire.Bad("script."+itoa(int64(i)), "pattern"))
		}
	}
	return wire.Invalid(bad...)
}

func scriptOf(in []stepIn) []sim.Step {
	out := make([]sim.Step, len(in))
	for i, s := range in {
		out[i] = sim.Step{Say: s.Say, Voice: s.Voice, Play: s.Play, WaitMS: s.WaitMS.Ptr(), WaitFor: s.WaitFor, TimeoutMS: s.TimeoutMS, DTMF: s.DTMF, Noise: s.Noise, Level: s.Level.Ptr(), Hangup: s.Hangup}
	}
	return out
}

type simPhoneIn struct {
	Number    string   `path:"phone_number"`
	Behaviour string   `json:"behaviour" rule:"oneof=answer|busy|no_answer|decline|voicemail|fax|invalid|carrier_error|screening" default:"answer"`
	RingMS    int64    `json:"ring_ms" rule:"min=0 max=120000" default:"200"`
	Script    []stepIn `json:"script" rule:"max=100"`
	Greeting  string   `json:"greeting" rule:"max=2000"`
}

type simPhone struct {
	Number    string     `json:"phone_number"`
	Behaviour string     `json:"behaviour"`
	RingMS    int64      `json:"ring_ms"`
	Script    []sim.Step `json:"script"`
	Greeting  string     `json:"greeting"`
}

func phoneOf(p sim.Phone) simPhone {
	return simPhone{p.Number, p.Behaviour, p.RingMS, orEmpty(p.Script.V), p.Greeting}
}

func (a *API) setSimPhone(ctx context.Context, in *simPhoneIn) (data[simPhone], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[simPhone]{}, err
	}
	if !e164.MatchString(in.Number) {
		return data[simPhone]{}, wire.Invalid(wire.Bad("phone_number", "e164"))
	}
	if err := checkScript(in.Script); err != nil {
		return data[simPhone]{}, err
	}
	p := sim.Phone{Number: in.Number, Behaviour: in.Behaviour, RingMS: in.RingMS, Greeting: in.Greeting}
	p.Script.V = scriptOf(in.Script)
	return data[simPhone]{phoneOf(p)}, a.Sim.SetPhone(ctx, id, p)
}

func (a *API) simPhones(ctx context.Context, _ *struct{}) (data[[]simPhone], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[[]simPhone]{}, err
	}
	all, err := a.Sim.Phones(ctx, id)
	return data[[]simPhone]{each(all, phoneOf)}, err
}

type simCallIn struct {
	From   string   `json:"from" rule:"required e164"`
	To     string   `json:"to" rule:"required"`
	Script []stepIn `json:"script" rule:"max=100"`
}

type simCalled struct {
	ID   int64  `json:"id"`
	Call *int64 `json:"call_id"`
}

func (a *API) newSimCall(ctx context.Context, in *simCallIn) (data[simCalled], error) {
	if _, err := a.world(ctx); err != nil {
		return data[simCalled]{}, err
	}
	if err := checkScript(in.Script); err != nil {
		return data[simCalled]{}, err
	}
	o := placed{in.From, in.To, scriptOf(in.Script)}
	if a.Sim.Network() != nil {
		out, err := a.place(ctx, o)
		return data[simCalled]{out}, err
	}
	var out simCalled
	return data[simCalled]{out}, a.Switchboard.Ask(ctx, "", askSimCall, o, &out)
}

// placed is a simulated caller's call on its way to a process that has a phone network.
type placed struct {
	From   string     `json:"from"`
	To     string     `json:"to"`
	Script []sim.Step `json:"script"`
}

const askSimCall = "sim.call"

// placeAsked places the call that another process was asked for.
func (a *API) placeAsked(ctx context.Context, body json.RawMessage) (any, error) {
	var o placed
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, err
	}
	return a.place(ctx, o)
}

func (a *API) place(ctx context.Context, o placed) (simCalled, error) {
	n := a.Sim.Network()
	if n == nil {
		return simCalled{}, fault.New(fault.Conflict, "", "This process has no phone network. Give it the role voice.")
	}
	id, call, err := n.Call(ctx, o.From, o.To, o.Script)
	out := simCalled{ID: id}
	if call != 0 {
		out.Call = &call
	}
	return out, err
}

type simCallRef struct {
	ID int64 `path:"id"`
}

type simCallOut struct {
	ID        int64           `json:"id"`
	Direction string          `json:"direction"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Call      *int64          `json:"call_id"`
	State     string          `json:"state"`
	Steps     []sim.Done      `json:"steps"`
	Heard     []sim.HeardText `json:"heard"`
	Audio     *string         `json:"audio_url"`
	At        wire.Time       `json:"created_at"`
}

func (a *API) simCall(ctx context.Context, in *simCallRef) (data[simCallOut], error) {
	if _, err := a.world(ctx); err != nil {
		return data[simCallOut]{}, err
	}
	c, err := a.Sim.Call(ctx, in.ID)
	out := simCallOut{c.ID, c.Direction, c.From, c.To, c.CallID, c.State, orEmpty(c.Steps.V), orEmpty(c.Heard.V), nil, wire.At(c.At.Time())}
	if c.Audio != "" {
		url := wire.Origin(ctx) + Base + "/sim/calls/" + itoa(c.ID) + "/audio"
		out.Audio = &url
	}
	return data[simCallOut]{out}, err
}

func (a *API) simAudio(ctx context.Context, in *simCallRef, w http.ResponseWriter) error {
	if _, err := a.world(ctx); err != nil {
		return err
	}
	c, err := a.Sim.Call(ctx, in.ID)
	if err != nil {
		return err
	}
	if c.Audio == "" {
		return sim.NotFound()
	}
	f, _, err := a.Blobs.Open(ctx, c.Audio)
	if err != nil {
		return sim.NotFound()
	}
	defer f.Close()
	w.Header().Set("Content-Type", "audio/wav")
	_, err = io.Copy(w, f)
	return err
}

type itemOut struct {
	Phone   string     `json:"phone_number"`
	Country string     `json:"country_code"`
	Price   wire.Money `json:"price"`
	Address string     `json:"address_requirements"`
	SMS     bool       `json:"sms_capable"`
}

func itemOf(i sim.Item) itemOut {
	return itemOut{i.Phone, i.Country, wire.Money(i.Price), i.Address, i.SMS}
}

func (a *API) simInventory(ctx context.Context, _ *struct{}) (data[[]itemOut], error) {
	if _, err := a.world(ctx); err != nil {
		return data[[]itemOut]{}, err
	}
	all, err := a.Sim.Inventory(ctx)
	return data[[]itemOut]{each(all, itemOf)}, err
}

type itemIn struct {
	Phone   string     `json:"phone_number" rule:"required e164"`
	Price   wire.Money `json:"price" rule:"min=0" default:"1.15"`
	Address string     `json:"address_requirements" rule:"oneof=none|local|foreign|inventory" default:"none"`
	SMS     bool       `json:"sms_capable" default:"true"`
}

func (a *API) addSimNumber(ctx context.Context, in *itemIn) (data[itemOut], error) {
	if _, err := a.world(ctx); err != nil {
		return data[itemOut]{}, err
	}
	parsed, err := phonenumbers.Parse(in.Phone, "")
	country := ""
	if err == nil {
		country = phonenumbers.GetRegionCodeForNumber(parsed)
	}
	if country == "" || country == "ZZ" {
		return data[itemOut]{}, wire.Invalid(wire.Bad("phone_number", "e164"))
	}
	i := sim.Item{Phone: in.Phone, Country: country, Price: int64(in.Price), PriceID: "price_" + strings.ToLower(country) + "_local", Address: in.Address, SMS: in.SMS}
	return data[itemOut]{itemOf(i)}, a.Sim.AddNumber(ctx, i)
}

type simNumberRef struct {
	Phone string `path:"phone_number"`
}

func (a *API) removeSimNumber(ctx context.Context, in *simNumberRef) (data[simNumberGone], error) {
	if _, err := a.world(ctx); err != nil {
		return data[simNumberGone]{}, err
	}
	return data[simNumberGone]{simNumberGone{in.Phone}}, a.Sim.RemoveNumber(ctx, in.Phone)
}

type simNumberGone struct {
	Phone string `json:"phone_number"`
}

type simSubscription struct {
	sim.Subscribed
	Until wire.Time `json:"period_end"`
}

type simHeld struct {
	Charges       []sim.Charged     `json:"charges"`
	Subscriptions []simSubscription `json:"subscriptions"`
	Refunds       []sim.Charged     `json:"refunds"`
}

func (a *API) simPayments(ctx context.Context, _ *struct{}) (data[simHeld], error) {
	id, err := a.world(ctx)
	if err != nil {
		return data[simHeld]{}, err
	}
	h, err := a.Sim.Payments(ctx, id)
	return data[simHeld]{simHeld{h.Charges, each(h.Subscriptions, func(s sim.Subscribed) simSubscription { return simSubscription{s, wire.At(s.Until.Time())} }), h.Refunds}}, err
}
