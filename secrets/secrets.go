// Package secrets keeps customers' secrets unreadable in the database: calendar keys, trunk passwords, tool headers,
// webhook secrets. The key lies outside of it.
package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Box seals with AES-256-GCM.
type Box struct{ aead cipher.AEAD }

// KeySize is the length of a key in bytes.
const KeySize = 32

// version stands before everything sealed, so that a later scheme can be told from this one.
const version = "v1:"

// New makes a box with a key of KeySize bytes.
func New(key []byte) (*Box, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("secrets: the key has %d bytes, not %d", len(key), KeySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &Box{aead}, err
}

// File opens the box whose key lies in a file, as base64; a file that does not exist is made. Processes that share
// a database share the file.
func File(path string) (*Box, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		b, err = create(path)
	}
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	box, err := Text(string(b))
	if err != nil {
		return nil, fmt.Errorf("secrets: %s holds no key", path)
	}
	return box, nil
}

// Text opens the box of a key in base64, as it stands in the file.
func Text(key string) (*Box, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(key))
	if err != nil {
		return nil, err
	}
	return New(raw)
}

// create makes a key file unless another process makes it first. The file appears whole.
func create(path string) ([]byte, error) {
	key := make([]byte, KeySize)
	rand.Read(key)
	tmp, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(path)
}

// Seal encrypts; two seals of the same secret differ.
func (b *Box) Seal(plain []byte) (string, error) {
	sealed := make([]byte, b.aead.NonceSize(), b.aead.NonceSize()+len(plain)+b.aead.Overhead())
	rand.Read(sealed)
	sealed = b.aead.Seal(sealed, sealed, plain, nil)
	return version + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// ErrOpen says that something was not sealed with this key.
var ErrOpen = errors.New("secrets: not sealed with this key")

// Open decrypts.
func (b *Box) Open(sealed string) ([]byte, error) {
	text, ok := strings.CutPrefix(sealed, version)
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if !ok || err != nil || len(raw) < b.aead.NonceSize() {
		return nil, ErrOpen
	}
	n := b.aead.NonceSize()
	plain, err := b.aead.Open(nil, raw[:n], raw[n:], nil)
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}
