package api

import (
	"context"

	"parley/fault"
	"parley/knowledge"
	"parley/value"
	"parley/wire"
)

type baseRef struct {
	ID int64 `path:"id"`
}

type newBaseIn struct{ knowledge.BaseChange }

type baseIn struct {
	ID int64 `path:"id"`
	knowledge.BaseChange
}

type baseOut struct {
	ID          int64      `json:"id"`
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	Status      string     `json:"status"`
	StatusLabel string     `json:"status_label"`
	Documents   int64      `json:"documents_count"`
	Assistants  int64      `json:"assistants_count"`
	CreatedAt   value.Time `json:"created_at"`
	UpdatedAt   value.Time `json:"updated_at"`
}

type basesOut struct {
	Data []baseOut `json:"data"`
}

type oneBaseOut struct {
	Data baseOut `json:"data"`
}

type savedBase struct {
	Message string  `json:"message"`
	Data    baseOut `json:"data"`
}

type askBaseIn struct {
	ID    int64  `path:"id"`
	Query string `json:"query" rule:"required min=1 max=1000"`
	Limit int    `json:"limit" rule:"min=1 max=20" default:"6"`
}

type passagesOut struct {
	Data []knowledge.Passage `json:"data"`
}

var labels = map[string]string{
	"empty": "Empty", "processing": "Processing", "active": "Active", "failed": "Failed",
	"website": "Website", "pdf": "PDF", "txt": "TXT", "docx": "DOCX",
}

func showBase(b knowledge.Base) baseOut {
	return baseOut{int64(b.ID), b.Name, b.Description, b.Status, labels[b.Status], b.Documents, b.Assistants, value.At(b.CreatedAt),
		value.At(b.UpdatedAt)}
}

func (a *API) knowledgeRoutes() []wire.Route {
	const bases, documents = "/user/knowledgebases", "/user/knowledgebases/{knowledgebaseId}/documents"
	return []wire.Route{
		wire.On(errorsOnly, "GET "+bases, 200, a.listBases),
		wire.On(errorsOnly, "POST "+bases, 201, a.createBase, wire.Idempotent(), wire.Require("name")),
		wire.On(errorsOnly, "GET "+bases+"/{id}", 200, a.getBase),
		wire.On(errorsOnly, "PUT "+bases+"/{id}", 200, a.updateBase, wire.Find(a.findBase)),
		wire.On(errorsOnly, "DELETE "+bases+"/{id}", 200, a.deleteBase),
		wire.On(errorsOnly, "POST "+bases+"/{id}/search", 200, a.askBase, wire.Find(a.findAskedBase)),

		wire.On(errorsOnly, "POST "+documents, 201, a.createDocument, wire.Idempotent(), wire.Multipart(),
			wire.Find(a.findBaseOfNew), wire.Check(checkDocument)),
		wire.On(errorsOnly, "GET "+documents, 200, a.listDocuments),
		wire.On(errorsOnly, "GET "+documents+"/{documentId}", 200, a.getDocument),
		wire.On(errorsOnly, "PUT "+documents+"/{documentId}", 200, a.updateDocument, wire.Find(a.findDocument)),
		wire.On(errorsOnly, "DELETE "+documents+"/{documentId}", 200, a.deleteDocument),
		wire.On(errorsOnly, "POST "+documents+"/{documentId}/reprocess", 200, a.reprocess),
	}
}

func (a *API) listBases(ctx context.Context, in *searchIn) (basesOut, error) {
	list, err := a.Knowledge.Bases(ctx, owner(ctx), in.Search)
	return basesOut{each(list, showBase)}, err
}

func (a *API) getBase(ctx context.Context, in *baseRef) (oneBaseOut, error) {
	b, err := a.Knowledge.Base(ctx, owner(ctx), knowledge.ID(in.ID))
	return oneBaseOut{showBase(b)}, err
}

func (a *API) createBase(ctx context.Context, in *newBaseIn) (savedBase, error) {
	b, err := a.Knowledge.CreateBase(ctx, owner(ctx), in.BaseChange)
	if err != nil {
		err = fault.Wrap(err, "", "The knowledgebase could not be created. Try again in a moment.")
	}
	return savedBase{"The new knowledgebase was saved.", showBase(b)}, err
}

func (a *API) findBase(ctx context.Context, in *baseIn) error {
	_, err := a.Knowledge.Base(ctx, owner(ctx), knowledge.ID(in.ID))
	return err
}

func (a *API) updateBase(ctx context.Context, in *baseIn) (savedBase, error) {
	b, err := a.Knowledge.UpdateBase(ctx, owner(ctx), knowledge.ID(in.ID), in.BaseChange)
	return savedBase{"The changes to the knowledgebase were saved.", showBase(b)}, err
}

func (a *API) deleteBase(ctx context.Context, in *baseRef) (wire.Message, error) {
	return wire.Message{Message: "The knowledgebase was removed."}, a.Knowledge.DeleteBase(ctx, owner(ctx), knowledge.ID(in.ID))
}

func (a *API) findAskedBase(ctx context.Context, in *askBaseIn) error {
	_, err := a.Knowledge.Base(ctx, owner(ctx), knowledge.ID(in.ID))
	return err
}

func (a *API) askBase(ctx context.Context, in *askBaseIn) (passagesOut, error) {
	list, err := a.Knowledge.Search(ctx, knowledge.ID(in.ID), in.Query, in.Limit)
	return passagesOut{list}, err
}
