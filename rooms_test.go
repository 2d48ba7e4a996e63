package parley

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

const foundations = "fault value safe english sentences placeholders assets ssrf db jobs blobs events audio"

// TestRooms fails on an import that May does not allow. Test files and test helpers may import what they need.
func TestRooms(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		seen++
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "parley"), "/")
		if strings.HasSuffix(path, "test") {
			continue
		}
		room, may := roomOf(path)
		if may == nil {
			t.Errorf("%s is a new room: say in rooms.go what it may import, and why it exists", path)
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, "parley/")
			if target, _ := roomOf(to); ours && target != room && !may[target] && !may["everybody"] {
				t.Errorf("%s may not import %s", path, to)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d packages were looked at", seen)
	}
}

// roomOf finds the line of the deepest folder that path belongs to.
func roomOf(path string) (room string, may map[string]bool) {
	for _, line := range May {
		if path != line.Room && !strings.HasPrefix(path, line.Room+"/") || len(line.Room) < len(room) {
			continue
		}
		room, may = line.Room, map[string]bool{}
		for _, name := range strings.Fields(strings.Replace(line.Imports, "foundations", foundations, 1)) {
			may[name] = true
		}
	}
	return room, may
}
