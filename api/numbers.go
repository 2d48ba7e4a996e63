package api

import (
	"context"

	"parley/assistants"
	"parley/fault"
	"parley/numbers"
	"parley/value"
	"parley/wire"
)

type findNumbersIn struct {
	Country  string            `query:"country_code" also:"country" rule:"upper" default:"US"`
	Contains value.Opt[string] `query:"contains" rule:"pattern=^[0-9]+$ max=10"`
}

type offerOut struct {
	Number    string      `json:"phone_number"`
	Formatted string      `json:"phone_number_formatted"`
	Country   string      `json:"country_code"`
	Price     value.Money `json:"price"`
	PriceID   string      `json:"billing_price_id"`
	Address   string      `json:"address_requirements"`
	SMS       bool        `json:"sms_capable"`
}

type offerList struct {
	Data []offerOut `json:"data"`
}

type numberRef struct {
	ID int64 `path:"id"`
}

type buyNumberIn struct {
	Number string `json:"phone_number" rule:"required"`
}

type boughtNumber struct {
	Message string `json:"message"`
	Data    struct {
		ID      int64        `json:"id"`
		Number  string       `json:"phone_number"`
		Country string       `json:"country_code"`
		Type    numbers.Type `json:"type"`
		SMS     bool         `json:"sms_capable"`
	} `json:"data"`
}

type renameNumberIn struct {
	ID       int64             `path:"id"`
	Nickname value.Opt[string] `json:"nickname" rule:"null max=50"`
}

type renamedNumber struct {
	Message string `json:"message"`
	Data    struct {
		ID       int64        `json:"id"`
		Number   string       `json:"phone_number"`
		Nickname *string      `json:"nickname"`
		Country  string       `json:"country_code"`
		Type     numbers.Type `json:"type"`
	} `json:"data"`
}

type numberOut struct {
	ID         int64           `json:"id"`
	Number     string          `json:"phone_number"`
	Country    string          `json:"country_code"`
	Type       numbers.Type    `json:"type"`
	SMS        bool            `json:"sms_capable"`
	Nickname   *string         `json:"nickname"`
	Label      string          `json:"type_label"`
	Region     *string         `json:"region"`
	Subscribed bool            `json:"has_active_subscription"`
	CreatedAt  value.Time      `json:"created_at"`
	Status     string          `json:"status"`
	ReleaseAt  *value.Time     `json:"release_at"`
	Assistants []assistants.ID `json:"assistant_ids"`
}

type numberList struct {
	Data []numberOut `json:"data"`
}

type callerIDIn struct {
	Number string `json:"phone_number" rule:"required"`
}

type pendingCallerID struct {
	Message string `json:"message"`
	Data    struct {
		ID     int64         `json:"id"`
		Number string        `json:"phone_number"`
		Status numbers.State `json:"status"`
	} `json:"data"`
}

type verifyIn struct {
	ID   int64  `path:"id"`
	Code string `json:"code" rule:"required max=20"`
}

type verifiedCallerID struct {
	Message string    `json:"message"`
	Data    numberOut `json:"data"`
}

func (a *API) numberRoutes() []wire.Route {
	return []wire.Route{
		wire.On(errorsOnly, "GET /user/phone-numbers/search", 200, a.findNumbers, wire.Check(a.checkCountry)),
		wire.On(errorsOnly, "POST /user/phone-numbers/purchase", 201, a.buyNumber, wire.IdempotentOutside()),
		wire.On(errorsOnly, "DELETE /user/phone-numbers/{id}", 200, a.releaseNumber),
		wire.On(errorsOnly, "GET /user/phone-numbers/all", 200, a.allNumbers),
		wire.On(errorsOnly, "GET /user/phone-numbers", 200, a.textingNumbers),
		wire.On(errorsOnly, "PUT /user/phone-numbers/{id}", 200, a.renameNumber, wire.Find(a.findNumber)),
		wire.On(errorsOnly, "POST /user/phone-numbers/caller-ids", 201, a.addCallerID),
		wire.On(errorsOnly, "POST /user/phone-numbers/caller-ids/{id}/verify", 200, a.verifyCallerID, wire.Find(a.findCallerID)),
	}
}

func (a *API) checkCountry(_ context.Context, in *findNumbersIn) error {
	if !a.Numbers.Sells(in.Country) {
		return fault.Input(fault.Bad("country_code", "in"))
	}
	return nil
}

func (a *API) findNumbers(ctx context.Context, in *findNumbersIn) (offerList, error) {
	list, err := a.Numbers.Search(ctx, owner(ctx), in.Country, in.Contains.V)
	return offerList{each(list, func(o numbers.Offer) offerOut {
		return offerOut{o.Number, numbers.Display(o.Number), o.Country, o.Price, o.PriceID, o.Address, o.SMS}
	})}, err
}

func (a *API) buyNumber(ctx context.Context, in *buyNumberIn) (boughtNumber, error) {
	x, err := a.Numbers.Buy(ctx, owner(ctx), in.Number)
	out := boughtNumber{Message: "The phone number is now yours."}
	out.Data.ID, out.Data.Number, out.Data.Country, out.Data.Type, out.Data.SMS = int64(x.ID), x.Number, x.Country, x.Type, x.SMS
	return out, err
}

func (a *API) releaseNumber(ctx context.Context, in *numberRef) (wire.Message, error) {
	scheduled, err := a.Numbers.Release(ctx, owner(ctx), numbers.ID(in.ID), false)
	if scheduled {
		return wire.Message{Message: "The phone number is cancelled. It leaves your account when the paid period ends."}, err
	}
	return wire.Message{Message: "The phone number was removed."}, err
}

func (a *API) allNumbers(ctx context.Context, _ *struct{}) (numberList, error) {
	list, err := a.Numbers.List(ctx, owner(ctx))
	if err != nil {
		return numberList{}, err
	}
	return a.showNumbers(ctx, list)
}

func (a *API) textingNumbers(ctx context.Context, _ *struct{}) (numberList, error) {
	list, err := a.Numbers.Texting(ctx, owner(ctx))
	if err != nil {
		return numberList{}, err
	}
	return a.showNumbers(ctx, list)
}

func (a *API) showNumbers(ctx context.Context, list []numbers.Number) (numberList, error) {
	holders, err := a.Assistants.ByNumber(ctx, owner(ctx))
	return numberList{each(list, func(x numbers.Number) numberOut { return showNumber(x, holders) })}, err
}

func showNumber(x numbers.Number, holders map[numbers.ID][]assistants.ID) numberOut {
	out := numberOut{ID: int64(x.ID), Number: x.Number, Country: x.Country, Type: x.Type, SMS: x.SMS, Nickname: x.Nickname,
		Label:  x.Type.Label(),
		Region: x.Region, Subscribed: x.Subscribed(), CreatedAt: value.At(x.CreatedAt.Time()), Status: "active", Assistants: holders[x.ID]}
	if x.State == numbers.Scheduled {
		at := value.At(x.ReleaseAt.Time())
		out.Status, out.ReleaseAt = "scheduled_for_release", &at
	}
	if out.Assistants == nil {
		out.Assistants = []assistants.ID{}
	}
	return out
}

func (a *API) findNumber(ctx context.Context, in *renameNumberIn) error {
	_, err := a.Numbers.Get(ctx, a.DB, owner(ctx), numbers.ID(in.ID))
	return err
}

func (a *API) renameNumber(ctx context.Context, in *renameNumberIn) (renamedNumber, error) {
	out := renamedNumber{Message: "The changes to the phone number were saved."}
	x, err := a.Numbers.Get(ctx, a.DB, owner(ctx), numbers.ID(in.ID))
	if err == nil && in.Nickname.Set {
		x, err = a.Numbers.Rename(ctx, owner(ctx), numbers.ID(in.ID), in.Nickname.Ptr())
	}
	out.Data.ID, out.Data.Number, out.Data.Nickname, out.Data.Country, out.Data.Type = int64(x.ID), x.Number, x.Nickname, x.Country, x.Type
	return out, err
}

func (a *API) addCallerID(ctx context.Context, in *callerIDIn) (pendingCallerID, error) {
	id, err := a.Numbers.AddCallerID(ctx, owner(ctx), in.Number)
	out := pendingCallerID{Message: "A code is on its way to this phone number."}
	out.Data.ID, out.Data.Number, out.Data.Status = int64(id), in.Number, numbers.Pending
	return out, err
}

func (a *API) findCallerID(ctx context.Context, in *verifyIn) error {
	return a.Numbers.PendingCallerID(ctx, owner(ctx), numbers.ID(in.ID))
}

func (a *API) verifyCallerID(ctx context.Context, in *verifyIn) (verifiedCallerID, error) {
	x, err := a.Numbers.VerifyCallerID(ctx, owner(ctx), numbers.ID(in.ID), in.Code)
	return verifiedCallerID{"The phone number is verified and can be shown to those you call.", showNumber(x, nil)}, err
}
