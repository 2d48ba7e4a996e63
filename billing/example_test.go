package billing_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"parley/accounts"
	"parley/billing"
	"parley/db"
)

// A call is held for before it is placed, and settled when it is over.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	d, err := db.Open(ctx, "sqlite:"+filepath.Join(dir, "example.db"))
	if err != nil {
		panic(err)
	}
	defer d.Close()
	a := accounts.New(d, accounts.Plan{MinutePrice: one / 10})
	b := billing.New(a, billing.Settings{Enforce: true, StartingBalance: 5 * one})
	acc, _, err := a.EnsureFirst(ctx, accounts.Draft{Name: "Ada"}, func(tx *db.Tx, acc accounts.Account) error {
		return b.Begin(ctx, tx, acc.ID)
	})
	if err != nil {
		panic(err)
	}

	rate := b.CallRate("+4930123456")
	err = d.Do(ctx, func(tx *db.Tx) error {
		paid, err := b.HoldMinutes(ctx, tx, acc.ID, "call:1", true, rate, 1200)
		fmt.Println("may last", paid, "seconds")
		return err
	})
	if err != nil {
		panic(err)
	}
	err = d.Do(ctx, func(tx *db.Tx) error {
		bill, err := b.Settle(ctx, tx, acc.ID, "call:1", billing.AITime(34, nil), billing.Carriage(rate, 34, nil))
		fmt.Println("cost", bill.Money, "USD =", bill.Amount, "minutes")
		return err
	})
	if err != nil {
		panic(err)
	}
	left, err := b.Balance(ctx, d, acc.ID)
	if err != nil {
		panic(err)
	}
	fmt.Println("left", left.Available())
	// Output:
	// may last 240 seconds
	// cost 0.06666667 USD = 0.66666667 minutes
	// left 4.33333333
}
