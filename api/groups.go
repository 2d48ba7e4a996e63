package api

import (
	"context"

	"parley/assistants"
	"parley/wire"
)

type newGroupIn struct{ assistants.GroupChange }

type groupIn struct {
	ID assistants.GroupID `path:"id"`
	assistants.GroupChange
}

type groupRef struct {
	ID assistants.GroupID `path:"id"`
}

type groupOut struct {
	ID    assistants.GroupID `json:"id"`
	Name  string             `json:"name"`
	Color *string            `json:"color"`
	Uses  int                `json:"assistants_count"`
}

type savedGroup struct {
	Message string   `json:"message"`
	Data    groupOut `json:"data"`
}

func groupPage(g *assistants.Groups) func(context.Context, *wire.Paging) (wire.Page[groupOut], error) {
	return func(ctx context.Context, in *wire.Paging) (wire.Page[groupOut], error) {
		list, total, err := g.Page(ctx, owner(ctx), in.Offset(), in.PerPage)
		if err != nil {
			return wire.Page[groupOut]{}, err
		}
		return wire.NewPage(ctx, *in, total, each(list, func(x assistants.Group) groupOut { return groupOut(x) })), nil
	}
}

func createGroup(g *assistants.Groups, message string) func(context.Context, *newGroupIn) (savedGroup, error) {
	return func(ctx context.Context, in *newGroupIn) (savedGroup, error) {
		x, err := g.Create(ctx, owner(ctx), in.GroupChange)
		return savedGroup{message, groupOut(x)}, err
	}
}

func findGroup(g *assistants.Groups) wire.Option {
	return wire.Find(func(ctx context.Context, in *groupIn) error {
		_, err := g.Get(ctx, owner(ctx), in.ID)
		return err
	})
}

func updateGroup(g *assistants.Groups, message string) func(context.Context, *groupIn) (savedGroup, error) {
	return func(ctx context.Context, in *groupIn) (savedGroup, error) {
		x, err := g.Update(ctx, owner(ctx), in.ID, in.GroupChange)
		return savedGroup{message, groupOut(x)}, err
	}
}

func deleteGroup(g *assistants.Groups, message string) func(context.Context, *groupRef) (wire.Message, error) {
	return func(ctx context.Context, in *groupRef) (wire.Message, error) {
		return wire.Message{Message: message}, g.Delete(ctx, owner(ctx), in.ID)
	}
}
