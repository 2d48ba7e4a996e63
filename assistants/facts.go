package assistants

import (
	"context"
	"fmt"
	"slices"

	"parley/accounts"
	"parley/db"
	"parley/ids"
	"parley/toolbox"
	"parley/value"
)

// judge collects the facts a request needs and decides it.
func (s *Assistants) judge(ctx context.Context, q db.Q, owner accounts.ID, old *Assistant, c Change) (*judgement, error) {
	f := facts{catalog: s.catalog, holders: map[ids.Number]ID{}, assistants: map[value.Ref]ID{}}
	var before *Settings
	if old != nil {
		f.self, f.selfUUID, before = old.ID, old.UUID, &old.Settings
	}
	g := gather{ctx, q, owner}
	numbers := listed(c.To.PhoneNumberID)
	if before != nil {
		numbers = append(numbers, listed(before.PhoneNumberID)...)
	}
	for _, n := range needsOf(c.To.Tools) {
		if n.Assistant == nil {
			numbers = append(numbers, n.Number)
			continue
		}
		if a, err := s.Get(ctx, q, owner, *n.Assistant); err == nil {
			f.assistants[*n.Assistant] = a.ID
		} else if err != ErrNotFound {
			return nil, err
		}
	}
	var err error
	if f.numbers, err = g.numbers(s.account.Numbers, numbers); err != nil {
		return nil, fmt.Errorf("phone numbers: %w", err)
	}
	if f.holders, err = g.holders(numbers); err != nil {
		return nil, err
	}
	if f.knowledgebases, err = owned(g, s.account.Knowledgebases, listed(c.To.KnowledgebaseID)); err != nil {
		return nil, fmt.Errorf("knowledgebases: %w", err)
	}
	if f.tools, err = owned(g, s.account.Tools, c.To.ToolIDs); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	if f.folders, err = owned(g, ownedGroups("folders"), listed(c.To.FolderID)); err != nil {
		return nil, err
	}
	if f.labels, err = owned(g, ownedGroups("labels"), c.To.LabelIDs); err != nil {
		return nil, err
	}
	if old != nil && old.Type == Outbound && c.To.Type == Inbound && s.account.RunningCampaign != nil {
		if f.runningCampaign, err = s.account.RunningCampaign(ctx, q, old.ID); err != nil {
			return nil, err
		}
	}
	if old != nil {
		f.inboundURL = old.InboundWebhookURL
	}
	j := judge(f, before, c.Patch, c.Unknown)
	if before != nil {
		j.after.Tools.KeepSecrets(before.Tools)
	}
	return j, nil
}

func listed[T any](id *T) []T {
	if id == nil {
		return nil
	}
	return []T{*id}
}

type gather struct {
	ctx   context.Context
	q     db.Q
	owner accounts.ID
}

func (g gather) numbers(from func(context.Context, db.Q, accounts.ID, []ids.Number) ([]Number, error),
	asked []ids.Number) (map[ids.Number]Number, error) {
	out := map[ids.Number]Number{}
	if from == nil || len(asked) == 0 {
		return out, nil
	}
	list, err := from(g.ctx, g.q, g.owner, asked)
	for _, n := range list {
		out[n.ID] = n
	}
	return out, err
}

// holders says which inbound assistants have the numbers.
func (g gather) holders(asked []ids.Number) (map[ids.Number]ID, error) {
	out := map[ids.Number]ID{}
	if len(asked) == 0 {
		return out, nil
	}
	in, args := db.In(1, slices.Compact(slices.Sorted(slices.Values(asked))))
	var rows []struct {
		Number ids.Number `db:"phone_number_id"`
		ID     ID         `db:"id"`
	}
	err := g.q.Select(g.ctx, &rows, `SELECT phone_number_id, id FROM assistants WHERE type = 'inbound' AND phone_number_id IN `+in, args...)
	for _, r := range rows {
		out[r.Number] = r.ID
	}
	return out, err
}

// owned says which of the ids are the account's.
func owned[T comparable](g gather, from func(context.Context, db.Q, accounts.ID, []T) ([]T, error), asked []T) (map[T]bool, error) {
	out := map[T]bool{}
	if from == nil || len(asked) == 0 {
		return out, nil
	}
	list, err := from(g.ctx, g.q, g.owner, asked)
	for _, id := range list {
		out[id] = true
	}
	return out, err
}

// needsOf are the things of the account that tools name.
func needsOf(tools toolbox.Tools) (out []toolbox.Need) {
	for _, t := range tools {
		if n, ok := t.Spec.(toolbox.Needs); ok {
			out = append(out, n.Needs()...)
		}
	}
	return out
}
