package sip

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

// realm of our challenges: the same for everybody, and it names no product.
const realm = "sip"

// nonceLife is how long a challenge may be answered.
const nonceLife = 60 * time.Second

// challenger makes and checks nonces without remembering them: a nonce is a time and its MAC,
// bound to the caller's address and the call, so it is worth nothing anywhere else. Only of those that a right password
// came with it knows how often.
type challenger struct {
	key []byte

	mu    sync.Mutex
	spent map[string]int // nonce → highest count
	swept time.Time
}

func newChallenger() *challenger {
	c := &challenger{key: make([]byte, 32), spent: map[string]int{}}
	_, _ = rand.Read(c.key)
	return c
}

// spend notes that a nonce proved something with a count. It reports false when that count or a higher one did already
// (RFC 7616 §3.4): somebody repeats what he overheard.
func (c *challenger) spend(cred *digest.Credentials, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.swept) > 2*nonceLife { // all the older ones have expired
		fresh := map[string]int{}
		for nonce, count := range c.spent {
			if issued, ok := issuedAt(nonce); ok && now.Sub(issued) <= nonceLife {
				fresh[nonce] = count
			}
		}
		c.spent, c.swept = fresh, now
	}
	count := max(cred.Nc, 1) // without qop nothing is counted: once
	if c.spent[cred.Nonce] >= count {
		return false
	}
	c.spent[cred.Nonce] = count
	return true
}

// issuedAt is when a nonce was made, if it is one of ours by its form.
func issuedAt(nonce string) (time.Time, bool) {
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != 24 {
		return time.Time{}, false
	}
	return time.Unix(int64(binary.BigEndian.Uint64(b)), 0), true
}

func (c *challenger) nonce(now time.Time, from netip.Addr, callID string) string {
	var t [8]byte
	binary.BigEndian.PutUint64(t[:], uint64(now.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(t[:], c.mac(t[:], from, callID)...))
}

func (c *challenger) mac(t []byte, from netip.Addr, callID string) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write(t)
	h.Write([]byte(from.String() + " " + callID))
	return h.Sum(nil)[:16]
}

func (c *challenger) fresh(nonce string, now time.Time, from netip.Addr, callID string) bool {
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != 24 || !hmac.Equal(b[8:], c.mac(b[:8], from, callID)) {
		return false
	}
	age := now.Unix() - int64(binary.BigEndian.Uint64(b))
	return age >= 0 && age <= int64(nonceLife/time.Second)
}

// tag is the To tag of answers we keep no state for: the same for the same request (RFC 3261 §8.2.7).
func (c *challenger) tag(r *sip.Request) string {
	h := hmac.New(sha256.New, c.key)
	from, _ := r.From().Params.Get("tag")
	h.Write([]byte("tag " + r.CallID().Value() + " " + from))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// challenge is the value of WWW-Authenticate.
func (c *challenger) challenge(now time.Time, from netip.Addr, callID string, stale bool) string {
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

// wellFormed reports whether credentials are for this request and complete (RFC 7616 §3.4, RFC 3261 §22.4).
func wellFormed(cred *digest.Credentials, req *sip.Request) bool {
	if cred.QOP != "" && (cred.QOP != "auth" || cred.Nc < 1 || cred.Cnonce == "") {
		return false
	}
	return sameResource(cred.URI, req.Recipient)
}

// sameResource reports whether the uri of a digest names what is requested. Case, escapes and the default port do not
// count, nor do parameters; without a user the whole host is meant, as sipp and some gateways write it.
func sameResource(uri string, requested sip.Uri) bool {
	if requested.Scheme == "tel" {
		return strings.EqualFold(uri, requested.Raw())
	}
	var u sip.Uri
	if sip.ParseUri(uri, &u) != nil {
		return false
	}
	return strings.EqualFold(u.Scheme, requested.Scheme) && strings.EqualFold(u.Host, requested.Host) &&
		portOf(u) == portOf(requested) && (u.User == "" || userPart(u.User) == userPart(requested.User))
}

func portOf(u sip.Uri) int {
	if u.Port == 0 {
		return sip.DefaultPort(u.UriParams.GetOr("transport", "udp"))
	}
	return u.Port
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
	return subtle.ConstantTimeCompare([]byte(cred.Username), []byte(user))&
		subtle.ConstantTimeCompare([]byte(strings.ToLower(cred.Response)), []byte(want.Response)) == 1
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
