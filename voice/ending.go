package voice

import "time"

// ending is why a turn of the caller was taken to be over.
type ending string

const (
	endSilent   ending = ""           // they were silent for long enough
	endWordless ending = "no_words"   // sound went on, words did not
	endTooLong  ending = "too_long"   // it was as long as a turn may be
	endTold     ending = "recogniser" // the transcriber or the engine said so
)

// tellEnd says why the turn of text is over.
func (s *Session) tellEnd(text string, now time.Time) {
	c := &s.hearing
	why, needed, p := c.why, c.needed, c.finished
	c.why, c.needed, c.finished = endSilent, 0, nil
	if text == "" {
		return
	}
	if needed == 0 {
		needed = s.endSilence()
	}
	if why == endSilent {
		why = "silence"
		if s.endsTurns() {
			why = endTold
		}
	}
	s.emit(now, "turn.end", TurnEnd{string(why), max(0, c.decided.Sub(c.ended).Milliseconds()), needed.Milliseconds(), p})
}
