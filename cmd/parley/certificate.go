package main

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a pair of PEM files that somebody renews while the server runs.
type certificate struct {
	cert, key string

	mu     sync.Mutex
	looked time.Time
	of     time.Time // when the files that are held were written
	held   *tls.Certificate
}

// lookAgain is how long a certificate is used before its files are looked at again.
const lookAgain = time.Minute

// openCertificate reads the pair for tls:// addresses; nil when no files are named.
func openCertificate(cert, key string) (*certificate, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, misuse{errors.New("sip.tls_cert and sip.tls_key: one goes with the other")}
	}
	c := &certificate{cert: cert, key: key}
	if err := c.read(time.Now()); err != nil {
		return nil, misuse{errors.Join(errors.New("sip.tls_cert, sip.tls_key"), err)}
	}
	return c, nil
}

// read takes the files when they are newer than what is held.
func (c *certificate) read(now time.Time) error {
	c.looked = now
	written, err := newer(c.cert, c.key)
	if err != nil || written.Equal(c.of) {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.held, c.of = &pair, written
	}
	return err
}

func newer(files ...string) (latest time.Time, err error) {
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return latest, err
		}
		if info.ModTime().After(latest) {
			latest = info.ModTime()
		}
	}
	return latest, nil
}

// For is the certificate of a connection that begins. Files that cannot be read, or do not belong together while they are being
// renewed, leave the last one in use.
func (c *certificate) For(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookAgain {
		if err := c.read(now); err != nil {
			slog.Error("certificate not renewed", "error", err)
		}
	}
	return c.held, nil
}
