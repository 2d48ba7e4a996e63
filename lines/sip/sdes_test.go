package sip

import (
	"errors"
	"strings"
	"testing"

	"parley/lines"
	"parley/lines/linetest"
)

const goodKey = "a=crypto:4 AES_CM_128_HMAC_SHA1_80 inline:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd|2^31\r\n"

// Lines that cannot be used are passed over; what is left decides whether the stream can be.
func TestKeysInDescriptions(t *testing.T) {
	secure := strings.ReplaceAll(audioOffer, "RTP/AVP", "RTP/SAVP")
	weak := strings.ReplaceAll(goodKey, "\r", " UNENCRYPTED_SRTP\r")
	for name, c := range map[string]struct {
		body, srtp string
		taken, key bool
	}{
		"both know it":                {audioOffer + goodKey, srtpOffered, true, true},
		"encrypted only":              {secure + goodKey, srtpOffered, true, true},
		"encrypted only, required":    {secure + goodKey, srtpRequired, true, true},
		"in the clear":                {audioOffer, srtpOffered, true, false},
		"in the clear, required":      {audioOffer, srtpRequired, false, false},
		"off":                         {audioOffer + goodKey, "", true, false},
		"encrypted only, off":         {secure + goodKey, "off", false, false},
		"encrypted without a key":     {secure, srtpOffered, false, false},
		"not encrypted in truth":      {secure + weak, srtpRequired, false, false},
		"the second line is good":     {secure + weak + goodKey, srtpRequired, true, true},
		"a suite of somebody else":    {audioOffer + strings.ReplaceAll(goodKey, "CM_128", "F8_128"), srtpOffered, true, false},
		"a key index":                 {audioOffer + strings.ReplaceAll(goodKey, "2^31", "1:4"), srtpRequired, false, false},
		"short":                       {audioOffer + strings.ReplaceAll(goodKey, "Gxwd", ""), srtpRequired, false, false},
		"two streams, off":            {secure + goodKey + "m=audio 4002 RTP/AVP 0\r\n", "", true, false},
		"two streams, the other way":  {audioOffer + "m=audio 4002 RTP/SAVP 0\r\n" + goodKey, srtpRequired, true, true},
		"a tag that is no number":     {audioOffer + strings.ReplaceAll(goodKey, ":4", ":x"), srtpRequired, false, false},
		"another method than inline:": {audioOffer + strings.ReplaceAll(goodKey, "inline", "prompt"), srtpRequired, false, false},
	} {
		d, err := parseSDP([]byte(c.body), c.srtp)
		if (err == nil) != c.taken || (d.Crypto != nil) != c.key {
			t.Errorf("%s: %v %v", name, d.Crypto, err)
		}
	}
}

// TestEncryptedCalls: two trunks with every setting meet; what both can is encrypted, and sound comes through both ways.
//
// Contract: 10.7
func TestEncryptedCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ caller, callee, want string }{
		{"off", "off", "clear"}, {"off", "offered", "clear"}, {"off", "required", "refused"},
		{"offered", "off", "clear"}, {"offered", "offered", "secret"}, {"offered", "required", "secret"},
		{"required", "off", "refused"}, {"required", "offered", "secret"}, {"required", "required", "secret"},
	} {
		t.Run(c.caller+" calls "+c.callee, func(t *testing.T) {
			t.Parallel()
			legs := make(chan lines.Leg, 1)
			callee := serve(t, Config{OnCall: func(l lines.Leg) { _ = l.Answer(t.Context()); legs <- l },
				Trunks: trunks(Trunk{ID: 1, Number: "205", Extension: true, Auth: "ip", Allowed: loopback, SRTP: c.callee})})
			caller := serve(t, Config{Default: &Trunk{Number: "100", Address: "127.0.0.1", Port: int(callee.sockets[0].local.Port()), SRTP: c.caller}})
			leg, err := caller.Dial(t.Context(), lines.Destination{To: "205", From: "100", RingFor: patience}, nil)
			if c.want == "refused" {
				var e *lines.DialError
				if !errors.As(err, &e) || e.Code != 488 {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			other := receive(t, legs, "leg")
			for _, l := range []lines.Leg{leg, other} {
				if got := l.(*Leg).audio.crypto() != nil; got != (c.want == "secret") {
					t.Errorf("encrypted: %v", got)
				}
				for _, m := range l.(*Leg).Trace() {
					if strings.Contains(m.Text, "inline:") && !strings.Contains(m.Text, "inline:…") {
						t.Errorf("a key in the trace: %s", m.Text)
					}
				}
			}
			linetest.Play(t, leg.Media(), 700, patience/4)
			linetest.Play(t, other.Media(), 1000, patience/4)
			linetest.Hears(t, other.Media(), 700, 0.1)
			linetest.Hears(t, leg.Media(), 1000, 0.1)
			_ = leg.Hangup(t.Context())
		})
	}
}
