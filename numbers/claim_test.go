package numbers_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/numbers"
	"parley/secrets"
	"parley/ssrf"
)

// trunkOf is a change that makes a trunk of a number or, without a plus, an extension.
func trunkOf(t *testing.T, number, user, more string) numbers.TrunkChange {
	t.Helper()
	form := "number"
	if !strings.HasPrefix(number, "+") {
		form = "extension"
	}
	return change(t, fmt.Sprintf(`{"sip_trunk_type":%q,"phone_number":%q,"sip_username":%q,"sip_password":"secret","sip_address":"%s.p.example",
		"sip_calling_format":"+e164","inbound_authorization_type":"auth","country_code":"DE"%s}`, form, number, user, user, more))
}

// A number belongs to one account, in whatever form and spelling another one asks for it.
//
// Contract: 10.7
func TestNumberBelongsToOneAccount(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		if _, err := p.Buy(t.Context(), p.owner, "+14155550100"); err != nil {
			t.Fatal(err)
		}
		for _, number := range []string{"+4930123456", "205", "0221987654"} {
			if _, err := p.CreateTrunk(t.Context(), p.owner, trunkOf(t, number, "ada", "")); err != nil {
				t.Fatal(err)
			}
			if _, err := p.CreateTrunk(t.Context(), p.owner, trunkOf(t, number, "ada2", "")); err != nil {
				t.Errorf("the same account a second way: %v", err)
			}
		}
		if _, err := p.db.Exec(t.Context(), `INSERT INTO phone_numbers (account_id, number, country_code, type, state, created_at, updated_at)
			VALUES (1, '+4930555555', 'DE', 'caller_id', 'active', 0, 0), (1, '+4930666666', 'DE', 'caller_id', 'pending', 0, 0)`); err != nil {
			t.Fatal(err)
		}
		const no = "Another SIP trunk uses this phone number, user name and address. Change one of the three."
		for number, want := range map[string]string{
			"+4930123456": no, "205": no, "+14155550100": no, "+4930555555": no,
			"4930123456": no, "004930123456": no, "030123456": no, "30123456": no, // extensions that read as the number
			"+49221987654": no, // which reads as the extension
			"+4930666666":  "", "206": "", "493012345": "", "0": "", "#1": "", "+4930123457": "",
		} {
			_, err := p.CreateTrunk(t.Context(), p.other, trunkOf(t, number, "eve", `,"inbound_authorization_type":"ip","allowed_inbound_ips":["192.0.2.1"]`))
			if got := message(err); got != want || err != nil && !fault.Is(err, fault.Conflict) {
				t.Errorf("%s: %q, want %q", number, got, want)
			}
		}
		mine, err := p.CreateTrunk(t.Context(), p.other, trunkOf(t, "+4930777777", "eve", ""))
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.UpdateTrunk(t.Context(), p.other, mine.ID, change(t, `{"phone_number":"+4930123456"}`))
		says(t, err, no)
		_, err = p.Buy(t.Context(), p.other, "+4930123456")
		says(t, err, "This phone number is taken.")
		if got, err := p.Trunk(t.Context(), p.other, mine.ID); err != nil || got.Number != "+4930777777" {
			t.Errorf("changed all the same: %+v %v", got, err)
		}
	})
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Message
}

// Two accounts that take one number in the same moment: one of them has it.
//
// Contract: 10.7
func TestNumberIsTakenOnce(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		take := func(owner accounts.ID, way, number string) (err error) {
			switch way {
			case "trunk":
				_, err = p.CreateTrunk(t.Context(), owner, trunkOf(t, number, fmt.Sprint("user", owner), ""))
			case "extension":
				_, err = p.CreateTrunk(t.Context(), owner, trunkOf(t, strings.TrimPrefix(number, "+"), fmt.Sprint("user", owner), ""))
			case "purchase":
				_, err = p.Buy(t.Context(), owner, number)
			}
			return err
		}
		pairs := [][2]string{{"trunk", "trunk"}, {"trunk", "extension"}, {"extension", "trunk"}, {"trunk", "purchase"}, {"purchase", "trunk"}, {"purchase", "purchase"}}
		for round := range 3 * len(pairs) {
			number, pair := fmt.Sprintf("+1415555%04d", 100+round), pairs[round%len(pairs)]
			var wg sync.WaitGroup
			won := make(chan accounts.ID, 2)
			for i, owner := range []accounts.ID{p.owner, p.other} {
				wg.Go(func() {
					if take(owner, pair[i], number) == nil {
						won <- owner
					}
				})
			}
			wg.Wait()
			if len(won) != 1 {
				t.Errorf("%v: %d accounts have %s", pair, len(won), number)
			}
		}
	})
}

// Where a trunk may be, and from where it may be called without a password.
//
// Contract: 10.7
func TestTrunkAddresses(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		box, err := secrets.New(make([]byte, secrets.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		n := numbers.New(p.db, numbers.Config{Box: box, Reach: ssrf.New().Telephony(), Operator: func(_ context.Context, _ db.Q, id accounts.ID) (bool, error) {
			return id == p.owner, nil
		}})
		const private = "sip_address: The sip address field must not point to a private or local address."
		const wide = "Only operators may allow networks wider than /16, or /32 for IPv6."
		for _, c := range []struct{ body, customer, operator string }{
			{`"sip_address":"127.0.0.1"`, private, private},
			{`"sip_address":"10.1.2.3"`, private, private},
			{`"sip_address":"169.254.169.254"`, private, private},
			{`"sip_address":"100.64.0.1"`, private, private},
			{`"sip_address":"::1"`, private, private},
			{`"sip_address":"::ffff:127.0.0.1"`, private, private},
			{`"sip_address":"0x7f000001"`, private, private},
			{`"sip_address":"127.1"`, private, private},
			{`"sip_address":"198.51.100.1"`, "", ""},
			{`"sip_address":"93.184.216.34"`, "", ""},
			{`"sip_address":"localhost"`, "", ""}, // a name is looked at when it is called
			{`"inbound_authorization_type":"ip","allowed_inbound_ips":["192.0.2.0/24","0.0.0.0/0"]`, "allowed_inbound_ips.1: " + wide, ""},
			{`"inbound_authorization_type":"ip","allowed_inbound_ips":["::/0"]`, "allowed_inbound_ips.0: " + wide, ""},
			{`"inbound_authorization_type":"ip","allowed_inbound_ips":["11.0.0.0/15"]`, "allowed_inbound_ips.0: " + wide, ""},
			{`"inbound_authorization_type":"ip","allowed_inbound_ips":["::ffff:0.0.0.0/96"]`, "allowed_inbound_ips.0: " + wide, ""},
			{`"inbound_authorization_type":"ip","allowed_inbound_ips":["::ffff:0.0.0.0/90"]`,
				"allowed_inbound_ips.0: The allowed_inbound_ips.0 field must be a valid IP address.", "allowed_inbound_ips.0: The allowed_inbound_ips.0 field must be a valid IP address."},
			{`"inbound_authorization_type":"ip","allowed_inbound_ips":["11.0.0.0/16","2001:db8::/32","192.0.2.7"]`, "", ""},
			{`"inbound_authorization_type":"auth","allowed_inbound_ips":["0.0.0.0/0"]`, "", ""}, // they are cleared
		} {
			for owner, want := range map[accounts.ID]string{p.owner: c.operator, p.other: c.customer} {
				got := ""
				body := change(t, `{"sip_trunk_type":"extension","phone_number":"205","country_code":"DE",`+c.body+`}`)
				_, err := n.CreateTrunk(t.Context(), owner, body)
				if f := fault.Of(err); len(f.Fields) > 0 {
					got = f.Fields[0].Name + ": " + f.Fields[0].Sentence
				}
				if got != want {
					t.Errorf("account %d, %s:\n got %q\nwant %q", owner, c.body, got, want)
				}
			}
		}
		mapped := numbers.Trunk{Allowed: []string{"::ffff:192.0.2.0/120"}}
		if got := fmt.Sprint(mapped.Prefixes()); got != "[192.0.2.0/24]" {
			t.Errorf("a network written in IPv6 is %s", got)
		}
	})
}
