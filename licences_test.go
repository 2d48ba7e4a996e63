package parley

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/assets"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestThirdParty fails when a part of the binary is not listed, or has a licence that asks for more than its text.
func TestThirdParty(t *testing.T) {
	var head, texts strings.Builder
	head.WriteString("# Third-party parts\n\nThe binary contains these Go modules and assets; every licence text follows.\n\n| Part | Version | Licence |\n|---|---|---|\n")
	seen := map[[32]byte]bool{}
	for _, m := range modules(t) {
		kind, files := licence(t, m.dir)
		if kind == "" {
			t.Errorf("%s: no licence that we know; look at %s", m.path, m.dir)
		}
		fmt.Fprintf(&head, "| %s | %s | %s |\n", m.path, m.version, kind)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			text := files[name]
			if sum := sha256.Sum256([]byte(text)); !seen[sum] {
				seen[sum] = true
				fmt.Fprintf(&texts, "\n## %s %s\n\n```\n%s\n```\n", m.path, name, strings.TrimSpace(text))
			}
		}
	}
	for _, p := range assets.Manifest {
		if !p.TestOnly {
			fmt.Fprintf(&head, "| %s (%s) | %s | %s |\n", p.Name, p.Origin, p.Version, p.Licence)
			text, err := p.LicenceText()
			if err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if sum := sha256.Sum256([]byte(text)); !seen[sum] {
				seen[sum] = true
				fmt.Fprintf(&texts, "\n## %s (%s)\n\n```\n%s\n```\n", p.Name, p.Origin, strings.TrimSpace(text))
			}
		}
	}
	got := head.String() + texts.String()
	if *update {
		if err := os.WriteFile("THIRD_PARTY.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	table, _, _ := strings.Cut(ThirdParty, "\n## ")
	if strings.TrimSpace(table) != strings.TrimSpace(head.String()) {
		t.Error("THIRD_PARTY.md is not what cmd/parley is built from; go test . -update rewrites it")
	}
}

type module struct{ path, version, dir string }

// modules are what the binary is built from, on any system.
func modules(t *testing.T) []module {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "./cmd/parley")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	var list []module
	for _, line := range slices.Compact(lines) {
		if f := strings.Fields(line); len(f) == 3 {
			list = append(list, module{f[0], f[1], f[2]})
		}
	}
	return list
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice)`)

// permissive licences by words that only they have.
var permissive = []struct{ words, name string }{
	{"Apache License", "Apache-2.0"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Permission to use, copy, modify, and/or distribute", "ISC"},
	{"Permission to use, copy, modify, and distribute this software", "ISC"},
	{"Neither the name of", "BSD-3-Clause"},
	{"names of its contributors may be used", "BSD-3-Clause"},
	{"Redistributions of source code must retain", "BSD-2-Clause"},
	{"public domain", "Unlicense"},
	{"Mozilla Public License", "MPL-2.0"},
}

// licence reads the licence files of a module; the kind is that of the first.
func licence(t *testing.T, dir string) (kind string, files map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.Contains(e.Name(), "3RD-PARTY") { // lists of what we list ourselves
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
		flat := strings.Join(strings.Fields(string(b)), " ")
		for _, p := range permissive {
			if kind == "" && strings.Contains(flat, p.words) {
				kind = p.name
			}
		}
	}
	return kind, files
}
