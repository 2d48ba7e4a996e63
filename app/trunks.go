package app

import (
	"context"
	"time"

	"parley/ids"
	"parley/lines/sip"
	"parley/numbers"
	"parley/value"
)

// Trunks are the customers' trunks as the telephone line needs them.
func (h *App) Trunks() sip.Trunks { return trunkBook{h.Numbers} }

type trunkBook struct{ numbers *numbers.Numbers }

// lookup is how long a caller waits at most until the trunk is found: after that it is the database that is away.
const lookup = 2 * time.Second

func (b trunkBook) Called(ctx context.Context, user string) ([]sip.Trunk, error) {
	ctx, stop := context.WithTimeout(ctx, lookup)
	defer stop()
	list, err := b.numbers.TrunksFor(ctx, user)
	return lineTrunks(list), err
}

func (b trunkBook) Trunk(ctx context.Context, id ids.Number) (sip.Trunk, error) {
	t, err := b.numbers.TrunkByID(ctx, numbers.ID(id))
	return lineTrunk(t), err
}

func (b trunkBook) Registrations(ctx context.Context, stamp string) ([]sip.Trunk, string, error) {
	list, next, err := b.numbers.Registrations(ctx, stamp)
	return lineTrunks(list), next, err
}

func (b trunkBook) Registered(ctx context.Context, t sip.Trunk, state sip.Registration, refusal string) error {
	var reason *string
	if refusal != "" {
		reason = &refusal
	}
	return b.numbers.SetRegistration(ctx, numbers.ID(t.ID), string(state), reason, t.Asked)
}

func lineTrunks(list []numbers.Trunk) []sip.Trunk {
	out := make([]sip.Trunk, len(list))
	for i, t := range list {
		out[i] = lineTrunk(t)
	}
	return out
}

func lineTrunk(t numbers.Trunk) sip.Trunk {
	codecs := t.Codecs
	if t.AnyCodec() {
		codecs = nil // no order was asked for: the far end's counts
	}
	return sip.Trunk{ID: t.ID, Number: t.Number, Extension: t.Form == "extension", Username: t.Username, Password: t.Password,
		Address: t.Address, Port: int(t.Port), Transport: t.Transport, Format: t.Format, Country: t.Country, Auth: t.Auth, Allowed: t.Prefixes(),
		Proxy: t.Proxy, Codecs: codecs, Account: int64(t.Owner), Register: t.Registers(), Asked: t.Asked, SRTP: t.SRTP(),
		TLSCA: t.Line.TLSCA, TLSFingerprint: t.Line.TLSFingerprint, DTMF: t.Line.DTMF, TransferMethod: value.Or(t.Line.TransferMethod, ""),
		MediaFrom: t.MediaNetworks()}
}
