package blobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"parley/blobs/blobstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// each runs fn on every kind of store.
func each(t *testing.T, fn func(t *testing.T, s Store)) {
	t.Run("files", func(t *testing.T) {
		s, err := Open(t.Context(), "", filepath.Join(t.TempDir(), "blobs"))
		if err != nil {
			t.Fatal(err)
		}
		fn(t, s)
	})
	t.Run("s3", func(t *testing.T) {
		s, err := Open(t.Context(), blobstest.S3(t), "")
		if err != nil {
			t.Fatal(err)
		}
		fn(t, s)
	})
}

func put(t *testing.T, s Store, key, body, kind string) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(body), kind); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s Store, key string) (string, Info) {
	t.Helper()
	r, info, err := s.Open(t.Context(), key)
	if err != nil {
		t.Fatal(key, err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), info
}

func TestWhatWasPutIsRead(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		for key, kind := range map[string]string{"recordings/a b+ü.wav": "audio/wav", "a/b/c/deep": "image/x-odd", "top.txt": "", "empty.wav": "audio/wav"} {
			body := "content of " + key
			if key == "empty.wav" {
				body = ""
			}
			put(t, s, key, body, kind)
			if kind == "" {
				kind = "text/plain; charset=utf-8"
			}
			got, info := read(t, s, key)
			if got != body || info.ContentType != kind || info.Size != int64(len(body)) || time.Since(info.Modified).Abs() > time.Minute {
				t.Errorf("%s: %q %+v", key, got, info)
			}
		}
		put(t, s, "a/b/c/deep", "second", "application/octet-stream")
		if got, info := read(t, s, "a/b/c/deep"); got != "second" || info.ContentType != "application/octet-stream" {
			t.Errorf("replaced: %q %+v", got, info)
		}
	})
}

func TestReadersSeek(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		put(t, s, "k.wav", "0123456789", "audio/wav")
		r, _, err := s.Open(t.Context(), "k.wav")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if n, err := r.Seek(-3, io.SeekEnd); n != 7 || err != nil {
			t.Error(n, err)
		}
		if b, err := io.ReadAll(r); string(b) != "789" || err != nil {
			t.Error(string(b), err)
		}
		if _, err := r.Seek(2, io.SeekStart); err != nil {
			t.Error(err)
		}
		if b, err := io.ReadAll(io.LimitReader(r, 2)); string(b) != "23" || err != nil {
			t.Error(string(b), err)
		}
	})
}

func TestBigFileOfUnknownLength(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		body := make([]byte, partSize*2+12345)
		src := rand.NewChaCha8([32]byte{})
		src.Read(body)
		if err := s.Put(t.Context(), "big", io.MultiReader(bytes.NewReader(body)), ""); err != nil {
			t.Fatal(err)
		}
		if got, info := read(t, s, "big"); got != string(body) || info.Size != int64(len(body)) {
			t.Error("another file came back:", len(got), info)
		}
	})
}

func TestWhatIsNotThere(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		put(t, s, "dir/file", "x", "a/b")
		for _, key := range []string{"nothing", "dir", "dir/file/below", "dir/file~type", "../blobs", "/etc/passwd", "", ".", ".partial", "a//b"} {
			if _, _, err := s.Open(t.Context(), key); !errors.Is(err, ErrNone) {
				t.Errorf("%q: %v", key, err)
			}
		}
		for range 2 {
			if err := s.Delete(t.Context(), "dir/file"); err != nil {
				t.Error(err)
			}
		}
		if _, _, err := s.Open(t.Context(), "dir/file"); !errors.Is(err, ErrNone) {
			t.Error("after Delete:", err)
		}
	})
}

func TestBadKeysAreRefused(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		for _, key := range []string{"", ".", "..", "../x", "/x", "a/../b", ".hidden", "a/.hidden", "a~type", "a\\b", "a\x00", "a/"} {
			if err := s.Put(t.Context(), key, strings.NewReader("x"), ""); err == nil {
				t.Errorf("%q was stored", key)
			}
			if err := s.Delete(t.Context(), key); err == nil {
				t.Errorf("%q was deleted", key)
			}
		}
	})
}

func TestFailedPutLeavesTheOldFile(t *testing.T) {
	broken := errors.New("broken pipe")
	each(t, func(t *testing.T, s Store) {
		put(t, s, "k", "old", "")
		err := s.Put(t.Context(), "k", io.MultiReader(strings.NewReader("new"), iotest.ErrReader(broken)), "")
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Put(cancelled, "k", strings.NewReader("new"), ""); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got, _ := read(t, s, "k"); got != "old" {
			t.Errorf("%q", got)
		}
		if f, ok := s.(files); ok {
			if left, err := fs.ReadDir(f.root.FS(), partial); err != nil || len(left) != 0 {
				t.Error("left behind:", left, err)
			}
		}
	})
}

func TestReadersNeverSeeAMixture(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		bodies := [2]string{strings.Repeat("a", 100_000), strings.Repeat("b", 200_000)}
		put(t, s, "k", bodies[0], "")
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			for i := range 20 {
				if err := s.Put(t.Context(), "k", strings.NewReader(bodies[i%2]), ""); err != nil {
					t.Error(err)
				}
			}
		})
		for range 20 {
			r, _, err := s.Open(t.Context(), "k")
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(r)
			r.Close()
			if err == nil && string(got) != bodies[0] && string(got) != bodies[1] { // S3 ends the read of a replaced file with an error
				t.Errorf("a file of %d bytes", len(got))
			}
		}
	})
}

func TestOldPartsAreSwept(t *testing.T) {
	dir := t.TempDir()
	part := func(name string, age time.Duration) {
		file := filepath.Join(dir, partial, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, partial), 0o700); err != nil {
		t.Fatal(err)
	}
	part("old", 25*time.Hour)
	part("young", time.Hour)
	if _, err := Open(t.Context(), "", dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, partial))
	if err != nil || len(left) != 1 || left[0].Name() != "young" {
		t.Error(left, err)
	}
}

func TestAddressesThatCannotBeOpened(t *testing.T) {
	server, err := url.Parse(blobstest.S3(t))
	if err != nil {
		t.Fatal(err)
	}
	endpoint := server.Query().Get("endpoint")
	for _, address := range []string{"ftp://x", "s3://?endpoint=" + endpoint, "s3://other?endpoint=" + endpoint + "&access_key=a&secret_key=hush"} {
		if _, err := Open(t.Context(), address, ""); err == nil || strings.Contains(err.Error(), "hush") {
			t.Error(address, err)
		}
	}
}

// Several processes that begin on an empty store make its bucket, when they are told to.
func TestBucketIsMade(t *testing.T) {
	address := "s3://parley?endpoint=" + blobstest.Empty(t, "parley", "id") + "&access_key=id&secret_key=secret"
	if _, err := Open(t.Context(), address, ""); err == nil || !strings.Contains(err.Error(), "there is no bucket parley") {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := Open(t.Context(), address+"&create=true", ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s, err := Open(t.Context(), address, "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "a/b", "text", "text/plain")
}
