package numbers

import (
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Policy says which telephone numbers the installation calls and texts, whoever asks: a customer, a campaign, a model.
// The zero Policy allows all but those that earn their owner money.
type Policy struct {
	Countries []string // ISO 3166-1 alpha-2; empty = all
	Prefixes  []string // never called, such as +88213
	Premium   bool     // premium-rate, shared-cost and satellite numbers too
}

// global are the prefixes of networks without a country whose calls cost a multiple: Inmarsat, mobile satellites,
// international networks, international premium rate.
var global = []string{"+870", "+881", "+882", "+883", "+979"}

// Allows reports whether a number, in E.164, may be called and texted.
func (p Policy) Allows(number string) bool {
	starts := func(prefix string) bool { return strings.HasPrefix(number, prefix) }
	if slices.ContainsFunc(p.Prefixes, starts) {
		return false
	}
	if !p.Premium && (slices.ContainsFunc(global, starts) || premium(number)) {
		return false
	}
	if len(p.Countries) == 0 {
		return true
	}
	n, err := phonenumbers.Parse(number, "")
	if err != nil {
		return false
	}
	country := phonenumbers.GetRegionCodeForNumber(n)
	if country == "" || country == "ZZ" { // a number nobody has, but in a country
		country = phonenumbers.GetRegionCodeForCountryCode(int(n.GetCountryCode()))
	}
	return slices.ContainsFunc(p.Countries, func(c string) bool { return strings.EqualFold(c, country) })
}

// premium reports numbers that bill the caller more than the line. Carriers ignore digits behind a full number, so a
// number that is too long counts as what it begins with.
func premium(number string) bool {
	for ; len(number) >= 8; number = number[:len(number)-1] {
		n, err := phonenumbers.Parse(number, "")
		if err != nil {
			return false
		}
		switch phonenumbers.GetNumberType(n) {
		case phonenumbers.PREMIUM_RATE, phonenumbers.SHARED_COST:
			return true
		case phonenumbers.UNKNOWN:
			continue
		}
		return false
	}
	return false
}

// AllowsDialled applies the policy to what is dialled on some line: a number in whatever form, or an extension. What could be
// an international number counts as that one.
func (p Policy) AllowsDialled(user string) bool {
	if strings.HasPrefix(user, "+") {
		return p.Allows(user)
	}
	number := "+" + strings.TrimLeft(user, "0")
	n, err := phonenumbers.Parse(number, "")
	costly := slices.ContainsFunc(global, func(prefix string) bool { return strings.HasPrefix(number, prefix) })
	return !costly && (err != nil || !phonenumbers.IsPossibleNumber(n)) || p.Allows(number)
}
