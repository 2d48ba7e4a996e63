package wire

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"parley/value"
	"strconv"
	"strings"
)

// Paging is the query of a length-aware list; embed it in the input.
type Paging struct {
	Page    int `query:"page" rule:"min=1" default:"1" doc:"Page number, from 1."`
	PerPage int `query:"per_page" rule:"min=1 max=100" default:"15" doc:"Entries per page."`
}

// Offset is how many entries stand before the page.
func (p Paging) Offset() int {
	if p.Page > 1<<31 { // past any list, and the product would overflow
		return 1 << 53
	}
	return (p.Page - 1) * p.PerPage
}

// Page is a length-aware page.
type Page[T any] struct {
	CurrentPage  int        `json:"current_page"`
	Data         []T        `json:"data"`
	FirstPageURL string     `json:"first_page_url"`
	From         *int       `json:"from"`
	LastPage     int        `json:"last_page"`
	LastPageURL  string     `json:"last_page_url"`
	Links        []PageLink `json:"links"`
	NextPageURL  *string    `json:"next_page_url"`
	Path         string     `json:"path"`
	PerPage      int        `json:"per_page"`
	PrevPageURL  *string    `json:"prev_page_url"`
	To           *int       `json:"to"`
	Total        int        `json:"total"`
}

// PageLink is one entry of a page's navigation.
type PageLink struct {
	URL    *string `json:"url"`
	Label  string  `json:"label"`
	Active bool    `json:"active"`
}

// NewPage puts one page of total entries together; data holds the entries of this page.
func NewPage[T any](ctx context.Context, p Paging, total int, data []T) Page[T] {
	last := max(1, (total+p.PerPage-1)/p.PerPage)
	at := func(n int) *string { s := pageURL(ctx, "page", strconv.Itoa(n)); return &s }
	page := Page[T]{CurrentPage: p.Page, Data: data, FirstPageURL: *at(1), LastPage: last, LastPageURL: *at(last),
		Path: pagePath(ctx), PerPage: p.PerPage, Total: total}
	if len(data) > 0 {
		from, to := p.Offset()+1, p.Offset()+len(data)
		page.From, page.To = &from, &to
	}
	if p.Page > 1 {
		page.PrevPageURL = at(p.Page - 1)
	}
	if p.Page < last {
		page.NextPageURL = at(p.Page + 1)
	}
	page.Links = append(page.Links, PageLink{page.PrevPageURL, "&laquo; Previous", false})
	for _, n := range shownPages(p.Page, last) {
		if n == 0 {
			page.Links = append(page.Links, PageLink{nil, "...", false})
			continue
		}
		page.Links = append(page.Links, PageLink{at(n), strconv.Itoa(n), n == p.Page})
	}
	page.Links = append(page.Links, PageLink{page.NextPageURL, "Next &raquo;", false})
	return page
}

// shownPages lists the page numbers of the navigation; 0 stands for a gap.
func shownPages(current, last int) []int {
	var out []int
	for n := 1; n <= last; {
		near := n >= current-3 && n <= current+3
		switch {
		case last <= 12 || n <= 2 || n > last-2 || near:
			out = append(out, n)
			n++
		default:
			out = append(out, 0)
			if n < current-3 {
				n = min(current-3, last-1)
			} else {
				n = last - 1
			}
		}
	}
	return out
}

// CursorPaging is the query of a cursor list whose places are of type T; embed it in the input.
type CursorPaging[T any] struct {
	PerPage int       `query:"per_page" rule:"min=1 max=100" default:"15" doc:"Entries per page."`
	Cursor  Cursor[T] `query:"cursor" doc:"Where to go on, as given by the page before."`
}

// Cursor is a place in a list in a form that clients only carry around. The zero Cursor is the start.
type Cursor[T any] struct{ At T }

const maxCursor = 512 // characters

// String is the cursor as clients see it.
func (c Cursor[T]) String() string {
	b, err := json.Marshal(c.At)
	if err != nil {
		panic(err) // places are a few numbers
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Bind reads a cursor.
func (c *Cursor[T]) Bind(b value.Binder, v value.Value) {
	text := v.Text()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(text) > maxCursor || json.Unmarshal(raw, &c.At) != nil {
		b.Fail("in")
	}
}

// JSONSchema describes the form of clients.
func (Cursor[T]) JSONSchema() map[string]any { return map[string]any{"type": "string"} }

// CursorPage is one page of a list that moves while it is read.
type CursorPage[T any] struct {
	Data        []T     `json:"data"`
	Path        string  `json:"path"`
	PerPage     int     `json:"per_page"`
	NextCursor  *string `json:"next_cursor"`
	NextPageURL *string `json:"next_page_url"`
	PrevCursor  *string `json:"prev_cursor"`
	PrevPageURL *string `json:"prev_page_url"`
}

// NewCursorPage puts a page together; an empty next or prev cursor means that there is none.
func NewCursorPage[T any](ctx context.Context, perPage int, data []T, next, prev string) CursorPage[T] {
	link := func(cursor string) (*string, *string) {
		if cursor == "" {
			return nil, nil
		}
		u := pageURL(ctx, "cursor", cursor)
		return &cursor, &u
	}
	page := CursorPage[T]{Data: data, Path: pagePath(ctx), PerPage: perPage}
	page.NextCursor, page.NextPageURL = link(next)
	page.PrevCursor, page.PrevPageURL = link(prev)
	return page
}

func pagePath(ctx context.Context) string {
	i := infoOf(ctx)
	return i.origin + strings.TrimSuffix(i.path, "/")
}

// pageURL is the request's own URL with one parameter set, the others before it.
func pageURL(ctx context.Context, name, value string) string {
	var query []string
	for pair := range strings.SplitSeq(infoOf(ctx).query, "&") {
		key, text, _ := strings.Cut(pair, "=")
		k, err1 := url.QueryUnescape(key)
		v, err2 := url.QueryUnescape(text)
		if k != "" && k != name && err1 == nil && err2 == nil {
			query = append(query, url.QueryEscape(k)+"="+url.QueryEscape(v))
		}
	}
	return pagePath(ctx) + "?" + strings.Join(append(query, name+"="+url.QueryEscape(value)), "&")
}
