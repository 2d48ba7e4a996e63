package whatsapp

import (
	"context"
	"net/http"

	"parley/providers"
)

// Settings are the keys of this vendor.
type Settings struct {
	AppSecret   string `key:"app_secret" secret:"true" doc:"of the app at Meta: signs its callbacks to /hooks/whatsapp"`
	VerifyToken string `key:"verify_token" secret:"true" doc:"any words, given to Meta together with the address of /hooks/whatsapp"`
	APIURL      string `key:"api_url" check:"url" doc:"Graph API with its version; empty = https://graph.facebook.com/v23.0"`
}

// Vendor is the platform. It is always there: customers bring senders with credentials of their own.
func Vendor() providers.Maker {
	return providers.Make("whatsapp", "WhatsApp Cloud", "whatsapp", Settings{}, func(_ context.Context, s Settings, on providers.Ground) ([]providers.Vendor, error) {
		c := New(Config{BaseURL: s.APIURL, AppSecret: s.AppSecret, VerifyToken: s.VerifyToken}, on.Box)
		return []providers.Vendor{{Code: CarrierName, About: c.BaseURL, Gateway: c, Joiner: c, Files: c.File,
			Hooks: func(on providers.Rooms) map[string]http.Handler {
				return map[string]http.Handler{"whatsapp": c.Hook(on.Messaging)}
			},
			Close: func() error { c.Close(); return nil }}}, nil
	})
}
