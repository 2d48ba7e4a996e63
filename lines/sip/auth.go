package sip

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

// realm of our challenges: the same for everybody, and it names no product.
const realm = "sip"

// nonceLife is how long a challenge may be answered.
const nonceLife = 60 * time.Second

// challenger makes and checks nonces without remembering them: a nonce is a time and its MAC,
// bound to the caller's address and the call, so it is worth nothing anywhere else.
type challenger struct{ key []byte }

func (c challenger) nonce(now time.Time, from netip.Addr, callID string) string {
	var t [8]byte
	binary.BigEndian.PutUint64(t[:], uint64(now.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(t[:], c.mac(t[:], from, callID)...))
}

func (c challenger) mac(t []byte, from netip.Addr, callID string) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write(t)
	h.Write([]byte(from.String() + " " + callID))
	return h.Sum(nil)[:16]
}

func (c challenger) fresh(nonce string, now time.Time, from netip.Addr, callID string) bool {
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != 24 || !hmac.Equal(b[8:], c.mac(b[:8], from, callID)) {
		return false
	}
	age := now.Unix() - int64(binary.BigEndian.Uint64(b))
	return age >= 0 && age <= int64(nonceLife/time.Second)
}

// tag is the To tag of answers we keep no state for: the same for the same request (RFC 3261 §8.2.7).
func (c challenger) tag(r *sip.Request) string {
	h := hmac.New(sha256.New, c.key)
	from, _ := r.From().Params.Get("tag")
	h.Write([]byte("tag " + r.CallID().Value() + " " + from))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// challenge is the value of WWW-Authenticate.
func (c challenger) challenge(now time.Time, from netip.Addr, callID string, stale bool) string {
	return (&digest.Challenge{Realm: realm, Nonce: c.nonce(now, from, callID), Algorithm: "MD5", QOP: []string{"auth"}, Stale: stale}).String()
}

// credentials reads the digest answer to our challenge; ok is false when there is none.
func credentials(r *sip.Request) (*digest.Credentials, bool) {
	h := r.GetHeader("Authorization")
	if h == nil || !digest.IsDigest(h.Value()) {
		return nil, false
	}
	cred, err := digest.ParseCredentials(h.Value())
	return cred, err == nil && cred.Realm == realm
}

// proves reports whether the credentials are those of user and password for this request.
func proves(cred *digest.Credentials, method, user, password string) bool {
	chal := &digest.Challenge{Realm: cred.Realm, Nonce: cred.Nonce, Opaque: cred.Opaque, Algorithm: cred.Algorithm}
	if cred.QOP != "" {
		chal.QOP = []string{"auth"}
	}
	want, err := digest.Digest(chal, digest.Options{Method: method, URI: cred.URI, Username: user, Password: password,
		Cnonce: cred.Cnonce, Count: cred.Nc})
	if err != nil || cred.QOP != want.QOP {
		return false
	}
	return cred.Username == user && subtle.ConstantTimeCompare([]byte(strings.ToLower(cred.Response)), []byte(want.Response)) == 1
}

// answerChallenge adds the answer to a 401 or 407 to r. It reports whether there was a challenge we can answer.
func answerChallenge(r *sip.Request, res *sip.Response, user, password string) bool {
	ask, reply := "WWW-Authenticate", "Authorization"
	if res.StatusCode == 407 {
		ask, reply = "Proxy-Authenticate", "Proxy-Authorization"
	}
	for _, h := range res.GetHeaders(ask) {
		chal, err := digest.ParseChallenge(h.Value())
		if err != nil || !digest.CanDigest(chal) {
			continue
		}
		for i := range chal.QOP { // "auth, auth-int" is split at the comma only
			chal.QOP[i] = strings.TrimSpace(chal.QOP[i])
		}
		if len(chal.QOP) > 0 && !chal.SupportsQOP("auth") {
			continue
		}
		cred, err := digest.Digest(chal, digest.Options{Method: string(r.Method), URI: r.Recipient.String(), Username: user, Password: password})
		if err != nil {
			continue
		}
		r.RemoveHeader(reply)
		r.AppendHeader(sip.NewHeader(reply, cred.String()))
		return true
	}
	return false
}
