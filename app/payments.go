package app

import (
	"context"
	"fmt"

	"parley/numbers"
	"parley/payments"
	"parley/providers"
)

// payments: how customers pay in, at the platform that the configuration names, or the first there is.
func (h *App) payments(context.Context) error {
	till, err := h.till()
	if err != nil {
		return err
	}
	h.Payments = payments.New(payments.Deps{DB: h.DB, Jobs: h.on.Jobs, Accounts: h.Accounts, Billing: h.Billing,
		Platform: till.Till, Vendor: till.Code, Base: h.base()})
	return nil
}

// till is the vendor that takes money.
func (h *App) till() (providers.Vendor, error) {
	name := h.on.Config.Payments.Vendor
	v := h.vendors.First(func(v providers.Vendor) bool { return v.Till != nil && (name == "" || v.Code == name) })
	if v.Code == "" && name != "" {
		return v, fmt.Errorf("payments.vendor: %s is not configured", name)
	}
	return v, nil
}

// monthly charges numbers: by the vendor's own subscriptions where it has them.
func (h *App) monthly() numbers.Payments {
	v, _ := h.till() // what is wrong was said before
	switch {
	case v.Payments != nil:
		return v.Payments
	case v.Till != nil:
		return payments.Months{Payments: h.Payments}
	}
	return nil
}
