package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/temoto/robotstxt"

	"parley/knowledge/extract"
	"parley/ssrf"
)

const (
	robot      = "parley-documents"
	userAgent  = robot + "/1"
	pageTime   = 15 * time.Second
	pageBytes  = 5 << 20
	redirects  = 3
	robotBytes = 500 << 10
)

// crawler reads the pages of one website document.
type crawler struct {
	client *http.Client // for robots.txt
	pages  *http.Client // follows redirects only where robots.txt lets us
	check  func(string) error
	robots map[string]*robotstxt.Group // by scheme and host
	seen   map[string]bool
	out    harvest
	bytes  int64
	first  error // why the first failing page failed
}

// website reads the pages of a document: url with up to LinkLimit pages linked from it on its host, breadth first; links as they are.
func (r *Room) website(ctx context.Context, d Document) (harvest, error) {
	outer := ctx
	ctx, stop := context.WithTimeout(ctx, crawlTime)
	defer stop()
	c := &crawler{client: r.guard.Client(ssrf.Options{Timeout: pageTime, Redirects: redirects}), check: r.guard.CheckURL,
		robots: map[string]*robotstxt.Group{}, seen: map[string]bool{}}
	c.pages = c.obedient()
	defer c.client.CloseIdleConnections()
	alive := func() error {
		_, err := r.wanted(ctx, r.db, readArgs{d.ID, d.edition})
		return err
	}
	for _, l := range d.Links {
		if err := alive(); err != nil {
			return harvest{}, err
		}
		_, _ = c.one(ctx, l.Link) // a failure is kept as the first, should no page give text
	}
	if d.URL != nil {
		if err := c.spread(ctx, *d.URL, int(d.LinkLimit), alive); err != nil {
			return harvest{}, err
		}
	}
	if err := context.Cause(outer); err != nil { // a stop of the server says nothing about the site
		return harvest{}, err
	}
	c.out.size = &c.bytes
	if len(c.out.pieces) == 0 && c.first != nil {
		return harvest{}, c.first
	}
	return c.out, nil
}

// obedient is a client that asks robots.txt before it follows a redirect.
func (c *crawler) obedient() *http.Client {
	pages := *c.client
	pages.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if err := c.client.CheckRedirect(r, via); err != nil {
			return err
		}
		if !c.allowed(r.Context(), r.URL) {
			return errRobots
		}
		return nil
	}
	return &pages
}

// one reads a page and keeps its text; a page that was read before is nil without an error.
func (c *crawler) one(ctx context.Context, address string) (*page, error) {
	if c.seen[key(address)] {
		return nil, nil
	}
	c.seen[key(address)] = true
	p, err := c.fetch(ctx, address)
	if err != nil {
		if c.first == nil && !errors.Is(err, errNotPage) {
			c.first = c.reason(address, err)
		}
		return nil, err
	}
	c.seen[key(p.url.String())] = true // where redirects led
	if pieces := cut(p.title, p.text); len(pieces) > 0 {
		c.out.pages++
		c.out.pieces = append(c.out.pieces, pieces...)
	}
	return p, nil
}

// spread reads start and then its links level by level.
func (c *crawler) spread(ctx context.Context, start string, limit int, alive func() error) error {
	root, _ := c.one(ctx, start)
	if root == nil {
		return nil
	}
	queue, tries := root.links, 0
	for len(queue) > 0 && limit > 0 && tries < 300 && ctx.Err() == nil {
		next := queue[0]
		queue = queue[1:]
		if next.Host != root.url.Host || c.seen[key(next.String())] || !looksLikePage(next) {
			continue
		}
		if err := alive(); err != nil {
			return err
		}
		tries++
		p, err := c.one(ctx, next.String())
		if !errors.Is(err, errNotPage) && !errors.Is(err, errRobots) { // what is no page, or not for us, does not count
			limit--
		}
		if p != nil {
			queue = append(queue, p.links...)
		}
	}
	return nil
}

// key makes spellings of one address equal.
func key(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Fragment = ""
	if u.Path == "" {
		u.Path = "/"
	}
	u.Host = strings.ToLower(u.Host)
	return u.String()
}

// looksLikePage skips what is plainly a file of another kind.
func looksLikePage(u *url.URL) bool {
	path := strings.ToLower(u.Path)
	i := strings.LastIndexByte(path, '.')
	if i < strings.LastIndexByte(path, '/') {
		return true
	}
	switch path[max(i, 0):] {
	case ".jpg", ".jpeg", ".png", ".gif", ".svg", ".webp", ".ico", ".css", ".js", ".json", ".xml", ".zip", ".gz", ".pdf", ".doc", ".docx",
		".xls", ".xlsx",
		".ppt", ".pptx", ".mp3", ".mp4", ".wav", ".avi", ".mov", ".woff", ".woff2", ".exe", ".dmg", ".apk":
		return false
	}
	return true
}

var (
	errRobots  = errors.New("disallowed by robots.txt")
	errNotPage = errors.New("not a page")
	errLong    = errors.New("larger than 5 MB")
)

type status int

func (s status) Error() string { return fmt.Sprint(int(s)) }

// reason is a failure in the customer's words.
func (c *crawler) reason(address string, err error) error {
	why := "no answer"
	code, isStatus := errors.AsType[status](err)
	timeout, isTimeout := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	switch {
	case errors.Is(err, ssrf.ErrRefused):
		return refusal("Address not allowed.")
	case isStatus:
		why = code.Error()
	case errors.Is(err, errRobots):
		why = errRobots.Error()
	case errors.Is(err, errLong):
		why = errLong.Error()
	case errors.Is(err, ssrf.ErrRedirects):
		why = ssrf.ErrRedirects.Error()
	case isTimeout && timeout.Timeout():
		why = "no answer in time"
	}
	return refusal(fmt.Sprintf("Could not fetch %s: %s", address, why))
}

// fetch gets one page, if robots.txt lets us.
func (c *crawler) fetch(ctx context.Context, address string) (*page, error) {
	if err := c.check(address); err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if !c.allowed(ctx, u) {
		return nil, errRobots
	}
	res, err := get(ctx, c.pages, address)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return nil, status(res.StatusCode)
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media != "" && media != "text/html" && media != "application/xhtml+xml" && media != "text/plain" {
		return nil, errNotPage
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, pageBytes+1))
	if err != nil {
		return nil, err
	}
	c.bytes += int64(len(raw))
	if len(raw) > pageBytes {
		return nil, errLong
	}
	if media == "text/plain" {
		t, err := extract.Read(extract.TXT, readerAtBytes(raw), int64(len(raw)))
		if err != nil {
			return nil, errNotPage
		}
		return &page{url: res.Request.URL, text: t.Text}, nil
	}
	return parsePage(raw, res.Header.Get("Content-Type"), res.Request.URL)
}

func get(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/plain;q=0.8")
	return client.Do(req)
}

// allowed asks the site's robots.txt, once per host. A site without one allows everything; one that fails to tell allows nothing.
func (c *crawler) allowed(ctx context.Context, u *url.URL) bool {
	site := u.Scheme + "://" + strings.ToLower(u.Host)
	group, known := c.robots[site]
	if !known {
		group = c.rules(ctx, site)
		c.robots[site] = group
	}
	return group == nil || group.Test(u.RequestURI())
}

func (c *crawler) rules(ctx context.Context, site string) *robotstxt.Group {
	res, err := get(ctx, c.client, site+"/robots.txt")
	if err != nil {
		return nil // the page itself will tell
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, robotBytes))
	if err != nil {
		return nil
	}
	data, err := robotstxt.FromStatusAndBytes(res.StatusCode, raw)
	if err != nil {
		return nil
	}
	return data.FindGroup(robot)
}

type readerAtBytes []byte

func (b readerAtBytes) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
