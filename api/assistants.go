package api

import (
	"context"
	"encoding/json"
	"errors"

	"parley/assistants"
	"parley/fault"
	"parley/value"
	"parley/wire"
)

// assistantIn is what create and update read. The rest of the fields' rules is in package assistants.
type assistantIn struct {
	ID value.Ref `path:"id"`
	assistants.Patch
	Unknown value.Unknown
}

type newAssistantIn struct {
	assistants.Patch
	Unknown value.Unknown
}

// Meant is the assistant that is asked for.
func (in *newAssistantIn) Meant() any { return assistants.Meant(in.Patch) }

type assistantRef struct {
	ID value.Ref `path:"id"`
}

type assistantsPageIn struct {
	Page    int `query:"page" rule:"min=1" default:"1" doc:"Page number, from 1."`
	PerPage int `query:"per_page" rule:"min=1 max=100" default:"10" doc:"Entries per page."`
}

type assistantOut struct {
	Data assistants.Record `json:"data"`
}

// savedAssistant is the answer of writes.
type savedAssistant struct {
	Message  string               `json:"message"`
	Data     assistantBrief       `json:"data"`
	Warnings []assistants.Warning `json:"warnings,omitempty"`
}

type assistantBrief struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
	Type   string `json:"type"`
	Mode   string `json:"mode"`
}

func saved(message string, x assistants.Assistant, w []assistants.Warning) savedAssistant {
	return savedAssistant{message, assistantBrief{int64(x.ID), x.Name, x.Status, x.Type, x.Mode}, w}
}

func (a *API) assistantsPage(ctx context.Context, in *assistantsPageIn) (wire.Page[assistants.Record], error) {
	p := wire.Paging{Page: in.Page, PerPage: in.PerPage}
	list, total, err := a.Assistants.Page(ctx, a.DB, owner(ctx), p.Offset(), p.PerPage)
	if err != nil {
		return wire.Page[assistants.Record]{}, err
	}
	return wire.NewPage(ctx, p, total, each(list, assistants.Assistant.Record)), nil
}

func (a *API) allAssistants(ctx context.Context, _ *struct{}) ([]assistants.Record, error) {
	list, err := a.Assistants.List(ctx, a.DB, owner(ctx), "")
	return each(list, assistants.Assistant.Record), err
}

func (a *API) outboundAssistants(ctx context.Context, _ *struct{}) ([]assistants.Item, error) {
	list, err := a.Assistants.List(ctx, a.DB, owner(ctx), assistants.Outbound)
	return each(list, assistants.Assistant.Item), err
}

func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

func (a *API) getAssistant(ctx context.Context, in *assistantRef) (assistantOut, error) {
	x, err := a.Assistants.Get(ctx, a.DB, owner(ctx), in.ID)
	return assistantOut{x.Record()}, err
}

func (a *API) createAssistant(ctx context.Context, in *newAssistantIn) (savedAssistant, error) {
	x, warned, err := a.Assistants.Create(ctx, owner(ctx),
		assistants.Change{Patch: in.Patch, Unknown: in.Unknown, Failed: wire.Failed(ctx), By: by(ctx)})
	return saved("The new assistant was saved.", x, warned), err
}

func (a *API) updateAssistant(ctx context.Context, in *assistantIn) (savedAssistant, error) {
	x, warned, err := a.Assistants.Update(ctx, owner(ctx), in.ID,
		assistants.Change{Patch: in.Patch, Unknown: in.Unknown, Failed: wire.Failed(ctx), By: by(ctx)})
	return saved("The changes to the assistant were saved.", x, warned), err
}

func (a *API) deleteAssistant(ctx context.Context, in *assistantRef) (wire.Message, error) {
	err := a.Assistants.Delete(ctx, owner(ctx), in.ID)
	switch {
	case errors.Is(err, assistants.ErrNotFound):
		err = errNoAssistant
	case err != nil && fault.Of(err).Kind == fault.Internal:
		err = fault.Wrap(err, "", "The assistant could not be deleted. Try again in a moment.")
	}
	return wire.Message{Message: "The assistant was removed."}, err
}

// errNoAssistant is how routes other than reading and updating word a missing assistant.
var errNoAssistant = fault.New(fault.NotFound, "", "No assistant with this id exists in your account.")

// switchOnIn and switchOffIn are the bodies of the webhook switches.
type switchOnIn struct {
	AssistantID value.Ref `json:"assistant_id" rule:"required"`
	WebhookURL  string    `json:"webhook_url" rule:"required url public"`
}

type switchOffIn struct {
	AssistantID value.Ref `json:"assistant_id" rule:"required"`
}

// switched is an answer whose data is always an empty array.
type switched struct {
	Message string     `json:"message"`
	Data    []struct{} `json:"data"`
}

func (a *API) switchOn(hook assistants.Hook, message string) func(context.Context, *switchOnIn) (switched, error) {
	return func(ctx context.Context, in *switchOnIn) (switched, error) {
		err := a.Assistants.Switch(ctx, owner(ctx), in.AssistantID, hook, in.WebhookURL, by(ctx))
		return switched{message, []struct{}{}}, err
	}
}

func (a *API) switchOff(hook assistants.Hook, message string) func(context.Context, *switchOffIn) (switched, error) {
	return func(ctx context.Context, in *switchOffIn) (switched, error) {
		err := a.Assistants.Switch(ctx, owner(ctx), in.AssistantID, hook, "", by(ctx))
		return switched{message, []struct{}{}}, err
	}
}

type versionIn struct {
	ID value.Ref `path:"id"`
	N  int64     `path:"n"`
}

type versionsOut struct {
	Data []versionOut `json:"data"`
}

type versionOut struct {
	Version   int                  `json:"version"`
	CreatedAt value.Time           `json:"created_at"`
	Author    *string              `json:"author"`
	Changes   map[string]changeOut `json:"changes"`
	Data      assistants.Record    `json:"data"`
}

// changeOut is what a version changed about a field.
type changeOut struct {
	From any `json:"from"`
	To   any `json:"to"`
}

func (a *API) versions(ctx context.Context, in *assistantRef) (versionsOut, error) {
	list, err := a.Assistants.Versions(ctx, a.DB, owner(ctx), in.ID)
	out := versionsOut{Data: make([]versionOut, len(list))}
	for i, v := range list {
		shown := versionOut{v.N, value.At(v.At), filled(v.By.Name), map[string]changeOut{}, v.Record()}
		if i+1 < len(list) {
			if shown.Changes, err = changes(v.Changed, list[i+1].Record(), shown.Data); err != nil {
				return versionsOut{}, err
			}
		}
		out.Data[i] = shown
	}
	return out, err
}

// changes shows some fields of two records side by side.
func changes(fields []string, from, to assistants.Record) (map[string]changeOut, error) {
	was, err := byKey(from)
	if err != nil {
		return nil, err
	}
	is, err := byKey(to)
	out := map[string]changeOut{}
	for _, f := range fields {
		out[f] = changeOut{was[f], is[f]}
	}
	return out, err
}

func byKey(r assistants.Record) (m map[string]any, err error) {
	b, err := value.Marshal(r)
	if err != nil {
		return nil, err
	}
	return m, json.Unmarshal(b, &m)
}

func (a *API) restoreVersion(ctx context.Context, in *versionIn) (savedAssistant, error) {
	x, warned, err := a.Assistants.Restore(ctx, owner(ctx), in.ID, int(in.N), by(ctx))
	return saved("The changes to the assistant were saved.", x, warned), err
}
