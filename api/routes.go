package api

import (
	"slices"

	"parley/wire"
)

// routes is the whole surface on one page, in the order of the contract's route index.
// A line says: area, method and path, status of a success, handler, and what differs from a plain keyed route.
// Handlers, input and output types stand in one file per section: keys.go, assistants.go, calls.go, …
func (a *API) routes() []wire.Route {
	return slices.Concat(
		wire.Section("Account and API keys"),

		wire.Section("Assistants"),

		wire.Section("Reference lists"),

		wire.Section("Calls"),

		wire.Section("Campaigns"),

		wire.Section("Leads"),

		wire.Section("Knowledgebases and documents"),

		wire.Section("Mid-call tools"),

		wire.Section("Phone numbers and trunks"),

		wire.Section("WhatsApp"),

		wire.Section("SMS"),

		wire.Section("Conversations"),

		wire.Section("Webhooks"),

		wire.Section("Folders and labels"),

		wire.Section("Usage"),

		wire.Section("Live"),

		wire.Section("Description", a.documentRoute()),

		wire.Section("Simulator"),
	)
}

// hooks are the requests that the server sends to receivers; they stand in the OpenAPI document.
func hooks() []wire.Hook { return nil }
