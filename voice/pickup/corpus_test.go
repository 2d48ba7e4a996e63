package pickup_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/voice/pickup"
	"parley/voice/pickup/pickuptest"
)

var update = flag.Bool("update", false, "rewrite the tables in docs/answers.md")

const page = "../../docs/answers.md"

var classes = []pickup.Class{pickup.Human, pickup.Machine, pickup.Fax, pickup.Screening}

// What is made of the beginnings of calls, told by what was noticed of them. providers/builtin makes and hears them.
func TestAnswers(t *testing.T) {
	var m matrix
	for _, c := range callsOf(t, "answers") {
		r := c.Play()
		m.add(c, r)
		if r.Class != c.Class {
			t.Logf("%s taken for %s, %v after its onset: %s", c.Class, r.Class, r.After, c.Name)
		}
		if r.First != pickup.Unknown && r.First != pickup.Screening && r.Class == r.First && r.Onset >= 0 && r.After > 4*time.Second {
			t.Errorf("%s: decided %v after the onset, the contract gives 4 s", c.Name, r.After)
		}
	}
	if wrong, all := m.count[pickup.Human][pickup.Machine]+m.count[pickup.Human][pickup.Fax], m.total(pickup.Human); 40*wrong > all {
		t.Errorf("%d of %d people are hung up on", wrong, all)
	}
	if missed, all := m.count[pickup.Machine][pickup.Human]+m.count[pickup.Machine][pickup.Unknown], m.total(pickup.Machine); 5*missed > all {
		t.Errorf("%d of %d machines are talked to", missed, all)
	}
	if m.count[pickup.Fax][pickup.Fax] != m.total(pickup.Fax) {
		t.Errorf("%v faxes of %d are known", m.count[pickup.Fax], m.total(pickup.Fax))
	}
	m.compare(t, "matrix")
}

// What is made of answers on which no rule was adjusted. No better is promised of them than this; the page has what it is.
func TestHeldOutAnswers(t *testing.T) {
	var m matrix
	for _, c := range callsOf(t, "heldout") {
		m.add(c, c.Play())
	}
	if hungUp := m.count[pickup.Human][pickup.Machine] + m.count[pickup.Human][pickup.Fax]; 10*hungUp > m.total(pickup.Human) {
		t.Errorf("%d of %d people are hung up on", hungUp, m.total(pickup.Human))
	}
	if found := m.count[pickup.Machine][pickup.Machine]; 2*found < m.total(pickup.Machine) {
		t.Errorf("%d of %d machines are found", found, m.total(pickup.Machine))
	}
	if m.count[pickup.Human][pickup.Screening] > 0 || m.count[pickup.Fax][pickup.Fax] != m.total(pickup.Fax) {
		t.Errorf("%d people are taken for services, %v faxes known", m.count[pickup.Human][pickup.Screening], m.count[pickup.Fax])
	}
	m.compare(t, "held out")
}

// callsOf reads what was noticed of calls.
func callsOf(t testing.TB, corpus string) []pickuptest.Call {
	t.Helper()
	f, err := os.Open("testdata/" + corpus + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls, err := pickuptest.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// matrix counts what calls were taken for.
type matrix struct {
	count [5][5]int
	after [5][]time.Duration // of those that were right, since the onset
}

func (m *matrix) add(c pickuptest.Call, r pickuptest.Result) {
	m.count[c.Class][r.Class]++
	if c.Class == r.Class {
		m.after[c.Class] = append(m.after[c.Class], r.After)
	}
}

func (m *matrix) total(c pickup.Class) (n int) {
	for _, k := range m.count[c] {
		n += k
	}
	return n
}

// taken is how many calls were taken for a class.
func (m *matrix) taken(as pickup.Class) (n int) {
	for _, row := range m.count {
		n += row[as]
	}
	return n
}

func (m *matrix) String() string {
	var b strings.Builder
	b.WriteString("| picked up | calls | human | machine | fax | screening | unknown | recall | precision | known after its onset: p50, p95 |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range classes {
		fmt.Fprintf(&b, "| %s | %d", c, m.total(c))
		for _, as := range append(slices.Clone(classes), pickup.Unknown) {
			fmt.Fprintf(&b, " | %d", m.count[c][as])
		}
		right := m.count[c][c]
		fmt.Fprintf(&b, " | %s | %s", percent(right, m.total(c)), percent(right, m.taken(c)))
		slices.Sort(m.after[c])
		if n := len(m.after[c]); n > 0 {
			fmt.Fprintf(&b, " | %.1f s, %.1f s |\n", m.after[c][n/2].Seconds(), m.after[c][n*95/100].Seconds())
		} else {
			b.WriteString(" | – |\n")
		}
	}
	return b.String()
}

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", (100*n+of/2)/of)
}

// compare holds a table of the page against the matrix.
func (m *matrix) compare(t *testing.T, name string) {
	from, to := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(raw), from)
	was, after, ok := strings.Cut(rest, to)
	if !ok {
		t.Fatalf("%s has no place for %s", page, name)
	}
	if is := m.String(); *update {
		if err := os.WriteFile(page, []byte(before+from+is+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if was != is {
		t.Errorf("the matrix is\n%s%s says\n%s", is, page, was)
	}
}

// BenchmarkAnswers prints both matrices, and what a decision costs.
func BenchmarkAnswers(b *testing.B) {
	for _, corpus := range []string{"answers", "heldout"} {
		b.Run(corpus, func(b *testing.B) {
			calls := callsOf(b, corpus)
			var m matrix
			for b.Loop() {
				m = matrix{}
				for _, c := range calls {
					m.add(c, c.Play())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(calls)), "µs/call")
			b.Log("\n" + m.String())
		})
	}
}
