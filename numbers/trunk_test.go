package numbers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/fault"
	"parley/numbers"
)

// change reads a change as the API binds it; what the tags check is tested there.
func change(t *testing.T, body string) numbers.TrunkChange {
	t.Helper()
	var c numbers.TrunkChange
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

const good = `{"sip_trunk_type":"number","phone_number":"+4930123456","sip_username":"ada","sip_password":"s3cret pass","sip_address":"SIP.p.example",
	"sip_calling_format":"+e164","inbound_authorization_type":"auth","country_code":"US"`

// TestTrunks makes, changes and deletes trunks.
//
// Contract: 10.7
func TestTrunks(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		made, err := p.CreateTrunk(t.Context(), p.owner, change(t, good+`}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Trunk(t.Context(), p.owner, made.ID)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(made) {
			t.Errorf("stored %+v\nread   %+v %v", made, got, err)
		}
		if got.Country != "DE" || got.Address != "sip.p.example" || got.Port != 5060 || got.Transport != "udp" || len(got.Codecs) != 4 ||
			!strings.HasPrefix(got.InboundRef, "trk_") || got.InboundRef == got.OutboundRef || got.Password != "s3cret pass" {
			t.Errorf("%+v", got)
		}
		var sealed string
		if err := p.db.Get(t.Context(), &sealed, `SELECT password FROM sip_trunks`); err != nil || strings.Contains(sealed, "s3cret") {
			t.Errorf("stored as %q, %v", sealed, err)
		}
		_, err = p.CreateTrunk(t.Context(), p.other, change(t, good+`}`))
		says(t, err, "Another SIP trunk uses this phone number, user name and address.")
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%v", err)
		}
		if list, _ := p.List(t.Context(), p.owner); len(list) != 1 || list[0].Type != numbers.SIP || list[0].ID != made.ID {
			t.Errorf("%+v", list)
		}

		second, err := p.CreateTrunk(t.Context(), p.owner, change(t, strings.Replace(good, `"ada"`, `"bob"`, 1)+`,"nickname":"Desk"}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.UpdateTrunk(t.Context(), p.owner, second.ID, change(t, `{"sip_username":"ada"}`))
		says(t, err, "Another SIP trunk uses")
		second, err = p.UpdateTrunk(t.Context(), p.owner, second.ID, change(t, `{"nickname":null,"inbound_authorization_type":"ip","allowed_inbound_ips":["192.0.2.0/24","::1"],"codecs":["g722"]}`))
		if err != nil || second.Nickname != nil || second.Username != "bob" || len(second.Prefixes()) != 2 || second.Codecs[0] != "g722" {
			t.Errorf("%+v %v", second, err)
		}
		second, err = p.UpdateTrunk(t.Context(), p.owner, second.ID, change(t, `{"inbound_authorization_type":"auth"}`))
		if err != nil || len(second.Allowed) != 0 {
			t.Errorf("%+v %v", second, err)
		}
		for _, err := range []error{
			second1(p.Trunk(t.Context(), p.other, made.ID)),
			second1(p.UpdateTrunk(t.Context(), p.other, made.ID, change(t, `{}`))),
		} {
			if !errors.Is(err, numbers.ErrTrunkNotFound) {
				t.Errorf("a stranger: %v", err)
			}
		}
	})
}

func second1[T any](_ T, err error) error { return err }

// TestTrunkRules refuses what the table of fields does not allow.
//
// Contract: 10.7
func TestTrunkRules(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		made, err := p.CreateTrunk(t.Context(), p.owner, change(t, good+`}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			id         numbers.ID
			body, want string
		}{
			{0, good + `}`, ""},
			{0, `{"sip_trunk_type":"extension","phone_number":"205","country_code":"DE"}`, ""},
			{0, `{"sip_trunk_type":"extension","phone_number":"205"}`, "country_code: The country code field is required."},
			{0, `{"sip_trunk_type":"number","phone_number":"+4930123456"}`, ""},
			{0, `{"sip_trunk_type":"extension","phone_number":"2 05","country_code":"DE"}`, "phone_number: The phone number field format is invalid."},
			{0, `{"sip_trunk_type":"number","phone_number":"4930123456","country_code":"DE"}`, "phone_number: The phone number field must be a valid E.164 phone number."},
			{made.ID, `{"sip_trunk_type":"extension"}`, "sip_trunk_type: The selected sip trunk type is invalid."},
			{made.ID, `{"sip_trunk_type":"number"}`, ""},
			{made.ID, `{"phone_number":"205"}`, "phone_number: The phone number field must be a valid E.164 phone number."},
			{made.ID, `{"sip_address":"sip:p.example"}`, "sip_address: The sip address field format is invalid."},
			{made.ID, `{"sip_address":"p.example:5060"}`, "sip_address: The sip address field format is invalid."},
			{made.ID, `{"sip_address":"2001:db8::1"}`, ""},
			{made.ID, `{"sip_address":"-x"}`, "sip_address: The sip address field format is invalid."},
			{made.ID, `{"sip_username":"a\r\nb"}`, "sip_username: The sip username field format is invalid."},
			{made.ID, `{"inbound_authorization_type":"ip"}`, "allowed_inbound_ips: List at least one allowed address: authorization type ip needs it."},
			{made.ID, `{"inbound_authorization_type":"ip","allowed_inbound_ips":[]}`, "allowed_inbound_ips: List at least one allowed address: authorization type ip needs it."},
			{made.ID, `{"inbound_authorization_type":"ip","allowed_inbound_ips":["192.0.2.1","p.example"]}`, "allowed_inbound_ips.1: The allowed_inbound_ips.1 field must be a valid IP address."},
			{made.ID, `{"allowed_inbound_ips":["nonsense"]}`, ""}, // type auth clears them
		} {
			got := ""
			if c.id == 0 {
				_, err = p.CreateTrunk(t.Context(), p.owner, change(t, c.body))
			} else {
				_, err = p.UpdateTrunk(t.Context(), p.owner, c.id, change(t, c.body))
			}
			if f := fault.Of(err); len(f.Fields) > 0 {
				got = f.Fields[0].Name + ": " + f.Fields[0].Sentence
			}
			if got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.body, got, c.want)
			}
		}
	})
}

func TestTrunksForACall(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		if _, err := p.CreateTrunk(t.Context(), p.owner, change(t, good+`}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.CreateTrunk(t.Context(), p.other, change(t, `{"sip_trunk_type":"extension","phone_number":"205","sip_username":"eve","sip_password":"pass",
			"sip_address":"192.0.2.9","sip_calling_format":"national","inbound_authorization_type":"auth","country_code":"IT"}`)); err != nil {
			t.Fatal(err)
		}
		for user, want := range map[string]int{"+4930123456": 1, "4930123456": 1, "004930123456": 1, "030123456": 1, "30123456": 1, "205": 1, "0205": 0, "+49": 0, "": 0, "999": 0} {
			if list, err := p.TrunksFor(t.Context(), user); err != nil || len(list) != want {
				t.Errorf("%q: %d, %v", user, len(list), err)
			}
		}
	})
}

// TestShadowingAddresses refuses addresses that take calls from another account's trunk whose number may be dialled alike,
// and no others.
//
// Contract: 10.7
func TestShadowingAddresses(t *testing.T) {
	trunk := func(number, auth, address, allowed string) string {
		return `{"sip_trunk_type":"number","phone_number":"` + number + `","sip_username":"u` + allowed[:3] + `","sip_password":"p","sip_address":"` + address +
			`","sip_calling_format":"+e164","country_code":"DE","inbound_authorization_type":"` + auth + `","allowed_inbound_ips":["` + allowed + `"]}`
	}
	each(t, func(t *testing.T, p *process, w *world) {
		for _, body := range []string{trunk("+4930123456", "ip", "sip.p.example", "192.0.2.0/24"), trunk("+4930123457", "auth", "198.51.100.7", "203.0.113.1")} {
			if _, err := p.CreateTrunk(t.Context(), p.owner, change(t, body)); err != nil {
				t.Fatal(err)
			}
		}
		const refused = "This address cannot be allowed for this phone number."
		for _, c := range []struct{ number, allowed, want string }{
			{"+3930123456", "192.0.2.77", refused},   // dialled 30123456 in another country, from a part of the list
			{"+3930123456", "192.0.0.0/16", refused}, // and from all of it
			{"+3930123457", "198.51.100.7", refused}, // from where the other expects a password
			{"+3930123456", "198.51.100.7", ""},      // other addresses
			{"+4989123456", "192.0.2.0/24", ""},      // the same carrier, but the number decides
		} {
			made, err := p.CreateTrunk(t.Context(), p.other, change(t, trunk(c.number, "ip", "sip.p.example", c.allowed)))
			if got := sentence(err); got != c.want {
				t.Errorf("%s %s: %q, want %q", c.number, c.allowed, got, c.want)
			}
			if err == nil && c.number == "+3930123456" {
				_, err = p.UpdateTrunk(t.Context(), p.other, made.ID, change(t, `{"allowed_inbound_ips":["198.51.100.7","192.0.2.1"]}`))
				if got := sentence(err); got != refused {
					t.Errorf("changed: %q", got)
				}
			}
		}
	})
}

// sentence is what a refusal says first.
func sentence(err error) string {
	if err == nil {
		return ""
	}
	if f := fault.Of(err); len(f.Fields) > 0 {
		return f.Fields[0].Sentence
	}
	return err.Error()
}

func TestRegistrations(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		list, stamp, err := p.Registrations(t.Context(), "")
		if err != nil || len(list) != 0 {
			t.Fatal(list, err)
		}
		made, err := p.CreateTrunk(t.Context(), p.owner, change(t, good+`}`))
		if err != nil {
			t.Fatal(err)
		}
		list, next, err := p.Registrations(t.Context(), stamp)
		if err != nil || len(list) != 1 || next == stamp || list[0].Password != "s3cret pass" {
			t.Fatal(list, next, err)
		}
		if list, again, err := p.Registrations(t.Context(), next); err != nil || list != nil || again != next {
			t.Fatal(list, again, err)
		}
		if err := p.SetRegistration(t.Context(), made.ID, "registered", nil, 0); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Trunk(t.Context(), p.owner, made.ID); err != nil || got.Registration != "registered" {
			t.Errorf("%+v %v", got, err)
		}
		if list, again, _ := p.Registrations(t.Context(), next); list != nil || again != next {
			t.Error("a registration is no change")
		}
		other := numbers.New(p.db, numbers.Config{Node: "other"})
		if list, _, err := other.Registrations(t.Context(), ""); err != nil || list != nil {
			t.Errorf("two processes register: %v %v", list, err)
		}
		if got, err := p.UpdateTrunk(t.Context(), p.owner, made.ID, change(t, `{"sip_password":"another"}`)); err != nil || got.Registration != "none" {
			t.Errorf("%+v %v", got, err)
		}
		if list, _, err := p.Registrations(t.Context(), next); err != nil || len(list) != 1 || list[0].Password != "another" {
			t.Errorf("%v %v", list, err)
		}
		w.broken = "release"
		_, err = p.Release(t.Context(), p.owner, made.ID, false)
		says(t, err, "The phone number could not be released and stays unchanged.")
		w.broken = ""
		if scheduled, err := p.Release(t.Context(), p.owner, made.ID, true); err != nil || scheduled {
			t.Fatal(scheduled, err)
		}
		if list, _, err := p.Registrations(t.Context(), next); err != nil || len(list) != 0 {
			t.Errorf("%v %v", list, err)
		}
		if list, _ := p.List(t.Context(), p.owner); len(list) > 0 {
			t.Errorf("%+v", list)
		}
	})
}

// TestRegisterNow asks the process that registers for it and gets what came of it.
//
// Contract: 10.7
func TestRegisterNow(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		made, err := p.CreateTrunk(t.Context(), p.owner, change(t, good+`}`))
		if err != nil {
			t.Fatal(err)
		}
		_, stamp, err := p.Registrations(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan error, 1)
		go func() {
			for {
				list, next, err := p.Registrations(t.Context(), stamp)
				if stamp = next; err != nil || len(list) == 0 || list[0].Asked == 0 {
					if err != nil {
						answered <- err
						return
					}
					continue
				}
				refusal := "403 Forbidden"
				answered <- p.SetRegistration(t.Context(), list[0].ID, "failed", &refusal, list[0].Asked)
				return
			}
		}()
		got, err := p.RegisterNow(t.Context(), p.owner, made.ID)
		if err != nil || got.Registration != "failed" || got.Refusal == nil || *got.Refusal != "403 Forbidden" {
			t.Errorf("%+v %v", got, err)
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
		if _, err := p.RegisterNow(t.Context(), p.other, made.ID); !errors.Is(err, numbers.ErrTrunkNotFound) {
			t.Errorf("a stranger: %v", err)
		}
		got, err = p.UpdateTrunk(t.Context(), p.owner, made.ID, change(t, `{"register":false}`))
		if err != nil || got.Registration != "none" || got.Refusal != nil || got.Registers() {
			t.Errorf("%+v %v", got, err)
		}
		if got, err = p.RegisterNow(t.Context(), p.owner, made.ID); err != nil || got.Registration != "none" || got.Asked != 1 {
			t.Errorf("a trunk that does not register: %+v %v", got, err)
		}
		got, err = p.UpdateTrunk(t.Context(), p.owner, made.ID, change(t, `{"inbound_authorization_type":"ip","allowed_inbound_ips":["192.0.2.1"],"register":true}`))
		if err != nil || !got.Registers() || got.SRTP() != "off" {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// TestCallerID verifies numbers with a code that cannot be guessed.
//
// Contract: 14.7 18.1
func TestCallerID(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		const number = "+4930555555"
		id, err := p.AddCallerID(t.Context(), p.owner, number)
		if err != nil || len(w.codes[number]) != 6 {
			t.Fatal(err, w.codes)
		}
		if list, _ := p.List(t.Context(), p.owner); len(list) > 0 {
			t.Errorf("pending, yet listed: %+v", list)
		}
		wrong := func(code string) {
			t.Helper()
			if _, err := p.VerifyCallerID(t.Context(), p.owner, id, code); fault.Of(err).Fields == nil {
				t.Errorf("%v", err)
			}
		}
		first := w.codes[number]
		for range 5 {
			wrong("wrong")
		}
		wrong(first) // tried too often
		again, err := p.AddCallerID(t.Context(), p.owner, number)
		if err != nil || again != id {
			t.Fatal(again, err)
		}
		if _, err := p.VerifyCallerID(t.Context(), p.other, id, w.codes[number]); !errors.Is(err, numbers.ErrNotFound) {
			t.Errorf("a stranger: %v", err)
		}
		p.pass(t, 11*60e9)
		wrong(w.codes[number]) // too late
		if _, err := p.AddCallerID(t.Context(), p.owner, number); err != nil {
			t.Fatal(err)
		}
		x, err := p.VerifyCallerID(t.Context(), p.owner, id, w.codes[number])
		if err != nil || x.Type != numbers.CallerID || x.State != numbers.Active || x.Country != "DE" || len(w.allowed) != 1 {
			t.Fatalf("%+v %v", x, err)
		}
		_, err = p.AddCallerID(t.Context(), p.owner, number)
		says(t, err, "This phone number is taken.")
		if scheduled, err := p.Release(t.Context(), p.owner, id, false); err != nil || scheduled || len(w.left) != 1 {
			t.Errorf("%v %v %v", scheduled, err, w.left)
		}

		for range 5 {
			if _, err = p.AddCallerID(t.Context(), p.owner, "+4930666666"); err != nil {
				t.Fatal(err)
			}
		}
		_, err = p.AddCallerID(t.Context(), p.owner, "+4930666666")
		says(t, err, "Too many codes were sent")
		p.pass(t, 25*60*60e9)
		if _, err = p.AddCallerID(t.Context(), p.owner, "+4930666666"); err != nil {
			t.Errorf("a day later: %v", err)
		}
	})
}

// TestRename sets and clears nicknames.
//
// Contract: 10.6
func TestRename(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		x, err := p.Buy(t.Context(), p.owner, "+14155550100")
		if err != nil {
			t.Fatal(err)
		}
		name := "Desk"
		if x, err = p.Rename(t.Context(), p.owner, x.ID, &name); err != nil || *x.Nickname != name {
			t.Errorf("%+v %v", x, err)
		}
		if x, err = p.Rename(t.Context(), p.owner, x.ID, nil); err != nil || x.Nickname != nil {
			t.Errorf("%+v %v", x, err)
		}
		if _, err = p.Rename(t.Context(), p.other, x.ID, &name); !errors.Is(err, numbers.ErrNotFound) {
			t.Errorf("a stranger: %v", err)
		}
	})
}
