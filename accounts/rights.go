package accounts

import (
	"slices"
	"strings"

	"parley/fault"
)

// Role is what a person is in an account.
type Role string

// The roles, from the one that may most.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Agent  Role = "agent"
	Viewer Role = "viewer"
)

// Right names what a request needs to be allowed.
type Right string

// The rights. Those that change nothing are every key's, whatever its scopes.
const (
	Self           Right = "self"           // one's own session, password and second factor
	Read           Right = "read"           // what everybody sees
	Figures        Right = "figures"        // usage, billing, numbers and trunks, deliveries
	Administration Right = "administration" // people, keys and audit, to look at
	ToAssistants   Right = "assistants"     // assistants, knowledge, tools, webhooks
	ToCalls        Right = "calls"          // calls, live ones too, and the do-not-call list
	Records        Right = "records"        // to delete calls
	ToCampaigns    Right = "campaigns"
	ToLeads        Right = "leads"
	ToMessages     Right = "messages" // the inbox
	ToSenders      Right = "senders"  // WhatsApp senders and templates
	ToNumbers      Right = "numbers"  // numbers and trunks
	ToBilling      Right = "billing"
	ToKeys         Right = "keys"    // keys, and secrets that are shown
	ToMembers      Right = "members" // people
	TheAccount     Right = "account" // name, time zone, simulator
	Operate        Right = "operate" // the installation; who its operators are is asked where it is used
)

// scope "" is for rights that no scope limits, "*" for those that only an unlimited key has.
var rights = map[Right]struct {
	scope string
	roles []Role
}{
	Self:           {"", []Role{Owner, Admin, Agent, Viewer}},
	Read:           {"", []Role{Owner, Admin, Agent, Viewer}},
	Figures:        {"", []Role{Owner, Admin, Viewer}},
	Administration: {"", []Role{Owner, Admin}},
	ToAssistants:   {"assistants", []Role{Owner, Admin}},
	ToCalls:        {"calls", []Role{Owner, Admin, Agent}},
	Records:        {"calls", []Role{Owner, Admin}},
	ToCampaigns:    {"campaigns", []Role{Owner, Admin}},
	ToLeads:        {"campaigns", []Role{Owner, Admin, Agent}},
	ToMessages:     {"messages", []Role{Owner, Admin, Agent}},
	ToSenders:      {"messages", []Role{Owner, Admin}},
	ToNumbers:      {"numbers", []Role{Owner, Admin}},
	ToBilling:      {"billing", []Role{Owner}},
	ToKeys:         {"keys", []Role{Owner, Admin}},
	ToMembers:      {"*", []Role{Owner, Admin}},
	TheAccount:     {"*", []Role{Owner, Admin}},
	Operate:        {"*", []Role{Owner, Admin, Agent, Viewer}},
}

// Scopes are what a key can be limited to; "*" is everything.
var Scopes = []string{"*", "read", "assistants", "calls", "campaigns", "messages", "numbers", "billing", "keys"}

// Known reports whether there is such a right.
func (r Right) Known() bool { _, ok := rights[r]; return ok }

// Of reports whether a role has the right.
func (r Right) Of(role Role) bool { return slices.Contains(rights[r].roles, role) }

// What refuses a request that its sender has no right to.
var (
	ErrRole  error = fault.New(fault.Forbidden, "FORBIDDEN", "Your role does not allow this.")
	ErrScope error = fault.New(fault.Forbidden, "FORBIDDEN", "This API key may not do this.")
)

// May refuses with [ErrRole] or [ErrScope] what the caller has no right to. A key has the role of who made it.
func (c Caller) May(r Right) error {
	need := rights[r].scope
	switch {
	case c.Key != 0 && need != "" && !c.within(need):
		return ErrScope
	case !r.Of(c.Role) && c.Key != 0:
		return ErrScope
	case !r.Of(c.Role):
		return ErrRole
	}
	return nil
}

// within reports whether the key's scopes contain one.
func (c Caller) within(scope string) bool {
	own := strings.Fields(c.Scopes)
	return slices.Contains(own, "*") || slices.Contains(own, scope)
}

// MayGive refuses scopes for a new key that the caller does not have itself.
func (c Caller) MayGive(scopes []string) error {
	for _, s := range scopes {
		if c.Key != 0 && !c.within(s) {
			return ErrScope
		}
	}
	return nil
}

// Hears reports whether the caller may listen to recordings.
func (c Caller) Hears() bool { return c.Role != Viewer || c.Recordings }
