package api

import (
	_ "embed"
	"strings"

	"parley/wire"
)

//go:embed operations.md
var operations string

//go:embed fields.md
var fields string

// described puts the words of operations.md to the routes: a line that names the operation, and what it does.
func described(routes []wire.Route) []wire.Route {
	words := map[string][2]string{}
	for part := range strings.SplitSeq(operations, "\n## ") {
		name, text, _ := strings.Cut(part, "\n")
		summary, description, _ := strings.Cut(strings.TrimSpace(text), "\n")
		words[name] = [2]string{summary, description}
	}
	for i := range routes {
		r := &routes[i]
		w := words[r.Method+" "+r.Path]
		r.Summary, r.Description = w[0], w[1]
	}
	return routes
}

// fieldWords reads fields.md.
func fieldWords() wire.Fields {
	words := wire.Fields{}
	for line := range strings.Lines(fields) {
		if name, text, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": "); ok && strings.HasPrefix(line, "- ") {
			words[name] = strings.TrimSpace(text)
		}
	}
	return words
}
