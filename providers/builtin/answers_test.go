package builtin

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/assets"
	"parley/audio"
	"parley/audio/silero"
	"parley/lines"
	"parley/lines/media"
	"parley/voice"
	"parley/voice/pickup"
	"parley/voice/pickup/pickuptest"
)

var (
	update = flag.Bool("update", false, "listen to answers again and rewrite what was noticed of them")
	every  = flag.Int("every", 1, "listen to every nth of them only; every third has every text once")
)

// corpora are the answers and where what was noticed of them is kept.
var corpora = []struct {
	file       string
	answers    []answer
	conditions []condition
	ways       int // in which each is heard
}{
	{"../../voice/pickup/testdata/answers.txt", answers, conditions, 1},
	{"../../voice/pickup/testdata/heldout.txt", heldOut, strangers, 1},
}

// sound is a piece of an answer: words, a pause, or a signal.
type sound struct {
	say    string
	pause  time.Duration
	hz     []float64 // one after another
	each   time.Duration
	chord  bool // all at once
	phased bool // reversed every 450 ms, as fax machines do,
	wavers bool // and their level up and down 15 times a second (ITU-T V.8)
}

func says(text string) sound                     { return sound{say: text} }
func waits(d time.Duration) sound                { return sound{pause: d} }
func beeps(hz float64, d time.Duration) sound    { return sound{hz: []float64{hz}, each: d} }
func tones(d time.Duration, hz ...float64) sound { return sound{hz: hz, each: d} }
func rings(d time.Duration, hz ...float64) sound { return sound{hz: hz, each: d, chord: true} }
func recorded(text string, hz float64, ms int) []sound {
	return []sound{says(text), waits(300 * time.Millisecond), beeps(hz, time.Duration(ms)*time.Millisecond)}
}

// answer is what is heard of one who picks up.
type answer struct {
	class  pickup.Class
	sounds []sound
}

// condition is a way an answer sounds.
type condition struct {
	who   string
	speed float64
	level float64 // dB against full speech
	noise float64 // dB below the speech; 0 = none
	hum   bool    // noise of engines instead of hiss
	aLaw  bool
	crowd bool // noise of other voices instead of hiss
}

// conditions are the ways the answers sound, in the built-in voices.
var conditions = []condition{
	{"rms", 1, 0, 0, false, false, false}, {"slt", 1, -6, 0, false, true, false}, {"kal16", 1.1, 0, 25, false, true, false},
	{"awb", 1, -12, 22, false, false, false}, {"slt", 1.15, -3, 15, true, false, false}, {"rms", 0.9, -18, 0, false, true, false},
	{"kal16", 1, -8, 18, true, true, false}, {"rms", 1.15, -3, 20, false, false, false}, {"awb", 1.1, -5, 16, false, false, true},
}

const (
	lineRate = 8000
	leadIn   = 350 * time.Millisecond // a phone is at the ear
	tail     = 3 * time.Second
	longest  = 14 * time.Second
)

// renderAnswer is an answer as it arrives from the line.
func renderAnswer(t testing.TB, c condition, sounds []sound, seed uint64) []int16 {
	pcm := make([]int16, int(leadIn.Seconds()*lineRate))
	for _, s := range sounds {
		pcm = append(pcm, s.pcm(t, c)...)
	}
	pcm = append(pcm, make([]int16, int(tail.Seconds()*lineRate))...)
	pcm = pcm[:min(len(pcm), int(longest.Seconds()*lineRate))]
	gain := math.Pow(10, c.level/20)
	noise := c.noiseOf(t, len(pcm), seed)
	for i, v := range pcm {
		pcm[i] = audio.Clip(int32(gain * (float64(v) + noise[i])))
	}
	coded := make([]byte, len(pcm))
	if c.aLaw {
		audio.EncodeALaw(coded, pcm)
		audio.DecodeALaw(pcm, coded)
	} else {
		audio.EncodeMuLaw(coded, pcm)
		audio.DecodeMuLaw(pcm, coded)
	}
	return pcm
}

// loud is the root mean square of speech in samples.
const loud = 3000

// noiseOf is the noise of a place, n samples of it.
func (c condition) noiseOf(t testing.TB, n int, seed uint64) []float64 {
	noise := make([]float64, n)
	if c.noise == 0 {
		return noise
	}
	r := rand.New(rand.NewPCG(seed, 1))
	low, level := 0.0, loud*math.Pow(10, -c.noise/20)
	var crowd []int16
	if c.crowd {
		crowd = says(crowdSays).pcm(t, condition{who: "awb", speed: 1})
	}
	for i := range noise {
		x := r.NormFloat64()
		switch {
		case c.crowd: // four of them, each at another place in the text
			x = 0
			for k := range 4 {
				x += float64(crowd[(i+(2*k+1)*len(crowd)/8)%len(crowd)]) / loud / 2
			}
		case c.hum:
			low += 0.2 * (x - low)
			x = 3 * low * (1 + 0.4*math.Sin(2*math.Pi*3*float64(i)/lineRate))
		}
		noise[i] = level * x
	}
	return noise
}

const crowdSays = "So we took the early train and then we had a look around the market, and you would not believe what they wanted for a kilo of tomatoes."

func (s sound) pcm(t testing.TB, c condition) []int16 {
	if s.say != "" {
		f, err := inVoice(t, s.say, c)
		if err != nil {
			t.Fatal(err)
		}
		r := audio.NewResampler(f.Rate, lineRate)
		return append(slices.Clone(r.Process(f.PCM)), r.Flush()...)
	}
	pcm := make([]int16, int(s.pause.Seconds()*lineRate))
	step := 1
	if s.chord {
		step = max(1, len(s.hz))
	}
	for hz := range slices.Chunk(s.hz, step) {
		tone := make([]int16, int(s.each.Seconds()*lineRate))
		var all []audio.Tone
		for _, f := range hz {
			all = append(all, audio.Tone{Hz: f, Level: 0.3 / float64(len(hz))})
		}
		audio.GenSignal(tone, lineRate, 0, all...)
		for i := range tone {
			if s.phased && i/(lineRate*45/100)%2 == 1 {
				tone[i] = -tone[i]
			}
			if s.wavers {
				tone[i] = int16(float64(tone[i]) * (1 + 0.2*math.Sin(2*math.Pi*15*float64(i)/lineRate)) / 1.2)
			}
		}
		pcm = append(pcm, tone...)
	}
	return pcm
}

// inVoice is a text in a voice: a built-in one, or one of strangers.
func inVoice(t testing.TB, text string, c condition) (audio.Frame, error) {
	if strings.Contains(c.who, " ") {
		return strangerSays(t, text, c)
	}
	return engines.Render(t.Context(), voice.Speech{Text: text, Voice: c.who, Speed: c.speed, Stability: 1, Similarity: 1})
}

// endOfTurn is the silence after which a conversation asks for the final words.
const endOfTurn = 500 * time.Millisecond

// noticed is what a conversation notices of an answer: speech, tones, words.
func noticed(t testing.TB, img *image, vad *silero.Model, pcm []int16) (moves []pickuptest.Move) {
	add := func(m pickuptest.Move) { moves = append(moves, m) }
	var turns []pickuptest.Move
	media.FindSpeech(pcm, lineRate, vad.Detector(lineRate), func(e lines.Event, known time.Time) {
		kind := map[lines.EventKind]string{lines.SpeechStart: "speech", lines.SpeechEnd: "quiet"}[e.Kind]
		turns = append(turns, pickuptest.Move{At: known.Sub(time.Time{}), Kind: kind, From: e.At.Sub(time.Time{})})
	})
	d, err := engines.clone(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.stop()
	d.ctx = context.Background()
	if err := d.soften(); err != nil {
		t.Fatal(err)
	}
	hears := turn{decoder: d, rate: lineRate, longest: longestFrames}
	finder := pickup.NewTones(lineRate)
	var at, ends time.Duration
	for frame := range slices.Chunk(pcm, lineRate/50) {
		at += audio.FrameDur
		for len(turns) > 0 && turns[0].At <= at {
			if add(turns[0]); turns[0].Kind == "quiet" {
				ends = turns[0].From + endOfTurn
			} else {
				ends = 0
			}
			turns = turns[1:]
		}
		for _, tone := range finder.Feed(frame) {
			add(pickuptest.Move{At: at, Kind: "tone", Tone: tone})
		}
		text, news, err := hears.hear(frame)
		if err == nil && ends > 0 && at >= ends {
			ends = 0
			if text, err = hears.finish(); err == nil {
				add(pickuptest.Move{At: at, Kind: "final", Text: text})
			}
		} else if news && text != "" {
			add(pickuptest.Move{At: at, Kind: "words", Text: text})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return append(moves, pickuptest.Move{At: at, Kind: "end"})
}

// greeted is when our own greeting was heard to its end.
const greeted = 2500 * time.Millisecond

func withGreeting(moves []pickuptest.Move) []pickuptest.Move {
	moves = append(moves, pickuptest.Move{At: greeted, Kind: "greeted"})
	slices.SortStableFunc(moves, func(a, b pickuptest.Move) int { return cmp.Compare(a.At, b.At) })
	return moves
}

// listenToAnswers notices the beginnings of calls, each in some ways; only every nth.
func listenToAnswers(t testing.TB, answers []answer, conditions []condition, ways, nth int) (calls []pickuptest.Call) {
	weights, err := assets.Read("silero_vad.onnx")
	if err != nil {
		t.Skip(err)
	}
	vad, err := silero.Load(weights)
	if err != nil {
		t.Fatal(err)
	}
	img, err := engines.image(t.Context(), voice.Transcription{Rate: lineRate, Languages: []string{"en"}, Hints: append(slices.Clone(practice), pickup.Sentences("en")...)})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		for j := range ways {
			number := 3*i + j // a third way may follow
			n := (i + 3*j) % len(conditions)
			if number%nth != 0 {
				continue
			}
			c := conditions[n]
			name := fmt.Sprintf("%d %s ×%.2f %+.0f dB", number, c.who, c.speed, c.level)
			if c.noise > 0 {
				name += fmt.Sprintf(", noise %.0f dB below", c.noise)
			}
			calls = append(calls, pickuptest.Call{Name: name, Class: a.class, Moves: withGreeting(noticed(t, img, vad, renderAnswer(t, c, a.sounds, uint64(number))))})
		}
	}
	return calls
}

// What was noticed of the answers is still what is noticed: a few of them are made and heard again. docs/answers.md has
// what follows for all.
func TestAnswersAreNoticed(t *testing.T) {
	for _, c := range corpora {
		t.Run(strings.TrimSuffix(filepath.Base(c.file), ".txt"), func(t *testing.T) {
			if *update {
				keepNoticed(t, c.file, listenToAnswers(t, c.answers, c.conditions, c.ways, *every))
				return
			}
			compareNoticed(t, c.file, listenToAnswers(t, c.answers, c.conditions, c.ways, 90))
		})
	}
}

func keepNoticed(t *testing.T, file string, calls []pickuptest.Call) {
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(pickuptest.Write(f, calls), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func compareNoticed(t *testing.T, file string, calls []pickuptest.Call) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known, err := pickuptest.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		i := slices.IndexFunc(known, func(k pickuptest.Call) bool { return k.Name == c.Name })
		if i < 0 {
			t.Errorf("%s is not among the known answers", c.Name)
			continue
		}
		if got, want := c.Play(), known[i].Play(); got.Class != want.Class {
			t.Errorf("%s: %s, was %s", c.Name, got.Class, want.Class)
		}
	}
}
