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
	file    string
	answers []answer
	ways    int // in which each is heard
}{
	{"../../voice/pickup/testdata/answers.txt", answers, 2},
	{"../../voice/pickup/testdata/heldout.txt", heldOut, 1},
}

// sound is a piece of an answer: words, a pause, or a signal.
type sound struct {
	say    string
	pause  time.Duration
	hz     []float64 // one after another
	each   time.Duration
	phased bool // reversed every 450 ms, as fax machines do
}

func says(text string) sound                     { return sound{say: text} }
func waits(d time.Duration) sound                { return sound{pause: d} }
func beeps(hz float64, d time.Duration) sound    { return sound{hz: []float64{hz}, each: d} }
func tones(d time.Duration, hz ...float64) sound { return sound{hz: hz, each: d} }
func recorded(text string, hz float64, ms int) []sound {
	return []sound{says(text), waits(300 * time.Millisecond), beeps(hz, time.Duration(ms)*time.Millisecond)}
}

// answer is what is heard of one who picks up.
type answer struct {
	class  pickup.Class
	sounds []sound
}

// answers are what is heard of those who pick up. None of the texts is known to the recogniser word by word.
var answers = []answer{
	{pickup.Human, []sound{says("Hello?")}},
	{pickup.Human, []sound{says("Yes?")}},
	{pickup.Human, []sound{says("Hi.")}},
	{pickup.Human, []sound{says("Good morning.")}},
	{pickup.Human, []sound{says("Yes, Smith speaking.")}},
	{pickup.Human, []sound{says("Hello, this is Karen.")}},
	{pickup.Human, []sound{says("Hello?"), waits(600 * time.Millisecond), says("Hello? Who is this?")}},
	{pickup.Human, []sound{says("Yeah, what's up?")}},
	{pickup.Human, []sound{says("Johnson residence.")}},
	{pickup.Human, []sound{waits(2800 * time.Millisecond), says("Yes, that is right, I ordered two of them last week but they never arrived.")}},
	{pickup.Human, []sound{says("Hello?"), waits(2500 * time.Millisecond), says("No, he is not available, would you like to leave a message?")}},
	{pickup.Human, []sound{says("Good afternoon, Baker and Sons, Emily speaking, how can I help you?")}},
	{pickup.Human, []sound{says("Thank you for calling Riverside Dental, this is Susan, how may I help you today?")}},
	{pickup.Human, []sound{says("Accounting department, Robert Miller.")}},
	{pickup.Human, []sound{says("Hello, sorry, I was in the garden, who is calling please?")}},
	{pickup.Human, []sound{says("Good evening, Hotel Miramar reception desk, my name is Peter, what can I do for you?")}},
	{pickup.Human, []sound{says("I am driving. Can you call me back later?")}},

	{pickup.Machine, recorded("You have reached the voice mail of Robert Miller. Please leave a message after the tone.", 1000, 500)},
	{pickup.Machine, recorded("Hi, this is Mary. I can't come to the phone right now. Leave your name and number and I'll call you back.", 850, 300)},
	{pickup.Machine, recorded("Hey, it's Kevin, leave a message.", 1400, 250)},
	{pickup.Machine, recorded("Hello, you have reached Baker and Sons. Our office is currently closed. Please call again tomorrow, or leave a message after the beep.", 440, 600)},
	{pickup.Machine, recorded("The person you are calling is not available. Please record your message at the tone.", 660, 400)},
	{pickup.Machine, recorded("Your call has been forwarded to an automated voice messaging system. Two one two, five five five, zero one nine nine, is not available. At the tone please record your message.", 1000, 700)},
	{pickup.Machine, recorded("We are sorry that nobody can take your call right now. Your call is important to us. Please leave your name and your number.", 780, 350)},
	{pickup.Machine, recorded("Hi, we are out hiking this week, so try again on Monday. Bye.", 950, 400)},
	{pickup.Machine, recorded("Peter Young.", 1000, 300)},
	{pickup.Machine, []sound{says("Hi, this is Linda."), waits(1200 * time.Millisecond), says("I am not here, so please leave me a message."), beeps(1200, 200*time.Millisecond)}},
	{pickup.Machine, []sound{says("Hello?"), waits(1500 * time.Millisecond), says("Just kidding, I am not here. Leave a message after the beep."), waits(200 * time.Millisecond), beeps(1100, 450*time.Millisecond)}},
	{pickup.Machine, []sound{says("Thank you for calling the city library. For opening hours press one. To renew a loan press two.")}},
	{pickup.Machine, []sound{waits(1800 * time.Millisecond), says("The subscriber you have called can not be reached at the moment. Please try again later.")}},
	{pickup.Machine, []sound{tones(330*time.Millisecond, 950, 1400, 1800), waits(200 * time.Millisecond), says("The number you have dialed is not in service.")}},
	{pickup.Machine, []sound{tones(276*time.Millisecond, 914, 1371, 1777), waits(200 * time.Millisecond), says("We are sorry, your call did not go through.")}},

	{pickup.Fax, []sound{waits(200 * time.Millisecond), {hz: []float64{2100}, each: 3 * time.Second, phased: true}}},
	{pickup.Fax, []sound{waits(900 * time.Millisecond), beeps(2100, 2600*time.Millisecond)}},
	{pickup.Fax, []sound{beeps(1100, 500*time.Millisecond), waits(3 * time.Second), beeps(1100, 500*time.Millisecond), waits(3 * time.Second)}},

	{pickup.Screening, []sound{says("The person you are calling is using a screening service. Go ahead and say your name and why you are calling.")}},
	{pickup.Screening, []sound{says("Hi. If you record your name and reason for calling, I will see if this person is available.")}},
	{pickup.Screening, []sound{says("Please state your name, and the purpose of your call, after the tone."), beeps(1000, 300*time.Millisecond)}},
	{pickup.Screening, []sound{says("Hello. Before I try to connect you, can I ask what you are calling about, and your name and the reason for your call?")}},
}

// conditions are the ways an answer sounds.
var conditions = []struct {
	who   string
	speed float64
	level float64 // dB against full speech
	noise float64 // dB below the speech; 0 = none
	hum   bool    // noise of engines and other voices instead of hiss
	aLaw  bool
}{
	{"rms", 1, 0, 0, false, false}, {"slt", 1, -6, 0, false, true}, {"kal16", 1.1, 0, 25, false, true}, {"awb", 1, -12, 22, false, false},
	{"slt", 1.15, -3, 15, true, false}, {"rms", 0.9, -18, 0, false, true}, {"kal16", 1, -8, 18, true, true}, {"rms", 1.15, -3, 20, false, false},
}

const (
	lineRate = 8000
	leadIn   = 350 * time.Millisecond // a phone is at the ear
	tail     = 3 * time.Second
	longest  = 14 * time.Second
)

// renderAnswer is an answer as it arrives from the line.
func renderAnswer(t testing.TB, n int, sounds []sound, number int) []int16 {
	c := conditions[n]
	pcm := make([]int16, int(leadIn.Seconds()*lineRate))
	for _, s := range sounds {
		pcm = append(pcm, s.pcm(t, c.who, c.speed)...)
	}
	pcm = append(pcm, make([]int16, int(tail.Seconds()*lineRate))...)
	pcm = pcm[:min(len(pcm), int(longest.Seconds()*lineRate))]
	r := rand.New(rand.NewPCG(uint64(n), uint64(number)))
	gain, low := math.Pow(10, c.level/20), 0.0
	noise := 0.0
	if c.noise > 0 {
		noise = 3000 * gain * math.Pow(10, -c.noise/20)
	}
	for i, v := range pcm {
		x := r.NormFloat64()
		if c.hum {
			low += 0.2 * (x - low)
			x = 3 * low * (1 + 0.4*math.Sin(2*math.Pi*3*float64(i)/lineRate))
		}
		pcm[i] = audio.Clip(int32(float64(v)*gain + noise*x))
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

func (s sound) pcm(t testing.TB, who string, speed float64) []int16 {
	if s.say != "" {
		f, err := engines.Render(t.Context(), voice.Speech{Text: s.say, Voice: who, Speed: speed, Stability: 1, Similarity: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := audio.NewResampler(f.Rate, lineRate)
		return append(slices.Clone(r.Process(f.PCM)), r.Flush()...)
	}
	pcm := make([]int16, int(s.pause.Seconds()*lineRate))
	for _, hz := range s.hz {
		tone := make([]int16, int(s.each.Seconds()*lineRate))
		audio.GenSignal(tone, lineRate, 0, audio.Tone{Hz: hz, Level: 0.3})
		for i := range tone {
			if s.phased && i/(lineRate*45/100)%2 == 1 {
				tone[i] = -tone[i]
			}
		}
		pcm = append(pcm, tone...)
	}
	return pcm
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
func listenToAnswers(t testing.TB, answers []answer, ways, nth int) (calls []pickuptest.Call) {
	weights, err := assets.Read("silero_vad.onnx")
	if err != nil {
		t.Skip(err)
	}
	vad, err := silero.Load(weights)
	if err != nil {
		t.Fatal(err)
	}
	img, err := engines.image(t.Context(), voice.Listening{Rate: lineRate, Languages: []string{"en"}, Hints: append(slices.Clone(practice), pickup.Sentences("en")...)})
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
			calls = append(calls, pickuptest.Call{Name: name, Class: a.class, Moves: withGreeting(noticed(t, img, vad, renderAnswer(t, n, a.sounds, number)))})
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
				keepNoticed(t, c.file, listenToAnswers(t, c.answers, c.ways, *every))
				return
			}
			compareNoticed(t, c.file, listenToAnswers(t, c.answers, c.ways, 60))
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
