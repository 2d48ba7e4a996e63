package jobs

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTellerSaysAWordAtMostOncePer20ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []time.Duration
		begin := time.Now()
		var tell teller
		tell.send = func(string) { sent = append(sent, time.Since(begin)) }
		for range 50 { // for 50 ms
			tell.say("q")
			time.Sleep(time.Millisecond)
		}
		tell.wait()
		for i := 1; i < len(sent); i++ {
			if gap := sent[i] - sent[i-1]; gap < quiet {
				t.Error("again after", gap)
			}
		}
		if len(sent) != 4 || sent[0] != 0 || sent[3] < 50*time.Millisecond { // at 0, 20, 40 and, for the last words, 60
			t.Error(sent)
		}
	})
}
