package api

import (
	"context"

	"parley/numbers"
	"parley/value"
	"parley/wire"
)

type trunkRef struct {
	ID int64 `path:"id"`
}

type newTrunkIn struct{ numbers.TrunkChange }

type trunkIn struct {
	ID int64 `path:"id"`
	numbers.TrunkChange
}

// trunkItem is a trunk in a list; nothing shows its password.
type trunkItem struct {
	ID           int64      `json:"id"`
	Form         string     `json:"sip_trunk_type"`
	Number       string     `json:"phone_number"`
	Nickname     *string    `json:"nickname"`
	Username     string     `json:"sip_username"`
	Address      string     `json:"sip_address"`
	Format       string     `json:"sip_calling_format"`
	Auth         string     `json:"inbound_authorization_type"`
	Allowed      []string   `json:"allowed_inbound_ips"`
	Country      string     `json:"country_code"`
	Proxy        bool       `json:"outbound_proxy"`
	Transport    string     `json:"transport"`
	Port         int64      `json:"port"`
	Codecs       []string   `json:"codecs"`
	Registration string     `json:"registration"`
	CreatedAt    value.Time `json:"created_at"`
	UpdatedAt    value.Time `json:"updated_at"`
}

type trunkOut struct {
	trunkItem
	InboundRef  string `json:"inbound_trunk_id"`
	OutboundRef string `json:"outbound_trunk_id"`
}

type trunkData struct {
	Data trunkOut `json:"data"`
}

type trunkList struct {
	Data []trunkItem `json:"data"`
}

type savedTrunk struct {
	Message string   `json:"message"`
	Data    trunkOut `json:"data"`
}

func listedTrunk(t numbers.Trunk) trunkItem {
	return trunkItem{int64(t.ID), t.Form, t.Number, t.Nickname, t.Username, t.Address, t.Format, t.Auth, append([]string{}, t.Allowed...),
		t.Country,
		t.Proxy, t.Transport, t.Port, append([]string{}, t.Codecs...), t.Registration, value.At(t.CreatedAt), value.At(t.UpdatedAt)}
}

func shownTrunk(t numbers.Trunk) trunkOut {
	return trunkOut{listedTrunk(t), t.InboundRef, t.OutboundRef}
}

func (a *API) trunkRoutes() []wire.Route {
	invalid := errorsOnly.Saying(dataInvalid)
	return []wire.Route{
		wire.On(errorsOnly, "GET /user/phone-numbers/sip-trunks", 200, a.listTrunks),
		wire.On(invalid, "POST /user/phone-numbers/sip-trunks", 201, a.createTrunk, wire.Idempotent(),
			wire.Require(numbers.TrunkRequired...), wire.Judged()),
		wire.On(errorsOnly, "GET /user/phone-numbers/sip-trunks/{id}", 200, a.getTrunk),
		wire.On(invalid, "PUT /user/phone-numbers/sip-trunks/{id}", 200, a.updateTrunk, wire.Judged()),
		wire.On(errorsOnly, "DELETE /user/phone-numbers/sip-trunks/{id}", 200, a.deleteTrunk),
	}
}

func (a *API) listTrunks(ctx context.Context, _ *struct{}) (trunkList, error) {
	list, err := a.Numbers.Trunks(ctx, owner(ctx))
	return trunkList{each(list, listedTrunk)}, err
}

func (a *API) getTrunk(ctx context.Context, in *trunkRef) (trunkData, error) {
	t, err := a.Numbers.Trunk(ctx, owner(ctx), numbers.ID(in.ID))
	return trunkData{shownTrunk(t)}, err
}

func (a *API) createTrunk(ctx context.Context, in *newTrunkIn) (savedTrunk, error) {
	t, err := a.Numbers.CreateTrunk(ctx, owner(ctx), in.TrunkChange, wire.Failed(ctx)...)
	return savedTrunk{"The new SIP trunk was saved.", shownTrunk(t)}, err
}

func (a *API) updateTrunk(ctx context.Context, in *trunkIn) (savedTrunk, error) {
	t, err := a.Numbers.UpdateTrunk(ctx, owner(ctx), numbers.ID(in.ID), in.TrunkChange, wire.Failed(ctx)...)
	return savedTrunk{"The changes to the SIP trunk were saved.", shownTrunk(t)}, err
}

func (a *API) deleteTrunk(ctx context.Context, in *trunkRef) (wire.Message, error) {
	_, err := a.Numbers.Release(ctx, owner(ctx), numbers.ID(in.ID), true)
	return wire.Message{Message: "The phone number was removed."}, err
}
