package calls

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/states.md")

// The page of states is made from the tables.
func TestStatesPage(t *testing.T) {
	const file = "../docs/states.md"
	var b strings.Builder
	b.WriteString("# States of a call\n\nMade from `calls/states.go`; `go test ./calls -update` writes it anew.\n\n")
	b.WriteString("| State | Trigger | Next | Also |\n|---|---|---|---|\n")
	list := func(ss []Status) string {
		if len(ss) == 0 {
			return "(none)"
		}
		var names []string
		for _, s := range ss {
			names = append(names, string(s))
		}
		return strings.Join(names, ", ")
	}
	for _, s := range Steps {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", list(s.From), s.Trigger, list(s.To), s.Also)
	}
	b.WriteString("\n## Reasons\n\n| ended_reason | Meaning | Final status if answered | if not | ended_by | Lead |\n|---|---|---|---|---|---|\n")
	for _, r := range Reasons {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.Reason, r.Meaning, r.Answered, r.Unanswered, r.By, r.Lead)
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Error("docs/states.md is old: go test ./calls -update")
	}
}

// Whatever a call ends for, the way from where it is to where it ends exists, and leads to the final state.
//
// Contract: 14.5
func TestEveryReasonHasAWay(t *testing.T) {
	for _, r := range Reasons {
		for _, from := range []Status{Initiated, Ringing} {
			to := r.Reason.end(false)
			if !to.Final() || !May(from, to) {
				t.Errorf("%s: %s → %s", r.Reason, from, to)
			}
		}
		to := r.Reason.end(true)
		if r.Answered != Completed && (r.Reason == NoAnswerReason || r.Unanswered == Busy || r.Answered != Failed) {
			continue // never given to an answered call
		}
		if !May(InProgress, to) || !to.Final() && !May(to, r.Answered) {
			t.Errorf("%s: in-progress → %s → %s", r.Reason, to, r.Answered)
		}
	}
	for _, s := range Statuses {
		leaves := slices.ContainsFunc(Steps, func(st Step) bool { return slices.Contains(st.From, s) })
		if leaves == s.Final() {
			t.Errorf("%s: final %v, but left %v", s, s.Final(), leaves)
		}
	}
}

// What the status of a refused INVITE means.
//
// Contract: 14.5
func TestReasonForCode(t *testing.T) {
	for code, want := range map[int]Reason{
		302: NoAnswerReason, 408: NoAnswerReason, 480: NoAnswerReason, 486: BusyReason, 600: BusyReason, 603: Declined, 404: InvalidNumber, 410: InvalidNumber,
		484: InvalidNumber, 604: InvalidNumber, 401: CarrierRejected, 403: CarrierRejected, 407: CarrierRejected, 606: CarrierRejected,
		488: NoCommonCodec, 500: CarrierError, 503: CarrierError, 0: CarrierError,
	} {
		if got := ReasonForCode(code); got != want {
			t.Errorf("%d: %s, want %s", code, got, want)
		}
	}
}

// Seconds that were begun are paid, and never fewer than none.
//
// Contract: 16.2
func TestBegun(t *testing.T) {
	for d, want := range map[time.Duration]int64{-time.Second: 0, 0: 0, time.Microsecond: 1, time.Second: 1, time.Second + time.Nanosecond: 1,
		time.Second + time.Microsecond: 2, 3599*time.Second + 999999*time.Microsecond: 3600} {
		if got := Begun(d); got != want {
			t.Errorf("%v: %d, want %d", d, got, want)
		}
	}
}
