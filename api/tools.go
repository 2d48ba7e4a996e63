package api

import (
	"context"

	"parley/placeholders"
	"parley/tools"
	"parley/value"
	"parley/wire"
)

type searchIn struct {
	Search string `query:"search" rule:"null=default" default:"" doc:"Part of the name, in any case."`
}

type toolRef struct {
	ID int64 `path:"id"`
}

type newToolIn struct{ tools.Change }

type toolIn struct {
	ID int64 `path:"id"`
	tools.Change
}

type tryToolIn struct {
	ID        int64          `path:"id"`
	Arguments map[string]any `json:"arguments" doc:"Values of the parameters; missing ones become test, 1 or true."`
	Variables value.Scalars  `json:"variables" doc:"Values of the placeholders."`
}

type tryDefinitionIn struct {
	tools.Change
	Arguments map[string]any `json:"arguments" doc:"Values of the parameters; missing ones become test, 1 or true."`
	Variables value.Scalars  `json:"variables" doc:"Values of the placeholders."`
}

type toolOut struct {
	ID          int64          `json:"id"`
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	Description string         `json:"description"`
	Endpoint    string         `json:"endpoint"`
	Method      string         `json:"method"`
	BodyFormat  string         `json:"body_format"`
	Timeout     int64          `json:"timeout"`
	Headers     []tools.Header `json:"headers"`
	Static      []tools.Static `json:"static_fields"`
	Schema      []tools.Param  `json:"schema"`
	CreatedAt   value.Time     `json:"created_at"`
	UpdatedAt   value.Time     `json:"updated_at"`
}

type savedTool struct {
	Message string  `json:"message"`
	Data    toolOut `json:"data"`
}

func showTool(t tools.Tool) toolOut {
	return toolOut{int64(t.ID), t.Name, "http", t.Description, t.Endpoint, t.Method, t.BodyFormat, t.Timeout,
		append([]tools.Header{}, t.Headers...), append([]tools.Static{}, t.Static...), append([]tools.Param{}, t.Params...),
		value.At(t.CreatedAt), value.At(t.UpdatedAt)}
}

func (a *API) toolRoutes() []wire.Route {
	failed := messages.Saying(validationFailed)
	return []wire.Route{
		wire.On(messages, "GET /user/tools", 200, a.listTools),
		wire.On(messages, "POST /user/tools", 201, a.createTool, wire.Idempotent(),
			wire.Require("name", "description", "endpoint", "method"), wire.Judged()),
		wire.On(messages, "GET /user/tools/{id}", 200, a.getTool),
		wire.On(failed, "PUT /user/tools/{id}", 200, a.updateTool, wire.Judged()),
		wire.On(messages, "DELETE /user/tools/{id}", 200, a.deleteTool),
		wire.On(messages, "POST /user/tools/{id}/test", 200, a.tryTool, wire.Find(a.findTriedTool)),
		wire.On(messages, "POST /user/tools/test", 200, a.tryDefinition, wire.Require("endpoint", "method"), wire.Check(a.checkDefinition)),
	}
}

func (a *API) listTools(ctx context.Context, in *searchIn) ([]toolOut, error) {
	list, err := a.Tools.List(ctx, owner(ctx), in.Search)
	return each(list, showTool), err
}

func (a *API) getTool(ctx context.Context, in *toolRef) (toolOut, error) {
	t, err := a.Tools.Get(ctx, owner(ctx), tools.ID(in.ID))
	return showTool(t), err
}

func (a *API) createTool(ctx context.Context, in *newToolIn) (savedTool, error) {
	t, err := a.Tools.Create(ctx, owner(ctx), in.Change, wire.Failed(ctx)...)
	return savedTool{"The new tool was saved.", showTool(t)}, err
}

func (a *API) updateTool(ctx context.Context, in *toolIn) (savedTool, error) {
	t, err := a.Tools.Update(ctx, owner(ctx), tools.ID(in.ID), in.Change, wire.Failed(ctx)...)
	return savedTool{"The changes to the tool were saved.", showTool(t)}, err
}

func (a *API) deleteTool(ctx context.Context, in *toolRef) (wire.Message, error) {
	return wire.Message{Message: "The tool was removed."}, a.Tools.Delete(ctx, owner(ctx), tools.ID(in.ID))
}

func (a *API) findTriedTool(ctx context.Context, in *tryToolIn) error {
	_, err := a.Tools.Get(ctx, owner(ctx), tools.ID(in.ID))
	return err
}

func (a *API) tryTool(ctx context.Context, in *tryToolIn) (tools.Trial, error) {
	t, err := a.Tools.Get(ctx, owner(ctx), tools.ID(in.ID))
	if err != nil {
		return tools.Trial{}, err
	}
	return a.Tools.Try(ctx, t.Definition, in.Arguments, trial(in.Variables)), nil
}

func (a *API) checkDefinition(_ context.Context, in *tryDefinitionIn) error {
	return a.Tools.CheckDefinition(in.Change)
}

func (a *API) tryDefinition(ctx context.Context, in *tryDefinitionIn) (tools.Trial, error) {
	return a.Tools.Try(ctx, in.Change.Definition(), in.Arguments, trial(in.Variables)), nil
}

func trial(variables value.Scalars) tools.Conversation {
	return tools.Conversation{Values: placeholders.Layer(nil, variables)}
}
