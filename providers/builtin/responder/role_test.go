package responder

import (
	"testing"

	"parley/agent"
	"parley/providers/providertest"
)

func TestModelRole(t *testing.T) {
	providertest.Model(t, Model{}, agent.Request{System: "You sell maps.\n\nFAQ:\nQ: When do you open?\nA: We open at nine.",
		Messages: []agent.Message{{Role: agent.RoleUser, Text: "When do you open?"}}})
}
