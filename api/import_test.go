package api_test

import (
	"bytes"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
)

// sheet sends a file of leads with form fields given as "name=value".
func sheet(t *testing.T, s *apitest.Server, file string, fields ...string) apitest.Answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if file != "" {
		part, err := form.CreateFormFile("file", "leads.csv")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(file)); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", api.Base+"/user/leads/import", &body)
	r.Host = "p.example"
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", "Bearer "+s.Token)
	return s.Do(r)
}

// TestImportLeads reads files as spreadsheets write them, says which lines it left out and why, and refuses what is no
// such file.
//
// Contract: 18.1 7.2
func TestImportLeads(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk := s.Send("POST /user/assistant", callAssistant("outbound")).Want(201).Text("data.id")
		id := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+desk+`}`).Want(201).Text("data.id")
		sheet(t, s, "").WantError("file: The file field is required.", "campaign_id: The campaign id field is required.", "phone_column: The phone column field is required.")
		sheet(t, s, "phone\n", "campaign_id=999", "phone_column=phone").Want(404, `{"message":"No campaign with this id exists in your account."}`)
		sheet(t, s.Stranger(), "phone\n", "campaign_id="+id, "phone_column=phone").Want(404, `{"message":"No campaign with this id exists in your account."}`)
		sheet(t, s, "phone\n", "campaign_id="+id, "phone_column=mobile").WantError("phone_column: The selected phone column is invalid.")
		sheet(t, s, "phone\n", "campaign_id="+id, "phone_column=phone", "secondary_columns[]=home").WantError("secondary_columns.0: The selected secondary_columns.0 is invalid.")
		const done = `{"message":"Import finished","data":{"created":`
		sheet(t, s, "\ufeffphone,name,home\n+49 170 1000001,Änne,+49 (170) 1000009\n+491701000001,Dup,\nabc,Bad,\n\"+491701000002\",\"Q \"\"x\"\"\",12\n+491701000003\n+491701000004,N,+491701000004\n",
			"campaign_id="+id, "phone_column=phone", "secondary_columns[]=home").
			Want(200, done+`4,"skipped":1,"errors":[{"row":4,"error":"The phone number is not a valid E.164 phone number"}]}}`)
		sheet(t, s, "name;phone\nBo;+491701000001\n", "campaign_id="+id, "phone_column=phone", "allow_dupplicate=1").Want(200, done+`1,"skipped":0,"errors":[]}}`)
		sheet(t, s, "name,phone\nBo,+491701000001\n", "campaign_id="+id, "phone_column=phone", "allow_duplicate=0").Want(200, done+`0,"skipped":1,"errors":[]}}`)
		got := s.Send("GET /user/leads?campaign_id="+id, "").Want(200)
		if got.Text("total") != "5" || got.Text("data.0.variables.name") != "Bo" || got.Text("data.1.secondary_contacts") != "[]" ||
			got.Text("data.3.variables.name") != `Q "x"` || got.Text("data.4.secondary_contacts.0.phone_number") != "+491701000009" {
			t.Errorf("%s", got.Body)
		}
	})
}
