package api_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"

	"parley/api/apitest"
	"parley/db"
	"parley/db/dbtest"
)

// TestKnowledge makes, lists, changes and deletes knowledgebases and documents, and refuses what must be refused.
//
// Contract: 1.10 8.1 8.2 8.4 8.5 14.2 18.1
func TestKnowledge(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Cases("testdata/knowledge.http")
		base := "/user/knowledgebases/" + s.Send("GET /user/knowledgebases", "").Text("data.0.id")
		other := s.Stranger()
		for _, line := range []string{"GET " + base, "PUT " + base, "DELETE " + base, "POST " + base + "/search", "GET " + base + "/documents", "POST " + base + "/documents"} {
			other.Send(line, "").Want(404, `{"error":"Knowledgebase not found."}`)
		}
		other.Send("GET /user/knowledgebases", "").Want(200, `{"data":[]}`)
	})
}

// upload sends a multipart form.
func upload(s *apitest.Server, path, filename string, content []byte, fields ...string) apitest.Answer {
	s.T.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		form.WriteField(fields[i], fields[i+1])
	}
	if filename != "" {
		w, err := form.CreateFormFile("file", filename)
		if err != nil {
			s.T.Fatal(err)
		}
		w.Write(content)
	}
	form.Close()
	r := httptest.NewRequest("POST", "/api"+path, &b)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", "Bearer "+s.Token)
	return s.Do(r)
}

// TestUploads takes files that are what they claim to be, and no others.
//
// Contract: 1.2 8.4
func TestUploads(t *testing.T) {
	s := one(t)
	kb := s.Send("POST /user/knowledgebases", `{"name":"Hotel"}`).Want(201).Text("data.id")
	path := "/user/knowledgebases/" + kb + "/documents"
	made := upload(s, path, "prices.txt", []byte("Dogs cost 12 euros."), "name", "Prices", "type", "txt").Want(201)
	if got := made.Text("data.source"); got != "map[filename:prices.txt]" || made.Text("data.status") != "processing" || made.ID("data.size_bytes") != 19 {
		t.Errorf("%s", made.Body)
	}
	const missing = `{"message":"Documents of this type need a file. Attach one and send again.","errors":{"file":["Documents of this type need a file. Attach one and send again."]}}`
	upload(s, path, "", nil, "name", "Prices", "type", "pdf").Want(422, missing)
	s.Send("POST "+path, `{"name":"Prices","type":"pdf"}`).Want(422, missing)
	const unlinked = `{"message":"The url field is required when links is not present.","errors":{"url":["The url field is required when links is not present."]}}`
	s.Send("POST "+path, `{"name":"Prices","type":"website"}`).Want(422, unlinked)
	s.Send("POST "+path, `{"name":"Prices","type":"website","links":[]}`).Want(422, unlinked)
	s.Send("POST "+path, `{"name":"Prices","type":"website","links":[{"link":"nowhere"}]}`).Want(422, `{"message":"The links.0.link field must be a valid URL.","errors":{"links.0.link":["The links.0.link field must be a valid URL."]}}`)
	for _, c := range []struct {
		name, kind string
		content    []byte
		sentence   string
	}{
		{"a.pdf", "pdf", []byte("hello"), "The file field must be a file of type: pdf."},
		{"a.txt", "pdf", []byte("%PDF-1.4"), "The file field must be a file of type: pdf."},
		{"a.pdf", "txt", []byte("hello"), "The file field must be a file of type: txt."},
		{"a.docx", "docx", []byte("PK nothing"), "The file field must be a file of type: docx."},
		{"a.txt", "txt", []byte{}, "The file field must be a file of type: txt."},
		{"a.txt", "txt", bytes.Repeat([]byte("a"), 20480*1024+1), "The file field must not be greater than 20480 kilobytes."},
	} {
		upload(s, path, c.name, c.content, "name", "x", "type", c.kind).Want(422, fmt.Sprintf(`{"message":%q,"errors":{"file":[%q]}}`, c.sentence, c.sentence))
	}
	upload(s, path, "b.TXT", bytes.Repeat([]byte("a"), 20480*1024), "name", "x", "type", "txt").Want(201)
	upload(s, path, "c.txt", bytes.Repeat([]byte("a"), 23<<20), "name", "x", "type", "txt").Want(413, `{"message":"The request body is too large."}`)
}

// TestReading turns documents into answers, in the background, and answers in a chat from them.
//
// Contract: 8.3 8.4 14.1 13.4
func TestReading(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			io.WriteString(w, `<title>Hotel</title><p>Breakfast is served from seven to ten.</p>`)
			return
		}
		http.NotFound(w, r)
	}))
	defer site.Close()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		kb := s.Send("POST /user/knowledgebases", `{"name":"Hotel"}`).Want(201).Text("data.id")
		path := "/user/knowledgebases/" + kb + "/documents"
		s.Send("POST "+path, `{"name":"Site","type":"website","url":"`+site.URL+`/"}`).Want(201)
		upload(s, path, "rules.txt", []byte("Dogs are welcome for 12 euros per night."), "name", "Rules", "type", "txt").Want(201)
		s.Send("POST "+path, `{"name":"Gone","type":"website","url":"`+site.URL+`/gone"}`).Want(201)
		settle(t, s)
		list := s.Send("GET "+path, "").Want(200)
		for path, want := range map[string]string{
			"data.0.status": "failed", "data.0.error": "Could not fetch " + site.URL + "/gone: 404", "data.1.status": "active", "data.1.chunks_count": "1",
			"data.2.status": "active", "data.2.pages_count": "1", "data.2.status_label": "Active", "data.2.type_label": "Website",
		} {
			if got := list.Text(path); got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		}
		if got := s.Send("GET /user/knowledgebases/"+kb, "").Text("data.status"); got != "failed" {
			t.Errorf("knowledgebase is %s", got)
		}
		found := s.Send("POST /user/knowledgebases/"+kb+"/search", `{"query":"When is breakfast?"}`).Want(200)
		if found.Text("data.0.text") != "Breakfast is served from seven to ten." || found.Text("data.0.document") != "Site" {
			t.Errorf("%s", found.Body)
		}
	})
}

// one is a server on SQLite, for what does not depend on the database.
func one(t *testing.T) *apitest.Server { return apitest.New(t, dbtest.SQLite(t, db.Manual())) }

// settle waits until all work that is due is done.
func settle(t *testing.T, s *apitest.Server) {
	t.Helper()
	if ok, err := s.App.Jobs().Settle(t.Context(), s.DB.Now()); !ok || err != nil {
		t.Fatal(ok, err)
	}
}
