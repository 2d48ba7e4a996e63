//go:build linux

package main

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/voice"
)

var all = flag.Bool("all", false, "measure turn taking with the whole set instead of every fifth utterance, and print the table")

// endpoints are the profiles of the end of a turn: endpoint_type and endpoint_sensitivity.
var endpoints = []struct {
	typ     string
	silence time.Duration
}{
	{"vad", 300 * time.Millisecond}, {"vad", 500 * time.Millisecond}, {"vad", 800 * time.Millisecond},
	{"ai", 300 * time.Millisecond}, {"ai", 500 * time.Millisecond}, {"ai", 800 * time.Millisecond},
}

// interrupts are those of interruptions: interrupt_sensitivity and min_interrupt_words.
var interrupts = []struct {
	after time.Duration
	words int
}{{200 * time.Millisecond, 0}, {500 * time.Millisecond, 0}, {800 * time.Millisecond, 0}, {500 * time.Millisecond, 2}}

// TestTurnTaking holds conversations with synthetic callers through the real media plane, voice detection and turn logic,
// in virtual time. A false cut-off is an answer that is heard before the caller's turn is over; a false interruption is an
// answer that stops for a sound which asked for nothing. The transcriber makes no mistakes and is 120 ms late.
func TestTurnTaking(t *testing.T) {
	lab := newLab(t)
	print("\nEnd of the caller's turn: %d utterances per row, clean and with street noise 15 dB below the voice\n", 2*len(lab.utterances))
	print("%-10s %8s | %28s | %s\n", "type", "silence", "false cut-offs per 100 turns", "answer after the end")
	print("%-10s %8s | %8s %9s %9s | %6s %6s\n", "", "", "all", "pauses", "dictation", "p50", "p95")
	for _, p := range endpoints {
		var cut, of [3]int
		var waits []time.Duration
		cfg := voice.Config{Denoise: true, Semantic: p.typ == "ai", EndSilence: p.silence, Interruptible: true, InterruptAfter: interrupt}
		for _, noisy := range []bool{false, true} {
			for _, u := range lab.utterances {
				r := lab.answered(t, cfg, u, noisy)
				of[u.kind]++
				switch {
				case r.early:
					cut[u.kind]++
					if u.kind == whole && !noisy {
						t.Errorf("%s %v: %q is cut off, and has no pause", p.typ, p.silence, u.script)
					}
				case r.wait == 0:
					t.Errorf("%s %v, noise %t: %q is never answered", p.typ, p.silence, noisy, u.script)
				}
				if r.wait > 0 {
					waits = append(waits, r.wait)
				}
			}
		}
		slices.Sort(waits)
		print("%-10s %8v | %8.1f %9.1f %9.1f | %4.0fms %4.0fms\n", p.typ, p.silence, per100(cut[0]+cut[1]+cut[2], of[0]+of[1]+of[2]), per100(cut[pauses], of[pauses]),
			per100(cut[dictation], of[dictation]), ms(waits[len(waits)/2]), ms(waits[len(waits)*95/100]))
	}
	print("\nInterruptions: %d sounds that ask for nothing and %d that do, into an answer\n", len(lab.asides), len(lab.objections))
	print("%-14s %6s | %31s | %s\n", "speech needed", "words", "false interruptions per 100", "objections: not heard per 100, stop after their beginning")
	print("%-14s %6s | %8s %13s %8s | %8s %6s %6s\n", "", "", "all", "back-channels", "noises", "", "p50", "max")
	for _, p := range interrupts {
		cfg := voice.Config{Denoise: true, EndSilence: 500 * time.Millisecond, Interruptible: true, InterruptAfter: p.after, InterruptWords: p.words}
		var stopped, of [2]int
		for _, u := range lab.asides {
			kind := 0
			if len(u.words) == 0 {
				kind = 1
			}
			of[kind]++
			if lab.interrupted(t, cfg, u) > 0 {
				stopped[kind]++
			}
		}
		var stops []time.Duration
		for _, u := range lab.objections {
			if after := lab.interrupted(t, cfg, u); after > 0 {
				stops = append(stops, after)
			}
		}
		slices.Sort(stops)
		missed := len(lab.objections) - len(stops)
		if len(stops) == 0 {
			t.Errorf("nobody can interrupt with %v", p)
			continue
		}
		print("%-14v %6d | %8.1f %13.1f %8.1f | %8.1f %4.0fms %4.0fms\n", p.after, p.words, per100(stopped[0]+stopped[1], of[0]+of[1]), per100(stopped[0], of[0]), per100(stopped[1], of[1]),
			per100(missed, len(lab.objections)), ms(stops[len(stops)/2]), ms(stops[len(stops)-1]))
		if stopped[1] > 0 && p.after >= interrupt {
			t.Errorf("%d noises stop an answer with %v", stopped[1], p)
		}
	}
}

// TestShortSounds asks at every minimum from 0.1 s to 0.9 s whether back-channels that are shorter stop an answer, and how
// long after the minimum objections do.
func TestShortSounds(t *testing.T) {
	if !*all {
		t.Skip("a figure: -args -all")
	}
	lab := newLab(t)
	stopped, of := 0, 0
	var late []time.Duration
	for after := 100 * time.Millisecond; after <= 900*time.Millisecond; after += 50 * time.Millisecond {
		cfg := voice.Config{Denoise: true, EndSilence: 500 * time.Millisecond, Interruptible: true, InterruptAfter: after}
		for _, u := range lab.asides {
			if len(u.words) == 0 || u.length() >= after {
				continue
			}
			if of++; lab.interrupted(t, cfg, u) > 0 {
				stopped++
			}
		}
		for _, u := range lab.objections {
			if at := lab.interrupted(t, cfg, u); at > 0 {
				late = append(late, at-after)
			}
		}
	}
	slices.Sort(late)
	var sum time.Duration
	for _, d := range late {
		sum += d
	}
	fmt.Printf("back-channels shorter than the minimum: %d of %d stop an answer\nobjections stop it behind the minimum by %.0fms p50, %.0fms p90, %.1fms on average\n",
		stopped, of, ms(late[len(late)/2]), ms(late[len(late)*9/10]), ms(sum)/float64(len(late)))
}

func per100(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
