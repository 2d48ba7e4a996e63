package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/accounts"
	"parley/asks"
	"parley/calllog"
	"parley/calls"
	"parley/db"
	"parley/numbers"
	"parley/recordings"
	"parley/sim"
	"parley/switchboard"
	"parley/value"
)

// calls: their records.
func (h *App) calls(context.Context) error {
	h.Calls = calls.New(h.DB, calls.Neighbours{
		Blocked: func(ctx context.Context, tx *db.Tx, owner accounts.ID, phone string) error {
			return h.Campaigns.Block(ctx, tx, owner, phone)
		},
		Changed: func(one calls.Call) {
			h.tell(one.Owner, "call", map[string]any{"id": one.ID, "uuid": one.UUID, "status": one.Status})
		}})
	return nil
}

// switchboard: it holds the calls.
func (h *App) switchboard(context.Context) error {
	c := h.on.Config
	h.Asks = asks.New(h.DB, h.on.Node)
	h.Logs = calllog.New(h.DB, h.Calls, slog.Default())
	h.recordings = recordings.New(h.DB, h.Calls, h.Blobs, c.DataPath("scratch"), slog.Default())
	h.Switchboard = switchboard.New(switchboard.Deps{
		DB: h.DB, Jobs: h.on.Jobs, Calls: h.Calls, Assistants: h.Assistants, Catalog: h.Catalog, Mind: h.mind(), Accounts: h.Accounts,
		Numbers: callNumbers{h}, Billing: h.Billing, Campaigns: h.Campaigns, Webhooks: h.Webhooks, Logs: h.Logs, Recordings: h.recordings,
		Asks:    h.Asks,
		Engines: h.engines.Load, Home: h.base(), Dialer: h.lines.Phones,
		Node: h.on.Node, Currency: c.Billing.Currency, Phones: h.phones(), CallsPerMinute: c.Limits.CallsPerMinute,
		Refers: h.refers, FallbackVendors: c.Speech.FallbackVendors,
	})
	h.on.Jobs.Every("calls.placed", time.Hour, h.Calls.ForgetPlaced)
	if days := c.Retention.RecordingsDays; days != nil {
		h.on.Jobs.Every("calls.recordings", time.Hour, func(ctx context.Context, now time.Time) error {
			return h.recordings.Expire(ctx, now.AddDate(0, 0, -*days))
		})
	}
	return nil
}

// refers reports whether callers on a trunk are transferred by their own side.
func (h *App) refers(ctx context.Context, trunk numbers.ID) (bool, error) {
	method := h.on.Config.Telephony.TransferMethod
	if trunk != 0 {
		t, err := h.Numbers.TrunkByID(ctx, trunk)
		if err != nil {
			return false, err
		}
		method = value.Or(t.Line.TransferMethod, method)
	}
	return method == "refer", nil
}

// MayCall reports whether anybody here may call an E.164 number.
func (h *App) MayCall(number string) bool { return h.phones().Allows(number) }

// phones are the numbers that anybody here may call or text.
func (h *App) phones() numbers.Policy {
	t := h.on.Config.Telephony
	return numbers.Policy{Countries: t.AllowedCountries, Prefixes: t.BlockedPrefixes, Premium: t.AllowPremium}
}

// callNumbers are the numbers as the switchboard needs them.
type callNumbers struct{ h *App }

func (n callNumbers) Called(ctx context.Context, q db.Q, trunk numbers.ID, called string) (switchboard.Number, bool, error) {
	var x numbers.Number
	var err error
	if trunk != 0 {
		x, err = n.h.Numbers.Line(ctx, q, trunk)
	} else {
		x, err = n.h.Numbers.Bought(ctx, q, called)
	}
	if trunk == 0 && n.h.Sim != nil && errors.Is(err, numbers.ErrNotFound) {
		return n.anyTrunk(ctx, q, called)
	}
	return found(x, err)
}

// anyTrunk finds the trunk a simulated caller means: the pretend network reaches every owned number.
func (n callNumbers) anyTrunk(ctx context.Context, q db.Q, called string) (switchboard.Number, bool, error) {
	all, err := n.h.Numbers.TrunksFor(ctx, called)
	if err != nil || len(all) == 0 {
		return switchboard.Number{}, false, err
	}
	return found(n.h.Numbers.Line(ctx, q, numbers.ID(all[0].ID)))
}

func (n callNumbers) Caller(ctx context.Context, q db.Q, owner accounts.ID, preferred numbers.ID) (switchboard.Number, bool, error) {
	if preferred != 0 {
		if x, ok, err := found(n.h.Numbers.Get(ctx, q, owner, preferred)); ok || err != nil {
			return x, ok, err
		}
	}
	x, ok, err := found(n.h.Numbers.Oldest(ctx, q, owner))
	if ok || err != nil {
		return x, ok, err
	}
	line := n.h.on.Config.Telephony.DefaultNumber
	if line == "" && n.h.Sim != nil {
		line = sim.DefaultNumber
	}
	return switchboard.Number{Owner: owner, Phone: line}, line != "", nil
}

func found(x numbers.Number, err error) (switchboard.Number, bool, error) {
	if errors.Is(err, numbers.ErrNotFound) {
		return switchboard.Number{}, false, nil
	}
	n := switchboard.Number{ID: x.ID, Owner: x.Owner, Phone: x.Number}
	if x.Type == numbers.SIP {
		n.TrunkID = x.ID
	}
	return n, err == nil, err
}
