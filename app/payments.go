package app

import (
	"context"
	"log/slog"

	"parley/numbers"
	"parley/payments"
	"parley/providers"
)

// payments: how customers pay in, at the platform that the configuration names, or the first there is.
func (h *App) payments(context.Context) error {
	if name := h.on.Config.Payments.Vendor; name != "" && h.till().Code == "" {
		slog.Warn("payments.vendor is not set up; nobody can pay in", "vendor", name)
	}
	h.Payments = payments.New(payments.Deps{DB: h.DB, Jobs: h.on.Jobs, Accounts: h.Accounts, Billing: h.Billing,
		Platform: func() (payments.Platform, string) { v := h.till(); return v.Till, v.Code }})
	return nil
}

// till is the vendor that takes money now.
func (h *App) till() providers.Vendor {
	name := h.on.Config.Payments.Vendor
	return h.vendors.Now().First(func(v providers.Vendor) bool { return v.Till != nil && (name == "" || v.Code == name) })
}

// monthly charges numbers: by the vendor's own subscriptions where it has them.
func (h *App) monthly() numbers.Payments {
	if v := h.till(); v.Payments != nil {
		return v.Payments
	}
	return payments.Months{Payments: h.Payments}
}
