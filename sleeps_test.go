package parley

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// sleeping are the tests that sleep outside of virtual time, by file, and why they have nothing to wait for instead.
var sleeping = map[string]string{
	"cmd/bench/turnlab_test.go":       "plays sound at the pace of a phone",
	"cmd/parley/buying_test.go":       "asks another process over HTTP until it answers so",
	"cmd/parley/calls_test.go":        "asks another process over HTTP until it answers so",
	"cmd/parley/campaigns_test.go":    "asks another process over HTTP until it answers so",
	"cmd/parley/cluster_test.go":      "asks other processes over HTTP until they answer so",
	"cmd/parley/compose_test.go":      "is a health check with an interval",
	"cmd/parley/walk_test.go":         "asks another process over HTTP until it answers so",
	"lines/linetest/media.go":         "keeps the phase of its clock; waits for nothing",
	"providers/builtin/bench_test.go": "measures: plays sound at the pace of a phone",
	"switchboard/asks_test.go":        "looks whether another node watches, which nobody tells",
	"switchboard/switchboard_test.go": "looks whether a conversation has begun, which nobody tells",
}

// TestNobodySleeps fails on a time.Sleep in a test, or in a helper of tests, that is not in virtual time: what a test waits
// for is an event, or the test is flaky on a busy machine.
func TestNobodySleeps(t *testing.T) {
	found := map[string]bool{}
	for _, file := range tree(t) {
		if !strings.HasSuffix(file, "_test.go") && (path.Ext(file) != ".go" || !strings.HasSuffix(path.Dir(file), "test")) {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range sleeps(f) {
			if found[file] = true; sleeping[file] == "" {
				t.Errorf("%s sleeps: wait for an event, or use testing/synctest", set.Position(at))
			}
		}
	}
	for file := range sleeping {
		if !found[file] {
			t.Errorf("%s sleeps no more: take it off the list", file)
		}
	}
}

// sleeps are the calls of time.Sleep that do not stand inside a call of synctest.Test.
func sleeps(f *ast.File) (at []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, _ := fn.X.(*ast.Ident)
		if of != nil && of.Name == "time" && fn.Sel.Name == "Sleep" {
			at = append(at, call.Pos())
		}
		return of == nil || of.Name != "synctest"
	})
	return at
}
