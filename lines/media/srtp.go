package media

import (
	"bytes"
	"fmt"

	prtp "github.com/pion/rtp"
	"github.com/pion/srtp/v3"
)

// Crypto are the keys of an encrypted stream (SRTP, RFC 3711).
type Crypto struct {
	Suite  string // AES_CM_128_HMAC_SHA1_80 or AES_CM_128_HMAC_SHA1_32 (RFC 4568 §6.2)
	Local  []byte // master key and salt of what we send: CryptoKeyLen bytes
	Remote []byte // and of what we receive
}

// CryptoKeyLen is the length of a master key with its salt, for either suite.
const CryptoKeyLen = cryptoKey + cryptoSalt

const (
	cryptoKey  = 16
	cryptoSalt = 14
	replays    = 128 // packets back that are told from repetitions
)

var cryptoSuites = map[string]srtp.ProtectionProfile{
	"AES_CM_128_HMAC_SHA1_80": srtp.ProtectionProfileAes128CmHmacSha1_80,
	"AES_CM_128_HMAC_SHA1_32": srtp.ProtectionProfileAes128CmHmacSha1_32,
}

func (c *Crypto) check() error {
	switch {
	case c == nil:
		return nil
	case cryptoSuites[c.Suite] == 0:
		return fmt.Errorf("media: unknown crypto suite %q", c.Suite)
	case len(c.Local) != CryptoKeyLen || len(c.Remote) != CryptoKeyLen:
		return fmt.Errorf("media: keys of %d and %d bytes", len(c.Local), len(c.Remote))
	}
	return nil
}

// cipher protects and opens the packets of a stream. It belongs to the pacer.
type cipher struct {
	of      Crypto
	out, in *srtp.Context
	header  prtp.Header
	buf     [maxPacket + 64]byte // a packet with its tag
}

// newCipher goes on with the state of old in each direction whose key stays; nil for a stream in the clear.
func newCipher(c *Crypto, old *cipher) (*cipher, error) {
	if c == nil {
		return nil, nil
	}
	x := &cipher{of: *c}
	if old != nil && old.of.Suite == c.Suite {
		if bytes.Equal(old.of.Local, c.Local) {
			x.out = old.out
		}
		if bytes.Equal(old.of.Remote, c.Remote) {
			x.in = old.in
		}
	}
	var err error
	if x.out == nil {
		x.out, err = srtp.CreateContext(c.Local[:cryptoKey], c.Local[cryptoKey:], cryptoSuites[c.Suite])
	}
	if x.in == nil && err == nil {
		x.in, err = srtp.CreateContext(c.Remote[:cryptoKey], c.Remote[cryptoKey:], cryptoSuites[c.Suite],
			srtp.SRTPReplayProtection(replays), srtp.SRTCPReplayProtection(replays))
	}
	return x, err
}

// seal encrypts an RTP packet; the result is valid until the next call of any method. It is nil when that fails.
func (x *cipher) seal(packet []byte) []byte {
	if x == nil {
		return packet
	}
	n, err := x.header.Unmarshal(packet)
	if err != nil {
		return nil
	}
	b, err := x.out.EncryptRTP(x.buf[:0], packet, &x.header)
	if err != nil || n > len(b) {
		return nil
	}
	return b
}

// open decrypts an RTP packet; ok is false when it was not protected with the far end's key, or came before.
func (x *cipher) open(packet []byte) (b []byte, ok bool) {
	if x == nil {
		return packet, true
	}
	b, err := x.in.DecryptRTP(x.buf[:0], packet, &x.header)
	return b, err == nil
}

func (x *cipher) sealReport(packet []byte) []byte {
	if x == nil {
		return packet
	}
	b, err := x.out.EncryptRTCP(x.buf[:0], packet, nil)
	if err != nil {
		return nil
	}
	return b
}

func (x *cipher) openReport(packet []byte) (b []byte, ok bool) {
	if x == nil {
		return packet, true
	}
	b, err := x.in.DecryptRTCP(x.buf[:0], packet, nil)
	return b, err == nil
}
