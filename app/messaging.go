package app

import (
	"context"
	"net/http"

	"parley/accounts"
	"parley/assistants"
	"parley/billing"
	"parley/db"
	"parley/messaging"
	"parley/numbers"
	"parley/value"
	"parley/webhooks"
)

// ledger books messages.
type ledger struct{ *billing.Billing }

func (l ledger) Hold(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, price int64) error {
	return l.Billing.Hold(ctx, tx, owner, ref, value.Money(price))
}

func (l ledger) Settle(ctx context.Context, tx *db.Tx, owner accounts.ID, ref, kind string, price int64, assistant *assistants.ID) error {
	_, err := l.Billing.Settle(ctx, tx, owner, ref, billing.Item{Kind: kind, Money: value.Money(price), Assistant: assistant})
	return err
}

func (l ledger) Release(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string) error {
	return l.Billing.Release(ctx, tx, owner, ref)
}

func (l ledger) Refund(ctx context.Context, tx *db.Tx, owner accounts.ID, ref, kind string) error {
	return l.Billing.Refund(ctx, tx, owner, kind, ref)
}

// messaging: WhatsApp and SMS, over every platform that there is.
func (h *App) messaging(ctx context.Context) error {
	c, p := h.on.Config, h.Billing.Prices
	platforms, joiners, texter := platforms(h.vendors.Now())
	h.Messaging = messaging.New(messaging.Deps{
		DB: h.DB, Jobs: h.on.Jobs, Gateways: platforms, Joiners: joiners, Texter: texter, Open: h.openFile, Ledger: ledger{h.Billing},
		Chats: h.Chats, Assistants: h.Assistants,
		Report: h.reportReceipt, Phones: h.phones(), Currency: c.Billing.Currency, ResponseDelay: c.WhatsApp.ResponseDelay,
		CallMinLimit: int64(c.WhatsApp.VoiceCallMinLimit),
		Prices: messaging.Prices{Marketing: int64(p.Marketing), Utility: int64(p.Utility), Authentication: int64(p.Auth),
			Freeform: int64(p.Freeform),
			SMS:      func(to string) int64 { return int64(h.Billing.SMSPrice(to)) }},
		NumberByID: func(ctx context.Context, q db.Q, owner accounts.ID, id numbers.ID) (messaging.Number, bool, error) {
			n, err := h.Numbers.Get(ctx, q, owner, id)
			return texting(n), known(err), missing(err)
		},
		NumberByPhone: func(ctx context.Context, q db.Q, owner accounts.ID, phone string) (messaging.Number, bool, error) {
			n, err := h.Numbers.Named(ctx, q, owner, phone)
			return texting(n), known(err), missing(err)
		},
	})
	h.Callbacks = func(name string) http.Handler { return (*h.hooks.Load())[name] }
	h.hook()
	if h.Sim != nil {
		return h.Sim.Stock(ctx)
	}
	return nil
}

func texting(n numbers.Number) messaging.Number {
	return messaging.Number{ID: n.ID, Phone: n.Number, SMSCapable: n.SMS, Active: n.PastDueAt.IsZero()}
}

// reportReceipt queues the webhook of a delivery that moved on.
func (h *App) reportReceipt(ctx context.Context, tx *db.Tx, r messaging.Receipt) error {
	m := r.Message
	body := webhooks.Status{Event: webhooks.MessageStatus, WhatsAppMessageID: m.ID, MessageSID: m.SID, ConversationID: r.Talk.UUID,
		AssistantID: some(r.Talk.AssistantUUID),
		Sender:      webhooks.StatusSender{ID: int64(r.Sender.ID), PhoneNumber: r.Sender.Phone, DisplayName: r.Sender.DisplayName}, To: m.Phone,
		From: r.Sender.Phone, Direction: "outbound",
		Status: string(m.Status), ErrorCode: m.ErrorCode, ErrorMessage: m.ErrorText, ErrorDescription: r.Details, At: value.At(r.At)}
	if r.Provider != nil {
		body.ProviderAt = value.At(*r.Provider)
	}
	return h.Webhooks.Add(ctx, tx, webhooks.Event{Owner: m.Owner, Name: webhooks.MessageStatus, URL: r.Sender.ReceiptsURL,
		ConversationID: r.Talk.ID, MessageID: m.ID, SenderID: r.Sender.ID, Payload: body})
}
