package sim

import (
	"net/http"

	"parley/accounts"
	"parley/providers"
)

// Vendor is the pretend world as a vendor: it sells numbers, takes money and carries messages.
func (s *Sim) Vendor(a *accounts.Accounts) providers.Vendor {
	carrier, gateway := Carrier{s}, Gateway{s}
	till := Till{Payments{Sim: s, Accounts: a}}
	return providers.Vendor{Code: CarrierName, About: "pretends", Carrier: carrier, CallerIDs: carrier,
		Payments: till.Payments, Till: till,
		Hooks: func(on providers.Rooms) map[string]http.Handler {
			return map[string]http.Handler{CarrierName: till.Hooks(on.Payments)}
		},
		Gateway: gateway, Joiner: gateway, Texter: gateway}
}
