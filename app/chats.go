package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/billing"
	"parley/blobs"
	"parley/calendar"
	"parley/chats"
	"parley/db"
	"parley/knowledge"
	"parley/mind"
	"parley/providers"
	"parley/toolbox"
	"parley/tools"
	"parley/value"
	"parley/webhooks"
)

// tools: customers' own functions.
func (h *App) tools(context.Context) error {
	h.Tools = tools.New(h.DB, h.on.Box, h.Guard, func(ctx context.Context, tx *db.Tx, owner accounts.ID) (*int64, error) {
		plan, err := h.Accounts.LockPlan(ctx, tx, owner)
		return plan.MaxTools, err
	})
	return nil
}

// calendars: the services that assistants book at.
func (h *App) calendars(context.Context) error {
	at := h.on.Config.Calendar
	h.calendar = calendar.New(h.Guard, at.USURL, at.EUURL)
	h.closers = append(h.closers, func() error { h.calendar.Close(); return nil })
	return nil
}

// booking carries out a function of an assistant's calendar, in the assistant's time zone.
func (h *App) booking(ctx context.Context, a assistants.Assistant, t *toolbox.CalendarIntegration, function string,
	args map[string]any) (any, error) {
	setup := calendar.Setup{Key: t.APIKey, Event: t.EventSlug, Team: value.Or(t.TeamSlug, ""), Endpoint: t.Endpoint,
		CustomEndpoint: value.Or(t.CustomEndpoint, "")}
	for _, f := range t.BookingFields {
		setup.Fields = append(setup.Fields, f.Slug)
	}
	return h.calendar.Run(ctx, setup, function, args, a.Location())
}

// webhooks: what customers' servers are told.
func (h *App) webhooks(context.Context) error {
	h.Webhooks = webhooks.New(h.DB, h.on.Jobs, h.Guard, h.on.Box, h.on.Config.Webhooks.LongTail,
		func(owner accounts.ID, id int64) { h.tell(owner, "delivery", map[string]int64{"id": id}) })
	h.closers = append(h.closers, func() error { h.Webhooks.Close(); return nil })
	return nil
}

// chats: conversations in text.
func (h *App) chats(context.Context) error {
	h.Chats = chats.New(h.DB, h.on.Jobs, h.Assistants,
		chats.Mind{Mind: h.mind(), Engine: h.ChatEngine}, h.chatMoney(),
		chats.Beside{Channels: map[string]chats.Channel{chats.WhatsApp: whatsApp{h}}, Report: h.reportEnding,
			Changed: func(e chats.Event) { h.tell(e.Owner, "conversation", e) }})
	return nil
}

// whatsApp answers conversations over the room of messages, which stands on that of chats.
type whatsApp struct{ h *App }

func (w whatsApp) Send(ctx context.Context, c chats.Conversation, o chats.Outgoing) error {
	return w.h.Messaging.Channel().Send(ctx, c, o)
}

// tell passes a change on to connected clients. They read the state itself, so a lost word is no loss.
func (h *App) tell(owner accounts.ID, kind string, data any) {
	if err := h.Live.Publish(context.Background(), int64(owner), kind, data); err != nil {
		slog.Warn("clients not told", "kind", kind, "error", err)
	}
}

// chatMoney: an answer has a price, which must be available before it is thought of.
func (h *App) chatMoney() chats.Money {
	price := h.Billing.Prices.ChatMessage
	return chats.Money{
		Afford: func(ctx context.Context, q db.Q, owner accounts.ID) error {
			return h.Billing.Afford(ctx, q, owner, price)
		},
		Charge: func(ctx context.Context, tx *db.Tx, talk chats.Conversation, entry int64) (value.Money, error) {
			bill, err := h.Billing.Charge(ctx, tx, talk.Owner, fmt.Sprintf("chat:%d", entry),
				billing.Item{Kind: billing.ChatMessage, Money: price, Assistant: &talk.Assistant})
			return bill.Money, err
		},
	}
}

// mind is what assistants think with, in calls and in chats.
func (h *App) mind() mind.Mind {
	return mind.Mind{Tools: h.Tools.Of, Run: h.Tools.Run, Search: h.search, Calendar: h.booking, Now: h.DB.Now}
}

// search finds passages in an assistant's knowledgebase.
func (h *App) search(ctx context.Context, a assistants.Assistant, query string) ([]agent.Passage, error) {
	found, err := h.Knowledge.Search(ctx, value.Or(a.KnowledgebaseID, 0), query, 6)
	out := make([]agent.Passage, len(found))
	for i, p := range found {
		out[i] = agent.Passage(p)
	}
	return out, err
}

// knowledge: documents that assistants can draw on.
func (h *App) knowledge(context.Context) error {
	var opts []knowledge.Option
	if e := h.vendors.Now().First(func(v providers.Vendor) bool { return v.Embedder != nil }).Embedder; e != nil {
		opts = append(opts, knowledge.WithEmbedder(e))
	}
	if h.on.IsolatePDF {
		opts = append(opts, knowledge.Isolated())
	}
	opts = append(opts, knowledge.Telling(func(owner accounts.ID, base knowledge.ID, document knowledge.DocumentID, status string) {
		h.tell(owner, "document", map[string]any{"knowledgebase_id": base, "id": document, "status": status})
	}))
	h.Knowledge = knowledge.New(h.DB, h.on.Jobs, documentFiles{h.Blobs}, h.Guard, opts...)
	return nil
}

// documentFiles is the store of files without what documents do not ask for.
type documentFiles struct{ blobs.Store }

// Open reads a file.
func (f documentFiles) Open(ctx context.Context, key string) (io.ReadSeekCloser, error) {
	r, _, err := f.Store.Open(ctx, key)
	return r, err
}
