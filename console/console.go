// Package console is the web interface: a single-page application that is an ordinary client of the public API, and the
// chat and call widget that customers embed. Both are bundled once, at start, from the sources beside this file.
package console

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

//go:embed app
var sources embed.FS

// Console serves the application under /console and the widget at /embed.js.
type Console struct {
	index  string
	script file
	style  file
	widget file
	policy string
}

type file struct {
	body []byte
	kind string
	etag string
}

func newFile(body []byte, kind string) file {
	sum := sha256.Sum256(body)
	return file{body, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// New bundles the sources. It fails when an asset is missing from the binary or a source does not compile.
func New() (*Console, error) {
	script, style, err := bundle("main.tsx", api.FormatESModule)
	if err != nil {
		return nil, err
	}
	widget, _, err := bundle("widget.ts", api.FormatIIFE)
	if err != nil {
		return nil, err
	}
	html, err := sources.ReadFile("app/index.html")
	if err != nil {
		return nil, err
	}
	c := &Console{
		script: newFile(script, "text/javascript; charset=utf-8"),
		style:  newFile(style, "text/css; charset=utf-8"),
		widget: newFile(widget, "text/javascript; charset=utf-8"),
	}
	c.index = strings.NewReplacer(
		"{{script}}", "/console/app.js?"+strings.Trim(c.script.etag, `"`),
		"{{style}}", "/console/app.css?"+strings.Trim(c.style.etag, `"`),
	).Replace(string(html))
	c.policy = policy(c.index)
	return c, nil
}

// policy allows what the page itself brings and nothing from elsewhere.
func policy(index string) string {
	inline := ""
	if _, after, ok := strings.Cut(index, "<script>"); ok {
		code, _, _ := strings.Cut(after, "</script>")
		sum := sha256.Sum256([]byte(code))
		inline = fmt.Sprintf(" 'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return "default-src 'none'; script-src 'self'" + inline + "; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
		"media-src 'self' blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// ServeHTTP answers below /console: two bundled files, and the page itself for every other path.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, "/console") {
	case "/app.js":
		c.script.serve(w, r, "public, max-age=31536000, immutable")
	case "/app.css":
		c.style.serve(w, r, "public, max-age=31536000, immutable")
	default:
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", c.policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Permissions-Policy", "microphone=(self)")
		h.Set("Cache-Control", "no-store")
		fmt.Fprint(w, c.index)
	}
}

// Widget answers /embed.js; customers' pages load it from other origins.
func (c *Console) Widget(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	c.widget.serve(w, r, "public, max-age=300")
}

func (f file) serve(w http.ResponseWriter, r *http.Request, cache string) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", cache)
	h.Set("ETag", f.etag)
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(f.body)
}
