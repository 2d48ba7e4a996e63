package sim_test

import (
	"testing"

	"parley/accounts"
	"parley/billing"
	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/messaging"
	"parley/payments"
	"parley/providers/providertest"
	"parley/sim"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The pretend vendors do what real ones must.
func TestRoles(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		people := accounts.New(d, accounts.Plan{})
		account := func(email string, pays accounts.Payment) accounts.ID {
			a, err := people.Create(t.Context(), d, accounts.Draft{Name: "A", Email: email})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Exec(t.Context(), `UPDATE accounts SET payment_method = $1 WHERE id = $2`, pays, a.ID); err != nil {
				t.Fatal(err)
			}
			return a.ID
		}
		payer, poor := account("a@p.example", accounts.PaymentOK), account("b@p.example", accounts.PaymentNone)
		world := sim.New(d, jobs.NewRunner(d), nil, false) // its messaging platform is not asked
		if err := world.Stock(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := world.Vendor(people)
		t.Run("carrier", func(t *testing.T) { providertest.Carrier(t, v.Carrier, payer, "DK") })
		t.Run("payments", func(t *testing.T) { providertest.Payments(t, v.Payments, payer, poor) })
		t.Run("months", func(t *testing.T) {
			books := billing.New(people, billing.Settings{Currency: "USD"})
			m := payments.Months{Payments: payments.New(payments.Deps{DB: d, Jobs: jobs.NewRunner(d), Accounts: people, Billing: books, Platform: func() (payments.Platform, string) { return v.Till, v.Code }})}
			providertest.Payments(t, m, payer, poor)
		})
		t.Run("texter", func(t *testing.T) { providertest.Texter(t, v.Texter, "+14155550123") })
		t.Run("gateway", func(t *testing.T) {
			joined, err := v.Joiner.Join(t.Context(), messaging.Joining{Owner: payer, Phone: "+14155550123"})
			if err != nil {
				t.Fatal(err)
			}
			sender := messaging.Sender{ID: 1, Owner: payer, CarrierRef: joined.Ref}
			ready := messaging.Template{Name: "ready", Language: "en", Category: "utility", Body: "Hi {{1}}."}
			if ready.CarrierRef, err = v.Gateway.Submit(t.Context(), sender, ready); err != nil {
				t.Fatal(err)
			}
			providertest.Gateway(t, v.Gateway, sender, ready, messaging.Template{Name: "none", Language: "en", CarrierRef: "none"}, []string{"Mia"})
		})
	})
}
