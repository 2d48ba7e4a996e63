package secrets_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"parley/secrets"
)

func TestSealedSecretsOpenWithTheirKeyOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets.key")
	box, err := secrets.File(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := secrets.File(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, plain := range []string{"", "x", strings.Repeat("key", 1000)} {
		a, _ := box.Seal([]byte(plain))
		b, _ := box.Seal([]byte(plain))
		if a == b || len(plain) > 9 && strings.Contains(a, plain) {
			t.Error("seals repeat or show the secret")
		}
		if got, err := again.Open(a); err != nil || string(got) != plain {
			t.Errorf("%q %v", got, err)
		}
		other, err := secrets.New(make([]byte, secrets.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"", plain, "v1:", a[:len(a)-2], a + "AAAA", strings.Replace(a, "v1:", "v2:", 1)} {
			if _, err := box.Open(bad); !errors.Is(err, secrets.ErrOpen) {
				t.Errorf("opened %.20q: %v", bad, err)
			}
		}
		if _, err := other.Open(a); !errors.Is(err, secrets.ErrOpen) {
			t.Error("another key opened it:", err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestProcessesThatStartTogetherShareAKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets.key")
	boxes := make([]*secrets.Box, 8)
	var wg sync.WaitGroup
	for i := range boxes {
		wg.Go(func() {
			b, err := secrets.File(path)
			if err != nil {
				t.Error(err)
				return
			}
			boxes[i] = b
		})
	}
	wg.Wait()
	sealed, err := boxes[0].Seal([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range boxes {
		if _, err := b.Open(sealed); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedKeyFile(t *testing.T) {
	for _, text := range []string{"", "not base64!", "c2hvcnQ="} {
		path := filepath.Join(t.TempDir(), "secrets.key")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := secrets.File(path); err == nil {
			t.Errorf("%q was taken for a key", text)
		}
	}
}
