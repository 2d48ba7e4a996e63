package providertest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"parley/accounts"
	"parley/numbers"
)

// Carrier tests a carrier that has at least two numbers of a country on offer.
func Carrier(t *testing.T, c numbers.Carrier, owner accounts.ID, country string) {
	ctx := t.Context()
	offers, err := c.Search(ctx, owner, country, "")
	if err != nil || len(offers) < 2 || len(offers) > 20 {
		t.Fatalf("%d on offer, %v", len(offers), err)
	}
	for _, o := range offers {
		if !strings.HasPrefix(o.Number, "+") || o.Country != country || o.Price <= 0 || o.PriceID == "" {
			t.Errorf("%+v", o)
		}
	}
	one, other := offers[0], offers[1]
	digits := one.Number[len(one.Number)-4:]
	found, err := c.Search(ctx, owner, country, digits)
	if err != nil || len(found) == 0 {
		t.Errorf("%s is not found by %s: %v", one.Number, digits, err)
	}
	for _, o := range found {
		if !strings.Contains(o.Number, digits) {
			t.Errorf("%s is found by %s", o.Number, digits)
		}
	}
	if got, err := c.Offer(ctx, owner, one.Number); err != nil || got != one {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := c.Offer(ctx, owner, "+10000000000"); !errors.Is(err, numbers.ErrNotOffered) {
		t.Errorf("an unknown number: %v", err)
	}
	order := numbers.Order{Owner: owner, Key: "conformance-1", Number: one.Number}
	ref, err := c.Order(ctx, order)
	if err != nil || ref == "" {
		t.Fatal(ref, err)
	}
	if again, err := c.Order(ctx, order); err != nil || again != ref {
		t.Errorf("the same order again is %q, not %q: %v", again, ref, err)
	}
	if _, err := c.Order(ctx, numbers.Order{Owner: owner, Key: "conformance-2", Number: one.Number}); !errors.Is(err, numbers.ErrNotOffered) {
		t.Errorf("a number is sold twice: %v", err)
	}
	if _, err := c.Offer(ctx, owner, one.Number); !errors.Is(err, numbers.ErrNotOffered) {
		t.Errorf("a number that was sold is on offer: %v", err)
	}
	leaving := numbers.Leaving{Owner: owner, Type: numbers.Dedicated, Key: order.Key, Number: one.Number}
	for range 2 { // given back twice is given back
		if err := c.Release(ctx, leaving); err != nil {
			t.Error(err)
		}
	}
	leaving.Key, leaving.Number = "conformance-3", other.Number
	if err := c.Release(ctx, leaving); err != nil {
		t.Errorf("an order that never was: %v", err)
	}
}

// Payments tests a payment platform with an account that pays and one that has no payment method.
func Payments(t *testing.T, p numbers.Payments, payer, poor accounts.ID) {
	ctx := t.Context()
	for owner, want := range map[accounts.ID]bool{payer: true, poor: false} {
		if ready, err := p.Ready(ctx, owner); ready != want || err != nil {
			t.Errorf("account %d is ready: %v %v", owner, ready, err)
		}
	}
	ask := numbers.Subscription{Owner: payer, Key: "conformance-1", Number: "+15550100", PriceID: "price_1", Price: 3e8}
	paid, err := p.Subscribe(ctx, ask)
	if err != nil || paid.Ref == "" || paid.Until.IsZero() {
		t.Fatal(paid, err)
	}
	same := func(a, b numbers.Paid) bool {
		return a.Ref == b.Ref && a.Until.Truncate(time.Second).Equal(b.Until.Truncate(time.Second))
	}
	if again, err := p.Subscribe(ctx, ask); err != nil || !same(again, paid) {
		t.Errorf("the same subscription again: %+v, not %+v: %v", again, paid, err)
	}
	broke := ask
	broke.Owner, broke.Key = poor, "conformance-2"
	if _, err := p.Subscribe(ctx, broke); !errors.Is(err, numbers.ErrRefused) {
		t.Errorf("an account that cannot pay: %v", err)
	}
	month, err := p.Renew(ctx, payer, ask.Key, 1)
	if err != nil || !month.Until.After(paid.Until) {
		t.Errorf("renewed until %v after %v: %v", month.Until, paid.Until, err)
	}
	if again, err := p.Renew(ctx, payer, ask.Key, 1); err != nil || !same(again, month) {
		t.Errorf("the same month again: %+v, not %+v: %v", again, month, err)
	}
	for range 2 {
		if err := p.Cancel(ctx, payer, ask.Key, true); err != nil {
			t.Error(err)
		}
	}
	if err := p.Cancel(ctx, payer, "conformance-3", true); err != nil {
		t.Errorf("a subscription that never was: %v", err)
	}
}
