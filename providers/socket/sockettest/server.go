// Package sockettest pretends to be a vendor's recogniser at the other end of a WebSocket, and breaks in the ways vendors do.
package sockettest

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"

	"parley/audio"
	"parley/providers/providertest"
)

// Conn is a client's connection to a pretended vendor.
type Conn struct {
	Request *http.Request
	Pieces  int // messages of sound that came

	conn *websocket.Conn
	ctx  context.Context
	ear  []int16
}

// Serve begins a vendor that talks to each client with talk, until the test ends.
func Serve(t *testing.T, talk func(c *Conn)) (base string) {
	ctx, stop := context.WithCancel(context.Background())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve(ctx, t, w, r, talk)
	}))
	t.Cleanup(func() { stop(); s.CloseClientConnections(); s.Close() })
	return s.URL
}

func serve(ctx context.Context, t *testing.T, w http.ResponseWriter, r *http.Request, talk func(c *Conn)) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(1 << 20)
	talk(&Conn{Request: r, conn: conn, ctx: ctx})
	_ = conn.Close(websocket.StatusNormalClosure, "")
}

// Recv reads the next message; not ok when the client has gone.
func (c *Conn) Recv() (data []byte, text, ok bool) {
	kind, data, err := c.conn.Read(c.ctx)
	return data, kind == websocket.MessageText, err == nil
}

// Send sends a text message.
func (c *Conn) Send(message string) { _ = c.conn.Write(c.ctx, websocket.MessageText, []byte(message)) }

// Refuse closes with a code and a reason.
func (c *Conn) Refuse(code int, reason string) { _ = c.conn.Close(websocket.StatusCode(code), reason) }

// Hear takes sound: of one byte a sample G.711 µ-law, else 16 bits.
func (c *Conn) Hear(sound []byte, mulaw bool) {
	c.Pieces++
	pcm := make([]int16, len(sound)/2)
	if mulaw {
		pcm = make([]int16, len(sound))
		audio.DecodeMuLaw(pcm, sound)
	}
	for i := range pcm {
		if !mulaw {
			pcm[i] = int16(sound[2*i]) | int16(sound[2*i+1])<<8
		}
	}
	c.ear = append(c.ear, pcm...)
}

// Heard is how many samples were heard since the last turn.
func (c *Conn) Heard() int { return len(c.ear) }

// Quiet reports that this many of the last samples are silent, after some that are not.
func (c *Conn) Quiet(samples int) bool {
	n := max(0, len(c.ear)-samples)
	return Words(c.ear[:n]) != "" && peak(c.ear[n:]) < 100 && len(c.ear) > samples
}

// Turn is what was said since the last turn.
func (c *Conn) Turn() string {
	said := Words(c.ear)
	c.ear = nil
	return said
}

// Said is Turn, of a turn that goes on.
func (c *Conn) Said() string { return Words(c.ear) }

// Utterances are tones at a rate that this vendor takes for words.
func Utterances(rate int) (first, second providertest.Utterance) {
	return providertest.Utterance{PCM: tone(rate, 1, 8000), Words: "one second"},
		providertest.Utterance{PCM: tone(rate, 2, 16000), Words: "two of them"}
}

// Words are what is understood of sound, by its loudness and length: of an utterance that is not whole, half.
func Words(pcm []int16) string {
	loud := 0
	for _, s := range pcm {
		if s > 1000 || s < -1000 {
			loud++
		}
	}
	switch top := peak(pcm); {
	case loud == 0:
		return ""
	case top > 12000 && loud > 10000:
		return "two of them"
	case top > 12000:
		return "two"
	case loud > 5000:
		return "one second"
	}
	return "one"
}

func peak(pcm []int16) (top int) {
	for _, s := range pcm {
		top = max(top, int(math.Abs(float64(s))))
	}
	return top
}

func tone(rate int, seconds, level float64) []int16 {
	pcm := make([]int16, int(float64(rate)*seconds))
	for i := range pcm {
		pcm[i] = int16(level * math.Sin(2*math.Pi*400*float64(i)/float64(rate)))
	}
	return pcm
}
