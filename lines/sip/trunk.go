package sip

import (
	"context"
	"net/netip"
	"net/url"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"parley/ids"
)

// Trunk is a way in from and out to the telephone network.
type Trunk struct {
	ID        ids.Number
	Account   int64  // whose it is
	Number    string // user part called inbound and shown outbound: E.164 number or extension
	Extension bool   // Number is an extension
	Username  string // digest user
	Password  string // digest secret
	Address   string // host or IP of the far end: registrar and outbound target
	Port      int    // 0 = the transport's default
	Transport string // udp, tcp or tls
	Format    string // user part of dialled numbers: +e164, e164 or national
	Country   string // ISO 3166-1 alpha-2, for national numbers
	Auth      string // what inbound calls must show: auth (digest) or ip
	Allowed   []netip.Prefix
	Proxy     bool     // outbound requests leave through Config.Proxy
	Codecs    []string // pcmu, pcma, g722, opus in order of preference; empty = all
	Register  bool     // keep a registration at Address
	Asked     int64    // how often somebody asked for a registration at once

	SRTP           string         // off, offered or required; "" = off (SDES, RFC 4568)
	TLSCA          string         // PEM; certificates believed besides Config.TLS
	TLSFingerprint string         // SHA-256 of a certificate that is believed as it is, in lower-case hex
	DTMF           string         // how keys are sent: rfc4733, info, inband, or auto and "": the first of them that the far end takes
	TransferMethod string         // bridge or refer; "" = the installation's
	MediaFrom      []netip.Prefix // where audio may come from besides where the far end said
}

// Trunks knows the installation's trunks. Methods are called from any goroutine.
type Trunks interface {
	// Called lists the trunks whose number may be meant by the user part of a request;
	// the server still asks each one (Trunk.Accepts). Unknown users give an empty list.
	Called(ctx context.Context, user string) ([]Trunk, error)
	// Trunk finds one by its id.
	Trunk(ctx context.Context, id ids.Number) (Trunk, error)
	// Registrations lists the trunks this process keeps registered. stamp is what the last call
	// returned; when nothing changed since, the list may be nil and the stamp the same.
	Registrations(ctx context.Context, stamp string) (list []Trunk, next string, err error)
	// Registered records the state of a trunk's registration, and the refusal when it failed ("403 Forbidden").
	Registered(ctx context.Context, t Trunk, state Registration, refusal string) error
}

// Registration is the state of a trunk at its registrar.
type Registration string

const (
	Unregistered Registration = "none"
	Registered   Registration = "registered"
	Failed       Registration = "failed"
)

// Accepts reports whether a called user part means this trunk. Numbers are compared as numbers:
// +4930…, 4930…, 004930… and 030… are the same for a German trunk.
func (t Trunk) Accepts(user string) bool {
	user = userPart(user)
	if user == t.Number {
		return true
	}
	return !t.Extension && strings.HasPrefix(t.Number, "+") && e164(user, t.Country) == t.Number
}

// allows reports whether calls may come from addr without a password.
func (t Trunk) allows(addr netip.Addr) bool {
	for _, p := range t.Allowed {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// userPart is the bare user of a URI: escapes undone, parameters and visual separators removed.
func userPart(user string) string {
	user, _, _ = strings.Cut(user, ";")
	if u, err := url.PathUnescape(user); err == nil {
		user = u
	}
	if strings.HasPrefix(user, "+") {
		user = strings.NewReplacer("-", "", ".", "", "(", "", ")", "", " ", "").Replace(user)
	}
	return user
}

// e164 reads a user part as a phone number dialled in country. "" when it is none.
func e164(user, country string) string {
	if user == "" || strings.Trim(user, "+0123456789") != "" {
		return ""
	}
	tries := []string{user}
	if !strings.HasPrefix(user, "+") && !strings.HasPrefix(user, "0") {
		tries = []string{"+" + user, user} // carriers send 4930… more often than a local number without its prefix
	}
	for _, s := range tries {
		if n, err := phonenumbers.Parse(s, country); err == nil && phonenumbers.IsPossibleNumber(n) && valid(n, s) {
			return phonenumbers.Format(n, phonenumbers.E164)
		}
	}
	return ""
}

// valid is stricter for guessed international numbers, so that a local 4155550123 is not read as +41 55….
func valid(n *phonenumbers.PhoneNumber, tried string) bool {
	return phonenumbers.IsValidNumber(n) || strings.HasPrefix(tried, "00")
}

// dialled is the user part that calls to on this trunk. Anything but an E.164 number stays as it is.
func (t Trunk) dialled(to string) string {
	digits, ok := strings.CutPrefix(to, "+")
	if !ok {
		return to
	}
	switch t.Format {
	case "e164":
		return digits
	case "national":
		n, err := phonenumbers.Parse(to, "")
		if err != nil {
			return digits
		}
		if phonenumbers.GetRegionCodeForNumber(n) == t.Country {
			return onlyDigits(phonenumbers.Format(n, phonenumbers.NATIONAL))
		}
		return onlyDigits(phonenumbers.FormatOutOfCountryCallingNumber(n, t.Country))
	}
	return to
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// escapeUser writes a user part so that it may stand in a URI (RFC 3261 §25.1, user-unreserved).
func escapeUser(user string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(user) {
		c := user[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_.!~*'()&=+$,/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
	}
	return b.String()
}

// codecs are the formats offered and accepted on this trunk.
func (t Trunk) codecs(supported []string) []string {
	if len(t.Codecs) == 0 {
		return supported
	}
	var list []string
	for _, c := range t.Codecs {
		for _, s := range supported {
			if c == s {
				list = append(list, c)
			}
		}
	}
	return list
}
