package voice

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A transcriber that cannot keep up is no secret: the call's events say how much was not heard.
//
// Contract: 4.9
func TestLostAudioIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := parse(t, "set initial_message\nset wait_for_customer true\nllm 300ms Nine.\nhangup 5s")
		lost := Transcript{Text: "open", Lost: 1500 * time.Millisecond}
		w.steps = slices.Insert(w.steps, 0, step{2 * time.Second, func(w *world) { w.session.post(context.Background(), wordsCame{1, lost}) }})
		w.run(t)
		const want = `   2.000s warning {"stage":"stt","message":"The recogniser cannot keep up. 1.5 s of what was said were not heard."} <nil>`
		if !slices.Contains(w.seen, want) {
			t.Errorf("not told: %q", w.seen)
		}
	})
}
