package sip

import "testing"

// How a number is dialled over a trunk.
//
// Contract: 10.7
func TestDialled(t *testing.T) {
	for _, c := range []struct{ format, country, to, want string }{
		{"+e164", "DE", "+4930123456", "+4930123456"},
		{"e164", "DE", "+4930123456", "4930123456"},
		{"national", "DE", "+4930123456", "030123456"},
		{"national", "US", "+14155550123", "4155550123"},
		{"national", "IT", "+390612345678", "0612345678"},
		{"national", "DE", "+442079460958", "00442079460958"},
		{"national", "US", "+442079460958", "011442079460958"},
		{"national", "DE", "205", "205"},
		{"e164", "DE", "*43#", "*43#"},
	} {
		if got := (Trunk{Format: c.format, Country: c.country}).dialled(c.to); got != c.want {
			t.Errorf("%s %s %s: got %s, want %s", c.format, c.country, c.to, got, c.want)
		}
	}
}

// Which called numbers are a trunk's.
//
// Contract: 10.7
func TestAccepts(t *testing.T) {
	german := Trunk{Number: "+4930123456", Country: "DE"}
	american := Trunk{Number: "+14155550123", Country: "US"}
	italian := Trunk{Number: "+390612345678", Country: "IT"}
	desk := Trunk{Number: "205", Extension: true, Country: "DE"}
	for _, c := range []struct {
		trunk Trunk
		user  string
		want  bool
	}{
		{german, "+4930123456", true},
		{german, "%2B4930123456", true},
		{german, "+49-30-123456", true},
		{german, "4930123456", true},
		{german, "004930123456", true},
		{german, "030123456", true},
		{german, "030123456;phone-context=+49", true},
		{german, "+4930123457", false},
		{german, "030", false},
		{german, "", false},
		{german, "anonymous", false},
		{american, "14155550123", true},
		{american, "4155550123", true},
		{american, "+4155550123", false},
		{italian, "0612345678", true},
		{italian, "390612345678", true},
		{desk, "205", true},
		{desk, "0205", false},
		{desk, "+49205", false},
		{Trunk{Number: "*43#", Extension: true}, "*43%23", true},
	} {
		if got := c.trunk.Accepts(c.user); got != c.want {
			t.Errorf("%s accepts %q: %v", c.trunk.Number, c.user, got)
		}
	}
}

func TestEscapeUser(t *testing.T) {
	for in, want := range map[string]string{"+4930": "+4930", "*43#": "*43%23", "a b@c": "a%20b%40c", "x:y;z?": "x%3Ay%3Bz%3F"} {
		if got := escapeUser(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
		if got := userPart(escapeUser("*43#")); got != "*43#" {
			t.Errorf("round trip: %s", got)
		}
	}
}
