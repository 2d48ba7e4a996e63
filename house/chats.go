package house

import (
	"context"
	"encoding/json"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/chats"
	"parley/db"
	"parley/tools"
	"parley/webhooks"
)

// tools: customers' own functions.
func (h *House) tools(context.Context) error {
	h.Tools = tools.New(h.DB, h.on.Box, h.Guard, func(ctx context.Context, q db.Q, owner accounts.ID) (*int64, error) {
		plan, err := h.Accounts.Plan(ctx, q, owner)
		return plan.MaxTools, err
	})
	return nil
}

// webhooks: what customers' servers are told.
func (h *House) webhooks(context.Context) error {
	h.Webhooks = webhooks.New(h.DB, h.on.Jobs, h.Guard, h.on.Box, h.on.Config.Webhooks.LongTail)
	h.closers = append(h.closers, func() error { h.Webhooks.Close(); return nil })
	return nil
}

// chats: conversations in text.
func (h *House) chats(context.Context) error {
	h.Chats = chats.New(h.DB, h.on.Jobs, h.Assistants,
		chats.Mind{Engine: h.ChatEngine, Tools: h.chatTools}, chats.Money{}, h.reportEnding)
	return nil
}

// chatTools are the assistant's mid-call tools as functions of a model.
func (h *House) chatTools(ctx context.Context, a assistants.Assistant, v agent.Values) ([]agent.Function, error) {
	return h.customTools(ctx, a, tools.Conversation{ConversationID: v["conversation_id"], Values: v})
}

func (h *House) customTools(ctx context.Context, a assistants.Assistant, c tools.Conversation) ([]agent.Function, error) {
	own, err := h.Tools.Of(ctx, a.Owner, a.ToolIDs.V)
	if err != nil {
		return nil, err
	}
	var out []agent.Function
	for _, t := range own {
		out = append(out, agent.Function{
			Tool: agent.Tool{Name: t.Name, Description: t.Description, Parameters: t.Schema()},
			Run: func(ctx context.Context, args json.RawMessage) agent.Result {
				return agent.Result{Value: h.Tools.Run(ctx, t.Definition, args, c)}
			}})
	}
	return out, nil
}
