package socket

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"parley/providers/rest"
	"parley/voice"
)

// Message implements Handler. What cannot be read is left out.
func (t *transcriber) Message(data []byte) error {
	all, err := t.dialect.Read(data)
	if refusal, ok := errors.AsType[*rest.Refusal](err); ok {
		return refusal
	}
	if err != nil {
		slog.Warn("a recogniser's message cannot be read", "bytes", len(data), "error", err)
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range all {
		if len(h.Text) > mostText {
			slog.Warn("a recogniser's text is too long", "bytes", len(h.Text))
			continue
		}
		t.hear(h)
	}
	return nil
}

func (t *transcriber) hear(h Heard) {
	upTo := t.at + len(t.kept)
	if h.To > 0 {
		upTo = min(upTo, t.base+t.bytes(h.To))
	}
	now := t.said(h)
	if h.Sign == Partial || h.Sign == Likely || h.Sign == Resumed {
		if h.Sign != Partial && now.text == "" {
			now = t.unsure // some signs come without the text
		}
		news := now.text != t.unsure.text || h.Sign != Partial
		if t.upTo, t.unsure = upTo, now; news {
			t.tell(t.sure.and(now), false, t.believed(h.Sign))
		}
		return
	}
	t.sure, t.unsure, t.taken = t.sure.and(now), said{}, 0
	t.forget(upTo)
	switch {
	case h.Sign == Over && (t.awaiting || t.as.Turns && t.sure.text != ""):
		t.over = time.Now()
		t.final(t.believed(Over))
	case h.Sign == Answer && t.awaiting:
		t.final(voice.NoSign)
	case now.text != "":
		t.tell(t.sure, false, voice.NoSign)
	}
}

// believed is a sign for a conversation that wants them.
func (t *transcriber) believed(s Sign) voice.TurnSign {
	if !t.as.Turns {
		return voice.NoSign
	}
	return map[Sign]voice.TurnSign{Likely: voice.TurnLikely, Resumed: voice.TurnResumed, Over: voice.TurnOver}[s]
}

// said is what a message adds: without the words that a final transcript told already, and with the times of the whole.
func (t *transcriber) said(h Heard) said {
	out := said{strings.TrimSpace(h.Text), h.Words, h.Confidence, h.Language}
	if t.taken > 0 {
		words := strings.Fields(out.text)
		out.text = strings.Join(words[min(t.taken, len(words)):], " ")
		out.words = out.words[min(t.taken, len(out.words)):]
	}
	for i, w := range out.words {
		if w.To > 0 {
			out.words[i].From, out.words[i].To = w.From+t.dur(t.base), w.To+t.dur(t.base)
		}
	}
	return out
}

// Broken implements Handler: nothing is awaited of a connection that is not there.
func (t *transcriber) Broken() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
}

// Again implements Handler: the new connection hears what the old one did not understand for certain, or, where that is longer
// than what is kept, what came after it.
func (t *transcriber) Again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cut && t.unsure.text != "" {
		t.sure = t.sure.and(t.unsure)
		t.forget(t.upTo)
	}
	t.unsure, t.taken, t.piece, t.base = said{}, 0, nil, t.at
	if over := len(t.kept) - t.bytes(mostKept); over > 0 {
		t.kept, t.at, t.base, t.lost = t.kept[over:], t.at+over, t.base+over, t.lost+over
	}
	size := t.bytes(t.dialect.Piece)
	for rest := t.kept; len(rest) > 0; {
		n := min(size, len(rest))
		t.link.Sound(t.dialect.Pack(append([]byte(nil), rest[:n]...)))
		rest = rest[n:]
	}
	if t.awaiting {
		if t.dialect.EndTurn != nil {
			t.link.Text(t.dialect.EndTurn)
		}
		t.timer.Reset(t.dialect.Wait)
	}
}

// Ended implements Handler.
func (t *transcriber) Ended(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err = io.EOF; err != nil {
		t.err = explain(err)
	}
	t.wake()
}
