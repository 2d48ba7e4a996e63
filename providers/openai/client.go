// Package openai talks to any server that speaks the OpenAI HTTP API: the vendor itself, Ollama, llama.cpp, LM Studio, vLLM and
// many more. It fills the roles of a language model, a transcriber, a voice and an embedder.
package openai

import (
	"cmp"
	"context"
	"net/http"

	"parley/providers/rest"
)

// Config says where a server is and what to ask of it.
type Config struct {
	BaseURL string // ends in /v1 with most servers; empty = https://api.openai.com/v1
	Key     string // empty for servers that need none
}

// Client is one server. It is safe for concurrent use.
type Client struct{ *rest.Client }

// New makes a client. Nothing is sent yet.
func New(c Config) *Client {
	return &Client{rest.New(cmp.Or(c.BaseURL, "https://api.openai.com/v1"), rest.Bearer(c.Key))}
}

// Check asks for the list of models. A server that has none but answers is well.
func (c *Client) Check(ctx context.Context) error { return c.Alive(ctx, "/models") }

// post sends a body and returns the answer once it has begun; the caller closes it.
func (c *Client) post(ctx context.Context, path, contentType string, body []byte) (*rest.Answer, error) {
	return c.Do(ctx, http.MethodPost, path, contentType, body)
}
