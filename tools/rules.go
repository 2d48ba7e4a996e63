package tools

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/placeholders"
	"parley/ssrf"
)

// reserved are the names of built-in functions, and of their second and later occurrences.
var reserved = regexp.MustCompile(`^(?:transfer_call|warm_transfer_call|end_call|send_dtmf|check_availability|book_appointment|transfer_to_assistant|search_knowledgebase)(?:_[0-9]+)?$`)

var (
	httpToken  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	forbidden  = regexp.MustCompile(`(?i)^(?:host|content-length|transfer-encoding|connection)$`)
	lineBreaks = regexp.MustCompile(`[\r\n\x00]`)
)

// ErrNotFound answers for a tool that does not exist or is somebody else's.
var ErrNotFound = fault.New(fault.NotFound, "", "No tool with this id exists in your account.")

// judge says everything that is wrong with a change, nil when nothing is. self is the tool that is changed, zero for a new
// one; bad is what is wrong already.
func (t *Tools) judge(ctx context.Context, tx *db.Tx, owner accounts.ID, self ID, c Change, bad []fault.Field) error {
	bad = append(bad, c.rules(t.guard.CheckURL)...)
	if name := c.Name.V; c.Name.Has() && name != "" && !reserved.MatchString(name) {
		var n int
		if err := tx.Get(ctx, &n, `SELECT count(*) FROM tools WHERE account_id = $1 AND name = $2 AND id <> $3`, owner, name, self); err != nil {
			return err
		}
		if n > 0 {
			bad = append(bad, fault.Bad("name", "taken"))
		}
	}
	return fault.Input(bad...)
}

// CheckDefinition says what is wrong with a definition that is only tried, so that its name may be taken.
func (t *Tools) CheckDefinition(c Change) error { return fault.Input(c.rules(t.guard.CheckURL)...) }

// rules are the rules that tags cannot say.
func (c Change) rules(checkURL func(string) error) (bad []fault.Field) {
	if reserved.MatchString(c.Name.V) {
		bad = append(bad, fault.Own("name", "This tool name is reserved."))
	}
	if c.Endpoint.Has() && c.Endpoint.V != "" {
		switch err := checkURL(concrete(c.Endpoint.V)); {
		case len([]rune(c.Endpoint.V)) > 2048 || errors.Is(err, ssrf.ErrInvalid):
			bad = append(bad, fault.Bad("endpoint", "url"))
		case err != nil:
			bad = append(bad, fault.Bad("endpoint", "private"))
		}
	}
	return bad
}

// concrete puts a plain word where placeholders stand, so that the rest can be judged as a URL.
func concrete(endpoint string) string {
	return placeholders.Expand(endpoint, func(string, bool, int) (string, bool) { return "x", true })
}

// full is the answer when the plan's tools are used up.
func full(n int64) error {
	return fault.New(fault.Invalid, "", "Your plan allows %d mid-call tools, and you have that many. Delete one, or change the plan.", n)
}

// named answers a lost race for a name.
func named() error { return fault.Input(fault.Bad("name", "taken")) }

// scalarText writes a static value for a query or a form.
func scalarText(v any) string { return strings.ToValidUTF8(placeholders.Text(v), "") }
