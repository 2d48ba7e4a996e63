package builtin

import (
	"os"
	"path/filepath"
	"testing"

	"parley/voice"
)

// A disk that takes no compiled code costs time, not the engine.
func TestCodeThatTheDiskDoesNotTake(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "compiled"), nil, 0o600); err != nil { // where the folder would be
		t.Fatal(err)
	}
	e := Open(dir)
	defer e.Close()
	if f, err := e.Render(t.Context(), voice.Speech{Text: "Yes.", Voice: "slt", Language: "en"}); err != nil || len(f.PCM) == 0 {
		t.Error(len(f.PCM), err)
	}
}
