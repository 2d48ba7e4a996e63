package value_test

import (
	"testing"

	"parley/value"
)

type settings struct {
	Name  string `json:"name"`
	Limit *int64 `json:"limit"`
}

// A patch sets what was sent and nothing else, and knows the keys of its struct only.
func TestPatch(t *testing.T) {
	stored := settings{"Desk", value.Ptr[int64](3)}
	renamed := value.Filled(settings{Name: "Shop"})
	if got := renamed.Over(stored); got.Name != "Shop" || got.Limit != stored.Limit || !renamed.Has("name") || renamed.Sent("limit") {
		t.Errorf("%+v", got)
	}
	unlimited := renamed.Sending("limit")
	if got := unlimited.Over(stored); got.Limit != nil || !unlimited.Null("limit") || renamed.Sent("limit") {
		t.Errorf("%+v, the first patch changed: %v", got, renamed.Sent("limit"))
	}
	for name, use := range map[string]func(){"asked": func() { renamed.Has("nmae") }, "sent": func() { renamed.Sending("nmae") }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("an unknown key can be %s", name)
				}
			}()
			use()
		}()
	}
}
