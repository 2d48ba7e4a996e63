package app

import (
	"context"
	"fmt"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/numbers"
	"parley/providers"
	"parley/ssrf"
)

// numbers: phone numbers and trunks, from the first vendors that sell numbers and take money for them.
func (h *App) numbers(context.Context) error {
	allow, err := ssrf.ParseAllow(h.on.Config.Telephony.AllowCIDRs, false)
	if err != nil {
		return fmt.Errorf("telephony.allow_cidrs: %w", err)
	}
	h.Reach = h.Guard.Telephony(allow...)
	carrier := h.vendors.Now().First(func(v providers.Vendor) bool { return v.Carrier != nil })
	callers := h.vendors.Now().First(func(v providers.Vendor) bool { return v.CallerIDs != nil })
	h.Numbers = numbers.New(h.DB, numbers.Config{Box: h.on.Box, Jobs: h.on.Jobs, Carrier: carrier.Carrier, Payments: h.monthly(),
		CallerIDs: callers.CallerIDs, Countries: h.on.Config.Numbers.Countries, Node: h.on.Node, Phones: h.phones(),
		Reach: h.Reach, Operator: h.isOperator,
		Detached: func(ctx context.Context, tx *db.Tx, owner accounts.ID, id numbers.ID) error {
			if err := h.Assistants.DetachNumber(ctx, tx, id); err != nil {
				return err
			}
			return h.Campaigns.ForgetNumber(ctx, tx, owner, id)
		}})
	return nil
}

// isOperator reports whether an account is the operator's, the installation's first.
func (h *App) isOperator(ctx context.Context, q db.Q, id accounts.ID) (bool, error) {
	first, err := h.Accounts.First(ctx, q)
	return first.ID == id, err
}

// numbersOf are an account's numbers as assistants see them.
func (h *App) numbersOf(ctx context.Context, q db.Q, owner accounts.ID, asked []numbers.ID) ([]assistants.Number, error) {
	list, err := h.Numbers.Of(ctx, q, owner, asked)
	out := make([]assistants.Number, len(list))
	for i, x := range list {
		out[i] = assistants.Number{ID: x.ID, E164: x.Number, Country: x.Country, Type: string(x.Type), TypeLabel: x.Type.Label(),
			Scheduled: x.State == numbers.Scheduled}
	}
	return out, err
}
