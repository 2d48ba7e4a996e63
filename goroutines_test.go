package parley

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// bare are the files that start goroutines without package safe, and why a panic in one may end the process, or cannot.
var bare = map[string]string{
	"safe/safe.go":                "is package safe",
	"assets/fetch/main.go":        "a tool for builders",
	"cmd/bench/server.go":         "a tool for measuring",
	"cmd/parley/serve.go":         "the loops are safe's; a panic of the HTTP server is one of its requests' and caught there",
	"knowledge/extract/child.go":  "a child process, which is there to be lost",
	"lines/media/bench/engine.go": "a tool for measuring",
	"lines/media/bench/load.go":   "a tool for measuring",
	"sim/load/load.go":            "a tool for measuring",
}

// A panic in a goroutine that nobody catches ends the process and every call with it, so goroutines are started by
// package safe: safe.Go, and Go and Loop of a safe.Group, which take a name first.
func TestGoroutinesOutliveTheirPanics(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || strings.HasSuffix(d.Name(), "test")) {
			if err != nil {
				return err
			}
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range goroutines(f) {
			if used[path] = true; bare[path] == "" {
				t.Errorf("%s starts a goroutine whose panic ends the process: use package safe", files.Position(at))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range bare {
		if !used[path] {
			t.Errorf("%s starts no goroutine without package safe any more: take it off the list", path)
		}
	}
}

// goroutines are the places where a file starts one without package safe: by a go statement, or by a method Go with a
// function alone.
func goroutines(f *ast.File) (at []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			at = append(at, n.Pos())
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.SelectorExpr); ok && fn.Sel.Name == "Go" && len(n.Args) == 1 {
				at = append(at, n.Pos())
			}
		}
		return true
	})
	return at
}
