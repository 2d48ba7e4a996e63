package api

import (
	"context"

	"parley/fault"
	"parley/knowledge"
	"parley/value"
	"parley/wire"
)

type newDocumentIn struct {
	Base        int64                 `path:"knowledgebaseId"`
	Name        string                `json:"name" rule:"required max=255"`
	Description value.Opt[string]     `json:"description" rule:"null max=255"`
	Type        string                `json:"type" rule:"required oneof=website|pdf|txt|docx"`
	URL         value.Opt[string]     `json:"url" rule:"null required_without=links when=type:website url public"`
	Links       []knowledge.Link      `json:"links" rule:"null max=50"`
	LinkLimit   int64                 `json:"relative_links_limit" rule:"null=default min=1 max=50" default:"10"`
	File        value.Opt[value.File] `json:"file" rule:"null max=20480"`
}

type documentsRef struct {
	Base int64 `path:"knowledgebaseId"`
}

type documentRef struct {
	Base int64 `path:"knowledgebaseId"`
	ID   int64 `path:"documentId"`
}

type documentIn struct {
	Base int64 `path:"knowledgebaseId"`
	ID   int64 `path:"documentId"`
	knowledge.DocumentChange
}

type documentOut struct {
	ID          int64      `json:"id"`
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	Type        string     `json:"type"`
	TypeLabel   string     `json:"type_label"`
	Status      string     `json:"status"`
	StatusLabel string     `json:"status_label"`
	CreatedAt   value.Time `json:"created_at"`
	UpdatedAt   value.Time `json:"updated_at"`
	Error       *string    `json:"error"`
	Pages       *int64     `json:"pages_count"`
	Chunks      *int64     `json:"chunks_count"`
	Size        *int64     `json:"size_bytes"`
	Source      any        `json:"source"` // websiteSource or fileSource
}

type websiteSource struct {
	URL       *string          `json:"url"`
	Links     []knowledge.Link `json:"links"`
	LinkLimit int64            `json:"relative_links_limit"`
}

type fileSource struct {
	Filename *string `json:"filename"`
}

type documentsOut struct {
	Data []documentOut `json:"data"`
}

type oneDocumentOut struct {
	Data documentOut `json:"data"`
}

type savedDocument struct {
	Message string      `json:"message"`
	Data    documentOut `json:"data"`
}

func showDocument(d knowledge.Document) documentOut {
	out := documentOut{int64(d.ID), d.Name, d.Description, d.Type, labels[d.Type], d.Status, labels[d.Status], value.At(d.CreatedAt),
		value.At(d.UpdatedAt),
		d.Error, d.Pages, d.Chunks, d.Size, fileSource{d.Filename}}
	if d.Type == "website" {
		out.Source = websiteSource{d.URL, append([]knowledge.Link{}, d.Links...), d.LinkLimit}
	}
	return out
}

func (a *API) findBaseOfNew(ctx context.Context, in *newDocumentIn) error {
	_, err := a.Knowledge.Base(ctx, owner(ctx), knowledge.ID(in.Base))
	return err
}

// checkDocument demands a source that fits the type.
func checkDocument(_ context.Context, in *newDocumentIn) error {
	switch in.Type {
	case "", "website":
	default:
		f := in.File.V
		if !f.Sent() {
			return fault.Input(fault.Own("file", "Documents of this type need a file. Attach one and send again."))
		}
		content, err := f.Open()
		if err != nil {
			return err
		}
		defer content.Close()
		if !knowledge.Fits(in.Type, f.Name, content, f.Size) {
			return fault.Input(fault.Bad("file", "file.type", in.Type))
		}
	}
	return nil
}

func (a *API) createDocument(ctx context.Context, in *newDocumentIn) (savedDocument, error) {
	n := knowledge.NewDocument{Name: in.Name, Description: in.Description.Ptr(), Type: in.Type}
	if in.Type == "website" {
		n.URL, n.Links, n.LinkLimit = in.URL.Ptr(), in.Links, in.LinkLimit
	} else {
		f, err := in.File.V.Open()
		if err != nil {
			return savedDocument{}, err
		}
		defer f.Close()
		n.File, n.Filename, n.Size = f, in.File.V.Name, in.File.V.Size
	}
	d, err := a.Knowledge.CreateDocument(ctx, owner(ctx), knowledge.ID(in.Base), n)
	return savedDocument{"The document was accepted and waits for processing.", showDocument(d)}, err
}

func (a *API) listDocuments(ctx context.Context, in *documentsRef) (documentsOut, error) {
	list, err := a.Knowledge.Documents(ctx, owner(ctx), knowledge.ID(in.Base))
	return documentsOut{each(list, showDocument)}, err
}

func (a *API) getDocument(ctx context.Context, in *documentRef) (oneDocumentOut, error) {
	d, err := a.Knowledge.Document(ctx, owner(ctx), knowledge.ID(in.Base), knowledge.DocumentID(in.ID))
	return oneDocumentOut{showDocument(d)}, err
}

func (a *API) findDocument(ctx context.Context, in *documentIn) error {
	_, err := a.Knowledge.Document(ctx, owner(ctx), knowledge.ID(in.Base), knowledge.DocumentID(in.ID))
	return err
}

func (a *API) updateDocument(ctx context.Context, in *documentIn) (savedDocument, error) {
	d, err := a.Knowledge.UpdateDocument(ctx, owner(ctx), knowledge.ID(in.Base), knowledge.DocumentID(in.ID), in.DocumentChange)
	return savedDocument{"The changes to the document were saved.", showDocument(d)}, err
}

func (a *API) deleteDocument(ctx context.Context, in *documentRef) (wire.Message, error) {
	err := a.Knowledge.DeleteDocument(ctx, owner(ctx), knowledge.ID(in.Base), knowledge.DocumentID(in.ID))
	if err != nil && fault.Of(err).Kind == fault.Internal {
		err = fault.Wrap(err, "", "The document could not be deleted. Try again in a moment.")
	}
	return wire.Message{Message: "The document was removed."}, err
}

func (a *API) reprocess(ctx context.Context, in *documentRef) (oneDocumentOut, error) {
	d, err := a.Knowledge.Reprocess(ctx, owner(ctx), knowledge.ID(in.Base), knowledge.DocumentID(in.ID))
	return oneDocumentOut{showDocument(d)}, err
}
