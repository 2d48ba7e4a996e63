package parley

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sections are those of the wire contract.
const sections = `
1.1 Base, transport, encoding
1.2 Order of checks
1.3 Authentication
1.4 Request bodies and input normalisation
1.5 Absent, null, unknown
1.6 Identifiers and ownership
1.7 Formats
1.8 Error shapes by area
1.9 Errors any route can give, the same in every area
1.10 Validation answers
1.11 Success statuses
1.12 Rate limits
1.13 Lists, order, pagination
1.14 Idempotency
1.15 CORS
2 Route index
3.1 GET /user/api-keys
3.2 POST /user/api-keys
3.3 DELETE /user/api-keys/{id}
3.4 GET /user/me
4.1 Record shapes
4.2 Configurable fields
4.3 Mode rules
4.4 Built-in tools (tools elements)
4.5 Routes
4.6 Webhook switches
4.7 Reference lists
4.8 Placeholders
4.9 Observation points
5.1 POST /user/make_call
5.2 Call object
5.3 GET /user/calls
5.4 GET /user/calls/{id}
5.5 DELETE /user/calls/{id}
6.1 Record
6.2 POST /user/campaigns
6.3 GET /user/campaigns
6.4 POST /user/campaigns/update-status
6.5 DELETE /user/campaign/{id}
6.6 Dialling order
7.1 Record
7.2 POST /user/lead
7.3 GET /user/leads
7.4 PUT /user/leads/{id}
7.5 DELETE /user/leads/{id}
8.1 Records
8.2 Knowledgebase routes
8.3 Retrieval effect
8.4 POST /user/knowledgebases/{knowledgebaseId}/documents
8.5 Other document routes
9.1 Fields
9.2 Routes
9.3 Execution
9.4 Arguments
9.5 Secrets
9.6 Test (extension)
10.1 Owned number record
10.2 GET /user/phone-numbers/search
10.3 POST /user/phone-numbers/purchase
10.4 DELETE /user/phone-numbers/{id}
10.5 Lists
10.6 PUT /user/phone-numbers/{id}
10.7 SIP trunks
11.1 Records
11.2 GET /user/whatsapp/senders
11.3 GET /user/whatsapp/senders/{senderId}/templates
11.4 GET /user/whatsapp/session-status
11.5 POST /user/whatsapp/send
11.6 POST /user/whatsapp/send-freeform
11.7 Incoming messages
12 POST /user/sms
13.1 Who may do what
13.2 POST /conversations
13.3 GET /conversations/{uuid}
13.4 POST /conversations/{uuid}/messages
13.5 GET /user/conversations
13.6 POST /automate/conversations/{uuid}/enable-ai, /disable-ai
13.7 POST /user/ai/generate-reply
14.1 Document
14.2 Knowledgebase (derived)
14.3 Campaign
14.4 Lead
14.5 Call
14.6 Assistant status
14.7 Number release
14.8 Messaging window, per sender and recipient
14.9 Conversation
14.10 Message delivery
14.11 Template and sender status
15.1 Common delivery rules
15.2 Post-call (call.completed)
15.3 Inbound (inbound_call.completed)
15.4 Conversation ended (conversation.ended)
15.5 Message status (message_status)
15.6 Verification recipe
15.7 Refused destinations
16.1 Account kinds
16.2 What is charged when
16.3 Enforcement
16.4 Holds and refusals
16.5 Plans
17 Limits
18.1 API
18.2 Outside /api
18.3 Surfaces beside the routes above
19 Folders and labels
20 Configuration keys named here
`

var mentions = regexp.MustCompile(`(?m)^Contract: (.+)$`)

// TestContract keeps docs/contract.md true: which test shows which section of the wire contract. A test says so in a
// line of its doc comment, "Contract: 1.4 1.10".
func TestContract(t *testing.T) {
	shown := showing(t)
	var b strings.Builder
	b.WriteString("# The contract and its tests\n\nEvery section of the wire contract with the tests that show it. A test names its sections in its doc comment;\n`go test . -update` rewrites this page.\n\n| Section | | Tests |\n|---|---|---|\n")
	for line := range strings.SplitSeq(strings.TrimSpace(sections), "\n") {
		number, title, _ := strings.Cut(line, " ")
		tests := shown[number]
		delete(shown, number)
		if len(tests) == 0 {
			tests = []string{"–"}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", number, title, strings.Join(tests, "<br>"))
	}
	for number, tests := range shown {
		t.Errorf("%v show section %s, which the contract does not have", tests, number)
	}
	if *update {
		if err := os.WriteFile("docs/contract.md", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile("docs/contract.md"); err != nil || string(have) != b.String() {
		t.Errorf("docs/contract.md is not what the tests say (%v); go test . -update rewrites it", err)
	}
}

// showing reads the doc comments of all tests: section → tests.
func showing(t *testing.T) map[string][]string {
	t.Helper()
	shown := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Doc == nil || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			for _, m := range mentions.FindAllStringSubmatch(f.Doc.Text(), -1) {
				for _, number := range strings.Fields(strings.ReplaceAll(m[1], ",", " ")) {
					shown[number] = append(shown[number], "`"+filepath.ToSlash(filepath.Dir(path))+"` "+f.Name.Name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tests := range shown {
		slices.Sort(tests)
	}
	return shown
}
