//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/audio"
	"parley/providers/builtin"
	"parley/voice"
)

// kind is what is hard about an utterance.
type kind int

const (
	whole     kind = iota // nothing
	pauses                // silence inside a sentence or between two
	dictation             // digits, letters, addresses in groups
)

// utterance is one turn of a caller. Its text has pauses in it, in milliseconds: "I would like {600} a table".
type utterance struct {
	kind   kind
	script string
	words  []word
	pcm    []int16
}

// word is a word and when it is spoken, from the beginning of the utterance.
type word struct {
	text string
	end  time.Duration
}

func (u utterance) length() time.Duration {
	return time.Duration(len(u.pcm)) * time.Second / rate
}

var turnsSaid = []utterance{
	{kind: whole, script: "when do you open on Monday"},
	{kind: pauses, script: "I would like to book {600} a table for two people"},
	{kind: dictation, script: "my number is {500} four one five {600} five five five {600} two six seven one"},
	{kind: whole, script: "how much is a bicycle for a whole day"},
	{kind: pauses, script: "well {500} I am not sure {400} what I need"},
	{kind: dictation, script: "it is three {400} seven {400} nine {400} one {400} four {400} six"},
	{kind: whole, script: "yes please"},
	{kind: pauses, script: "could you tell me the {700} the price of a repair"},
	{kind: dictation, script: "my name is spelled M {350} I {350} L {350} L {350} E {350} R"},
	{kind: whole, script: "no thank you that is all"},
	{kind: pauses, script: "I called yesterday {450} and nobody answered"},
	{kind: dictation, script: "the order number is {700} eight eight two {500} zero four {500} one"},
	{kind: whole, script: "I want to talk to a person"},
	{kind: pauses, script: "my bike has a flat tyre {550} so can I bring it in today"},
	{kind: dictation, script: "you can write to anna {400} at example {400} dot com"},
	{kind: whole, script: "can I cancel my appointment for tomorrow morning"},
	{kind: pauses, script: "we are four people {350} two of them are children"},
	{kind: dictation, script: "the twenty first {500} of {450} October {400} at half past three"},
	{kind: whole, script: "is there a place to park the car nearby"},
	{kind: pauses, script: "it depends on {900} on the weather I guess"},
	{kind: dictation, script: "one two three {800} four five six {800} seven eight nine zero"},
	{kind: whole, script: "thanks a lot and goodbye"},
	{kind: pauses, script: "um {600} let me think {700} Thursday would be better"},
	{kind: dictation, script: "zero zero four nine {500} thirty {500} one two three {500} four five six seven"},
	{kind: whole, script: "what do I need to bring with me"},
	{kind: pauses, script: "I have a question. {650} Do you also sell helmets"},
	{kind: dictation, script: "my code is A {400} seven {400} B {400} nine"},
	{kind: whole, script: "please send me the bill by mail"},
	{kind: pauses, script: "the thing is that {800} I lost my receipt"},
	{kind: dictation, script: "the card ends with {600} nine nine {400} one two"},
}

var backChannels = []utterance{
	{script: "okay"}, {script: "right"}, {script: "uh huh"}, {script: "yeah"}, {script: "mm hm"}, {script: "I see"},
	{script: "sure"}, {script: "got it"}, {script: "yes"}, {script: "oh okay"}, {script: "all right"}, {script: "aha"},
}

var objections = []utterance{
	{script: "wait a moment please I have a question"},
	{script: "no that is not what I asked for"},
	{script: "stop please I know that already"},
	{script: "excuse me can you say that again"},
	{script: "sorry but I need to go now"},
	{script: "hold on that is too expensive for me"},
	{script: "I only want to know the price"},
	{script: "let me talk to a person"},
	{script: "but you told me something else yesterday"},
	{script: "can we do that on Friday instead"},
	{script: "one second I will get a pen"},
	{script: "never mind I will call again"},
}

// spoken is the utterance in one of our voices, which i chooses.
func (u utterance) spoken(t *testing.T, e *builtin.Engines, i int) utterance {
	return u.in(t, e, []string{"kal16", "rms", "awb", "slt"}[i%4])
}

// in is the utterance with its sound in a voice, cut to sound and put together with silence.
func (u utterance) in(t *testing.T, e *builtin.Engines, name string) utterance {
	t.Helper()
	for _, part := range strings.Split(u.script, "{") {
		pause, text, ok := strings.Cut(part, "}")
		if !ok {
			pause, text = "0", part
		}
		silent, err := strconv.Atoi(pause)
		if err != nil {
			t.Fatal(err)
		}
		u.pcm = append(u.pcm, make([]int16, rate*silent/1000)...)
		f, err := e.Render(t.Context(), voice.Speech{Text: strings.TrimSpace(text), Voice: name, Language: "en",
			Speed: 1, Stability: 1, Similarity: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := audio.NewResampler(f.Rate, rate)
		sound := trimmed(append(append([]int16(nil), r.Process(f.PCM)...), r.Flush()...))
		from := u.length()
		u.pcm = append(u.pcm, sound...)
		u.words = append(u.words, timed(text, from, u.length())...)
	}
	return u
}

// timed spreads the words of a piece over its time, by their letters.
func timed(text string, from, to time.Duration) (out []word) {
	fields := strings.Fields(text)
	total := len(strings.Join(fields, ""))
	said := 0
	for _, f := range fields {
		said += len(f)
		out = append(out, word{f, from + (to-from)*time.Duration(said)/time.Duration(total)})
	}
	return out
}

// trimmed cuts what is not sound off both ends.
func trimmed(pcm []int16) []int16 {
	const step = rate / 100
	for len(pcm) > step && audio.Level(pcm[:step]) < -45 {
		pcm = pcm[step:]
	}
	for len(pcm) > step && audio.Level(pcm[len(pcm)-step:]) < -45 {
		pcm = pcm[:len(pcm)-step]
	}
	return pcm
}

// noises are sounds without words: coughs, slams, keys on a keyboard, a ringing phone, music, traffic passing by.
func noises() []utterance {
	random := rand.New(rand.NewPCG(1, 2))
	burst := func(length, decay time.Duration, loud, low float64) []int16 {
		pcm, y := make([]int16, samples(length)), 0.0
		for i := range pcm {
			at := time.Duration(i) * time.Second / rate
			y += low * (random.NormFloat64() - y)
			pcm[i] = audio.Clip(int32(loud * y * math.Exp(-float64(at)/float64(decay))))
		}
		return pcm
	}
	quiet := func(d time.Duration) []int16 { return make([]int16, samples(d)) }
	tones := func(length time.Duration, hz ...float64) []int16 {
		pcm := make([]int16, samples(length))
		var list []audio.Tone
		for _, f := range hz {
			list = append(list, audio.Tone{Hz: f, Level: 0.3 / float64(len(hz))})
		}
		audio.GenSignal(pcm, rate, 0, list...)
		return pcm
	}
	join := func(parts ...[]int16) (u utterance) {
		for _, p := range parts {
			u.pcm = append(u.pcm, p...)
		}
		return u
	}
	const ms = time.Millisecond
	cough := func() []int16 { return burst(280*ms, 90*ms, 16000, 0.35) }
	key := func() []int16 { return append(burst(25*ms, 6*ms, 9000, 0.9), quiet(110*ms)...) }
	ring := func() []int16 { return append(tones(900*ms, 440, 480), quiet(400*ms)...) }
	return []utterance{
		join(cough()),
		join(cough(), quiet(180*ms), cough()),
		join(cough(), quiet(120*ms), cough(), quiet(120*ms), cough(), quiet(120*ms), cough()),
		join(burst(500*ms, 80*ms, 30000, 0.1)),
		join(key(), key(), key(), key(), key(), key(), key(), key()),
		join(ring(), ring()),
		join(tones(3000*ms, 262, 330, 392)),
		join(burst(2500*ms, 5*time.Second, 6000, 0.2)),
		join(burst(1200*ms, 400*ms, 12000, 0.6)),
		join(burst(3000*ms, 9*time.Second, 2500, 0.9)),
		join(tones(250*ms, 1200), quiet(150*ms), tones(250*ms, 1200)),
		join(burst(200*ms, 60*ms, 20000, 0.5), quiet(600*ms), burst(200*ms, 60*ms, 20000, 0.5)),
	}
}

// street is a road outside: low-passed noise that swells and fades, about as loud as speech.
func street(n int) []int16 {
	random := rand.New(rand.NewPCG(3, 4))
	pcm, y := make([]int16, n), 0.0
	for i := range pcm {
		y += 0.15 * (random.NormFloat64() - y)
		swell := 0.75 + 0.25*math.Sin(2*math.Pi*float64(i)/float64(4*rate))
		pcm[i] = audio.Clip(int32(9000 * swell * y))
	}
	return pcm
}
