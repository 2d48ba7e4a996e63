package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// pair writes a certificate with its key, as of a moment.
func pair(t *testing.T, dir, name string, written time.Time) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	is := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotAfter: written.AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, is, is, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: hidden}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, written, written); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A renewed certificate is used without a restart; a broken one leaves the last in use.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cert, key := pair(t, dir, "one.example", time.Now())
		c, err := openCertificate(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		uses := func() string {
			is, err := c.For(nil)
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := x509.ParseCertificate(is.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			return leaf.DNSNames[0]
		}
		pair(t, dir, "two.example", time.Now().Add(time.Second))
		if got := uses(); got != "one.example" {
			t.Errorf("looked at once: %s", got)
		}
		time.Sleep(lookAgain)
		if got := uses(); got != "two.example" {
			t.Errorf("not renewed: %s", got)
		}
		if err := os.WriteFile(key, bytes.Repeat([]byte("x"), 100), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * lookAgain)
		if got := uses(); got != "two.example" {
			t.Errorf("a broken key: %s", got)
		}
	})
	for _, files := range [][2]string{{filepath.Join(dir, "cert.pem"), ""}, {"", "x"}, {"/nowhere", "/nowhere"}} {
		if _, err := openCertificate(files[0], files[1]); err == nil {
			t.Errorf("%v was taken", files)
		}
	}
}
