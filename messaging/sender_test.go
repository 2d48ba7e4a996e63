package messaging

import (
	"strings"
	"testing"
	"time"

	"parley/db"
)

// TestFill fills placeholders by number and by name.
//
// Contract: 11.5
func TestFill(t *testing.T) {
	two := Template{Body: "Hi {{1}}, your table in {{2}} is ready, {{1}}.", Variables: db.JSON[[]string]{V: []string{"name", "city"}}}
	for _, c := range []struct{ values, want, params, fails string }{
		{"1=Mia 2=Rome", "Hi Mia, your table in Rome is ready, Mia.", "Mia Rome", ""},
		{"name=Mia city=Rome", "Hi Mia, your table in Rome is ready, Mia.", "Mia Rome", ""},
		{"1=Mia name=Tom city=Rome", "Hi Mia, your table in Rome is ready, Mia.", "Mia Rome", ""},
		{"1=Mia", "", "", "Template variables do not match. Missing: 2."},
		{"1=Mia 2=", "", "", "Template variables do not match. Missing: 2."},
		{"1=Mia 2=Rome town=x", "", "", "Template variables do not match. Unknown: town."},
		{"1=Mia town=x", "", "", "Template variables do not match. Missing: 2. Unknown: town."},
		{"1=Mia 2=Rome 3=x", "", "", "Template variables do not match. Unknown: 3."},
		{"1={{2}} 2=Rome", "Hi {{2}}, your table in Rome is ready, {{2}}.", "{{2}} Rome", ""},
	} {
		values := map[string]string{}
		for _, f := range strings.Fields(c.values) {
			k, v, _ := strings.Cut(f, "=")
			values[k] = v
		}
		text, params, err := two.Fill(values)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if text != c.want || strings.Join(params, " ") != c.params || said != c.fails {
			t.Errorf("%s: %q %q %q", c.values, text, params, said)
		}
	}
}

// TestForward lets deliveries go forward only.
//
// Contract: 14.10
func TestForward(t *testing.T) {
	for step, want := range map[string]bool{
		"queued sent": true, "queued failed": true, "sent delivered": true, "sent undelivered": true, "sent failed": true, "delivered read": true, "sent read": true,
		"delivered sent": false, "read delivered": false, "failed sent": false, "delivered failed": false, "sent sent": false, "undelivered delivered": false,
	} {
		from, to, _ := strings.Cut(step, " ")
		if Forward(DeliveryStatus(from), DeliveryStatus(to)) != want {
			t.Errorf("%s: want %v", step, want)
		}
	}
}

// TestWindowMessage words how long a window is open.
//
// Contract: 11.4
func TestWindowMessage(t *testing.T) {
	now := time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)
	w := Window{Known: true, EndsAt: now.Add(22*time.Hour + 59*time.Minute + 59*time.Second), Now: now}
	if got, want := w.Message(), "The messaging window is open for 22 h 59 min more. Any text may be sent."; got != want {
		t.Errorf("got %q", got)
	}
	if w.EndsAt = now; w.Open() {
		t.Error("a window is open at its very end")
	}
}

// TestLimitFormatted words messaging limits.
//
// Contract: 11.1
func TestLimitFormatted(t *testing.T) {
	n := int64(1000)
	big := int64(1234567)
	for want, s := range map[string]Sender{"1,000 / 24hr": {Limit: &n, LimitKnown: true}, "1,234,567 / 24hr": {Limit: &big, LimitKnown: true}, "Unlimited": {LimitKnown: true}, "Unknown": {}} {
		if got := s.LimitFormatted(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSegments counts in the basic alphabet and beyond.
//
// Contract: 12
func TestSegments(t *testing.T) {
	for n, text := range map[int]string{
		1: strings.Repeat("a", 160), 2: strings.Repeat("a", 161), 3: strings.Repeat("a", 307),
		4: strings.Repeat("ж", 202), 5: strings.Repeat("€", 306+1),
	} {
		if got := Segments(text); got != n {
			t.Errorf("%d characters %q…: %d segments, want %d", len([]rune(text)), text[:2], got, n)
		}
	}
	if Segments(strings.Repeat("ж", 70)) != 1 || Segments(strings.Repeat("ж", 71)) != 2 || Segments(strings.Repeat("€", 80)) != 1 || Segments("😀") != 1 {
		t.Error("short texts are counted wrong")
	}
}
