package builtin

import (
	"errors"
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

// So does one that fills up when the engines have begun; what it kept in part is not taken for complete.
func TestDiskThatFillsUp(t *testing.T) {
	dir := t.TempDir()
	e := Open(dir)
	defer e.Close()
	if err := e.machine.boot(); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "compiled", "*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	if err := errors.Join(os.RemoveAll(folders[0]), os.WriteFile(folders[0], nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if f, err := e.Render(t.Context(), voice.Speech{Text: "Yes.", Voice: "slt", Language: "en"}); err != nil || len(f.PCM) == 0 {
			t.Error(len(f.PCM), err)
		}
	}
}
