package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/db/dbtest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// withKey adds the key to every request of the protocol's client.
type withKey struct {
	key  string
	next http.RoundTripper
}

func (w withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.key)
	return w.next.RoundTrip(r)
}

// TestMCP lists and calls operations as tools, with the official client.
//
// Contract: 18.3
func TestMCP(t *testing.T) {
	s := apitest.New(t, dbtest.SQLite(t))
	web := httptest.NewServer(s.API)
	defer web.Close()
	connect := func(key string) (*mcp.ClientSession, error) {
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp", HTTPClient: &http.Client{Transport: withKey{key, transport}}, DisableStandaloneSSE: true}, nil)
	}
	if _, err := connect("1|wrong"); err == nil {
		t.Error("a bad key was let in")
	}
	c, err := connect(s.Token)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, tool := range tools.Tools {
		names[tool.Name] = true
	}
	if !names["get_me"] || !names["put_assistant_id"] || names["post_console_sign_in"] {
		t.Errorf("tools %v", names)
	}
	call := func(name string, args map[string]any) (string, bool) {
		t.Helper()
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	if text, failed := call("put_me", map[string]any{"name": "Ada"}); failed || !strings.Contains(text, `"name":"Ada"`) {
		t.Errorf("put_me: %v %s", failed, text)
	}
	if text, failed := call("put_assistant_id", map[string]any{"id": 99, "name": "x"}); !failed || text != `{"message":"Assistant not found"}` {
		t.Errorf("put_assistant_id: %v %s", failed, text)
	}
	if text, failed := call("get_assistants_get", map[string]any{"per_page": 1}); failed || !strings.Contains(text, "per_page=1&page=1") {
		t.Errorf("get_assistants_get: %v %s", failed, text)
	}
}

// TestMCPCountsBadKeys refuses an address that tries keys, as every route does.
//
// Contract: 1.12 18.3
func TestMCPCountsBadKeys(t *testing.T) {
	s := apitest.New(t, dbtest.SQLite(t))
	for i := range 31 {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader("{}"))
		r.RemoteAddr = fmt.Sprintf("[2001:db8::%d]:1", i+1)
		r.Header.Set("Authorization", "Bearer 1|wrong")
		want := 401
		if i == 30 {
			want = 429
		}
		if got := s.Do(r); got.Status != want {
			t.Errorf("try %d: %d", i, got.Status)
		}
	}
}
