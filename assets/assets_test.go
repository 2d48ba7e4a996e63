package assets_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"
	"testing/fstest"

	"parley/assets"
	"parley/assets/testonly"
)

func TestEveryAssetIsWhatTheManifestSays(t *testing.T) {
	for _, p := range assets.Manifest {
		read := assets.Read
		if p.TestOnly {
			read = testonly.Read
		}
		for _, f := range p.Files {
			data, err := read(f.Name)
			if err != nil {
				t.Error(err)
				continue
			}
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 || len(data) != f.Size {
				t.Errorf("%s: %d bytes with SHA-256 %x, the manifest says %d and %s", f.Name, len(data), sum, f.Size, f.SHA256)
			}
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range assets.Manifest {
		for _, f := range p.Files {
			if seen[f.Name] {
				t.Errorf("%s is declared twice", f.Name)
			}
			seen[f.Name] = true
		}
	}
}

func TestAMissingAssetNamesItselfAndTheCommand(t *testing.T) {
	_, err := assets.ReadFrom(fstest.MapFS{}, "flite.wasm")
	if !errors.Is(err, assets.ErrMissing) {
		t.Fatalf("error is %v", err)
	}
	for _, want := range []string{"flite.wasm", `"make assets"`} {
		if !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%q does not say %s", err, want)
		}
	}
	if _, err := assets.Read("no-such-file"); err == nil || errors.Is(err, assets.ErrMissing) {
		t.Errorf("unknown name: %v", err)
	}
}
