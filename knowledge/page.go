package knowledge

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// page is what a web page says and where it leads.
type page struct {
	url   *url.URL
	title string
	text  string
	links []*url.URL
}

const chrome = "script, style, noscript, template, svg, iframe, object, form button, nav, [role=navigation], [aria-hidden=true], [hidden]"

// parsePage takes a page apart. Menus, scripts and what is hidden are left out; header and footer too when there is a main part.
func parsePage(raw []byte, contentType string, at *url.URL) (*page, error) {
	r, err := charset.NewReader(bytes.NewReader(raw), contentType)
	if err != nil {
		return nil, err
	}
	doc, err := goquery.NewDocumentFromReader(r)
	if err != nil {
		return nil, err
	}
	p := &page{url: at, title: oneLine(doc.Find("title").First().Text())}
	p.links = links(doc, at)
	doc.Find(chrome).Remove()
	part := doc.Find("main, [role=main], article").First()
	if len(strings.TrimSpace(part.Text())) < 200 {
		part = doc.Find("body")
	}
	var b strings.Builder
	for _, n := range part.Nodes {
		plain(n, &b, 0)
	}
	p.text = strings.ToValidUTF8(strings.ReplaceAll(b.String(), "\x00", ""), "\uFFFD")
	return p, nil
}

// links are the http links of a page in order, none when the page or the link says nofollow.
func links(doc *goquery.Document, at *url.URL) (out []*url.URL) {
	robots, _ := doc.Find("meta[name=robots i]").Attr("content")
	if low := strings.ToLower(robots); strings.Contains(low, "nofollow") || strings.Contains(low, "none") {
		return nil
	}
	if href, ok := doc.Find("base[href]").First().Attr("href"); ok {
		if base, err := at.Parse(href); err == nil {
			at = base
		}
	}
	doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		rel, _ := a.Attr("rel")
		href, _ := a.Attr("href")
		u, err := at.Parse(strings.TrimSpace(href))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(strings.ToLower(rel), "nofollow") {
			return
		}
		u.Fragment = ""
		out = append(out, u)
	})
	return out
}

var blocks = map[atom.Atom]string{
	atom.P: "\n\n", atom.Div: "\n", atom.Section: "\n\n", atom.Article: "\n\n", atom.Li: "\n", atom.Ul: "\n", atom.Ol: "\n", atom.Br: "\n",
	atom.Tr: "\n", atom.Table: "\n\n",
	atom.H1: "\n\n", atom.H2: "\n\n", atom.H3: "\n\n", atom.H4: "\n\n", atom.H5: "\n\n", atom.H6: "\n\n", atom.Dt: "\n\n", atom.Dd: "\n",
	atom.Blockquote: "\n\n",
	atom.Header:     "\n\n", atom.Footer: "\n\n", atom.Pre: "\n\n", atom.Td: "\t", atom.Th: "\t", atom.Figure: "\n", atom.Summary: "\n\n",
	atom.Details: "\n",
}

// plain writes the text below a node with its blocks on lines of their own.
func plain(n *html.Node, b *strings.Builder, depth int) {
	if depth > 500 {
		return
	}
	if n.Type == html.TextNode {
		text := oneLine(n.Data)
		if text == "" {
			if n.Data != "" {
				b.WriteByte(' ')
			}
			return
		}
		if strings.ContainsAny(n.Data[:1], " \n\t\r") {
			b.WriteByte(' ')
		}
		b.WriteString(text)
		if strings.ContainsAny(n.Data[len(n.Data)-1:], " \n\t\r") {
			b.WriteByte(' ')
		}
		return
	}
	gap := blocks[n.DataAtom]
	b.WriteString(gap)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		plain(c, b, depth+1)
	}
	b.WriteString(gap)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
