// Package sounds makes the sounds of a call that nobody says: rooms and streets, music on hold, ringing. They are programs of
// ours, not recordings, and always come out the same.
package sounds

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"
)

// Names of the loops besides the ambient sounds office, city, forest, crowded_room, cafe and nature.
const (
	HoldMusic    = "hold_music"    // about as loud as speech
	Ringback     = "ringback"      // what a caller hears while it rings: 425 Hz, 1 s on, 4 s off (ITU-T E.180)
	ComfortNoise = "comfort_noise" // a line that is open
)

// Levels in RMS of a 16-bit sample. Voices speak at about 3000.
const (
	ambientLevel = 750 // 12 dB below them
	musicLevel   = 2400
	ringLevel    = 2400 // while it sounds
	noiseLevel   = 26   // -62 dBFS
)

// scene is how a loop is made.
type scene struct {
	seconds float64
	level   float64
	make    func(*tape)
}

var scenes = map[string]scene{
	"office":       {20, ambientLevel, office},
	"city":         {24, ambientLevel, city},
	"forest":       {24, ambientLevel, forest},
	"crowded_room": {16, ambientLevel, crowdedRoom},
	"cafe":         {20, ambientLevel, cafe},
	"nature":       {20, ambientLevel, nature},
	HoldMusic:      {bars * beatsOfBar * beat, musicLevel, holdMusic},
	Ringback:       {5, ringLevel * math.Sqrt2 / 3.162, ringback}, // of its fifth that sounds
	ComfortNoise:   {4, noiseLevel, comfortNoise},
}

// Known reports whether there is a loop of a name.
func Known(name string) bool { return scenes[name].make != nil }

type key struct {
	name string
	rate int
}

var made sync.Map // by key: func() []int16

// Loop is a sound at rate Hz (8000 or 16000) without a seam: its first sample follows its last. It is shared and must not
// be changed; nil for a name that there is none of. The first to ask waits some tenths of a second while it is made.
func Loop(name string, rate int) []int16 {
	if !Known(name) {
		return nil
	}
	once, _ := made.LoadOrStore(key{name, rate}, sync.OnceValue(func() []int16 { return render(name, rate) }))
	return once.(func() []int16)()
}

func render(name string, rate int) []int16 {
	sc := scenes[name]
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	t := &tape{rate: float64(rate), pcm: make([]float64, int(sc.seconds*float64(rate)+0.5)), chance: rand.New(rand.NewPCG(h.Sum64(), 1))}
	sc.make(t)
	return t.level(sc.level)
}

// level brings the sound to an RMS. Peaks are rounded off beyond four times that.
func (t *tape) level(rms float64) []int16 {
	gain := rms / max(1e-9, rmsOf(t.pcm))
	ceiling := max(4*rms, 3*noiseLevel)
	soft := func(v float64) float64 { return ceiling * math.Tanh(v/ceiling) }
	for range 4 { // what is rounded off is made up for
		sum := 0.0
		for _, v := range t.pcm {
			sum += soft(v*gain) * soft(v*gain)
		}
		gain *= rms / math.Sqrt(sum/float64(len(t.pcm)))
	}
	out := make([]int16, len(t.pcm))
	for i, v := range t.pcm {
		out[i] = int16(math.Round(soft(v * gain)))
	}
	return out
}

func rmsOf(pcm []float64) float64 {
	sum := 0.0
	for _, v := range pcm {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(pcm)))
}
