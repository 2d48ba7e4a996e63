// Package blobs keeps files that are too big for the database: recordings, uploads, media of messages.
package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"strings"
	"time"
)

// ErrNone says that no file has the key.
var ErrNone = errors.New("blobs: no such file")

// Info is what is known of a file.
type Info struct {
	Size        int64
	ContentType string
	Modified    time.Time
}

// Store keeps files under keys such as "recordings/9f2c.wav": path elements joined by slashes, none of them empty,
// beginning with a dot or ending with ~type. Who may read a file is the caller's business; names that cannot be guessed are too.
type Store interface {
	// Put stores all of r under key, replacing what was there. Readers see the old file or the new one, never a
	// mixture, and what Put has acknowledged survives a crash.
	Put(ctx context.Context, key string, r io.Reader, contentType string) error
	// Open reads a file; [ErrNone] when there is none.
	Open(ctx context.Context, key string) (io.ReadSeekCloser, Info, error)
	// Delete removes a file; deleting what is not there is no error.
	Delete(ctx context.Context, key string) error
}

// Open opens the store of an address: empty = files in dir,
// s3://bucket?endpoint=https://host:port = S3 or what speaks its protocol. See [openS3] for the other parameters.
func Open(ctx context.Context, address, dir string) (Store, error) {
	if address == "" {
		return openFiles(dir)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return nil, errors.New("blobs.url: must be s3://bucket?endpoint=… or empty") // the address may hold a secret
	}
	return openS3(ctx, u)
}

// Remote lists the keys of a store whose files are not in a folder of ours; ok is false for one whose files are.
func Remote(ctx context.Context, s Store) (keys iter.Seq2[string, error], ok bool) {
	b, ok := s.(bucket)
	if !ok {
		return nil, false
	}
	return b.list(ctx), true
}

// typeSuffix marks what stands beside a file in a folder; no key ends with it.
const typeSuffix = "~type"

// check refuses keys that could leave the store or hide in it.
func check(key string) error {
	if !fs.ValidPath(key) || strings.HasSuffix(key, typeSuffix) || key == "." || strings.HasPrefix(key, ".") || strings.Contains(key, "/.") ||
		strings.ContainsAny(key, "\\\x00") {
		return fmt.Errorf("blobs: bad key %q", key)
	}
	return nil
}
