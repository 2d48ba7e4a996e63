package numbers

import (
	"regexp"
	"strings"
	"time"

	"github.com/nyaruka/phonenumbers"

	"parley/fault"
)

// The sentences of the contract, 10.3 to 10.7.
var (
	ErrNotFound      = fault.New(fault.NotFound, "", "No phone number with this id exists in your account.")
	ErrTrunkNotFound = fault.New(fault.NotFound, "", "No SIP trunk with this id exists in your account.")

	errUnreadable = fault.New(fault.Invalid, "", "This phone number cannot be read. Send it in E.164 form.")
	errUncallable = fault.New(fault.Invalid, "", "Calls to this destination are not allowed.")
	errTaken      = fault.New(fault.Malformed, "", "This phone number is taken. Choose another one.")
	errNotForSale = fault.New(fault.Malformed, "", "This phone number cannot be bought here. Pick one from a fresh number search.")
	errNoMethod   = fault.New(fault.NeedsPayment, "", "Your account has no payment method. Add one, then buy the number again.")
	errPayment    = fault.New(fault.NeedsPayment, "", "The payment was refused. Check or replace your payment method.")
	errCancelled  = fault.New(fault.Malformed, "",
		"This phone number is cancelled already. It leaves your account when the paid period ends.")
	errSameTrunk = fault.New(fault.Conflict, "",
		"Another SIP trunk uses this phone number, user name and address. Change one of the three.")
	errTooManyCodes = fault.Full(codesSent, 24*60*60, "Too many codes were sent to this phone number. Try again tomorrow.")
)

func searchFailed(err error) error {
	return fault.Wrap(err, "", "Failed to search phone numbers. Please try again.")
}

func orderFailed(err error) error {
	return fault.Wrap(err, "", "The carrier could not supply this phone number. Any charge is returned; contact support if this happens again.")
}

func releaseFailed(err error) error {
	return fault.Wrap(err, "", "The phone number could not be released and stays unchanged. Try again, or ask support.")
}

// Strict E.164 (contract 1.7).
var strict = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// country is where a number belongs; "" when that cannot be told.
func country(number string) string {
	p, err := phonenumbers.Parse(number, "")
	if err != nil {
		return ""
	}
	code := phonenumbers.GetRegionCodeForNumber(p)
	if code == "" { // assigned to nobody: the country of its code
		code = phonenumbers.GetRegionCodeForCountryCode(int(p.GetCountryCode()))
	}
	if len(code) != 2 || code == "ZZ" {
		return ""
	}
	return code
}

// Display is a number as people of its country write it: (415) 555-0123.
func Display(number string) string {
	p, err := phonenumbers.Parse(number, "")
	if err != nil {
		return number
	}
	return phonenumbers.Format(p, phonenumbers.NATIONAL)
}

// parts are the digits of an E.164 number and its national significant number; an extension has only itself.
func parts(number string) (digits, national string) {
	digits, ok := strings.CutPrefix(number, "+")
	if !ok {
		return number, ""
	}
	p, err := phonenumbers.Parse(number, "")
	if err != nil {
		return digits, ""
	}
	return digits, phonenumbers.GetNationalSignificantNumber(p)
}

// patience are the days after the first refusal on which a renewal is tried again. After the last the number goes.
var patience = []int{1, 3, 7}

// afterRefusal says what a refused renewal does: try again at a moment, or let the number go.
func afterRefusal(pastDue time.Time, refusals int) (again time.Time, giveUp bool) {
	if refusals > len(patience) {
		return time.Time{}, true
	}
	return pastDue.AddDate(0, 0, patience[refusals-1]), false
}
