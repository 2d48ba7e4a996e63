package api_test

import (
	"bytes"
	"fmt"
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

// TestImportPreview counts what an import would do, with the reasons, and stores nothing.
//
// Contract: 18.1
func TestImportPreview(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk := s.Send("POST /user/assistant", callAssistant("outbound")).Want(201).Text("data.id")
		id := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+desk+`}`).Want(201).Text("data.id")
		s.Send("POST /user/lead", `{"phone_number":"+491701000001","campaign_id":`+id+`}`).Want(200)
		file := "phone,name\n+49 170 1000001,There\n+491701000002,New\n+491701000002,Twice\nabc,Bad\n"
		for range 150 { // more than is looked up at once
			file += "+491701000001,There\n"
		}
		send := func(fields ...string) apitest.Answer {
			return sheet(t, s, file, append([]string{"campaign_id=" + id, "phone_column=phone"}, fields...)...)
		}
		const bad = `"errors":[{"row":5,"error":"The phone number is not a valid E.164 phone number"}]}}`
		for range 2 {
			send("preview=1").Want(200, `{"message":"Import preview","data":{"created":1,"skipped":152,`+bad)
		}
		send("preview=1", "allow_duplicate=1").Want(200, `{"message":"Import preview","data":{"created":153,"skipped":0,`+bad)
		send("preview=1", "phone_column=mobile").WantError("phone_column: The selected phone column is invalid.")
		sheet(t, s.Stranger(), file, "campaign_id="+id, "phone_column=phone", "preview=1").Want(404, `{"message":"No campaign with this id exists in your account."}`)
		if total := s.Send("GET /user/leads", "").Want(200).Text("total"); total != "1" {
			t.Errorf("%s leads after previews", total)
		}
		send("preview=0").Want(200, `{"message":"Import finished","data":{"created":1,"skipped":152,`+bad)
		send("preview=1").Want(200, `{"message":"Import preview","data":{"created":0,"skipped":153,`+bad)
	})
}

// TestLeadVariablesAreBounded keeps a lead at 100 variables of 4000 characters, however they come: at once, merged, or in a
// file.
//
// Contract: 7.4 17 18.1
func TestLeadVariablesAreBounded(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk := s.Send("POST /user/assistant", callAssistant("outbound")).Want(201).Text("data.id")
		id := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+desk+`}`).Want(201).Text("data.id")
		names := func(from, to int) (all []string) {
			for i := from; i < to; i++ {
				all = append(all, fmt.Sprintf("v%d", i))
			}
			return all
		}
		object := func(names []string, value string) string {
			return `{"` + strings.Join(names, `":`+value+`,"`) + `":` + value + `}`
		}
		const most = "variables: The variables field must not have more than 100 items."
		lead := s.Send("POST /user/lead", `{"phone_number":"+491701000001","campaign_id":`+id+`,"variables":`+object(names(0, 60), "1")+`}`).Want(200).Text("data.id")
		put := func(variables string) apitest.Answer {
			return s.Send("PUT /user/leads/"+lead, `{"variables":`+variables+`}`)
		}
		put(object(names(50, 110), "2")).WantError(most)
		if got := s.Send("GET /user/leads/"+lead, "").Want(200).Text("data.variables.v50"); got != "1" {
			t.Errorf("a refused update has changed v50 to %s", got)
		}
		put(object(names(50, 100), "2")).Want(200)
		put(`{"v100":1}`).WantError(most)
		put(`{"v99":null,"v100":1}`).Want(200)

		line := func(value string, n int) string { return strings.Repeat(","+value, n) }
		file := "phone," + strings.Join(names(0, 101), ",") + "\n+491701000002" + line("x", 100) + "\n+491701000003" + line("x", 101) +
			"\n+491701000004," + strings.Repeat("ä", 4000) + "\n+491701000005,," + strings.Repeat("ä", 4001) + "\n"
		for _, preview := range []string{"1", "0"} {
			message := map[string]string{"1": "Import preview", "0": "Import finished"}[preview]
			sheet(t, s, file, "campaign_id="+id, "phone_column=phone", "preview="+preview).Want(200, `{"message":"`+message+`","data":{"created":2,"skipped":0,"errors":[`+
				`{"row":3,"error":"The variables field must not have more than 100 items"},{"row":5,"error":"The variables.v1 field must not be greater than 4000 characters"}]}}`)
		}
		var columns []string
		for _, c := range names(0, 11) {
			columns = append(columns, "secondary_columns[]="+c)
		}
		sheet(t, s, file, append(columns, "campaign_id="+id, "phone_column=phone")...).WantError("secondary_columns: The secondary columns field must not have more than 10 items.")
	})
}
