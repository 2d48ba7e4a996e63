//go:build linux

package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"parley/audio"
	"parley/providers/builtin"
	"parley/voice"
)

// set is who speaks and what.
type set struct {
	name                            string
	turns, objections, backChannels []utterance
	babble, television              []int16
	voice                           []int16 // of the assistant
}

var defaults = voice.Config{Denoise: true, EndSilence: 500 * time.Millisecond, Interruptible: true, InterruptAfter: interrupt}

// sets are the one that was tuned with and the one that was not.
func (l *lab) sets(t *testing.T) []*set {
	e := builtin.Open(t.TempDir())
	defer e.Close()
	make := func(name string, voices []string, turns, objections, back []utterance) *set {
		s := &set{name: name}
		say := func(list []utterance) (out []utterance) {
			for i, u := range list {
				if *all || i%5 == 0 {
					out = append(out, u.in(t, e, voices[i%len(voices)]))
				}
			}
			return out
		}
		s.turns, s.objections, s.backChannels = say(turns), say(objections), say(back)
		s.babble, s.television = crowd(s, 6, 30*rate), crowd(s, 1, 30*rate)
		long := utterance{script: "Our workshop is open from Monday to Friday between eight and six, and on Saturdays until noon. A repair usually takes two days. " +
			"You can leave your bicycle in front of the door, and we will call you when it is ready. Please bring the receipt and the key of your lock with you."}
		s.voice = long.in(t, e, map[string]string{"tuning": "slt", "held-out": "rms"}[name]).pcm
		return s
	}
	return []*set{make("tuning", []string{"kal16", "rms"}, turnsSaid, objections, backChannels),
		make("held-out", []string{"awb", "slt"}, heldTurns, heldObjections, heldBackChannels)}
}

// crowd is n people who talk without end.
func crowd(s *set, n, length int) []int16 {
	random := rand.New(rand.NewPCG(5, uint64(n)))
	sum := make([]int32, length)
	for range n {
		for at := 0; at < length; {
			u := s.turns[random.IntN(len(s.turns))].pcm
			if at == 0 {
				u = u[random.IntN(len(u)):]
			}
			for i := range min(len(u), length-at) {
				sum[at+i] += int32(u[i])
			}
			at += len(u)
		}
	}
	pcm := make([]int16, length)
	for i, v := range sum {
		pcm[i] = audio.Clip(v / int32(max(1, n/2)))
	}
	return pcm
}

// below is the factor that brings a sound db below another.
func below(sound, other []int16, db float64) float64 {
	return math.Pow(10, (audio.Level(other)-db-audio.Level(sound))/20)
}

// TestConditions holds the conversations of TestTurnTaking on bad lines: packets that do not come, people who talk behind the caller,
// echo of the assistant's own voice.
func TestConditions(t *testing.T) {
	lab := newLab(t)
	for _, s := range lab.sets(t) {
		print("\n%s set\n", s.name)
		for name, measure := range map[string]func(*testing.T, *set){"gaps": lab.gaps, "background": lab.background, "endings": lab.endings, "echo": lab.echoes} {
			if *condition == "" || *condition == name {
				measure(t, s)
			}
		}
	}
}

var condition = flag.String("condition", "", "gaps, background, endings, echo; empty = all")

func print(format string, args ...any) {
	if *all {
		fmt.Printf(format, args...)
	}
}

// gaps loses packets in the middle of sentences without pauses.
func (l *lab) gaps(t *testing.T, s *set) {
	for _, long := range []time.Duration{500 * time.Millisecond, 750 * time.Millisecond, time.Second} {
		cut, of := 0, 0
		for _, u := range s.turns {
			if u.kind != whole {
				continue
			}
			c := &caller{lab: l, said: u, from: 600 * time.Millisecond, answer: 800 * time.Millisecond}
			middle := c.from + u.length()/2
			c.said.pcm = slices.Concat(u.pcm[:len(u.pcm)/2], make([]int16, samples(long)), u.pcm[len(u.pcm)/2:])
			c.said.words = slices.Clone(u.words)
			for i := range c.said.words {
				if c.said.words[i].end > u.length()/2 {
					c.said.words[i].end += long
				}
			}
			c.gaps = []span{{middle.Truncate(audio.FrameDur), (middle + long).Truncate(audio.FrameDur)}}
			r := c.outcome(t, defaults)
			of++
			if r.early {
				cut++
			}
		}
		print("packets missing for %v inside a sentence: %d of %d cut off\n", long, cut, of)
		if cut > 0 {
			t.Errorf("%s: %d of %d sentences are cut off by %v without packets", s.name, cut, of, long)
		}
	}
}

// endings are those of turns with and without pauses, with endpoint_type ai.
func (l *lab) endings(t *testing.T, s *set) {
	cfg := defaults
	cfg.Semantic = true
	var cut, of [3]int
	var waits []time.Duration
	for _, u := range s.turns {
		r := l.answered(t, cfg, u, false)
		if of[u.kind]++; r.early {
			cut[u.kind]++
			print("cut off: %s\n", u.script)
		}
		if r.wait > 0 {
			waits = append(waits, r.wait)
		}
	}
	slices.Sort(waits)
	print("ai 0.5 s: cut off %d of %d without pauses, %d of %d with pauses, %d of %d dictated; answered after p50 %v, p75 %v, p95 %v\n", cut[whole], of[whole],
		cut[pauses], of[pauses], cut[dictation], of[dictation], waits[len(waits)/2].Round(time.Millisecond), waits[len(waits)*3/4].Round(time.Millisecond),
		waits[len(waits)*95/100].Round(time.Millisecond))
}

// background has people talk behind the caller from the beginning to the end of the call.
func (l *lab) background(t *testing.T, s *set) {
	for _, b := range []struct {
		name  string
		sound []int16
	}{{"babble", s.babble}, {"television", s.television}} {
		for _, db := range []float64{15, 10, 5} {
			answered, early, late, of := 0, 0, 0, 0
			var waits []time.Duration
			for _, u := range s.turns {
				if u.kind != whole {
					continue
				}
				for _, from := range []time.Duration{600 * time.Millisecond, 4 * time.Second} {
					c := &caller{lab: l, said: u, from: from, answer: 800 * time.Millisecond, behind: b.sound, noise: below(b.sound, u.pcm, db)}
					r := c.outcome(t, defaults)
					of++
					switch {
					case r.early:
						early++
					case r.wait > 0 && r.wait <= 1500*time.Millisecond:
						answered++
					case r.wait > 0:
						late++
					}
					if r.wait > 0 {
						waits = append(waits, r.wait)
					}
				}
			}
			slices.Sort(waits)
			least := of
			if !*all { // behind four turns there are too few voices to babble evenly
				least--
			}
			if b.name == "babble" && db >= 10 && answered < least {
				t.Errorf("%s: %d of %d turns are answered with babble %v dB below the caller", s.name, answered, of, db)
			}
			print("%s %2.0f dB below the caller: %d of %d answered within 1.5 s, %d later, %d early, p50 %v\n", b.name, db, answered, of, late, early,
				waits[min(len(waits)-1, len(waits)/2)].Round(time.Millisecond))
		}
	}
}

// echoes sends the assistant's voice back.
func (l *lab) echoes(t *testing.T, s *set) {
	levels, delays := []float64{-200, -40, -30, -20, -15, -10, -6}, []time.Duration{20, 67, 150, 313, 500}
	if !*all {
		levels, delays = []float64{-20, -10}, []time.Duration{150}
	}
	for _, db := range levels {
		own, of, missed, objected := 0, 0, 0, 0
		var stops []time.Duration
		for _, delay := range delays {
			e := echo{delay * time.Millisecond, math.Pow(10, db/20)}
			c := &caller{lab: l, from: 12 * time.Second, voice: s.voice, typed: "Tell me more.", echo: e}
			c.call(t, defaults)
			of++
			if c.stopped > 0 || c.turns > 0 {
				own++
			}
			if db < -20 && db > -200 {
				continue
			}
			for i, u := range s.objections {
				c := &caller{lab: l, said: u, from: 2*time.Second + time.Duration(i)*700*time.Millisecond, voice: s.voice, typed: "Tell me more.", echo: e}
				c.call(t, defaults)
				if objected++; c.stopped > 0 && c.stopped >= c.from {
					stops = append(stops, c.stopped-c.from)
				} else {
					missed++
				}
			}
		}
		slices.Sort(stops)
		if own > 0 && db <= -10 || missed*20 > objected && db <= -20 {
			t.Errorf("%s: with an echo of %v dB the assistant stops itself in %d of %d calls, and %d of %d objections are missed", s.name, db, own, of, missed, objected)
		}
		print("echo %4.0f dB: %d of %d calls answer themselves", db, own, of)
		if len(stops) > 0 {
			print("; objections: %d of %d missed, stop after p50 %v, p95 %v", missed, objected, stops[len(stops)/2].Round(time.Millisecond),
				stops[len(stops)*95/100].Round(time.Millisecond))
		}
		print("\n")
	}
}
