package value

import (
	"encoding/json"
	"testing"
)

// TestScalars keeps the order and the digits of customers' variables.
//
// Contract: 1.4 4.2 4.8
func TestScalars(t *testing.T) {
	const sent = `{"z":"<&é>","a b":1,"":null,"n":12345678901234567890,"y":false,"m":1.5}`
	var s Scalars
	if err := json.Unmarshal([]byte(sent), &s); err != nil {
		t.Fatal(err)
	}
	if s.String() != sent || s.Len() != 6 {
		t.Errorf("got %s", s)
	}
	for body, want := range map[string]string{`{}`: `{}`, `null`: `{}`, `{"b":1,"a":2,"b":3}`: `{"b":3,"a":2}`, `{"x":{"b":[1,"é"],"a":2}}`: `{"x":{"b":[1,"é"],"a":2}}`} {
		if err := json.Unmarshal([]byte(body), &s); err != nil || s.String() != want {
			t.Errorf("%s: got %s, %v", body, s, err)
		}
	}
	s = Scalars{{"b", 1.0}, {"a", "x"}}
	with := s.With(Scalar{"c", true}, Scalar{"b", nil})
	if with.String() != `{"b":null,"a":"x","c":true}` || s.String() != `{"b":1,"a":"x"}` {
		t.Errorf("%s from %s", with, s)
	}
	if got := with.Without("a").String(); got != `{"b":null,"c":true}` || with.Without("nope").String() != with.String() {
		t.Error(got)
	}
	if v, ok := s.Get("a"); v != "x" || !ok {
		t.Error(v, ok)
	}
	if _, ok := s.Get("c"); ok {
		t.Error("there is no c")
	}
	if b, err := Marshal(struct{ V Scalars }{}); err != nil || string(b) != `{"V":{}}` {
		t.Errorf("none: %s %v", b, err)
	}
}
