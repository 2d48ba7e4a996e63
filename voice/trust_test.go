package voice

import (
	"strings"
	"testing"
	"testing/synctest"
)

type brokenVoice struct{ Synthesizer }

func (brokenVoice) Broken() bool { return true }

// A voice whose vendor is known to fail is not asked where there is another one, and is where there is none.
func TestBrokenVoice(t *testing.T) {
	for second, want := range map[string]string{"\ntts2 200ms 60ms": "two", "": "one"} {
		synctest.Test(t, func(t *testing.T) {
			w := parse(t, "hangup 3s"+second)
			w.tamper = func(p *Parts) { p.Synthesizer.Synthesizer = brokenVoice{p.Synthesizer.Synthesizer} }
			w.run(t)
			if asked := strings.Join(w.seen, "\n"); !strings.Contains(asked, `tts.request {"provider":"`+want) {
				t.Errorf("want %s:\n%s", want, asked)
			}
		})
	}
}
