package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/knowledge"
	"parley/ssrf"
)

// site serves pages by path and notes what was asked for.
type site struct {
	*httptest.Server
	asked []string
}

func serve(t *testing.T, pages map[string]func(http.ResponseWriter, *http.Request)) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			s.asked = append(s.asked, r.URL.RequestURI())
		}
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		page(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func html(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "<html><title>T</title><body>"+body+"</body></html>")
	}
}

func to(path string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, path, http.StatusFound) }
}

func (l *lab) crawl(base knowledge.ID, n knowledge.NewDocument) knowledge.Document {
	n.Name, n.Type = "Site", "website"
	return l.settled(l.add(base, n))
}

func ptr[T any](v T) *T { return &v }

func TestCrawl(t *testing.T) {
	other := serve(t, map[string]func(http.ResponseWriter, *http.Request){"/": html("Elsewhere")})
	s := serve(t, map[string]func(http.ResponseWriter, *http.Request){
		"/robots.txt": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "User-agent: *\nDisallow: /secret\n")
		},
		"/": html(`<nav>Menu words</nav><script>scripted()</script><h1>Welcome</h1><p>Our <b>main</b> page, caf&eacute;.</p>
			<a href="/a#part">A</a> <a href="a">A again</a> <a href="/b">B</a> <a href="/c" rel="nofollow">C</a> <a href="/secret/x">S</a>
			<a href="` + other.URL + `/">Other host</a> <a href="/doc.pdf">PDF</a> <a href="/image">I</a> <a href="/broken">X</a> <a href="mailto:x@y">M</a> <a href="/moved">Moved</a>`),
		"/a":    html(`<p>Page A.</p><a href="/deep">Deep</a>`),
		"/b":    html(`<meta name="robots" content="nofollow"><p>Page B.</p><a href="/hidden">H</a>`),
		"/c":    html("Page C."),
		"/deep": html("Page deep."),
		"/image": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, "x")
		},
		"/moved": to("/landed"), "/landed": html("Page landed."),
		"/closed": html(`Door. <a href="/secret/x">S</a> <a href="/smuggled">T</a> <a href="/b">B</a> <a href="/a">A</a>`), "/smuggled": to("/secret/y"),
		"/hidden": html("Page hidden."),
	})
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d).work()
		base := l.base(l.ada, "Web")
		for _, c := range []struct {
			limit int64
			links []string
			url   string
			want  []string
			pages int64
		}{
			{10, nil, "/", []string{"/", "/a", "/b", "/image", "/broken", "/moved", "/landed", "/deep"}, 5},
			{2, nil, "/", []string{"/", "/a", "/b"}, 3},
			{2, nil, "/closed", []string{"/closed", "/smuggled", "/b", "/a"}, 3}, // what robots.txt forbids is not asked for, and does not count
			{10, []string{"/c", "/a", "/nope"}, "", []string{"/c", "/a", "/nope"}, 2},
		} {
			s.asked = nil
			n := knowledge.NewDocument{LinkLimit: c.limit}
			if c.url != "" {
				n.URL = ptr(s.URL + c.url)
			}
			for _, link := range c.links {
				n.Links = append(n.Links, knowledge.Link{Link: s.URL + link})
			}
			doc := l.crawl(base, n)
			if !slices.Equal(s.asked, c.want) {
				t.Errorf("limit %d: asked for %q, want %q", c.limit, s.asked, c.want)
			}
			if doc.Status != knowledge.Active || *doc.Pages != c.pages || *doc.Size == 0 {
				t.Errorf("limit %d: %+v", c.limit, doc)
			}
		}
		if len(other.asked) != 0 {
			t.Errorf("left the host: %q", other.asked)
		}
		found := strings.Join(l.find(base, "welcome main page café menu scripted"), "|")
		if !strings.Contains(found, "Welcome") || !strings.Contains(found, "Our main page, café.") || strings.Contains(found, "Menu words") || strings.Contains(found, "scripted()") {
			t.Errorf("found %q", found)
		}
	})
}

// Each way a site can fail has its reason, and none takes longer or more than it may.
func TestCrawlFailures(t *testing.T) {
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for range 2000 {
			if _, err := io.WriteString(w, strings.Repeat("<p>endless words</p>", 400)); err != nil {
				return
			}
		}
	}
	s := serve(t, map[string]func(http.ResponseWriter, *http.Request){
		"/robots.txt": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "User-agent: parley-documents\nDisallow: /closed")
		},
		"/500":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"/endless": endless,
		"/empty":   html("<script>x</script>"),
		"/closed":  html("Closed"),
		"/pdf":     func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/pdf") },
		"/loop":    to("/loop"),
		"/inside":  to("http://169.254.169.254/latest"),
		"/nest":    html(strings.Repeat("<div>", 3000) + "deep"),
	})
	d := dbtest.SQLite(t)
	l := newLab(t, d).work()
	base := l.base(l.ada, "Web")
	for path, want := range map[string]string{
		"/500": "Could not fetch URL/500: 500", "/gone": "Could not fetch URL/gone: 404", "/endless": "Could not fetch URL/endless: larger than 5 MB",
		"/empty": "No text found.", "/pdf": "No text found.", "/closed": "Could not fetch URL/closed: disallowed by robots.txt",
		"/loop": "Could not fetch URL/loop: too many redirects", "/inside": "Address not allowed.", "/nest": "",
	} {
		doc := l.crawl(base, knowledge.NewDocument{URL: ptr(s.URL + path), LinkLimit: 1})
		got := ""
		if doc.Error != nil {
			got = strings.ReplaceAll(*doc.Error, s.URL, "URL")
		}
		if got != want && path != "/nest" {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	dead := httptest.NewServer(nil)
	dead.Close()
	if doc := l.crawl(base, knowledge.NewDocument{URL: &dead.URL}); *doc.Error != "Could not fetch "+dead.URL+": no answer" {
		t.Errorf("%s", *doc.Error)
	}
}

func TestRefusedAddresses(t *testing.T) {
	s := serve(t, map[string]func(http.ResponseWriter, *http.Request){"/": html("Inside")})
	d := dbtest.SQLite(t)
	l := newLab(t, d)
	l.jobs = jobs.NewRunner(d)
	l.room = knowledge.New(d, l.jobs, l.files, ssrf.New(), knowledge.Telling(func(_ accounts.ID, _ knowledge.ID, _ knowledge.DocumentID, status string) { l.news <- status }))
	l.work()
	base := l.base(l.ada, "Web")
	byName := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	if doc := l.crawl(base, knowledge.NewDocument{URL: &byName}); *doc.Error != "Address not allowed." || len(s.asked) != 0 {
		t.Errorf("%s after %q", *doc.Error, s.asked)
	}
}

// A document whose reading was cut off is read from the start, and nothing is found twice.
func TestReadingIsResumed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		base := l.base(l.ada, "Book")
		var b strings.Builder
		for i := range 600 {
			fmt.Fprintf(&b, "Sentence number %d is about topic%d. ", i, i)
		}
		doc := l.add(base, txt("Book", b.String()))
		first := jobs.NewRunner(d, jobs.Grace(1))
		ctx, stop := context.WithCancelCause(l.ctx)
		knowledge.New(d, first, cutShort{l.files, stop}, ssrf.New())
		done := make(chan error)
		go func() { done <- first.Run(ctx) }()
		<-ctx.Done()
		<-done
		if got, _ := l.room.Document(l.ctx, l.ada, base, doc.ID); got.Status != knowledge.Processing {
			t.Errorf("after the cut: %+v", got)
		}
		l.work()
		doc = l.settled(doc)
		var stored int64
		if err := d.Get(l.ctx, &stored, `SELECT count(*) FROM passages`); err != nil || stored != *doc.Chunks || doc.Status != knowledge.Active {
			t.Errorf("%d passages stored, %+v %v", stored, doc, err)
		}
	})
}

// cutShort stops the server while a file is being opened.
type cutShort struct {
	knowledge.Files
	stop context.CancelCauseFunc
}

func (c cutShort) Open(ctx context.Context, key string) (io.ReadSeekCloser, error) {
	c.stop(errors.New("power cut"))
	<-ctx.Done()
	return nil, ctx.Err()
}
