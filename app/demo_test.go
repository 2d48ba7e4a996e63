package app_test

import (
	"strings"
	"testing"

	"parley/api/apitest"
)

// The first person who opens the console finds an assistant that answers with the built-in engines; once deleted, it stays away.
func TestDemo(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		acc, err := s.App.Accounts.First(t.Context(), s.DB)
		if err != nil {
			t.Fatal(err)
		}
		signIn := func() {
			token, err := s.App.Accounts.Welcome(t.Context(), s.DB, acc.ID)
			if err != nil {
				t.Fatal(err)
			}
			s.Keyless().Send("POST /console/sign-in", `{"token":"`+token+`"}`).Want(200)
		}
		s.Send("GET /user/assistants", "").Want(200, "[]")
		signIn()
		uuid := s.Send("GET /user/assistants", "").Want(200).Text("0.uuid")
		chat := s.Keyless().Send("POST /conversations", `{"assistant_id":"`+uuid+`"}`).Want(200).Text("conversation_id")
		for _, c := range []struct{ say, hear string }{
			{"When are you open?", "from nine"},
			{"What does it cost to rent a bike?", "15 euros"},
			{"How much does a repair cost?", "20 euros"},
			{"Where can I find you?", "Pier 4"},
			{"I want to talk to a person", "called back"},
			{"Yes please", "Which number"},
		} {
			answer := s.Keyless().Send("POST /conversations/"+chat+"/messages", `{"message":"`+c.say+`"}`).Want(200).Text("message")
			if !strings.Contains(answer, c.hear) {
				t.Errorf("%s\n got %s\nwant … %s …", c.say, answer, c.hear)
			}
		}
		s.Send("DELETE /user/assistants/"+uuid, "").Want(200)
		signIn()
		s.Send("GET /user/assistants", "").Want(200, "[]")
	})
}
