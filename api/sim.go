package api

import (
	"context"

	"parley/messaging"
	"parley/sim/routes"
	"parley/wire"
)

// simulator is the pretend world's surface.
type simulator = routes.Routes[data[me], data[senderOut], data[templateOut]]

func (a *API) simulator() *simulator {
	return routes.New(routes.Deps{
		Sim: a.Sim, DB: a.DB, Jobs: a.Jobs, Blobs: a.Blobs, Asks: a.Asks, Accounts: a.Accounts,
		Messaging: a.Messaging, SetBalance: a.Billing.SetBalance, Area: messages, Base: Base, Caller: owner,
		Activated: a.activated,
	}, routes.Shapes[data[me], data[senderOut], data[templateOut]]{
		Account: func(ctx context.Context) (data[me], error) {
			now, err := a.me(ctx, &struct{}{})
			return data[me]{now}, err
		},
		Sender:   func(s messaging.Sender) data[senderOut] { return data[senderOut]{senderOf(s)} },
		Template: func(t messaging.Template) data[templateOut] { return data[templateOut]{templateOf(t)} },
	})
}

// simRoutes are the pretend world's; without it they do not exist.
func (a *API) simRoutes() []wire.Route {
	if a.Sim == nil {
		return nil
	}
	return a.simulator().Table()
}
