package sip

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"

	"parley/lines/media"
)

// How a trunk's audio is encrypted (Trunk.SRTP). Keys travel in the session description (SDES, RFC 4568); offered ones stand
// beside plain RTP (RFC 8643), so that a far end without encryption takes the call too.
const (
	srtpOffered  = "offered"
	srtpRequired = "required"
)

// keying is one a=crypto line.
type keying struct {
	Tag   int
	Suite string
	Key   []byte // master key and salt of who wrote it
}

// suites are what we offer, with tags from 1 on.
var suites = []string{"AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_32"}

// newKey makes our half of the keys of a call.
func newKey() []byte {
	b := make([]byte, media.CryptoKeyLen)
	_, _ = rand.Read(b)
	return b
}

// keyings are the lines of a stream that we understand: a suite of ours, one key, no parameters that weaken it.
func keyings(m *sdp.MediaDescription) (list []keying) {
	for _, a := range m.Attributes {
		if a.Key == "crypto" {
			if k, err := parseKeying(a.Value); err == nil {
				list = append(list, k)
			}
		}
	}
	return list
}

var errKeying = errors.New("crypto attribute not understood")

// parseKeying reads `1 AES_CM_128_HMAC_SHA1_80 inline:KEY|2^31` (RFC 4568 §9.1). Lines with a key index or session
// parameters are not understood: none is needed between two parties.
func parseKeying(line string) (k keying, err error) {
	f := strings.Fields(line)
	if len(f) != 3 || !slices.Contains(suites, strings.ToUpper(f[1])) {
		return k, errKeying
	}
	if k.Tag, err = strconv.Atoi(f[0]); err != nil || k.Tag < 0 {
		return k, errKeying
	}
	k.Suite = strings.ToUpper(f[1])
	method, params, _ := strings.Cut(f[2], ":")
	inline, lifetime, _ := strings.Cut(params, "|")
	if !strings.EqualFold(method, "inline") || strings.Contains(lifetime, ":") || strings.Contains(params, ";") {
		return k, errKeying
	}
	if k.Key, err = base64.StdEncoding.DecodeString(inline); err != nil || len(k.Key) != media.CryptoKeyLen {
		return k, errKeying
	}
	return k, nil
}

func (k keying) line() string {
	return fmt.Sprintf("a=crypto:%d %s inline:%s\r\n", k.Tag, k.Suite, base64.StdEncoding.EncodeToString(k.Key))
}

// usable: RTP audio that was not refused with port 0, encrypted as the trunk has it.
func usable(m *sdp.MediaDescription, srtp string) bool {
	if m.MediaName.Media != "audio" || m.MediaName.Port.Value <= 0 || m.MediaName.Port.Value >= 1<<16 {
		return false
	}
	var secure bool
	switch strings.Join(m.MediaName.Protos, "/") {
	case "RTP/SAVP", "RTP/SAVPF":
		secure = true
	case "RTP/AVP", "RTP/AVPF":
	default:
		return false
	}
	switch srtp {
	case srtpRequired:
		return len(keyings(m)) > 0
	case srtpOffered:
		return !secure || len(keyings(m)) > 0
	}
	return !secure
}

// offered are the lines of our offer with key; none when key is nil.
func offered(key []byte) (list []keying) {
	for i, suite := range suites {
		if key != nil {
			list = append(list, keying{i + 1, suite, key})
		}
	}
	return list
}

// profile is the transport of a new offer.
func profile(srtp string) string {
	if srtp == srtpRequired {
		return "RTP/SAVP"
	}
	return "RTP/AVP"
}

// crypto are the keys of a stream whose far end wrote k; nil = in the clear.
func (a *sound) crypto() *media.Crypto {
	if a.peer.Crypto == nil {
		return nil
	}
	return &media.Crypto{Suite: a.peer.Crypto.Suite, Local: a.key, Remote: a.peer.Crypto.Key}
}
