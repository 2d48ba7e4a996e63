package web

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"parley/lines"
)

// turnFor is how long a browser may ask a TURN server for help with the password it was given.
const turnFor = 12 * time.Hour

// ICEServers are what a browser is told, for now.
func (s *Server) ICEServers() []lines.ICEServer {
	list := []lines.ICEServer{}
	for _, entry := range s.cfg.ICEServers {
		list = append(list, iceServer(entry, s.cfg.TURNSecret, time.Now()))
	}
	return list
}

// iceServer reads an entry of the configuration. A TURN server without a user gets one whose name is the time until which
// it counts, and a password made of the name and the secret, as TURN servers with a shared secret check it.
func iceServer(entry, secret string, now time.Time) lines.ICEServer {
	kind, rest, _ := strings.Cut(entry, ":")
	at := strings.LastIndexByte(rest, '@')
	out := lines.ICEServer{URLs: []string{kind + ":" + rest[at+1:]}}
	switch {
	case kind == "stun" || kind == "stuns":
	case at >= 0:
		out.Username, out.Credential, _ = strings.Cut(rest[:at], ":")
	case secret != "":
		out.Username = strconv.FormatInt(now.Add(turnFor).Unix(), 10) + ":parley"
		sum := hmac.New(sha1.New, []byte(secret))
		sum.Write([]byte(out.Username))
		out.Credential = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	return out
}
