package apitest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// masks hide what differs from run to run.
var masks = []struct {
	find *regexp.Regexp
	show string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`), "<time>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "<datetime>"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`\d+\|[A-Za-z0-9]{48}`), "<token>"},
	{regexp.MustCompile(`trk_[a-z2-7]{26}`), "<trunk>"},
	{regexp.MustCompile(`whsec_[A-Za-z0-9+/=]{44}`), "<secret>"},
}

// Cases runs a file of requests and compares the answers with what stands in it; go test ./api -update rewrites the
// lower halves. A case ends with a line of ###:
//
//	# a comment
//	PUT /user/assistant/{{desk}}
//	Idempotency-Key: a
//
//	{"speech_speed":1.5}
//	---
//	422
//	{"message":"Validation failed","errors":{"speech_speed":["The speech speed field must be between 0.7 and 1.2."]}}
//	###
//
// A line "@desk = data.id" above the request keeps a value of its answer for the cases that follow. Times, uuids and
// tokens are shown as <time>, <uuid> and so on.
func (s *Server) Cases(file string) {
	s.T.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		s.T.Fatal(err)
	}
	var out strings.Builder
	for _, c := range strings.SplitAfter(string(raw), "\n###\n") {
		if strings.TrimSpace(c) == "" {
			continue
		}
		top, want, _ := strings.Cut(strings.TrimSuffix(c, "###\n"), "---\n")
		got := s.one(top)
		if strings.TrimSpace(got) != strings.TrimSpace(want) && !*update {
			s.T.Errorf("%s\n%s\n got %s\nwant %s", file, strings.TrimSpace(top), got, want)
		}
		out.WriteString(top + "---\n" + got + "###\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			s.T.Fatal(err)
		}
	}
}

// one makes the request of a case and gives the answer as it stands in the file.
func (s *Server) one(top string) string {
	s.T.Helper()
	keep := map[string]string{}
	var line string
	var headers []string
	rest := s.fill(top)
	for line == "" && rest != "" {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		name, path, isKeep := strings.Cut(l, "=")
		switch {
		case strings.HasPrefix(l, "@") && isKeep:
			keep[strings.TrimSpace(name[1:])] = strings.TrimSpace(path)
		case strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "#"):
			line = strings.TrimSpace(l)
		}
	}
	for rest != "" {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		if strings.TrimSpace(l) == "" {
			break
		}
		headers = append(headers, l)
	}
	a := s.Send(line, strings.TrimSpace(rest), headers...)
	for name, path := range keep {
		s.vars[name] = a.Text(path)
	}
	body := a.Body
	for _, m := range masks {
		body = m.find.ReplaceAllString(body, m.show)
	}
	return fmt.Sprintf("%d\n%s\n", a.Status, body)
}

// Keep names a value for the cases that follow, as a line "@name = path" does.
func (s *Server) Keep(name, value string) { s.vars[name] = value }

// Kept is a named value.
func (s *Server) Kept(name string) string { return s.vars[name] }

func (s *Server) fill(text string) string {
	for name, value := range s.vars {
		text = strings.ReplaceAll(text, "{{"+name+"}}", value)
	}
	return text
}

// Golden compares got with a file that go test -update rewrites; and is added to the failure.
func Golden(t testing.TB, file string, got []byte, and string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, got) {
		t.Errorf("%s is not what the code says (%v); go test ./api -update rewrites it, %s", file, err, and)
	}
}
