package console

import "testing"

// A source that does not compile fails here, not on a customer's machine.
func TestBundles(t *testing.T) {
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.script.body) == 0 || len(c.style.body) == 0 {
		t.Error("the bundle is empty")
	}
}
