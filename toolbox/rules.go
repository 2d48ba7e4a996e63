package toolbox

import (
	"regexp"

	"parley/ids"
	"parley/value"
)

// Needs is a tool that names things of the account.
type Needs interface {
	Needs() []Need
}

// Need is something that a tool names: a phone number to show, by its id, or another assistant.
type Need struct {
	Key       string // the field that names it
	Number    ids.Number
	Assistant *value.Ref // an id is put in once it was found
}

// Secret is a tool with a field that is sealed where it is stored and masked where it is shown.
type Secret interface {
	Secret() *string
	// same reports that two secrets are likely for the same thing.
	same(other Spec) bool
}

// Unused is a tool with fields that have no effect beside others of it.
type Unused interface {
	// Unused are sentences by field.
	Unused() map[string]string
}

// Mask is a secret as it is shown.
func Mask(key string) string {
	r := []rune(key)
	return "****" + string(r[max(0, len(r)-4):])
}

// KeepSecrets puts stored secrets back where their masked form was sent.
func (ts Tools) KeepSecrets(stored Tools) {
	for i, t := range ts {
		sent, ok := t.Spec.(Secret)
		if !ok {
			continue
		}
		masked := *sent.Secret()
		for _, old := range stored {
			o, ok := old.Spec.(Secret)
			if !ok || masked != Mask(*o.Secret()) {
				continue
			}
			kept := t.Spec.(interface{ clone() Spec }).clone()
			*kept.(Secret).Secret() = *o.Secret()
			ts[i].Spec = kept
			if sent.same(old.Spec) {
				break
			}
		}
	}
}

// EachSecret replaces every secret by what do makes of it.
func (ts Tools) EachSecret(do func(string) (string, error)) error {
	for _, t := range ts {
		s, ok := t.Spec.(Secret)
		if !ok {
			continue
		}
		changed, err := do(*s.Secret())
		if err != nil {
			return err
		}
		*s.Secret() = changed
	}
	return nil
}

var (
	e164      = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	sipURI    = regexp.MustCompile(`^sips?:[^\s<>"]+$`)
	extension = regexp.MustCompile(`^[A-Za-z0-9*#+._-]{1,15}$`)
)
