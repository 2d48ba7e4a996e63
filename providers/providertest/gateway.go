package providertest

import (
	"errors"
	"testing"

	"parley/messaging"
)

// Gateway tests a messaging platform with a sender that it knows, a template of it, and one it does not know.
func Gateway(t *testing.T, g messaging.Gateway, known messaging.Sender, approved, unknown messaging.Template, params []string) {
	ctx := t.Context()
	state, err := g.Sender(ctx, known)
	if err != nil || state.Status != messaging.SenderOnline {
		t.Errorf("the sender is %+v: %v", state, err)
	}
	templates, err := g.Templates(ctx, known)
	if err != nil {
		t.Fatal(err)
	}
	there := false
	for _, s := range templates {
		if s.Ref == "" || s.Name == "" || s.Language == "" {
			t.Errorf("%+v", s)
		}
		there = there || s.Name == approved.Name && s.Language == approved.Language
	}
	if !there {
		t.Errorf("%s is not among %+v", approved.Name, templates)
	}
	first, err := g.Send(ctx, messaging.Outgoing{Sender: known, To: "+491701234567", Text: "Hello.", Template: &approved, Params: params,
		Ref: "r1"})
	if err != nil || first == "" {
		t.Errorf("template: %q %v", first, err)
	}
	second, err := g.Send(ctx, messaging.Outgoing{Sender: known, To: "+491701234567", Text: "Hello again.", Ref: "r2"})
	if err != nil || second == "" || second == first {
		t.Errorf("text: %q after %q, %v", second, first, err)
	}
	_, err = g.Send(ctx, messaging.Outgoing{Sender: known, To: "+491701234567", Text: "Hello.", Template: &unknown, Ref: "r3"})
	if r, ok := errors.AsType[*messaging.Refusal](err); !ok || r.Code == "" || r.Message == "" {
		t.Errorf("a template it does not know: %v", err)
	}
}

// Texter tests a carrier of SMS.
func Texter(t *testing.T, c messaging.Texter, from string) {
	first, err := c.SMS(t.Context(), from, "+491701234567", "Hello.", "r1")
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	if second, err := c.SMS(t.Context(), from, "+491701234567", "Hello again.", "r2"); err != nil || second == "" || second == first {
		t.Errorf("%q after %q, %v", second, first, err)
	}
}
