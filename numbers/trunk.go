package numbers

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/accounts"
	"parley/fault"
	"parley/ssrf"
	"parley/value"
)

// Trunk is a customer's own way to the telephone network (contract 10.7). Its ID is that of its number.
type Trunk struct {
	ID           ID
	Owner        accounts.ID
	Form         string // extension or number
	Number       string // E.164 or extension
	Nickname     *string
	Username     string
	Password     string
	Address      string // host or IP
	Format       string // +e164, e164 or national
	Auth         string // auth or ip
	Allowed      []string
	Country      string
	Proxy        bool
	Transport    string // udp, tcp or tls
	Port         int64
	Codecs       []string // in order; pcmu, pcma, g722, opus
	InboundRef   string
	OutboundRef  string
	Line         LineOptions
	Registration string  // registered, failed or none
	Refusal      *string // of the last try to register: the far end's answer, or why there was none
	Asked        int64   // how often somebody asked for a registration at once
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Prefixes are the addresses that calls may come from without a password.
func (t Trunk) Prefixes() []netip.Prefix {
	return prefixes(t.Allowed)
}

func prefixes(networks []string) (list []netip.Prefix) {
	for _, s := range networks {
		if p, err := prefix(s); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// expects reports whether calls of this trunk may come from a network: one it lists, or the address of its far end.
func (t Trunk) expects(from netip.Prefix) bool {
	list := t.Prefixes()
	if p, err := prefix(t.Address); err == nil && t.Auth != "ip" {
		list = append(list, p)
	}
	return slices.ContainsFunc(list, from.Overlaps)
}

// TrunkChange is the input of create and update; what is absent stays.
type TrunkChange struct {
	Form      value.Opt[string]   `json:"sip_trunk_type" rule:"oneof=extension|number"`
	Number    value.Opt[string]   `json:"phone_number"`
	Nickname  value.Opt[string]   `json:"nickname" rule:"null max=50"`
	Username  value.Opt[string]   `json:"sip_username" rule:"min=3 max=128"`
	Password  value.Opt[string]   `json:"sip_password" rule:"min=3" trim:"no"`
	Address   value.Opt[string]   `json:"sip_address"`
	Format    value.Opt[string]   `json:"sip_calling_format" rule:"oneof=+e164|e164|national"`
	Auth      value.Opt[string]   `json:"inbound_authorization_type" rule:"oneof=auth|ip"`
	Allowed   value.Opt[[]string] `json:"allowed_inbound_ips" rule:"max=50"`
	Country   value.Opt[string]   `json:"country_code" rule:"upper pattern=^[A-Z]{2}$"`
	Proxy     value.Opt[bool]     `json:"outbound_proxy"`
	Transport value.Opt[string]   `json:"transport" rule:"oneof=udp|tcp|tls"`
	Port      value.Opt[int64]    `json:"port" rule:"min=1 max=65535"`
	Codecs    value.Opt[[]string] `json:"codecs" rule:"distinct" each:"oneof=pcmu|pcma|g722|opus"`
	LineChange
}

// TrunkRequired are the fields that a new trunk needs; country_code may be told by the number.
var TrunkRequired = []string{"sip_trunk_type", "phone_number", "sip_username", "sip_password", "sip_address",
	"sip_calling_format", "inbound_authorization_type"}

var allCodecs = []string{"pcmu", "pcma", "g722", "opus"}

// AnyCodec reports whether all codecs are allowed in the order they come by themselves.
func (t Trunk) AnyCodec() bool { return slices.Equal(t.Codecs, allCodecs) }

// blankTrunk is what an absent field of a new trunk is.
func blankTrunk() Trunk {
	return Trunk{Allowed: []string{}, Transport: "udp", Port: 5060, Codecs: allCodecs, Registration: "none",
		Line: LineOptions{DTMF: "auto", MediaSource: "signalled", MediaNetworks: []string{}}}
}

// Meant is the new trunk of these fields.
func (c TrunkChange) Meant() any { return c.over(blankTrunk()) }

// over is the trunk after the change.
func (c TrunkChange) over(t Trunk) Trunk {
	t.Form, t.Number = c.Form.Or(t.Form), c.Number.Or(t.Number)
	if c.Nickname.Set {
		t.Nickname = c.Nickname.Ptr()
	}
	t.Username, t.Password, t.Address = c.Username.Or(t.Username), c.Password.Or(t.Password), strings.ToLower(c.Address.Or(t.Address))
	t.Format, t.Auth, t.Allowed = c.Format.Or(t.Format), c.Auth.Or(t.Auth), c.Allowed.Or(t.Allowed)
	t.Country, t.Proxy = c.Country.Or(t.Country), c.Proxy.Or(t.Proxy)
	t.Transport, t.Port, t.Codecs = c.Transport.Or(t.Transport), c.Port.Or(t.Port), c.Codecs.Or(t.Codecs)
	t.Line = c.LineChange.over(t.Line)
	if t.Auth == "auth" {
		t.Allowed = []string{}
	}
	if len(t.Codecs) == 0 {
		t.Codecs = allCodecs
	}
	if t.Form == "number" {
		if known := country(t.Number); known != "" {
			t.Country = known
		}
	}
	return t
}

var (
	extension = regexp.MustCompile(`^[A-Za-z0-9*#]{1,15}$`)
	hostLabel = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)
)

// check says what is wrong with a change of old beyond its tags. isNew: old is a blank trunk. wide: networks of any size
// may be let in.
func (c TrunkChange) check(old Trunk, isNew bool, reach *ssrf.Guard, wide bool) (bad []fault.Field) {
	after := c.over(old)
	if c.Form.Has() && !isNew && c.Form.V != old.Form {
		bad = append(bad, fault.Bad("sip_trunk_type", "in"))
	}
	if c.Number.Has() && after.Form != "" {
		switch {
		case after.Form == "extension" && !extension.MatchString(c.Number.V):
			bad = append(bad, fault.Bad("phone_number", "pattern"))
		case after.Form == "number" && !strict.MatchString(c.Number.V):
			bad = append(bad, fault.Bad("phone_number", "e164"))
		}
	}
	if strings.ContainsFunc(c.Username.V, control) {
		bad = append(bad, fault.Bad("sip_username", "pattern"))
	}
	if strings.ContainsFunc(c.Password.V, control) {
		bad = append(bad, fault.Bad("sip_password", "pattern"))
	}
	if c.Address.Has() && !isHost(c.Address.V) {
		bad = append(bad, fault.Bad("sip_address", "pattern"))
	} else if c.Address.Has() && reach != nil && reach.CheckHost(c.Address.V) != nil {
		bad = append(bad, fault.Bad("sip_address", "private"))
	}
	bad = append(bad, c.checkAllowed(after, wide)...)
	bad = append(bad, c.LineChange.check(after.Line, wide)...)
	if isNew && after.Country == "" && !c.Country.Set {
		bad = append(bad, fault.Bad("country_code", "required"))
	}
	return bad
}

func (c TrunkChange) checkAllowed(after Trunk, wide bool) (bad []fault.Field) {
	if after.Auth != "ip" {
		return nil
	}
	if len(after.Allowed) == 0 && (c.Auth.Has() || c.Allowed.Set) {
		return []fault.Field{fault.Own("allowed_inbound_ips", "List at least one allowed address: authorization type ip needs it.")}
	}
	return checkNetworks("allowed_inbound_ips", c.Allowed.V, wide)
}

// checkNetworks says which elements are no address or network, or one that only operators may let in.
func checkNetworks(key string, list []string, wide bool) (bad []fault.Field) {
	for i, s := range list {
		key := key + "." + strconv.Itoa(i)
		p, err := prefix(s)
		switch {
		case err != nil:
			bad = append(bad, fault.Bad(key, "ip"))
		case !wide && tooWide(p):
			bad = append(bad, fault.Own(key, "Only operators may allow networks wider than /16, or /32 for IPv6."))
		}
	}
	return bad
}

// tooWide tells networks that nobody has for himself.
func tooWide(p netip.Prefix) bool {
	return p.Addr().Is4() && p.Bits() < 16 || p.Addr().Is6() && p.Bits() < 32
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// prefix reads an address or a network in CIDR form.
func prefix(s string) (netip.Prefix, error) {
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		if err == nil && p.Addr().Is4In6() {
			if p.Bits() < 96 {
				return p, fmt.Errorf("no network: %q", s)
			}
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		return p.Masked(), err
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("no address: %q", s)
	}
	return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
}

// isHost accepts a host name or an address, without port and scheme.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	return len(s) <= 253 && !slices.ContainsFunc(strings.Split(strings.TrimSuffix(s, "."), "."),
		func(label string) bool { return !hostLabel.MatchString(label) })
}
