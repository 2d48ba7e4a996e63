package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"parley/providers/rest"
)

// Embedder is an embedding model of a server.
type Embedder struct {
	client *Client
	model  string
}

// Embedder names an embedding model.
func (c *Client) Embedder(model string) *Embedder { return &Embedder{c, model} }

// Model is the name vectors must be kept apart by: vectors of two models cannot be compared.
func (e *Embedder) Model() string { return e.model }

// Embed turns texts into vectors, one each, in order.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	a, err := e.client.post(ctx, "/embeddings", "application/json", body)
	if err != nil {
		return nil, rest.Explain("embedding service", err)
	}
	defer a.Close()
	var got struct {
		Data []struct {
			Index     int
			Embedding []float32
		}
	}
	if err := json.NewDecoder(a).Decode(&got); err != nil {
		return nil, rest.Explain("embedding service", err)
	}
	out := make([][]float32, len(texts))
	for _, d := range got.Data {
		if d.Index < 0 || d.Index >= len(out) {
			return nil, rest.Explain("embedding service", fmt.Errorf("vector %d of %d", d.Index, len(texts)))
		}
		out[d.Index] = d.Embedding
	}
	for i, v := range out {
		if len(v) == 0 {
			return nil, rest.Explain("embedding service", fmt.Errorf("no vector for text %d", i))
		}
	}
	return out, nil
}
