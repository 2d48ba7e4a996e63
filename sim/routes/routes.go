// Package routes is the surface of the pretend world: what /sim takes and answers.
package routes

import (
	"context"

	"parley/accounts"
	"parley/asks"
	"parley/assistants"
	"parley/blobs"
	"parley/db"
	"parley/jobs"
	"parley/messaging"
	"parley/sim"
	"parley/value"
	"parley/wire"
)

// Deps are the world, the rooms that it reaches into, and what the rest of the surface knows.
type Deps struct {
	Sim        *sim.Sim
	DB         *db.DB
	Jobs       *jobs.Runner
	Blobs      blobs.Store
	Asks       *asks.Asks
	Accounts   *accounts.Accounts
	Messaging  *messaging.Messaging
	SetBalance func(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, to value.Money, note string) error

	Area   wire.Area                             // how failures look
	Base   string                                // path prefix of the routes
	Caller func(ctx context.Context) accounts.ID // who asks
	// Activated finds the caller's assistant that is to answer at a sender, and makes it active; nil for none.
	Activated func(ctx context.Context, ref value.Opt[value.Ref]) (*assistants.ID, error)
}

// Shapes are the answers that the world shares with the rest of the surface: an account, a sender, a template.
type Shapes[A, S, T any] struct {
	Account  func(ctx context.Context) (A, error) // the caller's
	Sender   func(messaging.Sender) S
	Template func(messaging.Template) T
}

// Routes are the handlers.
type Routes[A, S, T any] struct {
	Deps
	shapes Shapes[A, S, T]
}

// New puts the handlers together.
func New[A, S, T any](d Deps, s Shapes[A, S, T]) *Routes[A, S, T] { return &Routes[A, S, T]{d, s} }

// Table is the surface, a line per route.
func (r *Routes[A, S, T]) Table() []wire.Route {
	return []wire.Route{
		wire.On(r.Area, "GET /sim/clock", 200, r.simClock),
		wire.On(r.Area, "POST /sim/clock/advance", 200, r.simAdvance),
		wire.On(r.Area, "PUT /sim/account", 200, r.simAccount),
		wire.On(r.Area, "POST /sim/users", 200, r.simUsers),
		wire.On(r.Area, "GET /sim/payments", 200, r.simPayments),
		wire.On(r.Area, "GET /sim/sms", 200, r.simTexts),
		wire.On(r.Area, "GET /sim/inventory", 200, r.simInventory),
		wire.On(r.Area, "POST /sim/inventory", 200, r.addSimNumber),
		wire.On(r.Area, "DELETE /sim/inventory/{phone_number}", 200, r.removeSimNumber),
		wire.On(r.Area, "PUT /sim/faults", 200, r.simFaults),
		wire.On(r.Area, "PUT /sim/phones/{phone_number}", 200, r.setSimPhone),
		wire.On(r.Area, "GET /sim/phones", 200, r.simPhones),
		wire.On(r.Area, "POST /sim/calls", 200, r.newSimCall),
		wire.On(r.Area, "GET /sim/calls/{id}", 200, r.simCall),
		wire.Stream(r.Area, "GET /sim/calls/{id}/audio", "audio/wav", r.simAudio),
		wire.On(r.Area, "POST /sim/whatsapp/senders", 200, r.newSimSender),
		wire.On(r.Area, "PUT /sim/whatsapp/senders/{id}", 200, r.changeSimSender),
		wire.On(r.Area, "POST /sim/whatsapp/senders/{id}/templates", 200, r.newSimTemplate),
		wire.On(r.Area, "PUT /sim/whatsapp/templates/{id}", 200, r.changeSimTemplate),
		wire.On(r.Area, "POST /sim/whatsapp/inbound", 200, r.simInboundMessage),
		wire.On(r.Area, "GET /sim/whatsapp/messages", 200, r.simMessages),
		wire.On(r.Area, "POST /sim/whatsapp/messages/{message_sid}/status", 200, r.simStatus),
	}
}

// Answers are what this process answers others that have no phone network.
func (r *Routes[A, S, T]) Answers() map[string]asks.Answerer {
	return map[string]asks.Answerer{askSimCall: r.placeAsked}
}

// data is {"data":…}.
type data[T any] struct {
	Data T `json:"data"`
}

// each is what f makes of a list, [] for none.
func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// orEmpty writes a missing list as [].
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }
