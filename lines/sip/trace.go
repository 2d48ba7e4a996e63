package sip

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/lines"
)

// What one leg keeps is bounded: a call with hours of session refreshes, or a far end that sends large messages, stays small.
const (
	traceLimit = 200       // messages
	traceBytes = 256 << 10 // of text
)

// trace collects the messages of one leg. The zero trace is ready.
type trace struct {
	mu   sync.Mutex
	list []lines.Message
	size int
}

// secrets: digest answers and what would allow to guess them, and SRTP keys.
var secrets = regexp.MustCompile(`(?im)((?:response|nonce|cnonce|opaque)\s*=\s*"?)[^",\s]+|(^a=crypto:\S+ \S+ inline:)[^\s|]+`)

func redact(text string) string {
	lower := strings.ToLower(text)
	for _, word := range []string{"nonce", "response", "opaque", "a=crypto:"} {
		if strings.Contains(lower, word) {
			return secrets.ReplaceAllString(text, "$1$2…")
		}
	}
	return text // most messages: the search takes longer than all else that a message costs
}

func (t *trace) add(m sip.Message, sent bool) {
	msg := lines.Message{At: time.Now(), Sent: sent, Text: redact(m.String())}
	switch m := m.(type) {
	case *sip.Request:
		msg.Title = string(m.Method)
	case *sip.Response:
		msg.Title = statusLine(m.StatusCode, m.Reason)
	}
	msg.Remote = m.Transport() + " " + m.Source()
	if sent {
		msg.Remote = m.Transport() + " " + m.Destination()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size += len(msg.Text); len(t.list) < traceLimit && t.size <= traceBytes {
		t.list = append(t.list, msg)
	}
}

func (t *trace) messages() []lines.Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]lines.Message(nil), t.list...)
}
