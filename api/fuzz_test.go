package api_test

import (
	"testing"

	"parley/api/apitest"
)

// world makes one of everything that ids in bodies and paths can name.
func world(s *apitest.Server) {
	s.Send("POST /user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"Be kind.","llm_model_id":1}`).Want(201)
	s.Send("POST /user/knowledgebases", `{"name":"Prices"}`).Want(201)
	s.Send("POST /user/tools", `{"name":"shop","description":"d","endpoint":"https://x.example","method":"GET"}`).Want(201)
	s.Send("POST /user/folder", `{"name":"Acme"}`).Want(201)
	s.Send("POST /user/label", `{"name":"Acme"}`).Want(201)
	s.Send("POST /user/phone-numbers/caller-ids", `{"phone_number":"+491701230077"}`).Want(201)
}

// TestMutations sends bad input to every writing route: never a 5xx, always the documented shape, and what is refused
// changes nothing. make fuzz goes on for as long as it is told.
//
// Contract: 1.2 1.4 1.6 1.8 1.10
func TestMutations(t *testing.T) {
	m := apitest.NewMutator(t, world)
	for n := range m.Len() {
		for seed := range uint64(8) {
			m.Try(t, n, seed, nil)
		}
	}
}

func FuzzRoutes(f *testing.F) {
	m := apitest.NewMutator(f, world)
	f.Add(uint(0), uint64(1), []byte{})
	f.Add(uint(1), uint64(2), []byte(`{"name":"\u0000","id":[{}]}`))
	f.Fuzz(func(t *testing.T, route uint, seed uint64, raw []byte) { m.Try(t, int(route%uint(m.Len())), seed, raw) })
}
