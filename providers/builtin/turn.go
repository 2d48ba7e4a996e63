package builtin

import "strings"

// Frames are 10 ms of speech; silence has none.
const (
	settleFrames  = 80   // after which the first turn is decoded again with the caller's own mean
	longestFrames = 3000 // a decoder's memory grows with the utterance
)

// turn is what the caller says until the end of the turn, and what is kept from one turn to the next.
type turn struct {
	decoder *decoder
	rate    int
	longest int32 // frames of speech without an end of turn; then the words so far are fixed

	begun   bool
	settled bool    // the cepstral mean has been adapted to this caller
	replay  []int16 // audio of the turn, while it may be decoded again
	fixed   string  // words before the present utterance
	told    string  // the last partial text
	since   int     // samples since words were looked at
}

// hear takes audio and returns the words so far when they have changed.
func (t *turn) hear(pcm []int16) (text string, news bool, err error) {
	if !t.begun {
		if err := t.decoder.must("begin"); err != nil {
			return "", false, err
		}
		t.begun = true
	}
	if err := t.decoder.hear(pcm); err != nil {
		return "", false, err
	}
	if !t.settled {
		t.replay = append(t.replay, pcm...)
	}
	if t.since += len(pcm); t.since < t.rate/10 { // words so far are looked at every 100 ms
		return "", false, nil
	}
	t.since = 0
	frames, err := t.decoder.call("frames")
	if err != nil {
		return "", false, err
	}
	switch {
	case frames == 0:
		t.replay = t.replay[max(0, len(t.replay)-t.rate/2):] // nothing was said yet
		return "", false, nil
	case !t.settled && frames >= settleFrames:
		err = t.settle()
	case frames >= t.longest:
		err = t.fix()
	}
	if err != nil {
		return "", false, err
	}
	text, err = t.text()
	news = text != t.told
	t.told = text
	return text, news, err
}

// finish ends the turn and returns its words.
func (t *turn) finish() (string, error) {
	if !t.begun {
		return "", nil
	}
	frames, err := t.decoder.call("frames")
	if err != nil {
		return "", err
	}
	if !t.settled && frames > 0 {
		if err := t.settle(); err != nil {
			return "", err
		}
	}
	text, err := t.end()
	t.begun, t.fixed, t.told, t.since = false, "", "", 0
	return text, err
}

// settle ends the utterance, which moves the cepstral mean to this caller and line, and decodes it again.
func (t *turn) settle() error {
	t.settled = true
	audio := t.replay
	t.replay = nil
	if err := t.decoder.must("end"); err != nil {
		return err
	}
	if err := t.decoder.must("begin"); err != nil {
		return err
	}
	return t.decoder.hear(audio)
}

// fix keeps the words so far and begins a new utterance.
func (t *turn) fix() (err error) {
	if t.fixed, err = t.end(); err != nil {
		return err
	}
	return t.decoder.must("begin")
}

// end ends the utterance. Where it ends within a word the decoder finds no way to the end of a sentence, and no words;
// then those it had before stand.
func (t *turn) end() (string, error) {
	before, err := t.text()
	if err != nil {
		return "", err
	}
	if err := t.decoder.must("end"); err != nil {
		return "", err
	}
	after, err := t.text()
	if after == t.fixed {
		return before, err
	}
	return after, err
}

func (t *turn) text() (string, error) {
	heard, err := t.decoder.heard()
	return strings.TrimSpace(t.fixed + " " + tidy(heard)), err
}

// tidy writes spelled letters without the dots of the language model.
func tidy(heard string) string {
	return strings.ReplaceAll(strings.ReplaceAll(heard, ".", ""), "e mail", "email")
}
