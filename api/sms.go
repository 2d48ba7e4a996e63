package api

import (
	"context"
	"strconv"
	"strings"

	"parley/fault"
	"parley/messaging"
	"parley/numbers"
	"parley/value"
)

// smsFrom is an owned number, by id or in E.164.
type smsFrom struct {
	id    int64
	phone string
}

// Bind takes an integer, its decimal string or a phone number.
func (f *smsFrom) Bind(b value.Binder, v value.Value) {
	if v.IsString() && strings.HasPrefix(v.Text(), "+") {
		f.phone = v.Text()
		return
	}
	id, err := strconv.ParseInt(v.Text(), 10, 64)
	if err != nil || !v.IsScalar() {
		b.Fail("integer")
	}
	f.id = id
}

type smsIn struct {
	From value.Opt[smsFrom] `json:"from" rule:"required"`
	To   string             `json:"to" rule:"required"`
	Body string             `json:"body" rule:"required min=1 max=300" also:"message" trim:"no"`
}

type smsSent struct {
	Message string `json:"message"`
	Data    smsOut `json:"data"`
}

type smsOut struct {
	ID       string      `json:"sms_id"`
	From     string      `json:"from"`
	To       string      `json:"to"`
	Body     string      `json:"body"`
	Segments int         `json:"segments"`
	Cost     value.Money `json:"cost"`
	Currency string      `json:"currency"`
	Status   string      `json:"status"`
}

func (a *API) sendSMS(ctx context.Context, in *smsIn) (smsSent, error) {
	me := owner(ctx)
	var from messaging.Number
	var known bool
	var err error
	if in.From.V.phone != "" {
		from, known, err = a.Messaging.NumberByPhone(ctx, a.DB, me, in.From.V.phone)
	} else {
		from, known, err = a.Messaging.NumberByID(ctx, a.DB, me, numbers.ID(in.From.V.id))
	}
	if err != nil {
		return smsSent{}, fault.Of(err)
	}
	s, err := a.Messaging.SendSMS(ctx, me, from, known, in.To, in.Body)
	return smsSent{"The SMS was accepted for sending.",
		smsOut{"SMS_" + itoa(s.ID), s.From, s.To, s.Body, s.Segments, value.Money(s.Price), a.Messaging.Currency, s.Status}}, err
}
