package numbers

import "testing"

// TestPolicy keeps calls and texts away from numbers that earn their owner money, however they are written.
//
// Contract: 5.1
func TestPolicy(t *testing.T) {
	for number, want := range map[string]bool{
		"+491701234567":    true,
		"+4930123456":      true,
		"+14155550100":     true,
		"+1234567890":      true, // nobody's, but nobody earns from it
		"+442079460000":    true,
		"+448001111111":    true,  // free of charge
		"+19002345678":     false, // premium rate
		"+499001234567":    false,
		"+449012345678":    false,
		"+44901234567899":  false, // the same, dialled too long
		"+491801234567":    false, // shared cost
		"+33899123456":     false,
		"+870773123456":    false, // satellites
		"+881612345678":    false,
		"+88213123456":     false,
		"+979123456789":    false, // international premium rate
		"+491701234567000": true,
	} {
		if got := (Policy{}).Allows(number); got != want {
			t.Errorf("%s: %v", number, got)
		}
		if !(Policy{Premium: true}).Allows(number) {
			t.Errorf("%s: refused although premium numbers are allowed", number)
		}
	}
	here := Policy{Countries: []string{"de", "US"}, Prefixes: []string{"+49170"}}
	for number, want := range map[string]bool{"+4930123456": true, "+14155550100": true, "+16045550100": false, "+442079460000": false, "+491701234567": false, "+491711234567": true} {
		if got := here.Allows(number); got != want {
			t.Errorf("%s with countries and prefixes: %v", number, got)
		}
	}
}
