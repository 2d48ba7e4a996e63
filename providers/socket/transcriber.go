package socket

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"parley/audio"
	"parley/providers/rest"
	"parley/safe"
	"parley/voice"
)

// Dialect is how one vendor's recogniser is spoken to.
type Dialect struct {
	Client *rest.Client
	Path   string // with the query

	Piece   time.Duration                                             // of sound per message
	Pack    func(sound []byte) (kind websocket.MessageType, m []byte) // nil = binary messages
	EndTurn []byte                                                    // asks for the rest of a turn's text; nil = the vendor ends turns itself
	Wait    time.Duration                                             // that the text may take after EndTurn; then what there is counts
	Idle    []byte                                                    // keeps a connection without sound; nil = silence does
	Bye     []byte

	// Read says what a message means. One that means nothing is no error; a refusal is the vendor's.
	Read func(m []byte) ([]Heard, error)
}

// Sign is what a message of a recogniser means.
type Sign int

// The signs.
const (
	Partial Sign = iota // so far, of what is not yet certain
	Certain             // of the same, for good
	Answer              // Certain, and all that EndTurn asked for
	Likely              // Partial, and the turn is probably over
	Resumed             // Partial, and it goes on
	Over                // all of the vendor's turn, which is over
)

// Heard is what a message says of the sound since the last certain text.
type Heard struct {
	Sign       Sign
	Text       string
	Words      []voice.Word // from the connection's first sample
	Confidence float64
	Language   string
	To         time.Duration // of the connection's sound that was listened to; 0 = not told
}

const (
	mostKept  = 5 * time.Second // of sound that may be sent a second time
	idleAfter = 4 * time.Second // without sound, after which the connection is kept by something else
	overtaken = 100 * time.Millisecond
	mostText  = 1 << 20 // bytes of one text
	mostReady = 1024    // transcripts that wait for Recv
)

var errClosed = errors.New("the transcriber is closed")

// Transcribe opens a transcriber.
func Transcribe(ctx context.Context, d Dialect, l voice.Transcription) (voice.Transcriber, error) {
	if d.Pack == nil {
		d.Pack = func(sound []byte) (websocket.MessageType, []byte) { return websocket.MessageBinary, sound }
	}
	t := &transcriber{dialect: d, as: l, ready: make(chan struct{}, 1), width: width(l.Rate)}
	t.link = New(ctx, t, func(ctx context.Context) (*websocket.Conn, error) { return d.Client.Dial(ctx, d.Path) })
	if err := t.link.Start(); err != nil {
		return nil, explain(err)
	}
	safe.Go("recogniser keep-alive", t.keepAlive)
	return t, nil
}

func explain(err error) error { return rest.Explain("transcription service", err) }

// MuLaw reports that sound of a rate is sent as G.711 µ-law; other rates go as 16 bits with the lower byte first.
func MuLaw(rate int) bool { return rate == 8000 }

func width(rate int) int {
	if MuLaw(rate) {
		return 1
	}
	return 2
}

// transcriber is a recogniser at the other end of a link.
type transcriber struct {
	dialect Dialect
	as      voice.Transcription
	link    *Link
	ready   chan struct{}
	width   int // bytes per sample

	mu       sync.Mutex
	out      []voice.Transcript
	closed   bool
	err      error // why it ended; io.EOF after Close
	written  time.Time
	piece    []byte // of the next message
	kept     []byte // sound that may have to be sent again; its last byte was the last one written
	at       int    // bytes of sound before kept
	base     int    // bytes of sound before the connection's first
	cut      bool   // kept does not reach back to the last certain text
	sure     said   // certain since the last final transcript
	unsure   said
	upTo     int // bytes of sound that unsure speaks of
	taken    int // words of the vendor's turn that a final transcript told already
	awaiting bool
	timer    *time.Timer
	over     time.Time // when a turn of the vendor's was told as over
	lost     int       // bytes of sound
}

// said is some text.
type said struct {
	text       string
	words      []voice.Word
	confidence float64
	language   string
}

func (a said) and(b said) said {
	text := strings.TrimSpace(a.text + " " + b.text)
	sure := a.confidence
	if b.text != "" {
		sure = b.confidence
	}
	return said{text, slices.Concat(a.words, b.words), sure, cmp.Or(b.language, a.language)}
}

// Write implements voice.Transcriber.
func (t *transcriber) Write(pcm []int16) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	t.written = time.Now()
	n := len(t.piece)
	if t.width == 1 {
		t.piece = slices.Grow(t.piece, len(pcm))[:n+len(pcm)]
		audio.EncodeMuLaw(t.piece[n:], pcm)
	} else {
		for _, s := range pcm {
			t.piece = append(t.piece, byte(s), byte(s>>8))
		}
	}
	t.kept = append(t.kept, t.piece[n:]...)
	if over := len(t.kept) - t.bytes(mostKept); over > t.bytes(time.Second) { // moved once a second
		t.kept, t.at, t.cut = slices.Clone(t.kept[over:]), t.at+over, true
	}
	for size := t.bytes(t.dialect.Piece); len(t.piece) >= size; {
		t.link.Sound(t.dialect.Pack(slices.Clone(t.piece[:size])))
		t.piece = t.piece[size:]
	}
	return nil
}

func (t *transcriber) bytes(d time.Duration) int {
	return int(int64(d)*int64(t.as.Rate)/int64(time.Second)) * t.width
}

func (t *transcriber) dur(bytes int) time.Duration {
	return time.Duration(bytes/t.width) * time.Second / time.Duration(t.as.Rate)
}

// EndTurn implements voice.Transcriber.
func (t *transcriber) EndTurn() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.dialect.EndTurn == nil
	switch {
	case t.closed:
		return errClosed
	case t.awaiting:
		t.final(voice.NoSign) // two at a time: each has its answer
	case own && t.as.Turns && time.Since(t.over) < overtaken && t.unsure.text == "":
		return nil // the vendor's own end was told while this was on its way
	case own && t.sure.text != "" && t.unsure.text == "":
		t.final(voice.NoSign)
		return nil
	}
	t.flush()
	if !own {
		t.link.Text(t.dialect.EndTurn)
	}
	t.await()
	return nil
}

func (t *transcriber) flush() {
	if len(t.piece) > 0 {
		t.link.Sound(t.dialect.Pack(t.piece))
		t.piece = nil
	}
}

// await has what is there count when nothing more comes in time.
func (t *transcriber) await() {
	t.awaiting = true
	t.timer = time.AfterFunc(t.dialect.Wait, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.awaiting && !t.closed {
			t.final(voice.NoSign)
		}
	})
}

// final tells all that was understood, and begins anew.
func (t *transcriber) final(sign voice.TurnSign) {
	if t.awaiting = false; t.timer != nil {
		t.timer.Stop()
	}
	if t.unsure.text != "" {
		t.taken += len(strings.Fields(t.unsure.text))
		t.forget(t.upTo)
	}
	t.tell(t.sure.and(t.unsure), true, sign)
	t.sure, t.unsure = said{}, said{}
}

func (t *transcriber) tell(s said, final bool, sign voice.TurnSign) {
	if len(t.out) == mostReady {
		t.out = slices.DeleteFunc(t.out, func(o voice.Transcript) bool { return !o.Final })
	}
	t.out = append(t.out, voice.Transcript{Text: s.text, Final: final, Turn: sign, Words: s.words, Confidence: s.confidence,
		Language: s.language, Lost: t.dur(t.lost)})
	t.lost = 0
	t.wake()
}

func (t *transcriber) wake() {
	select {
	case t.ready <- struct{}{}:
	default:
	}
}

// forget lets go of sound that need not be sent again.
func (t *transcriber) forget(upTo int) {
	if n := min(upTo-t.at, len(t.kept)); n > 0 {
		t.kept, t.at = t.kept[n:], t.at+n
	}
	if upTo >= t.at {
		t.cut = false
	}
}

// Recv implements voice.Transcriber.
func (t *transcriber) Recv() (voice.Transcript, error) {
	for {
		if out, err, ok := t.take(); ok {
			return out, err
		}
		<-t.ready
	}
}

func (t *transcriber) take() (out voice.Transcript, err error, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		t.wake()
		return out, io.EOF, true
	case len(t.out) > 0:
		out, t.out = t.out[0], t.out[1:]
		return out, nil, true
	case t.err != nil:
		t.wake()
		return out, t.err, true
	}
	return out, nil, false
}

// Close implements voice.Transcriber.
func (t *transcriber) Close() error {
	t.mu.Lock()
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
	}
	t.mu.Unlock()
	t.link.Close(t.dialect.Bye)
	t.wake()
	return nil
}

// keepAlive sends something while nobody writes sound, until the link ends.
func (t *transcriber) keepAlive() {
	tick := time.NewTicker(idleAfter / 4)
	defer tick.Stop()
	for {
		select {
		case <-t.link.ctx.Done():
			return
		case <-tick.C:
		}
		t.mu.Lock()
		quiet := time.Since(t.written) >= idleAfter
		if quiet {
			t.written = time.Now()
		}
		t.mu.Unlock()
		switch {
		case quiet && t.dialect.Idle == nil:
			_ = t.Write(make([]int16, t.as.Rate/10))
		case quiet:
			t.link.Text(t.dialect.Idle)
		}
	}
}
