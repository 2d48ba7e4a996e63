package voice

import (
	"testing"
	"testing/synctest"

	"parley/audio/sounds"
)

// The sound of a place lies under a call from its beginning to its end, at its volume; without one the line is told of none.
//
// Contract: 4.2
func TestAmbience(t *testing.T) {
	for name, want := range map[string]int{"cafe": 1, "off": 0, "": 0} {
		synctest.Test(t, func(t *testing.T) {
			w := parse(t, "hangup 2s")
			w.cfg.Ambience, w.cfg.AmbienceVolume = name, 0.25
			sounds.Loop(name, 8000) // made outside of virtual time
			w.run(t)
			loops := w.media.Loops
			if len(loops) != want+1 || loops[want].PCM != nil {
				t.Fatalf("%q: %d loops", name, len(loops))
			}
			if want > 0 && (loops[0].Gain != 0.25 || &loops[0].PCM[0] != &sounds.Loop(name, 8000)[0]) {
				t.Errorf("%q: gain %v", name, loops[0].Gain)
			}
		})
	}
}
