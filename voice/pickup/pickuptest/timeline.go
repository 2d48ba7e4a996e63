// Package pickuptest keeps what was noticed at the beginning of calls, and plays it to a detector again.
package pickuptest

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"parley/voice/pickup"
)

// Call is the beginning of a call: who really picked up, and what was noticed.
type Call struct {
	Name  string
	Class pickup.Class
	Moves []Move
}

// Move is one thing noticed. At is when it became known, counted from the answer.
type Move struct {
	At   time.Duration
	Kind string        // speech, quiet, words, final, tone, greeted or end
	From time.Duration // of speech and quiet: when it really happened
	Text string        // of words and final
	Tone pickup.Tone
}

// Result is what a detector made of a call.
type Result struct {
	Class  pickup.Class
	First  pickup.Class  // before a correction
	Onset  time.Duration // of the greeting; 0 = nothing was heard
	After  time.Duration // the last decision, counted from the onset
	Looked int
}

// Play gives the moves to a detector as a conversation does.
func (c Call) Play() (r Result) {
	d := pickup.New()
	r.Onset = -1
	told := pickup.Unknown
	alarm := pickup.Never
	look := func(at time.Duration) {
		var class pickup.Class
		class, alarm = d.Look(at)
		r.Looked++
		if class == told {
			return
		}
		if told == pickup.Unknown {
			r.First = class
		}
		told, r.Class, r.After = class, class, at-max(0, r.Onset)
	}
	for _, m := range c.Moves {
		for alarm <= m.At {
			look(alarm)
		}
		switch m.Kind {
		case "speech", "quiet":
			if r.Onset < 0 {
				r.Onset = m.From
			}
			d.Speech(m.From, m.Kind == "speech")
		case "words", "final":
			d.Words(m.Text, m.Kind == "final")
		case "tone":
			d.Tone(m.At, m.Tone)
		case "greeted":
			d.Greeted(m.At)
		case "end":
			if told == pickup.Unknown {
				r.Class = d.Finish()
			}
			return r
		}
		look(m.At)
	}
	return r
}

const ms = time.Millisecond

// Write writes calls as text.
func Write(w io.Writer, calls []Call) error {
	b := bufio.NewWriter(w)
	for _, c := range calls {
		fmt.Fprintf(b, "%s: %s\n", c.Class, c.Name)
		for _, m := range c.Moves {
			fmt.Fprintf(b, "%6d %s", m.At/ms, m.Kind)
			switch m.Kind {
			case "speech", "quiet":
				fmt.Fprintf(b, " %d", m.From/ms)
			case "words", "final":
				fmt.Fprintf(b, " %s", m.Text)
			case "tone":
				fmt.Fprintf(b, " %.0f %d %t", math.Round(m.Tone.Hz), m.Tone.Length/ms, m.Tone.Over)
			}
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

// Read reads what Write wrote.
func Read(r io.Reader) (calls []Call, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, " ") {
			class, name, _ := strings.Cut(line, ": ")
			calls = append(calls, Call{Name: name, Class: classOf(class)})
			continue
		}
		f := strings.Fields(line)
		if len(calls) == 0 || len(f) < 2 {
			return nil, fmt.Errorf("what is %q?", line)
		}
		m := Move{Kind: f[1]}
		var at, from, length int64
		if _, err := fmt.Sscan(f[0], &at); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		switch m.Kind {
		case "speech", "quiet":
			_, err = fmt.Sscan(f[2], &from)
		case "words", "final":
			m.Text = strings.Join(f[2:], " ")
		case "tone":
			_, err = fmt.Sscan(strings.Join(f[2:], " "), &m.Tone.Hz, &length, &m.Tone.Over)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		m.At, m.From, m.Tone.Length = time.Duration(at)*ms, time.Duration(from)*ms, time.Duration(length)*ms
		last := &calls[len(calls)-1]
		last.Moves = append(last.Moves, m)
	}
	return calls, lines.Err()
}

func classOf(name string) pickup.Class {
	for c := pickup.Unknown; c <= pickup.Screening; c++ {
		if c.String() == name {
			return c
		}
	}
	return pickup.Unknown
}
