package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/blobs"
	"parley/blobs/blobstest"
	"parley/config"
)

// Nobody else reads the data folder, whatever rights it had before.
func TestDataFolderIsPrivate(t *testing.T) {
	data := t.TempDir()
	open := map[string]fs.FileMode{"": 0o755, "files": 0o755, "files/recordings": 0o755, "node": 0o644}
	for _, dir := range []string{"files", "files/recordings"} {
		if err := os.Mkdir(filepath.Join(data, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, "node"), []byte("n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, mode := range open {
		if err := os.Chmod(filepath.Join(data, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, data, nil)
	defer s.stop(t)
	seen := 0
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		seen++
		if name, _ := filepath.Rel(data, path); err == nil && info.Mode().Perm()&0o077 != 0 && !strings.Contains(name, "/") { // below, nobody gets
			t.Errorf("%s is %s", name, info.Mode())
		}
		return err
	})
	if err != nil || seen < 8 {
		t.Error(seen, err)
	}
}

// A backup holds no key unless asked to, and says what it leaves out; files of an S3 store come along when asked to.
func TestBackupSaysWhatItLeavesOut(t *testing.T) {
	data, address := t.TempDir(), blobstest.S3(t)
	env := []string{"PARLEY_BLOBS_URL=" + address}
	ran(t, env, "keys", "create", "--data", data, "--name", "test")
	if _, err := openSecrets(&config.Config{Data: data}); err != nil {
		t.Fatal(err)
	}
	store, err := blobs.Open(context.Background(), address, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Put(t.Context(), "recordings/a.wav", strings.NewReader("RIFF"), "audio/wav"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "parley.backup")
	says := func(args ...string) string {
		t.Helper()
		cmd := program(t, args...)
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s", err, out)
		}
		return string(out)
	}
	out := says("backup", file, "--data", data)
	if !strings.Contains(out, "secrets.key") || !strings.Contains(out, "1 files under recordings/") {
		t.Error(out)
	}
	empty := filepath.Join(t.TempDir(), "new")
	if out = says("restore", file, "--data", empty); !strings.Contains(out, "still needed: the key") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(empty, "secrets.key")); err == nil {
		t.Error("the key was in the backup")
	}
	if out = says("backup", file, "--with-key", "--files", "--data", data); out != "" {
		t.Error(out)
	}
	env = nil // restored without the store
	full := filepath.Join(t.TempDir(), "new")
	if out = says("restore", file, "--data", full); out != "" {
		t.Error(out)
	}
	if b, err := os.ReadFile(filepath.Join(full, "files", "recordings", "a.wav")); err != nil || string(b) != "RIFF" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(full, "secrets.key")); err != nil {
		t.Error(err)
	}
}
