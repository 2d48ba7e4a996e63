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
	ID             int64    `json:"id"`
	Form           string   `json:"sip_trunk_type"`
	Number         string   `json:"phone_number"`
	Nickname       *string  `json:"nickname"`
	Username       string   `json:"sip_username"`
	Address        string   `json:"sip_address"`
	Format         string   `json:"sip_calling_format"`
	Auth           string   `json:"inbound_authorization_type"`
	Allowed        []string `json:"allowed_inbound_ips"`
	Country        string   `json:"country_code"`
	Proxy          bool     `json:"outbound_proxy"`
	Transport      string   `json:"transport"`
	Port           int64    `json:"port"`
	Codecs         []string `json:"codecs"`
	Register       bool     `json:"register"`
	SRTP           string   `json:"srtp"`
	TLSCASet       bool     `json:"tls_ca_set"`
	DTMF           string   `json:"dtmf"`
	TransferMethod *string  `json:"transfer_method"`
	MediaSource    string   `json:"media_source"`
	MediaNetworks  []string `json:"media_networks"`
	trunkState
	CreatedAt value.Time `json:"created_at"`
	UpdatedAt value.Time `json:"updated_at"`
}

// trunkState is how the registration of a trunk stands.
type trunkState struct {
	Registration string  `json:"registration"`
	Refusal      *string `json:"registration_error"`
}

type registeredTrunk struct {
	Data trunkState `json:"data"`
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
	return trunkItem{ID: int64(t.ID), Form: t.Form, Number: t.Number, Nickname: t.Nickname, Username: t.Username, Address: t.Address,
		Format: t.Format, Auth: t.Auth, Allowed: append([]string{}, t.Allowed...), Country: t.Country, Proxy: t.Proxy,
		Transport: t.Transport, Port: t.Port, Codecs: append([]string{}, t.Codecs...), Register: t.Registers(), SRTP: t.SRTP(),
		TLSCASet: t.Line.TLSCA+t.Line.TLSFingerprint != "", DTMF: t.Line.DTMF, TransferMethod: t.Line.TransferMethod,
		MediaSource: t.Line.MediaSource, MediaNetworks: append([]string{}, t.Line.MediaNetworks...),
		trunkState: trunkState{t.Registration, t.Refusal}, CreatedAt: value.At(t.CreatedAt), UpdatedAt: value.At(t.UpdatedAt)}
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
		wire.On(errorsOnly, "POST /user/phone-numbers/sip-trunks/{id}/register", 200, a.registerTrunk),
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

// registerTrunk answers within 5 s, whether the far end has or not.
func (a *API) registerTrunk(ctx context.Context, in *trunkRef) (registeredTrunk, error) {
	t, err := a.Numbers.RegisterNow(ctx, owner(ctx), numbers.ID(in.ID))
	return registeredTrunk{trunkState{t.Registration, t.Refusal}}, err
}
