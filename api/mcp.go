package api

import (
	"bytes"
	"context"
	"net/http"

	"parley/wire"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcp serves the API's operations as tools of the Model Context Protocol, to the same keys and by the same checks: a
// tool call is a request to the route it stands for.
func (a *API) mcp() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "parley", Version: "1"}, nil)
	for _, r := range a.table {
		if r.Keyed() && !r.Undocumented() && r.Produces() == "application/json" {
			server.AddTool(&mcp.Tool{Name: r.OperationID(), Description: describe(r), InputSchema: r.Arguments(),
				Annotations: &mcp.ToolAnnotations{ReadOnlyHint: r.Method == http.MethodGet}}, a.tool(r))
		}
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, Logger: a.Log, DisableLocalhostProtection: true})
	return a.wire.Keyed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, mostMCP)
		h.ServeHTTP(w, r)
	}))
}

// mostMCP bounds a message in bytes: the body of a route and what is around it.
const mostMCP = 2 << 20

func describe(r wire.Route) string {
	if r.Summary != "" {
		return r.Summary
	}
	return r.Method + " " + r.Path
}

// tool calls the route with the caller's own credential.
func (a *API) tool(route wire.Route) mcp.ToolHandler {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r, err := route.Request(ctx, Base, call.Params.Arguments)
		if err != nil {
			return failed(err.Error()), nil
		}
		if call.Extra != nil {
			for _, name := range []string{"Authorization", "X-Request-Id"} {
				r.Header.Set(name, call.Extra.Header.Get(name))
			}
		}
		w := &memory{header: http.Header{}}
		a.wire.ServeHTTP(w, r)
		result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: w.body.String()}}}
		result.IsError = w.status >= 400
		return result, nil
	}
}

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// memory keeps an answer.
type memory struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (m *memory) Header() http.Header         { return m.header }
func (m *memory) WriteHeader(status int)      { m.status = status }
func (m *memory) Write(b []byte) (int, error) { return m.body.Write(b) }
