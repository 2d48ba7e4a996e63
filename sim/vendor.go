package sim

import (
	"parley/accounts"
	"parley/providers"
)

// Vendor is the pretend world as a vendor: it sells numbers, takes money and carries messages.
func (s *Sim) Vendor(a *accounts.Accounts) providers.Vendor {
	carrier, gateway := Carrier{s}, Gateway{s}
	return providers.Vendor{Code: CarrierName, About: "pretends", Carrier: carrier, CallerIDs: carrier,
		Payments: Payments{Sim: s, Accounts: a},
		Gateway:  gateway, Joiner: gateway, Texter: gateway}
}
