package parley

import (
	"go/scanner"
	"go/token"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is how long a line of Go may be, a tab being one; texts do not count, because they are found best in one piece.
const columns = 140

// TestLinesAreShort fails on a line of the program's own sources that is longer than that.
func TestLinesAreShort(t *testing.T) {
	for _, file := range tree(t) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(withoutTexts(src), "\n") {
			if n := utf8.RuneCountInString(line); n > columns {
				t.Errorf("%s:%d has %d columns, want at most %d", file, i+1, n, columns)
			}
		}
	}
}

// withoutTexts leaves nothing of string literals but their line breaks.
func withoutTexts(src []byte) string {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	var out strings.Builder
	done := 0
	for pos, tok, text := s.Scan(); tok != token.EOF; pos, tok, text = s.Scan() {
		if tok == token.STRING {
			at := file.Offset(pos)
			out.Write(src[done:at])
			out.WriteString(strings.Repeat("\n", strings.Count(text, "\n")))
			done = at + len(text)
		}
	}
	out.Write(src[done:])
	return out.String()
}
