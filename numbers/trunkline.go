package numbers

import (
	"crypto/x509"
	"net/netip"
	"strings"

	"parley/fault"
	"parley/value"
)

// LineOptions are how a trunk's line is used (contract 10.7). It is stored as JSON.
type LineOptions struct {
	Register       *bool    `json:"register,omitempty"`        // nil: as the authorization type says
	SRTP           string   `json:"srtp,omitempty"`            // off, offered or required; "" = as the transport says
	TLSCA          string   `json:"tls_ca,omitempty"`          // PEM; certificates believed besides the system's roots
	TLSFingerprint string   `json:"tls_fingerprint,omitempty"` // SHA-256 of a certificate that is believed as it is; lower-case hex
	DTMF           string   `json:"dtmf"`                      // auto, rfc4733, info or inband
	TransferMethod *string  `json:"transfer_method,omitempty"` // bridge or refer; nil = the installation's
	MediaSource    string   `json:"media_source"`              // signalled or any_of_carrier
	MediaNetworks  []string `json:"media_networks"`            // CIDRs that audio may come from besides
}

// LineChange is the input of a trunk's line options; what is absent stays.
type LineChange struct {
	Register       value.Opt[bool]     `json:"register"`
	SRTP           value.Opt[string]   `json:"srtp" rule:"oneof=off|offered|required"`
	TLSCA          value.Opt[string]   `json:"tls_ca" rule:"null max=16384"`
	TLSFingerprint value.Opt[string]   `json:"tls_fingerprint" rule:"null pattern=^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$"`
	DTMF           value.Opt[string]   `json:"dtmf" rule:"oneof=auto|rfc4733|info|inband"`
	TransferMethod value.Opt[string]   `json:"transfer_method" rule:"null oneof=bridge|refer"`
	MediaSource    value.Opt[string]   `json:"media_source" rule:"oneof=signalled|any_of_carrier"`
	MediaNetworks  value.Opt[[]string] `json:"media_networks" rule:"max=50"`
}

// over are the options after the change.
func (c LineChange) over(l LineOptions) LineOptions {
	if c.Register.Has() {
		l.Register = c.Register.Ptr()
	}
	l.SRTP, l.DTMF, l.MediaSource = c.SRTP.Or(l.SRTP), c.DTMF.Or(l.DTMF), c.MediaSource.Or(l.MediaSource)
	if c.TransferMethod.Set {
		l.TransferMethod = c.TransferMethod.Ptr()
	}
	if c.TLSCA.Set {
		l.TLSCA = c.TLSCA.V
	}
	if c.TLSFingerprint.Set {
		l.TLSFingerprint = strings.ToLower(strings.ReplaceAll(c.TLSFingerprint.V, ":", ""))
	}
	if l.MediaNetworks = c.MediaNetworks.Or(l.MediaNetworks); l.MediaSource == "signalled" {
		l.MediaNetworks = []string{}
	}
	return l
}

// check says what is wrong with the change beyond its tags.
func (c LineChange) check(after LineOptions, wide bool) (bad []fault.Field) {
	if c.TLSCA.Has() && c.TLSCA.V != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(c.TLSCA.V)) {
		bad = append(bad, fault.Bad("tls_ca", "pattern"))
	}
	if after.MediaSource != "any_of_carrier" {
		return bad
	}
	if len(after.MediaNetworks) == 0 && (c.MediaSource.Has() || c.MediaNetworks.Set) {
		return append(bad, fault.Own("media_networks", "List at least one network: media source any_of_carrier needs it."))
	}
	return append(bad, checkNetworks("media_networks", c.MediaNetworks.V, wide)...)
}

// Registers reports whether we register at the far end: where we prove ourselves by a password, unless asked otherwise.
func (t Trunk) Registers() bool {
	wanted := t.Auth == "auth"
	if t.Line.Register != nil {
		wanted = *t.Line.Register
	}
	return wanted && t.Username != "" && t.Password != ""
}

// SRTP is whether audio is encrypted: off, offered or required.
func (t Trunk) SRTP() string {
	switch {
	case t.Line.SRTP != "":
		return t.Line.SRTP
	case t.Transport == "tls":
		return "offered"
	}
	return "off"
}

// MediaNetworks are where audio may come from besides where the far end said.
func (t Trunk) MediaNetworks() []netip.Prefix { return prefixes(t.Line.MediaNetworks) }
