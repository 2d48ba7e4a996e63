package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"parley/agent"
	"parley/audio"
	"parley/providers/rest"
	"parley/safe"
	"parley/voice"
)

// Realtime opens conversations with the vendor's realtime models, in the form that its interface has since it is generally
// available, or with a server that speaks the same. address is that of the socket; transcription is the model that writes down
// what the caller says.
func (c *Client) Realtime(address, transcription string) voice.OpenRealtime {
	return func(ctx context.Context, how voice.RealtimeSetting) (voice.Realtime, error) {
		t, err := c.talk(ctx, address, transcription, how)
		if err != nil {
			return nil, lost(err)
		}
		return t, nil
	}
}

const (
	openTime    = 10 * time.Second
	pingEvery   = 15 * time.Second
	pongTime    = 10 * time.Second
	writeTime   = 10 * time.Second
	mostMessage = 16 << 20        // bytes that are read of one message
	mostUnsent  = 5 * time.Second // of the caller's audio
	mostWaiting = 1000            // messages other than audio
	mostEvents  = 256             // that nobody took yet; then the vendor waits
	leastSound  = 40 * time.Millisecond
	lawRate     = 8000 // Hz of µ-law, which telephones speak anyway
)

// talk is one conversation on a socket: a goroutine that writes, one that reads, and one that looks whether it is still there.
type talk struct {
	how    voice.RealtimeSetting
	socket *websocket.Conn
	ctx    context.Context
	stop   context.CancelCauseFunc
	work   safe.Group
	events chan voice.RealtimeEvent
	more   chan struct{} // has a token when there is something to send
	reader reader        // of the goroutine that reads
	fine   *audio.Resampler

	mu       sync.Mutex
	waiting  []any  // messages to be sent
	sound    []byte // of the caller, to be sent, in the vendor's format
	asks     []voice.Ask
	asked    *voice.Ask // sent, and nothing has begun for it
	owed     time.Time  // since when the vendor owes an answer of its own accord; zero = it does not
	active   map[string]bool
	received map[string]time.Duration // sound of each item
}

// talk opens the socket, waits for the vendor's first word, and says how the conversation is to be.
func (c *Client) talk(ctx context.Context, address, transcription string, how voice.RealtimeSetting) (*talk, error) {
	opening, stop := context.WithTimeout(ctx, openTime)
	defer stop()
	socket, err := c.Socket(opening, address+"?model="+url.QueryEscape(how.Model))
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(mostMessage)
	t := &talk{how: how, socket: socket, events: make(chan voice.RealtimeEvent, mostEvents), more: make(chan struct{}, 1),
		active: map[string]bool{}, received: map[string]time.Duration{}}
	t.reader.talk, t.reader.heard = t, map[string]string{}
	if err := t.reader.begin(opening); err != nil {
		_ = socket.CloseNow()
		return nil, err
	}
	t.ctx, t.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if how.Rate != lawRate {
		t.fine = audio.NewResampler(how.Rate, pcmRate)
	}
	t.send(settings(how, transcription))
	for _, m := range how.History {
		_ = t.Tell(m)
	}
	t.work.Go("realtime socket: read", func() { t.end(t.reader.run(t.ctx)) })
	t.work.Go("realtime socket: write", func() { t.end(t.write()) })
	t.work.Loop(t.ctx, "realtime socket: ping", t.ping)
	return t, nil
}

// end ends the conversation; the first reason stands.
func (t *talk) end(err error) {
	t.stop(err)
	_ = t.socket.CloseNow()
}

func (t *talk) Close() error {
	t.end(errOver)
	t.work.Wait()
	return nil
}

func (t *talk) Recv() (voice.RealtimeEvent, error) {
	select {
	case ev := <-t.events:
		return ev, nil
	case <-t.ctx.Done():
	}
	err := context.Cause(t.ctx)
	if err == errOver {
		return voice.RealtimeEvent{}, io.EOF
	}
	select {
	case ev := <-t.events: // came before the end
		return ev, nil
	default:
		return voice.RealtimeEvent{}, lost(err)
	}
}

// ping finds out that the far end is gone although nothing says so.
func (t *talk) ping(ctx context.Context) {
	again := time.NewTicker(pingEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
		limited, stop := context.WithTimeout(ctx, pongTime)
		err := t.socket.Ping(limited)
		stop()
		if err != nil {
			t.end(err)
			return
		}
	}
}

func (t *talk) EndsTurns() bool { return true }
func (t *talk) EndTurn() error  { return nil }

func (t *talk) Hear(pcm []int16) error {
	if t.ctx.Err() != nil {
		return errOver
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	perSecond := pcmRate * 2
	if t.fine == nil {
		perSecond = lawRate
		n := len(t.sound)
		t.sound = append(t.sound, make([]byte, len(pcm))...)
		audio.EncodeMuLaw(t.sound[n:], pcm)
	} else {
		for _, x := range t.fine.Process(pcm) {
			t.sound = binary.LittleEndian.AppendUint16(t.sound, uint16(x))
		}
	}
	if over := len(t.sound) - perSecond*int(mostUnsent/time.Second); over > 0 {
		t.sound = t.sound[over:]
	}
	if len(t.sound) >= perSecond*int(leastSound/time.Millisecond)/1000 {
		t.poke()
	}
	return nil
}

var errOver = errors.New("the conversation with the realtime engine is over")

func (t *talk) Tell(m agent.Message) error {
	for _, it := range itemsOf(m) {
		if err := t.send(create{Type: "conversation.item.create", Item: it}); err != nil {
			return err
		}
	}
	return nil
}

func (t *talk) Note(text string) error {
	return t.send(create{Type: "conversation.item.create", Item: entry("system", "input_text", text)})
}

func (t *talk) Result(call string, result json.RawMessage) error {
	return t.send(create{Type: "conversation.item.create", Item: item{Type: "function_call_output", CallID: call, Output: string(result)}})
}

func (t *talk) Respond(a voice.Ask) error {
	t.mu.Lock()
	t.asks = append(t.asks, a)
	t.mu.Unlock()
	return t.proceed()
}

// proceed sends the next wish when no answer is being made: two at once are refused.
func (t *talk) proceed() error {
	t.mu.Lock()
	if len(t.asks) == 0 || t.asked != nil || len(t.active) > 0 {
		t.mu.Unlock()
		return nil
	}
	a := t.asks[0]
	t.asks, t.asked = t.asks[1:], &a
	t.mu.Unlock()
	return t.send(respond(a, t.how.Instructions))
}

func (t *talk) Stop(answer string) error {
	t.mu.Lock()
	on := t.active[answer]
	t.mu.Unlock()
	if !on {
		return nil
	}
	return t.send(cancel{"response.cancel", answer})
}

// early is how much less than was played is kept of an item: what is counted in bytes is a little longer than what the vendor
// counts, and more than there is is refused.
const early = 100 * time.Millisecond

func (t *talk) Heard(id string, sound time.Duration, words string) error {
	t.mu.Lock()
	received, spoken := t.received[id]
	delete(t.received, id)
	t.mu.Unlock()
	switch {
	case spoken && sound > 0:
		end := max(0, min(sound, received)-early)
		return t.send(truncate{Type: "conversation.item.truncate", Item: id, End: end.Milliseconds()})
	case words != "" && !spoken:
		replaced := create{Type: "conversation.item.create", After: id, Item: entry("assistant", "output_text", words)}
		if err := t.send(replaced); err != nil {
			return err
		}
	}
	return t.send(forget{"conversation.item.delete", id})
}

// send has a message written. It never waits.
func (t *talk) send(m any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) >= mostWaiting {
		return fmt.Errorf("more than %d messages wait to be sent", mostWaiting)
	}
	t.waiting = append(t.waiting, m)
	t.poke()
	if t.ctx != nil && t.ctx.Err() != nil {
		return errOver
	}
	return nil
}

func (t *talk) poke() {
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// write sends what waits, in order, and the caller's audio with it.
func (t *talk) write() error {
	for {
		select {
		case <-t.more:
		case <-t.ctx.Done():
			return context.Cause(t.ctx)
		}
		t.mu.Lock()
		messages := t.waiting
		t.waiting = nil
		if len(t.sound) > 0 {
			messages = append(messages, moreSound{"input_audio_buffer.append", base64.StdEncoding.EncodeToString(t.sound)})
			t.sound = t.sound[:0]
		}
		t.mu.Unlock()
		for _, m := range messages {
			if err := t.put(m); err != nil {
				return err
			}
		}
	}
}

func (t *talk) put(m any) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	limited, stop := context.WithTimeout(t.ctx, writeTime)
	defer stop()
	return t.socket.Write(limited, websocket.MessageText, raw)
}

// finals are the vendor's words for what no other connection mends.
var finals = []string{"insufficient_quota", "invalid_api_key", "account_deactivated", "billing_hard_limit_reached", "model_not_found",
	"beta_api_shape_disabled"}

// lost says in words why a conversation could not be opened or has ended, and whether another one would end the same way.
func lost(err error) error {
	r, ok := errors.AsType[*rest.Refusal](err)
	said := rest.Explain("realtime engine", err)
	if ok && (r.Status == 401 || r.Status == 403 || r.Status == 404 || isFinal(r.Code)) {
		return errors.Join(said, voice.ErrRefused)
	}
	return said
}
