package api

import (
	"context"
	"slices"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/webhooks"
	"parley/wire"
)

// routes is the whole surface on one page, in the order of the contract's route index.
// A line says: area, method and path, status of a success, handler, and what differs from a plain keyed route. A section
// says which right its reading and its changing routes need of a role or a key; wire.Needs says another one.
// Handlers, input and output types stand in one file per section: keys.go, assistants.go, calls.go, …
func (a *API) routes() []wire.Route {
	return slices.Concat(
		wire.Section("Account and API keys", accounts.Read, accounts.TheAccount,
			wire.On(messages, "GET /user/api-keys", 200, a.listKeys, wire.Needs(accounts.Administration)),
			wire.On(messages, "POST /user/api-keys", 201, a.createKey, wire.Needs(accounts.ToKeys), wire.Check(a.checkKey)),
			wire.On(messages, "DELETE /user/api-keys/{id}", 200, a.deleteKey, wire.Needs(accounts.ToKeys)),
			wire.On(messages, "GET /user/me", 200, a.me),
			wire.On(messages, "PUT /user/me", 200, a.updateMe),
		),

		wire.Section("People", accounts.Administration, accounts.ToMembers, a.memberRoutes()...),

		wire.Section("Console", accounts.Self, accounts.Self, a.consoleRoutes()...),

		wire.Section("Assistants", accounts.Read, accounts.ToAssistants, a.assistantRoutes()...),

		wire.Section("Reference lists", accounts.Read, accounts.Read,
			wire.On(messages, "GET /user/assistants/voices", 200, a.voices),
			wire.On(messages, "GET /user/assistants/languages", 200, a.languages),
			wire.On(messages, "GET /user/assistants/synthesizer-providers", 200, a.synthesizers),
			wire.On(messages, "GET /user/assistants/transcriber-providers", 200, a.transcribers),
			wire.On(messages, "GET /user/assistants/models", 200, a.models),
			wire.On(messages, "GET /user/assistants/phone-numbers", 200, a.attachable),
		),

		wire.Section("Calls", accounts.Read, accounts.ToCalls, slices.Concat(a.callRoutes(), a.webCallRoutes())...),

		wire.Section("Campaigns", accounts.Read, accounts.ToCampaigns, a.campaignRoutes()...),

		wire.Section("Leads", accounts.Read, accounts.ToLeads, a.leadRoutes()...),

		wire.Section("Knowledgebases and documents", accounts.Read, accounts.ToAssistants, a.knowledgeRoutes()...),

		wire.Section("Mid-call tools", accounts.Read, accounts.ToAssistants, a.toolRoutes()...),

		wire.Section("Phone numbers and trunks", accounts.Figures, accounts.ToNumbers, slices.Concat(a.numberRoutes(), a.trunkRoutes())...),

		wire.Section("WhatsApp", accounts.Read, accounts.ToMessages, a.whatsappRoutes()...),

		wire.Section("SMS", accounts.Read, accounts.ToMessages, wire.On(messages, "POST /user/sms", 200, a.sendSMS, wire.IdempotentOutside())),

		wire.Section("Conversations", accounts.Read, accounts.ToMessages, a.conversationRoutes()...),

		wire.Section("Webhooks", accounts.Figures, accounts.ToAssistants,
			wire.On(messages, "GET /user/webhook-deliveries", 200, a.deliveries),
			wire.Stream(messages, "GET /user/webhook-deliveries/stream", "text/event-stream", a.followDeliveries),
			wire.On(messages, "POST /user/webhook-deliveries/{id}/replay", 200, a.replayDelivery),
			wire.On(messages, "GET /user/webhook-secret", 200, a.webhookSecret, wire.Needs(accounts.ToKeys)),
			wire.On(messages, "POST /user/webhook-secret/rotate", 200, a.rotateSecret, wire.Needs(accounts.ToKeys)),
			wire.On(messages, "POST /user/assistants/{id}/test-webhook", 200, a.tryWebhook, wire.Find(a.findTried)),
		),

		wire.Section("Folders and labels", accounts.Read, accounts.ToAssistants, slices.Concat(
			groupRoutes(a.Folders, "folder"),
			groupRoutes(a.Labels, "label"),
		)...),

		wire.Section("Usage", accounts.Figures, accounts.ToBilling,
			wire.On(messages, "GET /user/usage", 200, a.usage),
			wire.Stream(messages, "GET /user/usage.csv", "text/csv", a.usageFile),
			wire.On(messages, "GET /user/plan", 200, a.plan),
		),

		wire.Section("Paying in", accounts.Figures, accounts.ToBilling,
			wire.On(messages, "GET /user/billing", 200, a.billing),
			wire.On(messages, "POST /user/billing/setup", 200, a.setUpPayment, wire.IdempotentOutside()),
			wire.On(messages, "POST /user/billing/topup", 200, a.topUp, wire.IdempotentOutside()),
			wire.On(messages, "PUT /user/billing/auto-topup", 200, a.setAutoTopUp),
		),

		wire.Section("Providers", accounts.Operate, accounts.Operate, a.vendorRoutes()...),

		wire.Section("Live", accounts.Read, accounts.Read,
			wire.Stream(messages, "GET /user/events", "text/event-stream", a.follow),
		),

		wire.Section("Description", accounts.Read, accounts.Read, a.documentRoute()),

		wire.Section("Simulator", accounts.Read, accounts.TheAccount, a.simRoutes()...),
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
			wire.Require(assistants.Required...), wire.Judged()),
		wire.On(failed, "PUT /user/assistant/{id}", 200, a.updateAssistant,
			wire.Alias("PATCH /user/assistant/{id}", "PUT /user/assistants/{id}", "PATCH /user/assistants/{id}"),
			wire.Judged()),
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

func (a *API) conversationRoutes() []wire.Route {
	ofConversation := func(ctx context.Context, in *conversationRef) ([]string, error) { return a.chatOrigins(ctx, in.UUID) }
	ofStream := func(ctx context.Context, in *conversationStreamIn) ([]string, error) {
		return a.chatOrigins(ctx, in.UUID)
	}
	ofMessage := func(ctx context.Context, in *chatMessageIn) ([]string, error) { return a.chatOrigins(ctx, in.UUID) }
	automate := func(verb string) (string, wire.Option) {
		return "POST /automate/conversations/{uuid}/" + verb, wire.Alias("POST /user/conversations/{uuid}/" + verb)
	}
	enable, alsoEnable := automate("enable-ai")
	disable, alsoDisable := automate("disable-ai")
	return []wire.Route{
		wire.On(conversations, "POST /conversations", 200, a.begin, wire.KeyOptional(), wire.Check(checkBegin),
			wire.OpenToOrigins(a.beginOrigins), wire.Limited(wire.PerAddress(10, time.Minute))),
		wire.On(conversations, "GET /conversations/{uuid}", 200, a.conversation, wire.KeyOptional(), wire.OpenToOrigins(ofConversation)),
		wire.Stream(conversations, "GET /conversations/{uuid}/stream", "text/event-stream", a.followConversation, wire.KeyOptional(),
			wire.OpenToOrigins(ofStream)),
		wire.On(conversations, "POST /conversations/{uuid}/messages", 200, a.chat, wire.KeyOptional(), wire.IdempotentOutside(),
			wire.Find(a.findChat), wire.OpenToOrigins(ofMessage), wire.Limited(wire.PerAddress(30, time.Minute))),
		wire.On(conversations, "POST /conversations/{uuid}/end", 200, a.endConversation, wire.KeyOptional(), wire.OpenToOrigins(ofConversation)),
		wire.On(messages, "GET /user/conversations", 200, a.conversations),
		wire.On(messages, "POST /user/conversations/{uuid}/reply", 200, a.personReply, wire.Find(a.findPerson)),
		wire.On(conversations, enable, 200, a.setAI(true), alsoEnable),
		wire.On(conversations, disable, 200, a.setAI(false), alsoDisable),
		wire.On(whatsapp.Saying(""), "POST /user/ai/generate-reply", 200, a.generateReply, wire.Alias("POST /ai/generate-reply"),
			wire.IdempotentOutside(), wire.Limited(wire.PerKey(60, time.Minute))),
	}
}

func (a *API) whatsappRoutes() []wire.Route {
	return []wire.Route{
		wire.On(whatsapp, "GET /user/whatsapp/senders", 200, a.senders),
		wire.On(whatsapp, "GET /user/whatsapp/senders/{senderId}/templates", 200, a.templates, wire.Find(a.findTemplates)),
		wire.On(whatsapp, "GET /user/whatsapp/session-status", 200, a.sessionStatus),
		wire.On(whatsapp, "POST /user/whatsapp/send", 200, a.sendTemplate, wire.IdempotentOutside(), wire.Limited(a.sendRate("template"))),
		wire.On(whatsapp, "POST /user/whatsapp/send-freeform", 200, a.sendFreeform, wire.IdempotentOutside(),
			wire.Limited(a.sendRate("freeform"))),
		wire.On(whatsapp, "POST /user/whatsapp/senders", 200, a.createSender, wire.Needs(accounts.ToSenders)),
		wire.On(whatsapp, "PUT /user/whatsapp/senders/{id}", 200, a.updateSender, wire.Needs(accounts.ToSenders), wire.Find(a.findSender)),
		wire.On(whatsapp, "DELETE /user/whatsapp/senders/{id}", 200, a.deleteSender, wire.Needs(accounts.ToSenders)),
		wire.On(whatsapp, "GET /user/whatsapp/senders/{id}/receipts-secret", 200, a.receiptsSecret, wire.Needs(accounts.ToKeys)),
		wire.On(whatsapp, "POST /user/whatsapp/senders/{senderId}/templates", 201, a.createTemplate, wire.Needs(accounts.ToSenders), wire.Find(a.findTemplateSender)),
		wire.On(whatsapp, "POST /user/whatsapp/senders/{id}/templates/sync", 200, a.syncTemplates, wire.Needs(accounts.ToSenders)),
	}
}

func (a *API) campaignRoutes() []wire.Route {
	return []wire.Route{
		wire.On(messages.Saying(dataInvalid), "POST /user/campaigns", 201, a.createCampaign, wire.Alias("POST /user/campaign"),
			wire.Idempotent(), wire.Require("name", "assistant_id"), wire.Judged()),
		wire.On(messages, "GET /user/campaigns", 200, a.listCampaigns),
		wire.On(messages, "GET /user/campaigns/{id}", 200, a.getCampaign),
		wire.On(messages.Saying(dataInvalid), "PUT /user/campaigns/{id}", 200, a.updateCampaign, wire.Judged()),
		wire.On(switches, "POST /user/campaigns/update-status", 200, a.switchCampaign, wire.Alias("POST /user/campaign/update-status")),
		wire.On(messages, "DELETE /user/campaign/{id}", 200, a.deleteCampaign, wire.Alias("DELETE /user/campaigns/{id}")),
	}
}

func (a *API) leadRoutes() []wire.Route {
	return []wire.Route{
		wire.On(messages, "POST /user/lead", 200, a.createLead, wire.Alias("POST /user/leads"), wire.Idempotent(), wire.Check(checkLead)),
		wire.On(messages, "POST /user/leads/import", 200, a.importLeads, wire.Multipart()),
		wire.On(messages, "GET /user/leads", 200, a.listLeads),
		wire.On(messages, "GET /user/leads/{id}", 200, a.getLead),
		wire.On(messages, "PUT /user/leads/{id}", 200, a.updateLead, wire.Find(a.findLead),
			wire.Alias("PATCH /user/leads/{id}", "PUT /leads/{id}", "PATCH /leads/{id}", "PUT /user/lead/{id}", "PATCH /user/lead/{id}")),
		wire.On(messages, "DELETE /user/leads/{id}", 200, a.deleteLead, wire.Alias("DELETE /leads/{id}", "DELETE /user/lead/{id}")),
	}
}

// groupRoutes are the routes of folders or of labels.
func groupRoutes(g *assistants.Groups, noun string) []wire.Route {
	one, many := "/user/"+noun+"/{id}", "/user/"+noun+"s/{id}"
	return []wire.Route{
		wire.On(messages, "GET /user/"+noun+"s", 200, groupPage(g)),
		wire.On(messages, "POST /user/"+noun, 201, createGroup(g, "The new "+noun+" was saved."), wire.Alias("POST /user/"+noun+"s"),
			wire.Require("name")),
		wire.On(messages, "PUT "+one, 200, updateGroup(g, "The changes to the "+noun+" were saved."), wire.Alias("PUT "+many), findGroup(g)),
		wire.On(messages, "DELETE "+one, 200, deleteGroup(g, "The "+noun+" was removed."), wire.Alias("DELETE "+many)),
	}
}

// hooks are the requests that the server sends to receivers; they stand in the OpenAPI document.
func hooks() []wire.Hook {
	return []wire.Hook{
		wire.Sends[webhooks.Call](webhooks.CallCompleted, "A call reached its final state."),
		wire.Sends[webhooks.Call](webhooks.InboundCallCompleted, "An inbound call was completed."),
		wire.Sends[webhooks.Conversation](webhooks.ConversationEnded, "A chat ended."),
		wire.Sends[webhooks.Status](webhooks.MessageStatus, "An outgoing WhatsApp message moved on."),
	}
}
