package billing_test

import (
	"context"
	"flag"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/assistants"
	"parley/billing"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/value"
)

func TestMain(m *testing.M) {
	if childMain() {
		return
	}
	flag.Set("rapid.checks", "25") // each on two real databases
	goleak.VerifyTestMain(m)
}

const one = value.MoneyUnit

// bank is an account with a balance.
type bank struct {
	*billing.Billing
	d  *db.DB
	id accounts.ID
}

type setting func(*billing.Settings, *accounts.Draft)

func tenant(_ *billing.Settings, d *accounts.Draft)  { d.Kind = accounts.Tenant }
func lenient(s *billing.Settings, _ *accounts.Draft) { s.Enforce = false }

func newBank(t testing.TB, d *db.DB, balance value.Money, opts ...setting) bank {
	t.Helper()
	s := billing.Settings{Enforce: true, Currency: "USD", StartingBalance: 10000 * one,
		Prices: billing.Prices{ChatMessage: one / 100, SMS: one / 20}}
	draft := accounts.Draft{}
	for _, o := range opts {
		o(&s, &draft)
	}
	a := accounts.New(d, accounts.Plan{MinutePrice: one / 10})
	acc, err := a.Create(context.Background(), d, draft)
	if err != nil {
		t.Fatal(err)
	}
	b := bank{billing.New(a, s), d, acc.ID}
	b.do(t, func(tx *db.Tx) error { return b.Credit(context.Background(), tx, b.id, "top_up", "1", balance, "") })
	return b
}

func (b bank) do(t testing.TB, fn func(tx *db.Tx) error) {
	t.Helper()
	if err := b.d.Do(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// refused runs fn in a transaction and reports whether it was refused for want of balance.
func (b bank) refused(t testing.TB, fn func(tx *db.Tx) error) bool {
	t.Helper()
	err := b.d.Do(context.Background(), fn)
	if err != nil && !fault.Is(err, fault.NeedsPayment) {
		t.Fatal(err)
	}
	return err != nil
}

func (b bank) want(t testing.TB, total, available string) {
	t.Helper()
	bal, err := b.Balance(context.Background(), b.d, b.id)
	if err != nil || bal.Total.String() != total || bal.Available().String() != available {
		t.Errorf("balance %v available %v, want %s and %s; %v", bal.Total, bal.Available(), total, available, err)
	}
	b.sound(t)
}

// sound checks what must always hold: the ledger sums to the balance, the holds to what is held.
func (b bank) sound(t testing.TB) {
	t.Helper()
	var sums struct{ Ledger, Holds, Balance, Held int64 }
	err := b.d.Get(context.Background(), &sums, `SELECT balance, held,
		(SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM ledger WHERE account_id = $1) AS ledger,
		(SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM holds WHERE account_id = $1) AS holds
		FROM balances WHERE account_id = $1`, b.id)
	if err != nil || sums.Ledger != sums.Balance || sums.Holds != sums.Held {
		t.Fatalf("%+v %v", sums, err)
	}
	if b.Enforce && sums.Balance < sums.Held {
		t.Fatalf("overdrawn: %+v", sums)
	}
}

// TestExampleOfTheContract books the call of the contract's example, once.
//
// Contract: 16.1 16.2
func TestExampleOfTheContract(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b, ctx := newBank(t, d, 100*one), t.Context()
		items := []billing.Item{billing.AITime(34, nil), billing.Carriage(b.CallRate("+491701234567"), 34, nil)}
		quote, err := b.Quote(ctx, d, b.id, items...)
		if err != nil || quote.Money.String() != "0.06666667" || quote.Amount.String() != "0.66666667" {
			t.Error(quote, err)
		}
		var bill billing.Bill
		for range 2 {
			b.do(t, func(tx *db.Tx) (err error) {
				bill, err = b.Settle(ctx, tx, b.id, "call 1", items...)
				return err
			})
			if bill != quote {
				t.Error(bill)
			}
			b.want(t, "99.33333333", "99.33333333")
		}
	})
}

// TestTenantPaysCredits books the same call for a tenant.
//
// Contract: 16.1 16.2
func TestTenantPaysCredits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := newBank(t, d, 1000*one, tenant)
		b.do(t, func(tx *db.Tx) error {
			_, err := b.Settle(t.Context(), tx, b.id, "call 1", billing.AITime(34, nil), billing.Carriage(one/100, 34, nil))
			return err
		})
		b.want(t, "993.33333333", "993.33333333") // 34/60 × 10 + 1
	})
}

// TestItems rounds AI time and carrier minutes up.
//
// Contract: 16.2
func TestItems(t *testing.T) {
	id := assistants.ID(7)
	for _, c := range []struct{ got, want billing.Item }{
		{billing.AITime(1, &id), billing.Item{Kind: "call_ai", Seconds: 30, Assistant: &id}},
		{billing.AITime(31, nil), billing.Item{Kind: "call_ai", Seconds: 31}},
		{billing.Carriage(3, 0, nil), billing.Item{Kind: "call_carrier"}},
		{billing.Carriage(3, 1, nil), billing.Item{Kind: "call_carrier", Money: 3}},
		{billing.Carriage(3, 60, nil), billing.Item{Kind: "call_carrier", Money: 3}},
		{billing.Carriage(3, 61, &id), billing.Item{Kind: "call_carrier", Money: 6, Assistant: &id}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%+v, want %+v", c.got, c.want)
		}
	}
}

// TestHoldsAreRefusedWhenTheyDoNotFit sets aside what is there, and no more.
//
// Contract: 16.3 16.4
func TestHoldsAreRefusedWhenTheyDoNotFit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b, ctx := newBank(t, d, 10*one), t.Context() // worth 1.00
		hold := func(ref string, price value.Money) bool {
			return b.refused(t, func(tx *db.Tx) error { return b.Hold(ctx, tx, b.id, ref, price) })
		}
		if hold("a", one*6/10) || !hold("b", one*6/10) || hold("c", one*4/10) || !hold("d", 1) || hold("a", one) {
			t.Error("wrong holds")
		}
		b.want(t, "10", "0")
		if err := b.Afford(ctx, d, b.id, 1); !fault.Is(err, fault.NeedsPayment) {
			t.Error(err)
		}
		for range 2 {
			b.do(t, func(tx *db.Tx) error { return b.Release(ctx, tx, b.id, "a") })
			b.want(t, "10", "6")
		}
		if err := b.Afford(ctx, d, b.id, one*6/10); err != nil {
			t.Error(err)
		}
	})
}

// TestACallHoldsWhatIsAvailable sets aside a call's first minute or as much as there is.
//
// Contract: 16.4
func TestACallHoldsWhatIsAvailable(t *testing.T) {
	for _, c := range []struct {
		balance   value.Money
		assistant bool
		rate      value.Money
		most      int64
		paid      int64 // 0 = refused
		available string
		settings  []setting
	}{
		{100 * one, true, one / 100, 600, 600, "89", nil},                   // 10 × 1.1 minutes
		{5 * one, true, one / 100, 600, 240, "0.6", nil},                    // 4 × 1.1
		{one * 11 / 10, true, one / 100, 20, 20, "0", nil},                  // one minute at least
		{one*11/10 - 1, true, one / 100, 20, 0, "1.09999999", nil},          //
		{5 * one, true, 0, 61, 61, "3", nil},                                // started minutes
		{0, false, 0, 600, 600, "0", nil},                                   // costs nothing
		{0, true, one, 600, 600, "-110", []setting{lenient}},                //
		{20 * one, true, one / 100, 600, 60, "9", []setting{tenant}},        // 11 credits a minute
		{22 * one, false, one / 100, 20 * 60, 1200, "2", []setting{tenant}}, // after a transfer
	} {
		dbtest.Each(t, func(t *testing.T, d *db.DB) {
			b, ctx := newBank(t, d, c.balance, c.settings...), t.Context()
			for range 2 { // the second changes nothing
				var paid int64
				no := b.refused(t, func(tx *db.Tx) (err error) {
					paid, err = b.HoldMinutes(ctx, tx, b.id, "leg", c.assistant, c.rate, c.most)
					return err
				})
				if no != (c.paid == 0) || paid != c.paid {
					t.Errorf("%+v: paid %d, refused %v", c, paid, no)
				}
				b.want(t, c.balance.String(), c.available)
			}
		})
	}
}

// TestACallCannotOverdraw charges a call no more than was held and is left.
//
// Contract: 16.4
func TestACallCannotOverdraw(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b, ctx := newBank(t, d, 3*one), t.Context()
		b.do(t, func(tx *db.Tx) error {
			if _, err := b.HoldMinutes(ctx, tx, b.id, "a", true, 0, 60); err != nil {
				return err
			}
			_, err := b.HoldMinutes(ctx, tx, b.id, "b", true, 0, 60)
			return err
		})
		var bill billing.Bill
		b.do(t, func(tx *db.Tx) (err error) {
			bill, err = b.Settle(ctx, tx, b.id, "a", billing.AITime(100*60, nil))
			return err
		})
		if bill.Money != 10*one || bill.Amount != 2*one { // its own hold and what nobody held
			t.Error(bill)
		}
		b.want(t, "1", "0")
		free := newBank(t, d, 3*one, lenient)
		free.do(t, func(tx *db.Tx) error {
			_, err := free.Settle(ctx, tx, free.id, "a", billing.AITime(10*60, nil))
			return err
		})
		free.want(t, "-7", "-7")
	})
}

// TestChargesAndRefundsAreBookedOnce repeats charges and refunds.
//
// Contract: 16.2
func TestChargesAndRefundsAreBookedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b, ctx := newBank(t, d, one), t.Context() // 0.10 in money
		charge := func(ref string, money value.Money) bool {
			return b.refused(t, func(tx *db.Tx) error {
				_, err := b.Charge(ctx, tx, b.id, ref, billing.Item{Kind: billing.SMS, Money: money})
				return err
			})
		}
		if first, again := charge("1", one*6/100), charge("1", one*6/100); first || again {
			t.Error("refused what fits")
		}
		b.want(t, "0.4", "0.4")
		if !charge("2", one*5/100) {
			t.Error("accepted what does not fit")
		}
		for range 2 {
			b.do(t, func(tx *db.Tx) error { return b.Refund(ctx, tx, b.id, billing.SMS, "1") })
			b.do(t, func(tx *db.Tx) error { return b.Refund(ctx, tx, b.id, billing.SMS, "2") })
			b.want(t, "1", "1")
		}
		if charge("1", one*6/100) {
			t.Error("refused")
		}
		b.want(t, "1", "1") // a refunded charge is not booked a second time
	})
}

// TestCreditsAndAdjustments tops up and adjusts, once each.
//
// Contract: 16.1 16.3
func TestCreditsAndAdjustments(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b, ctx := newBank(t, d, 0), t.Context()
		for range 2 {
			b.do(t, func(tx *db.Tx) error { return b.Begin(ctx, tx, b.id) })
		}
		b.want(t, "10000", "10000")
		b.do(t, func(tx *db.Tx) error { return b.SetBalance(ctx, tx, b.id, "test", one/4, "set by hand") })
		b.want(t, "0.25", "0.25")
		if ok, err := b.Positive(ctx, d, b.id); !ok || err != nil {
			t.Error(ok, err)
		}
		b.do(t, func(tx *db.Tx) error { return b.SetBalance(ctx, tx, b.id, "again", 0, "") })
		if ok, err := b.Positive(ctx, d, b.id); ok || err != nil {
			t.Error(ok, err)
		}
		lines, err := b.Entries(ctx, d, b.id, 0, 2)
		if err != nil || len(lines) != 2 || lines[1].Amount != one/4-10000*one || *lines[1].Note != "set by hand" || lines[0].Kind != "adjustment" {
			t.Errorf("%+v %v", lines, err)
		}
		if older, err := b.Entries(ctx, d, b.id, lines[1].ID, 10); err != nil || len(older) != 2 || older[0].Kind != "starting_balance" {
			t.Errorf("%+v %v", older, err)
		}
		if bal, err := b.Balance(ctx, d, 999); err != nil || bal != (billing.Balance{}) {
			t.Error(bal, err)
		}
	})
}

// TestUsage sums the ledger, and writes it as a table.
//
// Contract: 18.3
func TestUsage(t *testing.T) {
	for name, url := range map[string]string{"sqlite": dbtest.SQLiteURL(t), "postgres": dbtest.PostgresURL(t)} {
		t.Run(name, func(t *testing.T) {
			d, ctx := dbtest.Open(t, url, db.Manual()), t.Context()
			b, stranger := newBank(t, d, 1000*one), newBank(t, d, 1000*one)
			first := d.Now().Truncate(24*time.Hour).AddDate(0, 0, 1)
			if err := d.AdvanceTo(ctx, first); err != nil {
				t.Fatal(err)
			}
			assistant := assistants.ID(3)
			for day := range 3 {
				for i, owner := range []bank{b, stranger} {
					owner.do(t, func(tx *db.Tx) error {
						ref := strconv.Itoa(day*2 + i)
						_, err := b.Charge(ctx, tx, owner.id, ref, billing.Item{Kind: billing.SMS, Money: one / 10})
						if err == nil {
							_, err = b.Settle(ctx, tx, owner.id, ref, billing.AITime(60, &assistant))
						}
						if err == nil && day == 1 {
							err = b.Refund(ctx, tx, owner.id, billing.SMS, ref)
						}
						return err
					})
				}
				if _, err := d.Advance(ctx, 24*time.Hour-time.Microsecond); err != nil { // to the last moment of the day, and then on
					t.Fatal(err)
				}
				if _, err := d.Advance(ctx, time.Microsecond); err != nil {
					t.Fatal(err)
				}
			}
			text := func(by billing.Group, last int) string {
				rows, err := b.Usage(ctx, d, b.id, first, first.AddDate(0, 0, last), by)
				if err != nil {
					t.Fatal(err)
				}
				var out strings.Builder
				if err := billing.WriteCSV(&out, by, "minutes", "USD", rows); err != nil {
					t.Fatal(err)
				}
				return out.String()
			}
			day := func(n int) string { return first.AddDate(0, 0, n).Format(time.DateOnly) }
			for _, c := range []struct {
				by   billing.Group
				last int
				want string
			}{
				{billing.ByDay, 1, "day,count,minutes,USD\n" + day(0) + ",2,2,0.2\n" + day(1) + ",2,1,0.1\n"},
				{billing.ByKind, 2, "kind,count,minutes,USD\ncall_ai,3,3,0.3\nsms,3,2,0.2\n"},
				{billing.ByAssistant, 2, "assistant,count,minutes,USD\n,3,2,0.2\n3,3,3,0.3\n"},
			} {
				if got := text(c.by, c.last); got != c.want {
					t.Errorf("by %s:\n%s\nwant\n%s", c.by, got, c.want)
				}
			}
		})
	}
}

// TestRates reads rate tables and finds the longest prefix.
//
// Contract: 16.2 20
func TestRates(t *testing.T) {
	file := t.TempDir() + "/rates.csv"
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# mine\nprefix,name,call,sms\n,World,1,\n49,Germany,0.02,0.07\n+4915,Mobile,0.2,\n")
	r, err := billing.LoadRates(file)
	if err != nil {
		t.Fatal(err)
	}
	b := billing.New(nil, billing.Settings{Rates: r, Prices: billing.Prices{SMS: one / 20}})
	for number, want := range map[string][2]string{"+4930123456": {"0.02", "0.07"}, "+49151234567": {"0.2", "0.05"}, "+15551234567": {"1", "0.05"}, "": {"1", "0.05"}, "+4": {"1", "0.05"}} {
		if got := [2]string{b.CallRate(number).String(), b.SMSPrice(number).String()}; got != want {
			t.Errorf("%s: %v, want %v", number, got, want)
		}
	}
	for _, bad := range []string{"", "prefix,name,call\n", "prefix,name,call,sms\n49,x,1,\n", "prefix,name,call,sms\n,World,1,\n49,x,-1,\n",
		"prefix,name,call,sms\n,World,1,\n49,x,1,cheap\n", "prefix,name,call,sms\n,World,1,\n49a,x,1,\n", "prefix,name,call,sms\n,W,1,\n,W,1,\n"} {
		write(bad)
		if _, err := billing.LoadRates(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := billing.LoadRates(file + ".not"); err == nil {
		t.Error("a missing file was read")
	}
	shipped, err := billing.LoadRates("")
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[string]string{"+14155550123": "0.01", "+19005550123": "5", "+447700900123": "0.01", "+99999": "1.5"} {
		if got := shipped.Find(number).Call.String(); got != want {
			t.Errorf("%s: %s, want %s", number, got, want)
		}
	}
}
