package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/providers/providertest"
)

func TestModelRole(t *testing.T) {
	c := quick(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, hello) })
	providertest.Model(t, c.Model("m"), agent.Request{System: "You sell maps.", Messages: []agent.Message{{Role: agent.RoleUser, Text: "Hello?"}}})
	refused := quick(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: sk-test"}}`)
	})
	providertest.Away(t, refused.Model("m"), "sk-test")
}

func TestEmbedderRole(t *testing.T) {
	c := quick(t, func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		var data []map[string]any
		for i := len(in.Input) - 1; i >= 0; i-- { // any order: the index counts
			text := in.Input[i]
			data = append(data, map[string]any{"index": i, "embedding": []int{len(text), strings.Count(text, "e") + 1}})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
			t.Error(err)
		}
	})
	providertest.Embedder(t, c.Embedder("e"))
}
