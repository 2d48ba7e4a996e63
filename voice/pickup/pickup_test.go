package pickup_test

import (
	"strings"
	"testing"
	"time"

	"parley/voice/pickup"
)

// Words decide in every language there are phrases for, and not when a person says nearly the same (contract 4.2).
func TestWordsDecide(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           pickup.Class
	}{
		{"en", "you've reached Bob please leave a message after the tone", pickup.Machine},
		{"en", "I can not come to the phone right now", pickup.Machine},
		{"en", "he is not available would you like to leave a message", pickup.Human},
		{"en", "please state your name and why you are calling", pickup.Screening},
		{"en", "please leave your name and the reason for your call after the tone", pickup.Machine},
		{"en", "good morning Baker and Sons how can I help you", pickup.Human},
		{"en", "thanks for calling Baker and Sons this is Emily", pickup.Human},
		{"en", "hi I got your voicemail and wanted to return your call", pickup.Human},
		{"en", "sorry we are closed can you try again later", pickup.Human},
		{"en", "say your name after the tone", pickup.Screening},
		{"en", "I am the virtual assistant tell me why you are calling", pickup.Screening},
		{"en", "tell me your name and your number after the tone and leave a message", pickup.Machine},
		{"de", "Sie sind verbunden mit der Mailbox von Anna Schmidt", pickup.Machine},
		{"de", "Schmidt am Apparat", pickup.Human},
		{"fr", "Laissez un message après le bip", pickup.Machine},
		{"es", "Deje su mensaje después de la señal", pickup.Machine},
		{"it", "Lasciate un messaggio dopo il segnale acustico", pickup.Machine},
		{"pt", "Deixe o seu recado após o sinal", pickup.Machine},
		{"ro", "Lăsați un mesaj după semnalul sonor", pickup.Machine},
		{"da", "Læg en besked efter tonen", pickup.Machine},
		{"lt", "Palikite žinutę po signalo", pickup.Machine},
		{"ar", "اترك رسالة بعد الصافرة", pickup.Machine},
		{"de", "Bitte nennen Sie Ihren Namen und den Grund Ihres Anrufs", pickup.Screening},
	} {
		d := pickup.New(c.language)
		d.Speech(400*time.Millisecond, true)
		d.Words(c.text, false)
		d.Speech(2400*time.Millisecond, false)
		got, again := d.Look(2500 * time.Millisecond)
		for again != pickup.Never {
			got, again = d.Look(again)
		}
		if got != c.want {
			t.Errorf("%s %q: %s, want %s", c.language, c.text, got, c.want)
		}
	}
}

// What can be decided without words: speech that goes on and on is a machine, unless it answers our own greeting or few
// words are in it, and nobody is kept waiting past the limit of the contract (5.2: 4 s of greeting).
func TestWithoutWords(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		play func(d *pickup.Detector)
		want pickup.Class
	}{
		"nothing":          {func(*pickup.Detector) {}, pickup.Unknown},
		"short":            {func(d *pickup.Detector) { d.Speech(s, true); d.Speech(2*s, false) }, pickup.Human},
		"long":             {func(d *pickup.Detector) { d.Speech(s, true) }, pickup.Machine},
		"long, then quiet": {func(d *pickup.Detector) { d.Speech(s, true); d.Look(6 * s); d.Speech(7*s, false) }, pickup.Human},
		"in two sentences": {func(d *pickup.Detector) {
			d.Speech(s, true)
			d.Speech(3*s, false)
			d.Look(4 * s)
			d.Speech(5*s, true)
		}, pickup.Human},
		"words not known": {func(d *pickup.Detector) {
			d.Speech(s, true)
			d.Words("them in the go hat sees on what they", false)
		}, pickup.Machine},
		"answers us":       {func(d *pickup.Detector) { d.Greeted(s); d.Speech(2*s, true) }, pickup.Human},
		"hello in a noise": {func(d *pickup.Detector) { d.Speech(s, true); d.Words("hello", false) }, pickup.Human},
		"a key":            {func(d *pickup.Detector) { d.Key() }, pickup.Human},
		"beep after speech": {func(d *pickup.Detector) {
			d.Speech(s, true)
			d.Speech(2*s, false)
			d.Tone(3*s, pickup.Tone{Hz: 1000, Length: s / 2, Over: true})
		}, pickup.Machine},
		"beep in a conversation": {func(d *pickup.Detector) {
			d.Speech(s, true)
			d.Speech(2*s, false)
			d.Look(3 * s)
			d.Tone(40*s, pickup.Tone{Hz: 1000, Length: s / 2, Over: true})
		}, pickup.Human},
		"asked in a conversation": {func(d *pickup.Detector) {
			d.Speech(s, true)
			d.Speech(2*s, false)
			d.Look(3 * s)
			d.Speech(39*s, true)
			d.Words("please state your name", true)
			d.Speech(40*s, false)
			d.Look(41 * s)
		}, pickup.Human},
		"ringing after speech": {func(d *pickup.Detector) {
			d.Speech(s, true)
			d.Speech(2*s, false)
			d.Tone(3*s, pickup.Tone{Hz: 425, Length: s, Over: true})
		}, pickup.Human},
		"fax":       {func(d *pickup.Detector) { d.Tone(s, pickup.Tone{Hz: 2100, Length: s * 7 / 10}) }, pickup.Fax},
		"once 1100": {func(d *pickup.Detector) { d.Tone(s, pickup.Tone{Hz: 1100, Length: s / 2, Over: true}) }, pickup.Unknown},
	} {
		d := pickup.New()
		c.play(d)
		at := 3 * s
		if strings.HasSuffix(name, "in a conversation") {
			at = 50 * s
		}
		got, again := d.Look(at)
		for again != pickup.Never {
			if again > 9*s {
				t.Fatalf("%s: waits until %v", name, again)
			}
			got, again = d.Look(again)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// People at a reception ask for name and purpose as services that screen calls do. Who asks after a first word, after our
// greeting, or with a word of welcome stays a person; who says that it is such a service is one whenever it says so.
func TestReceptionists(t *testing.T) {
	const s = time.Second
	const asks = "please tell me your name and the reason for your call"
	for name, c := range map[string]struct {
		play func(d *pickup.Detector)
		want pickup.Class
	}{
		"at once": {func(d *pickup.Detector) {
			d.Speech(s/2, true)
			d.Words(asks+" before I connect you", true)
			d.Speech(5*s, false)
		}, pickup.Screening},
		"one question at once": {func(d *pickup.Detector) {
			d.Speech(s/2, true)
			d.Words("Baker and Sons what is the reason for your call", true)
			d.Speech(4*s, false)
		}, pickup.Human},
		"with a welcome": {func(d *pickup.Detector) {
			d.Speech(s/2, true)
			d.Words("good morning "+asks+" before I connect you", true)
			d.Speech(6*s, false)
		}, pickup.Human},
		"after a hello": {func(d *pickup.Detector) {
			d.Speech(s/2, true)
			d.Words("Baker and Sons", true)
			d.Speech(s, false)
			d.Look(3 * s)
			d.Speech(8*s, true)
			d.Words("and may I know the purpose of your call before I connect you, why are you calling", true)
			d.Speech(11*s, false)
			d.Look(11 * s)
			d.Speech(14*s, true)
			d.Words(asks+" before I put you through", true)
			d.Speech(18*s, false)
		}, pickup.Human},
		"after our greeting": {func(d *pickup.Detector) {
			d.Greeted(2 * s)
			d.Speech(3*s, true)
			d.Words(asks+" before I connect you", true)
			d.Speech(7*s, false)
		}, pickup.Human},
		"a service after a hello": {func(d *pickup.Detector) {
			d.Speech(s/2, true)
			d.Words("hi", true)
			d.Speech(s, false)
			d.Look(3 * s)
			d.Speech(4*s, true)
			d.Words("the person you are calling is using a screening service "+asks, true)
			d.Speech(11*s, false)
		}, pickup.Screening},
	} {
		d := pickup.New()
		c.play(d)
		got, again := d.Look(20 * s)
		for again != pickup.Never {
			got, again = d.Look(again)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Once a service that asks who is calling was told, whoever comes next is told from others anew.
func TestPutThrough(t *testing.T) {
	d := pickup.New()
	d.Speech(0, true)
	d.Words("please state your name and the reason for your call", true)
	d.Speech(2*time.Second, false)
	if got, _ := d.Look(2 * time.Second); got != pickup.Screening {
		t.Fatal(got)
	}
	d.Restart()
	d.Speech(6*time.Second, true)
	d.Words("hello", false)
	d.Speech(7*time.Second, false)
	if got, _ := d.Look(8 * time.Second); got != pickup.Human {
		t.Error(got)
	}
	d.Restart()
	d.Speech(10*time.Second, true)
	d.Words("I am trying to reach them now this can take a little while so do not go away", false)
	if got, again := d.Look(19 * time.Second); got != pickup.Human || again != pickup.Never {
		t.Errorf("%s, who waits to be put through is hung up", got)
	}
	for text, want := range map[string]bool{"thank you please hold": true, "one moment": true, "hello who is this": false, "": false} {
		if pickup.OnHold(text) != want {
			t.Errorf("%q asks to wait: %t", text, !want)
		}
	}
}
