package console

import (
	"bytes"
	"compress/gzip"
	"testing"
)

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

// The widget goes onto other people's pages: it stays small, and it is a classic script.
func TestWidgetIsSmall(t *testing.T) {
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(c.widget.body)
	w.Close()
	if packed.Len() > 10<<10 {
		t.Errorf("the widget is %d bytes packed, want at most 10 KiB", packed.Len())
	}
	if bytes.Contains(c.widget.body, []byte("export")) {
		t.Error("the widget is a module")
	}
}
