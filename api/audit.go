package api

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"parley/accounts"
	"parley/audit"
	"parley/fault"
	"parley/value"
	"parley/wire"
)

type auditIn struct {
	wire.CursorPaging[audit.Place]
	Actor  string `query:"actor" rule:"max=255"`
	Action string `query:"action" rule:"max=255"`
	From   string `query:"from" rule:"date"`
	To     string `query:"to" rule:"date"`
}

type auditOut struct {
	ID        int64           `json:"id"`
	At        value.Time      `json:"at"`
	Actor     string          `json:"actor" doc:"E-mail address of a person, or name of a key."`
	UserID    *int64          `json:"user_id"`
	KeyID     *int64          `json:"key_id"`
	Address   string          `json:"address" doc:"Of the client; of IPv6 its /64."`
	Action    string          `json:"action" doc:"The operation's id in this document, or sign_in, sign_in.refused, sign_out, member.joined."`
	Subject   string          `json:"subject" doc:"Path of the record."`
	Changes   json.RawMessage `json:"changes" doc:"By field what it was before and is after; changed where that is a secret or about a customer."`
	RequestID string          `json:"request_id"`
}

func (a *API) audited(ctx context.Context, in *auditIn) (wire.CursorPage[auditOut], error) {
	at := in.Cursor.At
	f := audit.Filter{Actor: in.Actor, Action: in.Action}
	f.From, _ = time.Parse(time.DateOnly, in.From) // checked by the rule; empty is the zero time
	if to, err := time.Parse(time.DateOnly, in.To); err == nil {
		f.To = to.AddDate(0, 0, 1)
	}
	list, more, err := a.Audit.List(ctx, owner(ctx), f, at, in.PerPage)
	if err != nil {
		return wire.CursorPage[auditOut]{}, err
	}
	var next, prev string
	if len(list) > 0 {
		if more || at.After != 0 {
			next = wire.Cursor[audit.Place]{At: audit.Place{Before: list[len(list)-1].ID}}.String()
		}
		if at.Before != 0 || more && at.After != 0 {
			prev = wire.Cursor[audit.Place]{At: audit.Place{After: list[0].ID}}.String()
		}
	}
	return wire.NewCursorPage(ctx, in.PerPage, each(list, showAudit), next, prev), nil
}

func showAudit(e audit.Entry) auditOut {
	return auditOut{e.ID, value.At(e.At.Time()), e.Actor, (*int64)(e.UserID), e.KeyID, e.Address, e.Action, e.Subject,
		json.RawMessage(e.Changes), e.RequestID}
}

// note is an entry in the name of whoever sent the request.
func note(ctx context.Context, action, subject string) audit.Entry {
	c := callerOf(ctx)
	e := audit.Entry{Actor: c.Name, Address: wire.Client(ctx), Action: action, Subject: subject, RequestID: fault.RequestID(ctx)}
	if c.Key != 0 {
		e.KeyID = &c.Key
	} else if c.User != 0 {
		e.Actor, e.UserID = c.Email, &c.User
	}
	return e
}

// noteChange is told of every change by a route.
func (a *API) noteChange(ctx context.Context, c wire.Change) error {
	if accounts.Right(c.Route.Right()) == accounts.Self {
		return nil // what matters of these notes itself
	}
	e := note(ctx, c.Route.OperationID(), c.Place)
	changes, err := json.Marshal(changesOf(c))
	if err != nil {
		return err
	}
	e.Changes = string(changes)
	return a.Audit.Add(ctx, a.DB, owner(ctx), e)
}

const changed = "changed"

type beforeAfter struct {
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// changesOf compares a record before and after a change. Of a new record every field of the answer is after.
func changesOf(c wire.Change) map[string]any {
	before, after := record(c.Before), record(c.After)
	if c.Route.Method == "POST" {
		after = record(c.Answer)
	}
	out := map[string]any{}
	for _, fields := range []map[string]json.RawMessage{before, after} {
		for name := range fields {
			if name != "updated_at" && !bytes.Equal(before[name], after[name]) {
				out[name] = beforeAfter{veiled(name, before[name]), veiled(name, after[name])}
			}
		}
	}
	for _, m := range c.Body.Members {
		if hidden.MatchString(m.Key) || len(before)+len(after) == 0 {
			out[m.Key] = changed
		}
	}
	if private[accounts.Right(c.Route.Right())] {
		for name := range out {
			out[name] = changed
		}
	}
	return out
}

// private are the rights to records about customers: the audit names their fields and keeps nothing of what they say.
var private = map[accounts.Right]bool{accounts.ToCalls: true, accounts.Records: true, accounts.ToLeads: true, accounts.ToMessages: true}

// record are the fields of an answer, or of what it holds as data.
func record(answer []byte) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer, &fields) != nil {
		return nil
	}
	for _, name := range []string{"data", "api_key"} {
		var inner map[string]json.RawMessage
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, &inner) == nil && inner != nil {
			return inner
		}
	}
	return fields
}

// hidden are names of fields that hold secrets, or addresses that let somebody in.
var hidden = regexp.MustCompile(`(?i)(password|secret|token$|credential|private_key|api_key|invitation_url|headers|^code$|codes$)`)

// mostAudited is the longest value that is kept, in bytes of JSON.
const mostAudited = 4096

// veiled is a value without secrets: fields of that kind, at any depth, and long values are only said to be changed.
func veiled(name string, raw json.RawMessage) json.RawMessage {
	switch {
	case raw == nil:
		return json.RawMessage("null")
	case hidden.MatchString(name), len(raw) > mostAudited:
		return json.RawMessage(`"` + changed + `"`)
	}
	v, err := value.Parse(raw)
	if err != nil || !slices.Contains([]value.Kind{value.KindObject, value.KindArray}, v.Kind) {
		return raw
	}
	return veilInside(v).JSON()
}

func veilInside(v value.Value) value.Value {
	for i, m := range v.Members {
		if hidden.MatchString(m.Key) {
			m.Value = value.Value{Kind: value.KindString, Digits: changed}
		}
		v.Members[i].Value = veilInside(m.Value)
	}
	for i, e := range v.Items {
		v.Items[i] = veilInside(e)
	}
	return v
}
