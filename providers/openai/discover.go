package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Server is a server found on this machine.
type Server struct {
	Name    string // "Ollama"
	BaseURL string
	Models  []string
}

// usual are the default ports of local servers.
var usual = []struct {
	name string
	port int
}{{"Ollama", 11434}, {"llama.cpp", 8080}, {"LM Studio", 1234}, {"vLLM", 8000}}

// Discover asks the usual loopback ports for their models. What it finds is for a person to choose from; nothing is used
// unasked. It takes at most half a second.
func Discover(ctx context.Context) []Server {
	found := make([]*Server, len(usual))
	var wg sync.WaitGroup
	for i, u := range usual {
		wg.Go(func() {
			base := fmt.Sprintf("http://127.0.0.1:%d/v1", u.port)
			if models := probe(ctx, base); len(models) > 0 {
				found[i] = &Server{u.name, base, models}
			}
		})
	}
	wg.Wait()
	var out []Server
	for _, s := range found {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// probe lists the models of a server, or nothing when none speaks this API there.
func probe(ctx context.Context, base string) []string {
	ctx, stop := context.WithTimeout(ctx, 500*time.Millisecond)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil
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
