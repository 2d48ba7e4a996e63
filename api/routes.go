package api

import (
	"slices"

	"parley/assistants"
	"parley/wire"
)

// routes is the whole surface on one page, in the order of the contract's route index.
// A line says: area, method and path, status of a success, handler, and what differs from a plain keyed route.
// Handlers, input and output types stand in one file per section: keys.go, assistants.go, calls.go, …
func (a *API) routes() []wire.Route {
	return slices.Concat(
		wire.Section("Account and API keys"),

		wire.Section("Assistants", a.assistantRoutes()...),

		wire.Section("Reference lists",
			wire.On(messages, "GET /user/assistants/voices", 200, a.voices),
			wire.On(messages, "GET /user/assistants/languages", 200, a.languages),
			wire.On(messages, "GET /user/assistants/synthesizer-providers", 200, a.synthesizers),
			wire.On(messages, "GET /user/assistants/transcriber-providers", 200, a.transcribers),
			wire.On(messages, "GET /user/assistants/models", 200, a.models),
			wire.On(messages, "GET /user/assistants/phone-numbers", 200, a.attachable),
		),

		wire.Section("Calls"),

		wire.Section("Campaigns"),

		wire.Section("Leads"),

		wire.Section("Knowledgebases and documents"),

		wire.Section("Mid-call tools", a.toolRoutes()...),

		wire.Section("Phone numbers and trunks"),

		wire.Section("WhatsApp"),

		wire.Section("SMS"),

		wire.Section("Conversations"),

		wire.Section("Webhooks"),

		wire.Section("Folders and labels", slices.Concat(
			groupRoutes(a.Folders, "folder"),
			groupRoutes(a.Labels, "label"),
		)...),

		wire.Section("Usage"),

		wire.Section("Live"),

		wire.Section("Description", a.documentRoute()),

		wire.Section("Simulator"),
	)
}

func (a *API) assistantRoutes() []wire.Route {
	failed, invalid := messages.Saying(validationFailed), messages.Saying(dataInvalid)
	return []wire.Route{
		wire.On(messages, "GET /user/assistants/get", 200, a.assistantsPage),
		wire.On(messages, "GET /user/assistants", 200, a.allAssistants),
		wire.On(messages, "GET /user/assistants/outbound", 200, a.outboundAssistants),
		wire.On(messages, "GET /user/assistant/{id}", 200, a.getAssistant, wire.Alias("GET /user/assistants/{id}")),
		wire.On(failed, "POST /user/assistant", 201, a.createAssistant, wire.Alias("POST /user/assistants"), wire.Idempotent(),
			wire.Require(assistants.Required...), wire.Check(a.checkNewAssistant)),
		wire.On(failed, "PUT /user/assistant/{id}", 200, a.updateAssistant,
			wire.Alias("PATCH /user/assistant/{id}", "PUT /user/assistants/{id}", "PATCH /user/assistants/{id}"),
			wire.Find(a.findAssistant), wire.Check(a.checkAssistant)),
		wire.On(messages, "DELETE /user/assistant/{id}", 200, a.deleteAssistant, wire.Alias("DELETE /user/assistants/{id}")),

		wire.On(invalid, "POST /user/assistants/enable-inbound-webhook", 200,
			a.switchOn(assistants.InboundCall, "The webhook is switched on.")),
		wire.On(invalid, "POST /user/assistants/enable-conversation-ended-webhook", 200,
			a.switchOn(assistants.ConversationEnded, "The conversation-ended webhook is switched on.")),
		wire.On(invalid, "POST /user/assistants/enable-webhook", 200,
			a.switchOn(assistants.PostCall, "The webhook is switched on.")),
		wire.On(invalid, "POST /user/assistants/disable-inbound-webhook", 200,
			a.switchOff(assistants.InboundCall, "The inbound webhook is switched off.")),
		wire.On(invalid, "POST /user/assistants/disable-conversation-ended-webhook", 200,
			a.switchOff(assistants.ConversationEnded, "The conversation-ended webhook is switched off.")),
		wire.On(invalid, "POST /user/assistants/disable-webhook", 200,
			a.switchOff(assistants.PostCall, "The webhook is switched off.")),

		wire.On(messages, "GET /user/assistants/{id}/versions", 200, a.versions),
		wire.On(messages, "POST /user/assistants/{id}/versions/{n}/restore", 200, a.restoreVersion),
	}
}

// groupRoutes are the routes of folders or of labels.
func groupRoutes(g *assistants.Groups, noun string) []wire.Route {
	one, many := "/user/"+noun+"/{id}", "/user/"+noun+"s/{id}"
	return []wire.Route{
		wire.On(messages, "GET /user/"+noun+"s", 200, groupPage(g)),
		wire.On(messages, "POST /user/"+noun, 201, createGroup(g, "The new "+noun+" was saved."), wire.Alias("POST /user/"+noun+"s"), wire.Require("name")),
		wire.On(messages, "PUT "+one, 200, updateGroup(g, "The changes to the "+noun+" were saved."), wire.Alias("PUT "+many), findGroup(g)),
		wire.On(messages, "DELETE "+one, 200, deleteGroup(g, "The "+noun+" was removed."), wire.Alias("DELETE "+many)),
	}
}

// hooks are the requests that the server sends to receivers; they stand in the OpenAPI document.
func hooks() []wire.Hook { return nil }
