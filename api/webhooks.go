package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"parley/assistants"
	"parley/calls"
	"parley/chats"
	"parley/fault"
	"parley/value"
	"parley/webhooks"
	"parley/wire"
)

type deliveriesIn struct {
	wire.CursorPaging[webhooks.Place]
	Event          value.Opt[string]    `query:"event" rule:"oneof=call.completed|inbound_call.completed|conversation.ended|message_status"`
	Status         value.Opt[string]    `query:"status" rule:"oneof=pending|succeeded|failed"`
	CallID         value.Opt[value.Ref] `query:"call_id"`
	ConversationID value.Opt[value.Ref] `query:"conversation_id"`
}

type deliveryOut struct {
	ID          int64           `json:"id"`
	WebhookID   string          `json:"webhook_id"`
	Event       string          `json:"event"`
	URL         string          `json:"url"`
	Status      string          `json:"status"`
	Attempts    []attemptOut    `json:"attempts"`
	NextAttempt *value.Time     `json:"next_attempt_at"`
	CreatedAt   value.Time      `json:"created_at"`
	Payload     json.RawMessage `json:"payload"`
}

type attemptOut struct {
	At         value.Time `json:"at"`
	StatusCode *int       `json:"status_code"` // null without an answer
	DurationMS int64      `json:"duration_ms"`
	Error      *string    `json:"error"`
	Response   *string    `json:"response"`
}

type deliveryRef struct {
	ID int64 `path:"id"`
}

type secretOut struct {
	Secret string `json:"secret"`
}

func (a *API) deliveries(ctx context.Context, in *deliveriesIn) (wire.CursorPage[deliveryOut], error) {
	at := in.Cursor.At
	f, err := a.deliveryFilter(ctx, in)
	if err != nil {
		return wire.CursorPage[deliveryOut]{}, err
	}
	list, more, err := a.Webhooks.Log(ctx, owner(ctx), f, at, in.PerPage)
	if err != nil {
		return wire.CursorPage[deliveryOut]{}, err
	}
	var next, prev string
	if len(list) > 0 {
		if more || at.After != 0 {
			next = wire.Cursor[webhooks.Place]{At: webhooks.Place{Before: list[len(list)-1].ID}}.String()
		}
		if at.Before != 0 || more && at.After != 0 {
			prev = wire.Cursor[webhooks.Place]{At: webhooks.Place{After: list[0].ID}}.String()
		}
	}
	return wire.NewCursorPage(ctx, in.PerPage, each(list, showDelivery), next, prev), nil
}

// deliveryFilter reads the filters.
func (a *API) deliveryFilter(ctx context.Context, in *deliveriesIn) (webhooks.Filter, error) {
	call, err := idOf(in.CallID.V, func(ref value.Ref) (calls.ID, error) {
		c, err := a.Calls.Get(ctx, a.DB, owner(ctx), ref)
		return c.ID, err
	})
	if err != nil {
		return webhooks.Filter{}, err
	}
	chat, err := idOf(in.ConversationID.V, func(ref value.Ref) (chats.ID, error) {
		c, err := a.Chats.Get(ctx, a.DB, owner(ctx), ref)
		return c.ID, err
	})
	return webhooks.Filter{Event: in.Event.V, Status: in.Status.V, CallID: call, ConversationID: chat}, err
}

// idOf is the id that a reference means; one that nothing has when its uuid is unknown.
func idOf[T ~int64](ref value.Ref, find func(value.Ref) (T, error)) (T, error) {
	if ref.UUID == "" {
		return T(ref.ID), nil
	}
	id, err := find(ref)
	if fault.Is(err, fault.NotFound) {
		return -1, nil
	}
	return id, err
}

func showDelivery(d webhooks.Delivery) deliveryOut {
	var next *value.Time
	if !d.NextAt.IsZero() {
		at := value.At(d.NextAt)
		next = &at
	}
	return deliveryOut{d.ID, d.WebhookID, d.Event, d.URL, d.Status, each(d.Attempts, func(x webhooks.Attempt) attemptOut {
		out := attemptOut{At: value.At(x.At), DurationMS: x.Duration.Milliseconds(), Error: filled(x.Error)}
		if x.Status != 0 {
			out.StatusCode, out.Response = &x.Status, &x.Response
		}
		return out
	}), next, value.At(d.CreatedAt), json.RawMessage(d.Body)}
}

func (a *API) replayDelivery(ctx context.Context, in *deliveryRef) (wire.Message, error) {
	return wire.Message{Message: "Webhook queued"}, a.Webhooks.Replay(ctx, owner(ctx), in.ID)
}

func (a *API) webhookSecret(ctx context.Context, _ *struct{}) (secretOut, error) {
	s, err := a.Webhooks.Secret(ctx, a.DB, webhooks.AccountScope(owner(ctx)))
	return secretOut{s}, err
}

func (a *API) rotateSecret(ctx context.Context, _ *struct{}) (secretOut, error) {
	s, err := a.Webhooks.Rotate(ctx, a.DB, webhooks.AccountScope(owner(ctx)))
	return secretOut{s}, err
}

type tryWebhookIn struct {
	ID   value.Ref `path:"id"`
	Kind string    `json:"kind" rule:"required oneof=post_call|inbound|conversation_ended"`

	found assistants.Assistant
}

type triedWebhook struct {
	Success    bool   `json:"success"`
	StatusCode int    `json:"status_code"` // 0 without an answer
	Body       string `json:"body"`
}

func (a *API) findTried(ctx context.Context, in *tryWebhookIn) (err error) {
	in.found, err = a.Assistants.Get(ctx, a.DB, owner(ctx), in.ID)
	return err
}

// tryWebhook sends a made-up event to one of the assistant's receivers.
func (a *API) tryWebhook(ctx context.Context, in *tryWebhookIn) (triedWebhook, error) {
	e := webhooks.Event{Owner: owner(ctx), Test: true}
	now := a.DB.Now()
	switch x := in.found; in.Kind {
	case "post_call":
		e.Name, e.URL, e.Payload = webhooks.CallCompleted, value.Or(x.WebhookURL, ""),
			webhooks.SampleCall(webhooks.CallCompleted, x.ID, x.UUID, now)
	case "inbound":
		e.Name, e.URL, e.Payload = webhooks.InboundCallCompleted, x.InboundWebhookURL,
			webhooks.SampleCall(webhooks.InboundCallCompleted, x.ID, x.UUID, now)
	default:
		e.Name, e.URL, e.Payload = webhooks.ConversationEnded, value.Or(x.ConversationEndedWebhookURL, ""),
			webhooks.SampleConversation(x.UUID, now)
	}
	if e.URL == "" {
		return triedWebhook{}, fault.New(fault.Invalid, "", "This webhook has no URL yet. Set one first.")
	}
	t, err := a.Webhooks.Try(ctx, e)
	return triedWebhook{t.Success, t.Status, t.Body}, err
}

// streamedDelivery is an event as its receiver would get it, for somebody who forwards it himself.
type streamedDelivery struct {
	ID      int64             `json:"id"`
	Event   string            `json:"event"`
	Headers map[string]string `json:"headers"`
	Payload json.RawMessage   `json:"payload"`
}

// followDeliveries streams every delivery that is queued from now on, or since the one a client saw last, once, with its
// signed headers.
func (a *API) followDeliveries(ctx context.Context, in *resume, w http.ResponseWriter) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes := a.Live.Subscribe(ctx, int64(owner(ctx)), 0)
	after, known := in.after(ctx)
	if !known {
		var err error
		if after, err = a.Webhooks.Last(ctx, owner(ctx)); err != nil {
			return err
		}
	}
	out, err := wire.NewEvents(w)
	if err != nil {
		return err
	}
	f := deliveryFollower{a: a, out: out, after: after, sent: map[int64]bool{}}
	if err := f.catchUp(ctx); err != nil {
		return nil // the client is gone
	}
	for {
		select {
		case e, ok := <-changes:
			var change struct{ ID int64 }
			switch {
			case !ok:
				return nil // it comes back and catches up
			case e.Kind != "delivery" || json.Unmarshal(e.Data, &change) != nil:
				continue
			}
			err = f.send(ctx, change.ID)
		case <-time.After(heartbeat):
			err = out.Ping()
		}
		if err != nil {
			return nil // the client is gone
		}
	}
}

// deliveryFollower is one client that gets the deliveries of its account.
type deliveryFollower struct {
	a     *API
	out   *wire.Events
	after int64          // everything up to it has been sent or is of no interest
	sent  map[int64]bool // beyond that: ids need not appear in their order
}

// mostSent is how many deliveries beyond after are remembered one by one.
const mostSent = 1000

func (f *deliveryFollower) catchUp(ctx context.Context) error {
	if err := f.out.Mark(itoa(f.after)); err != nil {
		return err
	}
	missed, err := f.a.Webhooks.After(ctx, owner(ctx), f.after)
	if err != nil {
		return err
	}
	for _, id := range missed {
		if err := f.send(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (f *deliveryFollower) send(ctx context.Context, id int64) error {
	if id <= f.after || f.sent[id] {
		return nil
	}
	if f.sent[id] = true; len(f.sent) > mostSent {
		f.after = slices.Min(slices.Collect(maps.Keys(f.sent)))
		delete(f.sent, f.after)
	}
	return f.a.sendDelivery(ctx, f.out, id)
}

func (a *API) sendDelivery(ctx context.Context, out *wire.Events, id int64) error {
	d, h, err := a.Webhooks.Get(ctx, owner(ctx), id)
	if err != nil {
		return err
	}
	headers := map[string]string{}
	for k := range h {
		headers[k] = h.Get(k)
	}
	return out.Send(strconv.FormatInt(id, 10), "delivery", streamedDelivery{id, d.Event, headers, json.RawMessage(d.Body)})
}
