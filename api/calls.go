package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/calls"
	"parley/campaigns"
	"parley/fault"
	"parley/switchboard"
	"parley/value"
	"parley/wire"
)

// callOut is the call object. Its created_at and updated_at have the short form of the contract.
type callOut struct {
	ID                int64             `json:"id"`
	AssistantName     string            `json:"assistant_name"`
	CampaignName      *string           `json:"campaign_name"`
	Type              calls.Type        `json:"type"`
	Duration          int64             `json:"duration"`
	AssistantPhone    *string           `json:"assistant_phone_number"`
	ClientPhone       *string           `json:"client_phone_number"`
	Status            calls.Status      `json:"status"`
	Transcript        string            `json:"transcript"`
	Variables         value.Scalars     `json:"variables"`
	Evaluation        value.Scalars     `json:"evaluation"`
	WebhookResponse   json.RawMessage   `json:"webhook_response"`
	CarrierCost       value.Money       `json:"carrier_cost"`
	TotalCost         value.Money       `json:"total_cost"`
	AnsweredBy        calls.AnsweredBy  `json:"answered_by"`
	RecordingURL      *string           `json:"recording_url,omitempty"`
	VendorCosts       []vendorCost      `json:"vendor_costs,omitempty"`
	CreatedAt         value.DateTime    `json:"created_at"`
	UpdatedAt         value.DateTime    `json:"updated_at"`
	UUID              string            `json:"uuid"`
	AssistantID       *int64            `json:"assistant_id"`
	CampaignID        *int64            `json:"campaign_id"`
	LeadID            *int64            `json:"lead_id"`
	EndedReason       *calls.Reason     `json:"ended_reason"`
	EndedBy           *calls.By         `json:"ended_by"`
	InputVariables    value.Scalars     `json:"input_variables"`
	AnsweredAt        *value.Time       `json:"answered_at"`
	EndedAt           *value.Time       `json:"ended_at"`
	AICost            value.Money       `json:"ai_cost"`
	Currency          string            `json:"currency"`
	TranscriptEntries []transcriptEntry `json:"transcript_entries"`
	EvaluationFields  []calls.Field     `json:"evaluation_fields"`
}

type transcriptEntry struct {
	Text        string  `json:"text"`
	Type        string  `json:"type"`
	Sender      string  `json:"sender"`
	Timestamp   float64 `json:"timestamp"` // unix seconds
	Interrupted bool    `json:"interrupted"`
}

type callRef struct {
	ID value.Ref `path:"id"`
}

type callsIn struct {
	wire.Paging
	Status      value.Opt[string]    `query:"status" rule:"oneof=initiated|ringing|in-progress|ended_by_customer|ended_by_assistant|ended|completed|busy|no-answer|failed"`
	Type        value.Opt[string]    `query:"type" rule:"oneof=inbound|outbound|web"`
	PhoneNumber string               `query:"phone_number" doc:"Digits the client's number contains."`
	AssistantID value.Opt[value.Ref] `query:"assistant_id"`
	CampaignID  value.Opt[int64]     `query:"campaign_id"`
	DateFrom    value.Opt[string]    `query:"date_from" rule:"date" doc:"First day of created_at, UTC."`
	DateTo      value.Opt[string]    `query:"date_to" rule:"date" doc:"Last day of created_at, UTC."`
}

type makeCallIn struct {
	PhoneNumber string               `json:"phone_number" rule:"required"`
	AssistantID value.Opt[value.Ref] `json:"assistant_id" rule:"required"`
	Variables   value.Scalars        `json:"variables" rule:"max=100"`
}

type madeCall struct {
	Message string       `json:"message"`
	CallID  int64        `json:"call_id"`
	Status  calls.Status `json:"status"`
}

type callEvent struct {
	Seq  int64           `json:"seq"`
	At   value.Time      `json:"at"`
	MS   int64           `json:"ms"` // from the answer; negative before
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

type callEvents struct {
	Data []callEvent `json:"data"`
}

type whisperIn struct {
	ID   value.Ref `path:"id"`
	Text string    `json:"text" rule:"required max=2000"`
}

type blockIn struct {
	PhoneNumber string            `json:"phone_number" rule:"required e164"`
	Reason      value.Opt[string] `json:"reason" rule:"null max=255"`
}

type blockedOut struct {
	ID          int64      `json:"id"`
	PhoneNumber string     `json:"phone_number"`
	Reason      *string    `json:"reason"`
	CreatedAt   value.Time `json:"created_at"`
}

type blockedID struct {
	ID int64 `path:"id"`
}

func (a *API) callRoutes() []wire.Route {
	invalid := messages.Saying(dataInvalid)
	return []wire.Route{
		wire.On(invalid, "POST /user/make_call", 200, a.makeCall, wire.Alias("POST /user/make-call"), wire.Idempotent(),
			wire.Limited(wire.PerAccount(60, time.Minute))),
		wire.On(messages, "GET /user/calls", 200, a.listCalls),
		wire.On(messages, "GET /user/calls/{id}", 200, a.getCall),
		wire.On(messages, "DELETE /user/calls/{id}", 200, a.deleteCall, wire.Needs(accounts.Records)),
		wire.On(messages, "GET /user/calls/{id}/events", 200, a.callEvents),
		wire.Stream(messages, "GET /user/calls/{id}/stream", "text/event-stream", a.followCall),
		wire.On(messages, "GET /user/calls/{id}/signalling", 200, a.callSignalling),
		wire.On(messages, "GET /user/calls/{id}/cost", 200, a.callCost),
		wire.On(messages, "POST /user/calls/{id}/hangup", 200, a.hangUpCall),
		wire.On(messages, "POST /user/calls/{id}/listen", 200, a.listenToCall, wire.Find(a.findListened)),
		wire.On(messages, "POST /user/calls/{id}/whisper", 200, a.whisper, wire.Find(a.findWhispered)),
		wire.On(messages, "POST /user/calls/{id}/say", 200, a.typeIntoCall, wire.Find(a.findWhispered), wire.Hidden()),
		wire.On(messages, "GET /user/do-not-call", 200, a.blockedNumbers),
		wire.On(messages, "POST /user/do-not-call", 200, a.blockNumber),
		wire.On(messages, "DELETE /user/do-not-call/{id}", 200, a.unblockNumber),
	}
}

func (a *API) makeCall(ctx context.Context, in *makeCallIn) (madeCall, error) {
	c, err := a.Switchboard.Place(ctx, a.DB, switchboard.Order{Owner: owner(ctx), Assistant: in.AssistantID.V, Phone: in.PhoneNumber,
		Variables: in.Variables, RequestID: fault.RequestID(ctx)})
	return madeCall{"The call was accepted and is being placed.", int64(c.ID), c.Status}, err
}

func (a *API) listCalls(ctx context.Context, in *callsIn) (wire.Page[callOut], error) {
	f := calls.Filter{Status: calls.Status(in.Status.V), Type: calls.Type(in.Type.V), Phone: in.PhoneNumber,
		CampaignID: campaigns.ID(in.CampaignID.V),
		From:       day(in.DateFrom.V), To: day(in.DateTo.V)}
	if !f.To.IsZero() {
		f.To = f.To.AddDate(0, 0, 1)
	}
	none := wire.NewPage(ctx, in.Paging, 0, []callOut{})
	if in.CampaignID.Has() && f.CampaignID == 0 {
		return none, nil
	}
	if in.AssistantID.Has() {
		id, err := a.assistantOfCalls(ctx, in.AssistantID.V)
		if err != nil || id == 0 {
			return none, err
		}
		f.AssistantID = id
	}
	list, total, err := a.Calls.List(ctx, a.DB, owner(ctx), f, in.Offset(), in.PerPage)
	if err != nil {
		return none, err
	}
	out, err := a.showCalls(ctx, list)
	return wire.NewPage(ctx, in.Paging, total, out), err
}

// assistantOfCalls is the id a filter means; 0 when it means nobody. Calls outlive their assistant, so ids are not looked up.
func (a *API) assistantOfCalls(ctx context.Context, ref value.Ref) (assistants.ID, error) {
	if ref.UUID == "" {
		return assistants.ID(ref.ID), nil
	}
	x, err := a.Assistants.Get(ctx, a.DB, owner(ctx), ref)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return x.ID, err
}

func day(s string) time.Time {
	t, _ := time.Parse(time.DateOnly, s) // validated; empty is the zero time
	return t
}

func (a *API) getCall(ctx context.Context, in *callRef) (callOut, error) {
	c, err := a.Calls.Get(ctx, a.DB, owner(ctx), in.ID)
	if err != nil {
		return callOut{}, err
	}
	out, err := a.showCalls(ctx, []calls.Call{c})
	if err != nil {
		return callOut{}, err
	}
	used, err := a.Calls.EventsOf(ctx, a.DB, c.ID, "usage")
	for _, e := range used {
		var one vendorCost
		if err := json.Unmarshal(e.Data.V, &one); err == nil {
			out[0].VendorCosts = append(out[0].VendorCosts, one)
		}
	}
	return out[0], err
}

// vendorCost is what a vendor counted in a call; cost is null where no price is known.
type vendorCost struct {
	Stage    string             `json:"stage"`
	Provider string             `json:"provider"`
	Model    string             `json:"model"`
	Units    map[string]float64 `json:"units"`
	Cost     *float64           `json:"cost"`
}

// showCalls are call objects with the answers their webhooks got.
func (a *API) showCalls(ctx context.Context, list []calls.Call) ([]callOut, error) {
	ids := each(list, func(c calls.Call) calls.ID { return c.ID })
	answers, err := a.Webhooks.Results(ctx, a.DB, owner(ctx), ids)
	now := time.Now()
	return each(list, func(c calls.Call) callOut {
		out := a.showCall(ctx, c, now)
		if answer, ok := answers[c.ID]; ok {
			out.WebhookResponse = answer
		}
		return out
	}), err
}

func (a *API) showCall(ctx context.Context, c calls.Call, now time.Time) callOut {
	out := callOut{ID: int64(c.ID), AssistantName: c.AssistantName, CampaignName: c.CampaignName, Type: c.Type, Duration: c.Duration(now),
		AssistantPhone: c.AssistantPhone, ClientPhone: c.ClientPhone, Status: c.Status, Transcript: c.Transcript(), Variables: c.Variables.V,
		Evaluation: c.Evaluation.V, WebhookResponse: json.RawMessage(`null`), CarrierCost: c.CarrierCost, TotalCost: c.TotalCost(),
		AnsweredBy: c.AnsweredBy, CreatedAt: value.DateTime(c.CreatedAt.Time()), UpdatedAt: value.DateTime(c.UpdatedAt.Time()), UUID: c.UUID,
		AssistantID: (*int64)(c.AssistantID), CampaignID: (*int64)(c.CampaignID), LeadID: (*int64)(c.LeadID), EndedReason: c.Reason,
		EndedBy:        c.EndedBy,
		InputVariables: c.InputVariables.V, AnsweredAt: timeOrNull(c.AnsweredAt.Time()), EndedAt: timeOrNull(c.EndedAt.Time()), AICost: c.AICost,
		Currency: c.Currency, TranscriptEntries: transcriptEntries(c), EvaluationFields: c.EvaluationFields()}
	if c.Recording != nil && callerOf(ctx).Hears() {
		url := wire.Origin(ctx) + "/media/" + *c.Recording
		out.RecordingURL = &url
	}
	return out
}

func transcriptEntries(c calls.Call) []transcriptEntry {
	return each(c.Entries.V, func(e calls.Entry) transcriptEntry {
		sender := "human"
		if e.Assistant {
			sender = "bot"
		}
		at := c.Durable(time.UnixMicro(e.At))
		return transcriptEntry{e.Text, "transcript", sender, float64(at.UnixMilli()) / 1000, e.Interrupted}
	})
}

// errNoCall is the answer of the routes that change a call.
var errNoCall = fault.New(fault.NotFound, "", "No call with this id exists in your account.")

func (a *API) ownCall(ctx context.Context, ref value.Ref) (calls.Call, error) {
	c, err := a.Calls.Get(ctx, a.DB, owner(ctx), ref)
	if fault.Is(err, fault.NotFound) {
		err = errNoCall
	}
	return c, err
}

func (a *API) deleteCall(ctx context.Context, in *callRef) (wire.Message, error) {
	c, err := a.ownCall(ctx, in.ID)
	if err != nil {
		return wire.Message{}, err
	}
	if !c.Status.Final() {
		return wire.Message{}, calls.ErrLive
	}
	if c.Recording != nil { // the file first: a name that is forgotten could never be removed
		if err := a.Blobs.Delete(ctx, *c.Recording); err != nil {
			return wire.Message{}, err
		}
	}
	if err := a.Calls.Remove(ctx, a.DB, c.ID); errors.Is(err, calls.ErrNotFound) {
		return wire.Message{}, errNoCall
	} else if err != nil {
		return wire.Message{}, err
	}
	return wire.Message{Message: "The call was removed."}, nil
}

func (a *API) callEvents(ctx context.Context, in *callRef) (callEvents, error) {
	c, err := a.Calls.Get(ctx, a.DB, owner(ctx), in.ID)
	if err != nil {
		return callEvents{}, err
	}
	list, err := a.Calls.Events(ctx, a.DB, c.ID)
	return callEvents{each(list, func(e calls.Event) callEvent { return showEvent(c, e.Seq, e.At.Time(), e.Type, e.Data.V) })}, err
}

func showEvent(c calls.Call, seq int64, at time.Time, kind string, body json.RawMessage) callEvent {
	when, ms := moment(c, at)
	return callEvent{seq, when, ms, kind, body}
}

// moment is a moment of a call by the durable clock, and in milliseconds from its answer.
func moment(c calls.Call, at time.Time) (value.Time, int64) {
	since := c.AnsweredReal.Time()
	if since.IsZero() {
		since = c.CreatedReal.Time()
	}
	return value.At(c.Durable(at)), at.Sub(since).Milliseconds()
}

func (a *API) hangUpCall(ctx context.Context, in *callRef) (wire.Message, error) {
	c, err := a.ownCall(ctx, in.ID)
	if err != nil {
		return wire.Message{}, err
	}
	if !c.Status.Live() {
		return wire.Message{}, calls.ErrOver
	}
	return wire.Message{Message: "Call hang-up requested"}, a.Switchboard.HangUp(ctx, calls.APIHangup, c.ID)
}

func (a *API) findWhispered(ctx context.Context, in *whisperIn) error {
	_, err := a.ownCall(ctx, in.ID)
	return err
}

func (a *API) whisper(ctx context.Context, in *whisperIn) (wire.Message, error) {
	c, err := a.ownCall(ctx, in.ID)
	if err != nil {
		return wire.Message{}, err
	}
	return wire.Message{Message: "The assistant was told."}, a.Switchboard.Whisper(ctx, c, in.Text)
}

func (a *API) typeIntoCall(ctx context.Context, in *whisperIn) (wire.Message, error) {
	c, err := a.ownCall(ctx, in.ID)
	if err != nil {
		return wire.Message{}, err
	}
	return wire.Message{Message: "The assistant was told."}, a.Switchboard.Type(ctx, c, in.Text)
}

func (a *API) blockedNumbers(ctx context.Context, _ *struct{}) (data[[]blockedOut], error) {
	list, err := a.Calls.BlockedList(ctx, a.DB, owner(ctx))
	return data[[]blockedOut]{each(list, showBlocked)}, err
}

func (a *API) blockNumber(ctx context.Context, in *blockIn) (data[blockedOut], error) {
	b, err := a.Calls.Block(ctx, owner(ctx), in.PhoneNumber, in.Reason.V)
	return data[blockedOut]{showBlocked(b)}, err
}

func (a *API) unblockNumber(ctx context.Context, in *blockedID) (wire.Message, error) {
	return wire.Message{Message: "The phone number was taken off the list."}, a.Calls.Unblock(ctx, owner(ctx), in.ID)
}

func showBlocked(b calls.Blocked) blockedOut {
	return blockedOut{b.ID, b.Phone, b.Reason, value.At(b.CreatedAt.Time())}
}
