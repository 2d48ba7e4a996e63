package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coder/websocket"

	"parley/agent"
	"parley/audio"
	"parley/fault"
	"parley/providers/rest"
	"parley/voice"
)

// event is everything of the vendor's events that is looked at.
type event struct {
	Type       string
	ResponseID string `json:"response_id"`
	ItemID     string `json:"item_id"`
	Delta      string
	Transcript string
	Item       item
	Response   answer
	Usage      *tokens
	Error      *trouble
}

type answer struct {
	ID       string
	Status   string
	Details  struct{ Error *trouble } `json:"status_details"`
	Output   []item
	Usage    *tokens
	Metadata map[string]string
}

type trouble struct {
	Type, Code, Message string
	EventID             string `json:"event_id"`
}

// tokens is a usage. Those of a transcription may be seconds instead.
type tokens struct {
	Type    string
	Seconds float64
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	In      struct {
		Text   int64 `json:"text_tokens"`
		Audio  int64 `json:"audio_tokens"`
		Cached int64 `json:"cached_tokens"`
		Of     struct {
			Text  int64 `json:"text_tokens"`
			Audio int64 `json:"audio_tokens"`
		} `json:"cached_tokens_details"`
	} `json:"input_token_details"`
	Out struct {
		Text  int64 `json:"text_tokens"`
		Audio int64 `json:"audio_tokens"`
	} `json:"output_token_details"`
}

// mostWords is how many bytes one text of an event may have.
const mostWords = 1 << 20

// reader turns the vendor's events into those of the role. It belongs to the goroutine that reads.
type reader struct {
	*talk
	heard   map[string]string // what the caller says, by item, so far
	stopped bool              // the end of the caller's turn was told
	calls   map[string]bool   // of the answer in the making, that were told
	strange int               // events that nobody knows
}

// begin waits for the vendor's first word: nothing may be sent before it.
func (r *reader) begin(ctx context.Context) error {
	for {
		ev, err := r.next(ctx)
		switch {
		case err != nil:
			return err
		case ev.Type == "session.created":
			return nil
		case ev.Type == "error":
			return ev.Error.refusal()
		}
	}
}

// next reads one event; what is none is passed over.
func (r *reader) next(ctx context.Context) (ev event, err error) {
	for {
		kind, raw, err := r.socket.Read(ctx)
		if err != nil {
			return ev, r.closed(err)
		}
		ev = event{}
		if kind == websocket.MessageText && json.Unmarshal(raw, &ev) == nil && ev.Type != "" {
			return ev, nil
		}
		r.strange++
	}
}

// closed finds the vendor's reason in the end of a socket.
func (r *reader) closed(err error) error {
	if end, ok := errors.AsType[websocket.CloseError](err); ok && isFinal(end.Reason) {
		return errors.Join(&rest.Refusal{Status: int(end.Code), Code: end.Reason, Message: end.Reason}, err)
	}
	if errors.Is(err, io.EOF) { // which would mean that we closed it
		return fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err)
	}
	return err
}

func (t *trouble) refusal() *rest.Refusal {
	if t == nil {
		return &rest.Refusal{Status: 500, Message: "an error without words"}
	}
	return &rest.Refusal{Status: 400, Code: t.Code, Message: t.Message}
}

func (r *reader) run(ctx context.Context) error {
	for {
		ev, err := r.next(ctx)
		if err != nil {
			return err
		}
		if len(ev.Delta) > mostWords && ev.Type != "response.output_audio.delta" || len(ev.Transcript) > mostWords {
			r.troubled("The realtime engine sent a text that is too long.")
			continue
		}
		if err := r.take(ev); err != nil {
			return err
		}
	}
}

func (r *reader) tell(ev voice.RealtimeEvent) {
	select {
	case r.events <- ev:
	case <-r.ctx.Done():
	}
}

func (r *reader) troubled(message string) {
	r.tell(voice.RealtimeEvent{Kind: voice.Troubled, Err: fault.New(fault.Unavailable, "", "%s", message)})
}

// take takes one event. The names that servers of the earlier interface still use are understood, too.
func (r *reader) take(ev event) error {
	switch ev.Type {
	case "input_audio_buffer.speech_started":
		r.stopped = false
		r.tell(voice.RealtimeEvent{Kind: voice.CallerStarted, Item: ev.ItemID})
	case "input_audio_buffer.speech_stopped", "input_audio_buffer.committed":
		r.turnOver(ev)
	case "conversation.item.input_audio_transcription.delta":
		r.heard[ev.ItemID] += ev.Delta
		r.tell(voice.RealtimeEvent{Kind: voice.CallerSaid, Item: ev.ItemID, Text: r.heard[ev.ItemID]})
	case "conversation.item.input_audio_transcription.completed":
		delete(r.heard, ev.ItemID)
		r.tell(voice.RealtimeEvent{Kind: voice.CallerSaid, Item: ev.ItemID, Text: ev.Transcript, Final: true, Used: ev.Usage.transcribed()})
	case "conversation.item.input_audio_transcription.failed":
		r.troubled("What the caller said could not be written down.")
	case "response.created":
		r.began(ev.Response)
	case "response.output_text.delta", "response.text.delta", "response.output_audio_transcript.delta", "response.audio_transcript.delta":
		r.tell(voice.RealtimeEvent{Kind: voice.AnswerText, Answer: ev.ResponseID, Item: ev.ItemID, Text: ev.Delta})
	case "response.output_audio.delta", "response.audio.delta":
		r.sounds(ev)
	case "response.output_item.done":
		r.calledFor(ev.ResponseID, ev.Item)
	case "response.done":
		r.over(ev.Response)
	case "response.cancelled": // some servers send it instead of the end
		r.cancelled(ev)
	case "error":
		return r.failed(ev.Error)
	default:
		r.strange++
	}
	return nil
}

// turnOver tells the end of the caller's turn once: servers name it by one event or the other.
func (r *reader) turnOver(ev event) {
	if r.stopped {
		return
	}
	r.stopped = true
	r.mu.Lock()
	r.owed = time.Now()
	r.mu.Unlock()
	r.tell(voice.RealtimeEvent{Kind: voice.CallerStopped, Item: ev.ItemID})
}

// owedAtMost is how long after the caller's turn an answer without a name is taken to be the vendor's own.
const owedAtMost = 3 * time.Second

// began finds out whose answer it is. Servers that do not give metadata back are asked for one answer at a time.
func (r *reader) began(a answer) {
	r.mu.Lock()
	ask := a.Metadata["ask"]
	own := !r.owed.IsZero() && time.Since(r.owed) < owedAtMost
	switch {
	case ask != "" && r.asked != nil && r.asked.ID == ask:
		r.asked = nil
	case ask == "" && !own && r.asked != nil:
		ask, r.asked = r.asked.ID, nil
	case ask == "":
		r.owed = time.Time{}
	}
	r.active[a.ID] = true
	r.mu.Unlock()
	r.calls = map[string]bool{}
	r.tell(voice.RealtimeEvent{Kind: voice.AnswerBegan, Answer: a.ID, Ask: ask})
}

func (r *reader) sounds(ev event) {
	raw, err := base64.StdEncoding.DecodeString(ev.Delta)
	if err != nil || len(raw) == 0 {
		r.strange++
		return
	}
	f := audio.Frame{Rate: lawRate}
	if r.fine == nil {
		f.PCM = make([]int16, len(raw))
		audio.DecodeMuLaw(f.PCM, raw)
	} else {
		f = audio.Frame{Rate: pcmRate, PCM: make([]int16, len(raw)/2)}
		for i := range f.PCM {
			f.PCM[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	}
	r.mu.Lock()
	r.received[ev.ItemID] += f.Dur()
	r.mu.Unlock()
	r.tell(voice.RealtimeEvent{Kind: voice.AnswerSound, Answer: ev.ResponseID, Item: ev.ItemID, Sound: f})
}

// calledFor tells a function call once.
func (r *reader) calledFor(answer string, it item) {
	if it.Type != "function_call" || it.CallID == "" || r.calls[it.CallID] {
		return
	}
	if r.calls == nil {
		r.calls = map[string]bool{}
	}
	r.calls[it.CallID] = true
	args := json.RawMessage(it.Arguments)
	if !json.Valid(args) {
		args = json.RawMessage(`{}`)
	}
	r.tell(voice.RealtimeEvent{Kind: voice.AnswerCall, Answer: answer, Call: agent.ToolCall{ID: it.CallID, Name: it.Name, Arguments: args}})
}

// over ends an answer, and lets the next one be asked for.
func (r *reader) over(a answer) {
	for _, it := range a.Output {
		r.calledFor(a.ID, it)
	}
	out := voice.RealtimeEvent{Kind: voice.AnswerOver, Answer: a.ID, Used: a.Usage.answered()}
	if a.Status == "failed" {
		out.Err = rest.Explain("realtime engine", a.Details.Error.refusal())
	}
	r.mu.Lock()
	delete(r.active, a.ID)
	r.mu.Unlock()
	r.tell(out)
	_ = r.proceed()
}

func (r *reader) cancelled(ev event) {
	id := ev.ResponseID
	r.mu.Lock()
	for only := range r.active {
		if id == "" && len(r.active) == 1 {
			id = only
		}
	}
	on := r.active[id]
	r.mu.Unlock()
	if on {
		r.over(answer{ID: id, Status: "cancelled"})
	}
}

// failed takes an error. Most leave the conversation as it is.
func (r *reader) failed(e *trouble) error {
	refusal := e.refusal()
	if isFinal(refusal.Code) {
		return refusal
	}
	r.mu.Lock()
	mine := r.asked != nil && e != nil && e.EventID == r.asked.ID
	var ask voice.Ask
	again := mine && e.Code == "conversation_already_has_active_response"
	if mine {
		ask, r.asked = *r.asked, nil
	}
	if again { // the vendor was quicker: behind that one
		r.asks = append([]voice.Ask{ask}, r.asks...)
	}
	r.mu.Unlock()
	switch {
	case refusal.Code == "response_cancel_not_active" || again:
	case mine:
		id := "refused_" + ask.ID
		r.tell(voice.RealtimeEvent{Kind: voice.AnswerBegan, Answer: id, Ask: ask.ID})
		r.tell(voice.RealtimeEvent{Kind: voice.AnswerOver, Answer: id, Err: rest.Explain("realtime engine", refusal)})
		_ = r.proceed()
	default:
		r.troubled("The realtime engine refused a message.")
	}
	return nil
}

// answered is what an answer took. Those from the cache are contained in the others.
func (u *tokens) answered() voice.Usage {
	if u == nil {
		return voice.Usage{}
	}
	text, sound := u.In.Text, u.In.Audio
	if text+sound == 0 {
		text = u.Input
	}
	out := u.Out.Text
	if out+u.Out.Audio == 0 {
		out = u.Output
	}
	return voice.Usage{InputTokens: text - u.In.Of.Text, InputAudioTokens: sound - u.In.Of.Audio, CachedInputTokens: u.In.Cached,
		OutputTokens: out, OutputAudioTokens: u.Out.Audio}
}

// transcribed is what a transcription took.
func (u *tokens) transcribed() voice.Usage {
	if u == nil {
		return voice.Usage{}
	}
	return voice.Usage{Seconds: u.Seconds, InputAudioTokens: u.In.Audio, InputTokens: u.In.Text, OutputTokens: u.Output}
}
