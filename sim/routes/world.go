package routes

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nyaruka/phonenumbers"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/sim"
	"parley/value"
)

// world admits a request to the simulator: it belongs to the installation's first account alone.
func (r *Routes[A, S, T]) world(ctx context.Context) (accounts.ID, error) {
	first, err := r.Accounts.First(ctx, r.DB)
	if err != nil {
		return 0, err
	}
	if first.ID != r.Caller(ctx) {
		return 0, sim.NotFound()
	}
	return first.ID, nil
}

// power admits a request that reaches beyond the pretend world: clock, users, balance, crashes.
func (r *Routes[A, S, T]) power(ctx context.Context) (accounts.ID, error) {
	id, err := r.world(ctx)
	if err == nil && !r.Sim.Power() {
		err = sim.NotFound()
	}
	return id, err
}

type clockOut struct {
	Mode string     `json:"mode"`
	Now  value.Time `json:"now"`
}

func (r *Routes[A, S, T]) simClock(ctx context.Context, _ *struct{}) (data[clockOut], error) {
	_, err := r.power(ctx)
	mode := "real"
	if r.DB.IsManual() {
		mode = "manual"
	}
	return data[clockOut]{clockOut{mode, value.At(r.DB.Now())}}, err
}

type advanceIn struct {
	Seconds int64 `json:"seconds" rule:"required min=1 max=31536000"`
}

type advanced struct {
	Now     value.Time `json:"now"`
	Settled bool       `json:"settled"`
}

// settleTime is how long an answer may wait for the work that fell due.
const settleTime = 60 * time.Second

func (r *Routes[A, S, T]) simAdvance(ctx context.Context, in *advanceIn) (data[advanced], error) {
	if _, err := r.power(ctx); err != nil {
		return data[advanced]{}, err
	}
	if !r.DB.IsManual() {
		return data[advanced]{}, fault.New(fault.Conflict, "", "The clock runs in real time. Start with clock.mode manual to move it.")
	}
	limited, stop := context.WithTimeout(ctx, settleTime)
	defer stop()
	_, settled, err := r.Jobs.Advance(limited, time.Duration(in.Seconds)*time.Second)
	if err != nil {
		return data[advanced]{}, err
	}
	return data[advanced]{advanced{value.At(r.DB.Now()), settled}}, nil
}

type simAccountIn struct {
	Balance value.Opt[value.Money]        `json:"balance"`
	Kind    value.Opt[string]             `json:"account_kind" rule:"oneof=direct|tenant"`
	Payment value.Opt[string]             `json:"payment_method" rule:"oneof=ok|none|declined"`
	Plan    value.Opt[accounts.Overrides] `json:"plan"`
}

func (r *Routes[A, S, T]) simAccount(ctx context.Context, in *simAccountIn) (out A, err error) {
	admit := r.world
	if in.Balance.Has() {
		admit = r.power
	}
	id, err := admit(ctx)
	if err != nil {
		return out, err
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
	if _, err := r.Accounts.SetTerms(ctx, r.DB, accounts.ID(id), terms); err != nil {
		return out, err
	}
	if in.Balance.Has() {
		err := r.DB.Do(ctx, func(tx *db.Tx) error {
			return r.SetBalance(ctx, tx, accounts.ID(id), "sim:"+uuid.NewString(), in.Balance.V, "simulator")
		})
		if err != nil {
			return out, err
		}
	}
	return r.shapes.Account(ctx)
}

type simUserIn struct {
	Name  string `json:"name" rule:"required max=255"`
	Email string `json:"email" rule:"required email"`
}

type simUser struct {
	ID    accounts.ID `json:"id"`
	Token string      `json:"token"`
}

func (r *Routes[A, S, T]) simUsers(ctx context.Context, in *simUserIn) (data[simUser], error) {
	if _, err := r.power(ctx); err != nil {
		return data[simUser]{}, err
	}
	acc, err := r.Accounts.Create(ctx, r.DB, accounts.Draft{Name: in.Name, Email: in.Email})
	if err != nil {
		return data[simUser]{}, err
	}
	_, token, err := r.Accounts.CreateKey(ctx, r.DB, acc.ID, "simulator")
	return data[simUser]{simUser{acc.ID, token}}, err
}

type faultsIn struct {
	Carrier   value.Opt[string] `json:"carrier" rule:"oneof=ok|search_fails|order_fails|release_fails|crash_before_order|crash_after_order"`
	WhatsApp  value.Opt[string] `json:"whatsapp" rule:"pattern=^(ok|timeout|reject:[A-Za-z0-9_]{1,32})$"`
	Remaining int64             `json:"remaining" rule:"min=0 max=1000000" default:"1"`
}

type faultsOut struct {
	Carrier  string `json:"carrier,omitempty"`
	WhatsApp string `json:"whatsapp,omitempty"`
	Left     int64  `json:"remaining"`
}

func (r *Routes[A, S, T]) simFaults(ctx context.Context, in *faultsIn) (data[faultsOut], error) {
	id, err := r.world(ctx)
	if c := in.Carrier.V; err == nil && len(c) > 6 && c[:6] == "crash_" {
		_, err = r.power(ctx)
	}
	if err == nil && in.Carrier.Has() {
		err = r.Sim.SetFault(ctx, id, sim.CarrierFault, in.Carrier.V, in.Remaining)
	}
	if err == nil && in.WhatsApp.Has() {
		err = r.Sim.SetFault(ctx, id, sim.WhatsAppFault, in.WhatsApp.V, in.Remaining)
	}
	return data[faultsOut]{faultsOut{in.Carrier.V, in.WhatsApp.V, in.Remaining}}, err
}

type itemOut struct {
	Phone   string      `json:"phone_number"`
	Country string      `json:"country_code"`
	Price   value.Money `json:"price"`
	Address string      `json:"address_requirements"`
	SMS     bool        `json:"sms_capable"`
}

func itemOf(i sim.Item) itemOut {
	return itemOut{i.Phone, i.Country, value.Money(i.Price), i.Address, i.SMS}
}

func (r *Routes[A, S, T]) simInventory(ctx context.Context, _ *struct{}) (data[[]itemOut], error) {
	if _, err := r.world(ctx); err != nil {
		return data[[]itemOut]{}, err
	}
	all, err := r.Sim.Inventory(ctx)
	return data[[]itemOut]{each(all, itemOf)}, err
}

type itemIn struct {
	Phone   string      `json:"phone_number" rule:"required e164"`
	Price   value.Money `json:"price" rule:"min=0" default:"1.15"`
	Address string      `json:"address_requirements" rule:"oneof=none|local|foreign|inventory" default:"none"`
	SMS     bool        `json:"sms_capable" default:"true"`
}

func (r *Routes[A, S, T]) addSimNumber(ctx context.Context, in *itemIn) (data[itemOut], error) {
	if _, err := r.world(ctx); err != nil {
		return data[itemOut]{}, err
	}
	parsed, err := phonenumbers.Parse(in.Phone, "")
	country := ""
	if err == nil {
		country = phonenumbers.GetRegionCodeForNumber(parsed)
	}
	if country == "" || country == "ZZ" {
		return data[itemOut]{}, fault.Input(fault.Bad("phone_number", "e164"))
	}
	i := sim.Item{Phone: in.Phone, Country: country, Price: int64(in.Price), PriceID: "price_" + strings.ToLower(country) + "_local",
		Address: in.Address, SMS: in.SMS}
	return data[itemOut]{itemOf(i)}, r.Sim.AddNumber(ctx, i)
}

type simNumberRef struct {
	Phone string `path:"phone_number"`
}

func (r *Routes[A, S, T]) removeSimNumber(ctx context.Context, in *simNumberRef) (data[simNumberGone], error) {
	if _, err := r.world(ctx); err != nil {
		return data[simNumberGone]{}, err
	}
	return data[simNumberGone]{simNumberGone{in.Phone}}, r.Sim.RemoveNumber(ctx, in.Phone)
}

type simNumberGone struct {
	Phone string `json:"phone_number"`
}

type simSubscription struct {
	sim.Subscribed
	Until value.Time `json:"period_end"`
}

type simHeld struct {
	Charges       []sim.Charged     `json:"charges"`
	Subscriptions []simSubscription `json:"subscriptions"`
	Refunds       []sim.Charged     `json:"refunds"`
}

func (r *Routes[A, S, T]) simPayments(ctx context.Context, _ *struct{}) (data[simHeld], error) {
	id, err := r.world(ctx)
	if err != nil {
		return data[simHeld]{}, err
	}
	h, err := r.Sim.Payments(ctx, id)
	return data[simHeld]{simHeld{h.Charges, each(h.Subscriptions,
		func(s sim.Subscribed) simSubscription { return simSubscription{s, value.At(s.Until.Time())} }), h.Refunds}}, err
}
