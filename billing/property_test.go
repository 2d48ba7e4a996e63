package billing_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"parley/accounts"
	"parley/billing"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/value"
)

// act does one operation on one of a few refs; amounts and prices are up to most.
func act(ctx context.Context, b bank, n, ref int, amount value.Money) error {
	name := strconv.Itoa(ref)
	return b.d.Do(ctx, func(tx *db.Tx) (err error) {
		switch n {
		case 0:
			err = b.Hold(ctx, tx, b.id, name, amount)
		case 1:
			_, err = b.HoldMinutes(ctx, tx, b.id, name, ref%2 == 0, amount/10, 600)
		case 2:
			err = b.Release(ctx, tx, b.id, name)
		case 3:
			_, err = b.Settle(ctx, tx, b.id, name, billing.AITime(int64(amount%600), nil), billing.Carriage(amount/7, 90, nil))
		case 4:
			_, err = b.Charge(ctx, tx, b.id, name, billing.Item{Kind: billing.SMS, Money: amount})
		case 5:
			err = b.Refund(ctx, tx, b.id, billing.SMS, name)
		case 6:
			err = b.Credit(ctx, tx, b.id, "top_up", name, amount, "")
		}
		return err
	})
}

const operations = 7

// TestLedgerAlwaysSumsToTheBalance books anything in any order.
//
// Contract: 16.1 16.4
func TestLedgerAlwaysSumsToTheBalance(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		rapid.Check(t, func(r *rapid.T) {
			kind := rapid.SampledFrom([]accounts.Kind{accounts.Direct, accounts.Tenant}).Draw(r, "kind")
			enforce := rapid.Bool().Draw(r, "enforce")
			b := newBank(t, d, value.Money(rapid.Int64Range(0, 200*int64(one)).Draw(r, "balance")),
				func(s *billing.Settings, a *accounts.Draft) { s.Enforce, a.Kind = enforce, kind })
			for range rapid.IntRange(1, 15).Draw(r, "operations") {
				before, err := b.Balance(t.Context(), d, b.id)
				if err != nil {
					r.Fatal(err)
				}
				n, amount := rapid.IntRange(0, operations-1).Draw(r, "operation"), value.Money(rapid.Int64Range(0, int64(one)).Draw(r, "amount"))
				err = act(t.Context(), b, n, rapid.IntRange(1, 3).Draw(r, "ref"), amount)
				after, err2 := b.Balance(t.Context(), d, b.id)
				switch {
				case err2 != nil:
					r.Fatal(err2)
				case err != nil && (!enforce || !fault.Is(err, fault.NeedsPayment)):
					r.Fatal("operation", n, err)
				case err != nil && after != before:
					r.Fatal("refused and yet changed", n, before, after)
				}
				b.sound(t)
			}
		})
	})
}

// TestManyAtOnceNeitherOverdrawNorLeak spends from many sides at once.
//
// Contract: 16.4
func TestManyAtOnceNeitherOverdrawNorLeak(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := newBank(t, d, 30*one)
		const workers, rounds = 12, 12
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(w)))
				for i := range rounds {
					ref := w*rounds + i + 10
					for _, n := range []int{random.IntN(2), 3, 4} { // hold, settle, charge
						err := act(t.Context(), b, n, ref, value.Money(random.Int64N(int64(one)/5)))
						if err != nil && !fault.Is(err, fault.NeedsPayment) {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		b.sound(t)
		bal, err := b.Balance(t.Context(), d, b.id)
		if err != nil || bal.Held != 0 || bal.Total < 0 || bal.Total > 2*one {
			t.Error(bal, err)
		}
	})
}

// childMain is a process that spends until it is killed.
func childMain() bool {
	url := os.Getenv("PARLEY_BILLING_CHILD")
	if url == "" {
		return false
	}
	ctx := context.Background()
	d, err := db.Open(ctx, url)
	if err != nil {
		fmt.Println(err)
		return true
	}
	id, _ := strconv.ParseInt(os.Getenv("PARLEY_BILLING_ACCOUNT"), 10, 64)
	b := bank{billing.New(accounts.New(d, accounts.Plan{MinutePrice: one / 10}), billing.Settings{Enforce: true}), d, accounts.ID(id)}
	for i := 0; ; i++ {
		if err := act(ctx, b, i%operations, 1000+i/3, one/1000); err != nil {
			fmt.Println(err)
			return true
		}
		fmt.Println("did")
	}
}

// TestKilledProcessLeavesTrueBooks kills a process in the middle of booking.
//
// Contract: 16.1 16.4
func TestKilledProcessLeavesTrueBooks(t *testing.T) {
	for name, url := range map[string]string{"sqlite": dbtest.SQLiteURL(t), "postgres": dbtest.PostgresURL(t)} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.Open(t, url)
			b := newBank(t, d, 10000*one)
			for range 3 {
				child := exec.Command(os.Args[0])
				child.Env = append(os.Environ(), "PARLEY_BILLING_CHILD="+url, fmt.Sprintf("PARLEY_BILLING_ACCOUNT=%d", b.id))
				out, err := child.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := child.Start(); err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewScanner(out)
				for i := 0; i < 20 && lines.Scan(); i++ {
					if lines.Text() != "did" {
						t.Error(lines.Text())
					}
				}
				if err := child.Process.Kill(); err != nil {
					t.Error(err)
				}
				child.Wait()
				b.sound(t)
			}
		})
	}
}
