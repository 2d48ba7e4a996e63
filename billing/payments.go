package billing

import (
	"context"
	"errors"

	"parley/accounts"
	"parley/wire"
)

// What a payment platform may answer to a charge.
var (
	ErrNoMethod = errors.New("billing: the account has no payment method")
	ErrDeclined = errors.New("billing: the payment was refused")
)

// Payments is a platform that charges an account's payment method, for what is not paid from the balance.
// Each operation carries a ref of ours and happens once per ref, so it may be repeated after a crash.
type Payments interface {
	// Charge takes an amount now; [ErrNoMethod] or [ErrDeclined] when it cannot.
	Charge(ctx context.Context, owner accounts.ID, ref string, amount wire.Money, what string) error
	// Refund returns a charge in full; returning what was never charged is no error.
	Refund(ctx context.Context, owner accounts.ID, ref string) error
}
