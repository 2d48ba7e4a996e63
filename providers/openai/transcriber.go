package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"parley/audio"
	"parley/providers/rest"
	"parley/safe"
	"parley/voice"
)

// Transcriber opens transcribers with a transcription model of a server.
func (c *Client) Transcriber(model string) voice.OpenTranscriber {
	plain := new(atomic.Bool)
	return func(ctx context.Context, l voice.Transcription) (voice.Transcriber, error) {
		ctx, stop := context.WithCancel(ctx)
		t := &transcriber{client: c, model: model, plain: plain, as: l, ctx: ctx, stop: stop, turns: make(chan []int16, 16),
			heard: make(chan heard, 16)}
		safe.Go("transcription", t.work)
		return t, nil
	}
}

// transcriber collects a turn and sends it whole: this API hears files. What it hears it says as it goes, where the server
// streams that. A failed turn is an error of one Recv alone, and the next turn may succeed.
type transcriber struct {
	client *Client
	model  string
	plain  *atomic.Bool // the server refuses to stream
	as     voice.Transcription
	ctx    context.Context
	stop   context.CancelFunc
	pcm    []int16
	turns  chan []int16
	heard  chan heard
}

type heard struct {
	voice.Transcript
	err error
}

// longestTurn bounds what is kept of one turn, in seconds; of longer ones the end counts.
const longestTurn = 300

func (t *transcriber) Write(pcm []int16) error {
	t.pcm = append(t.pcm, pcm...)
	if over := len(t.pcm) - longestTurn*t.as.Rate; over > 0 {
		t.pcm = t.pcm[over:]
	}
	return t.ctx.Err()
}

func (t *transcriber) EndTurn() error {
	turn := t.pcm
	t.pcm = nil
	select {
	case t.turns <- turn:
		return nil
	default:
		return errors.New("too many turns wait for recognition")
	}
}

func (t *transcriber) Recv() (voice.Transcript, error) {
	select {
	case h := <-t.heard:
		if t.ctx.Err() == nil {
			return h.Transcript, h.err
		}
	case <-t.ctx.Done():
	}
	return voice.Transcript{}, io.EOF
}

func (t *transcriber) Close() error {
	t.stop()
	return nil
}

// work has the turns recognised, one after the other.
func (t *transcriber) work() {
	for {
		select {
		case turn := <-t.turns:
			spoken := trim(turn, t.as.Rate)
			if len(spoken) < t.as.Rate/10 {
				t.say(voice.Transcript{Final: true}, nil)
				continue
			}
			out, err := t.transcribe(spoken)
			t.say(out, rest.Explain("transcription service", err))
		case <-t.ctx.Done():
			return
		}
	}
}

func (t *transcriber) say(out voice.Transcript, err error) {
	select {
	case t.heard <- heard{out, err}:
	case <-t.ctx.Done():
	}
}

// transcribe asks for a stream, and does without one where the server does not take the wish.
func (t *transcriber) transcribe(pcm []int16) (voice.Transcript, error) {
	out, err := t.ask(pcm, !t.plain.Load())
	if r, ok := errors.AsType[*rest.Refusal](err); ok && (r.Status == 400 || r.Status == 422) && !t.plain.Load() {
		if out, err = t.ask(pcm, false); err == nil {
			t.plain.Store(true)
		}
	}
	return out, err
}

func (t *transcriber) ask(pcm []int16, stream bool) (voice.Transcript, error) {
	body, contentType, err := t.form(pcm, stream)
	if err != nil {
		return voice.Transcript{}, err
	}
	a, err := t.client.post(t.ctx, "/audio/transcriptions", contentType, body)
	if err != nil {
		return voice.Transcript{}, err
	}
	defer a.Close()
	if strings.HasPrefix(a.Header("Content-Type"), "text/event-stream") {
		return t.follow(a)
	}
	raw, err := io.ReadAll(io.LimitReader(a, 1<<20))
	if err != nil {
		return voice.Transcript{}, err
	}
	var heard struct{ Text, Language string }
	if err := json.Unmarshal(raw, &heard); err != nil {
		return voice.Transcript{}, err
	}
	return voice.Transcript{Text: strings.TrimSpace(heard.Text), Final: true, Language: iso(heard.Language)}, nil
}

// mostText is the longest transcript of one turn in bytes.
const mostText = 64 << 10

// follow says what is heard as it comes. Events of other kinds are nothing to it.
func (t *transcriber) follow(src io.Reader) (voice.Transcript, error) {
	var text strings.Builder
	for data, err := range rest.Events(src) {
		if err != nil {
			return voice.Transcript{}, err
		}
		var ev struct {
			Type, Delta, Text, Language string
			Error                       json.RawMessage
		}
		if data == "[DONE]" {
			break
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			return voice.Transcript{}, err
		}
		switch {
		case len(ev.Error) > 0 && string(ev.Error) != "null":
			r := &rest.Refusal{Status: 500}
			r.Read([]byte(data))
			return voice.Transcript{}, r
		case ev.Type == "transcript.text.done":
			return voice.Transcript{Text: strings.TrimSpace(ev.Text), Final: true, Language: iso(ev.Language)}, nil
		case ev.Type == "transcript.text.delta" && text.Len()+len(ev.Delta) <= mostText:
			text.WriteString(ev.Delta)
			t.say(voice.Transcript{Text: strings.TrimSpace(text.String())}, nil)
		}
	}
	return voice.Transcript{}, io.ErrUnexpectedEOF
}

// iso keeps two-letter codes; some servers answer the English name of a language instead.
func iso(language string) string {
	if len(language) == 2 {
		return strings.ToLower(language)
	}
	return names[strings.ToLower(language)]
}

var names = map[string]string{
	"english": "en", "romanian": "ro", "french": "fr", "spanish": "es", "german": "de", "lithuanian": "lt", "italian": "it", "arabic": "ar",
	"portuguese": "pt", "danish": "da", "dutch": "nl", "polish": "pl", "finnish": "fi", "hebrew": "he", "swedish": "sv", "norwegian": "no",
	"turkish": "tr",
}

func (t *transcriber) form(pcm []int16, stream bool) (body []byte, contentType string, err error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	fields := [][2]string{{"model", t.model}, {"response_format", "json"}}
	if stream {
		fields = append(fields, [2]string{"stream", "true"})
	}
	if len(t.as.Languages) == 1 {
		fields = append(fields, [2]string{"language", t.as.Languages[0]})
	}
	if hint := prompt(t.as.Hints); hint != "" {
		fields = append(fields, [2]string{"prompt", hint})
	}
	for _, f := range fields {
		err = errors.Join(err, form.WriteField(f[0], f[1]))
	}
	file, e := form.CreateFormFile("file", "turn.wav")
	if err = errors.Join(err, e); err != nil {
		return nil, "", err
	}
	if err := errors.Join(audio.WriteWAV(file, audio.Frame{Rate: t.as.Rate, PCM: pcm}), form.Close()); err != nil {
		return nil, "", err
	}
	return b.Bytes(), form.FormDataContentType(), nil
}

// prompt gives the model words to expect; such models read about the last 200 words.
func prompt(hints []string) string {
	s := strings.Join(hints, " ")
	if len(s) <= 800 {
		return s
	}
	s = s[:800]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// trim cuts the silence before the first word, but for 0.3 s. Without any loud part the last three seconds are kept.
func trim(pcm []int16, rate int) []int16 {
	frame := rate / 50
	if frame == 0 || len(pcm) < frame {
		return nil
	}
	n := len(pcm) / frame
	level := make([]float64, n)
	quiet := 1e9
	for i := range n {
		level[i] = energy(pcm[i*frame : (i+1)*frame])
		quiet = min(quiet, level[i])
	}
	gate := max(9*quiet, 80*80)
	for i, l := range level {
		if l > gate {
			return pcm[max(0, i-15)*frame:]
		}
	}
	return pcm[max(0, len(pcm)-3*rate):]
}

// energy is the mean square of the samples.
func energy(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum / float64(len(pcm))
}
