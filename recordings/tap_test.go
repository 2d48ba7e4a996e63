package recordings

import (
	"testing"

	"go.uber.org/goleak"

	"parley/fault"
	"parley/lines/linetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A call has room for so many listeners.
func TestListeners(t *testing.T) {
	line := linetest.NewMedia(8000)
	defer line.Close()
	tap := NewTap(line)
	for range mostListeners {
		if _, _, err := tap.Listen(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := tap.Listen(); !fault.Is(err, fault.TooMany) {
		t.Errorf("one too many: %v", err)
	}
}
