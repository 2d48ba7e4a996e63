package app_test

import (
	"testing"

	"parley/api/apitest"
)

// What lists grew by is folded into their counts by itself, and the total stays what it was (contract 1.13).
func TestCountsAreFolded(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		lines := func() (n int) {
			t.Helper()
			if err := s.DB.Get(t.Context(), &n, `SELECT count(*) FROM list_changes WHERE list = 'assistants'`); err != nil {
				t.Fatal(err)
			}
			return n
		}
		total := func() string { return s.Send("GET /user/assistants/get", "").Want(200).Text("total") }
		s.Send("POST /user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"You sell maps.","llm_model_id":1}`).Want(201)
		if n, all := lines(), total(); n != 1 || all != "1" {
			t.Errorf("%d lines, total %s", n, all)
		}
		s.Work()
		s.Send("POST /sim/clock/advance", `{"seconds":1}`).Want(200)
		if n, all := lines(), total(); n != 0 || all != "1" {
			t.Errorf("after a while %d lines, total %s", n, all)
		}
	})
}
