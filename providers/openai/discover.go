package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"parley/safe"
)

// Server is a server that speaks this API, and what it has.
type Server struct {
	Name    string // "Ollama"
	BaseURL string
	Models  []string
}

// Usual are the default places of servers on this machine. ollama is the value of OLLAMA_HOST, which moves that one; an
// address elsewhere is not looked at.
func Usual(ollama string) []Server {
	at := "127.0.0.1:11434"
	if host := onLoopback(ollama); host != "" {
		at = host
	}
	return []Server{{Name: "Ollama", BaseURL: "http://" + at + "/v1"}, {Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1"},
		{Name: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1"}, {Name: "vLLM", BaseURL: "http://127.0.0.1:8000/v1"}}
}

// onLoopback is a host and port on this machine, empty for anything else.
func onLoopback(address string) string {
	address = strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/")
	if !strings.Contains(address, ":") {
		address += ":11434"
	}
	at, err := netip.ParseAddrPort(strings.Replace(address, "localhost:", "127.0.0.1:", 1))
	switch {
	case err != nil:
		return ""
	case at.Addr().IsUnspecified():
		return fmt.Sprintf("127.0.0.1:%d", at.Port())
	case at.Addr().IsLoopback():
		return at.String()
	}
	return ""
}

// Discover asks places for their models and returns those that have some. What it finds is for a person to choose from;
// nothing is used unasked. It takes at most half a second.
func Discover(ctx context.Context, places []Server) []Server {
	ctx, stop := context.WithTimeout(ctx, 500*time.Millisecond)
	defer stop()
	var wg safe.Group
	found := slices.Clone(places)
	for i := range found {
		wg.Go("search for model servers", func() { found[i].Models = probe(ctx, found[i].BaseURL, "") })
	}
	wg.Wait()
	return slices.DeleteFunc(found, func(s Server) bool { return len(s.Models) == 0 })
}

// FirstModel is the first model of a server that is meant for talking; empty when it has none or does not answer.
func FirstModel(ctx context.Context, base, key string) string {
	ctx, stop := context.WithTimeout(ctx, 3*time.Second)
	defer stop()
	chat, _, _ := Server{Models: probe(ctx, strings.TrimRight(base, "/"), key)}.Offer()
	return chat
}

// kinds tell by the names of models what they are for; the others are for talking.
var kinds = []struct {
	kind  string
	words []string
}{{"stt", []string{"whisper", "transcribe", "parakeet"}}, {"tts", []string{"tts", "kokoro", "piper", "orpheus"}},
	{"other", []string{"embed", "rerank", "bge-", "minilm"}}}

func kindOf(model string) string {
	model = strings.ToLower(model)
	for _, k := range kinds {
		if slices.ContainsFunc(k.words, func(w string) bool { return strings.Contains(model, w) }) {
			return k.kind
		}
	}
	return "chat"
}

// Offer are the server's first models for talking, transcription and speech; empty where it has none.
func (s Server) Offer() (chat, stt, tts string) {
	first := map[string]string{}
	for _, m := range s.Models {
		if k := kindOf(m); first[k] == "" {
			first[k] = m
		}
	}
	return first["chat"], first["stt"], first["tts"]
}

// probe lists the models of a server, or nothing when none speaks this API there.
func probe(ctx context.Context, base, key string) []string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	direct := &http.Transport{DisableKeepAlives: true}
	res, err := direct.RoundTrip(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	var list struct {
		Data []struct{ ID string }
	}
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&list) != nil {
		return nil
	}
	var out []string
	for _, m := range list.Data {
		if m.ID != "" {
			out = append(out, m.ID)
		}
	}
	return out
}
