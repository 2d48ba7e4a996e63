package deepgram

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"time"

	"parley/fault"
	"parley/providers/rest"
	"parley/providers/socket"
	"parley/voice"
)

// Nova opens transcribers with the first of the models that knows the languages.
func (c *Client) Nova(models ...string) voice.OpenTranscriber {
	return func(ctx context.Context, l voice.Transcription) (voice.Transcriber, error) {
		model, together, ok := choose(models, l)
		if !ok {
			return nil, unknown(l)
		}
		language := "en"
		if together {
			language = "multi"
		} else if len(l.Languages) > 0 {
			language = l.Languages[0]
		}
		query := "?model=" + url.QueryEscape(model) + "&" + format(l.Rate) + "&channels=1&interim_results=true&smart_format=true&punctuate=true" +
			"&endpointing=300&vad_events=true&utterance_end_ms=1000&language=" + language
		return socket.Transcribe(ctx, socket.Dialect{Client: c.rest, Path: "/v1/listen" + query, Piece: 20 * time.Millisecond,
			EndTurn: []byte(`{"type":"Finalize"}`), Wait: 400 * time.Millisecond, Idle: []byte(`{"type":"KeepAlive"}`),
			Bye: []byte(`{"type":"CloseStream"}`), Read: readNova}, l)
	}
}

// Flux opens transcribers that end turns themselves, with the first of the models that knows the languages.
func (c *Client) Flux(models ...string) voice.OpenTranscriber {
	return func(ctx context.Context, l voice.Transcription) (voice.Transcriber, error) {
		model, together, ok := choose(models, l)
		if !ok {
			return nil, unknown(l)
		}
		query := "?model=" + url.QueryEscape(model) + "&" + format(l.Rate) + thresholds(l)
		for i, language := range l.Languages {
			if _, mixed := of(model); mixed != nil && (together || i == 0) {
				query += "&language_hint=" + language
			}
		}
		return socket.Transcribe(ctx, socket.Dialect{Client: c.rest, Path: "/v2/listen" + query, Piece: 80 * time.Millisecond,
			Wait: 700 * time.Millisecond, Bye: []byte(`{"type":"CloseStream"}`), Read: readFlux}, l)
	}
}

func unknown(l voice.Transcription) error {
	return fault.New(fault.Invalid, "", "the transcription service does not know the language %s", l.Languages[0])
}

func format(rate int) string {
	if socket.MuLaw(rate) {
		return "encoding=mulaw&sample_rate=8000"
	}
	return fmt.Sprintf("encoding=linear16&sample_rate=%d", rate)
}

// thresholds say how sure of the end of a turn it must be, 0.5 to 0.9: as usual (0.7) for the usual silence of half a second. One
// that is believed also says when it is half sure.
func thresholds(l voice.Transcription) string {
	if !l.Turns {
		return "&eot_threshold=0.7&eot_timeout_ms=5000"
	}
	end := max(0.5, min(0.9, 0.6+0.2*l.EndSilence.Seconds()))
	return "&eot_threshold=" + strconv.FormatFloat(math.Round(100*end)/100, 'f', -1, 64) + "&eager_eot_threshold=0.5&eot_timeout_ms=5000"
}

type word struct {
	Word, Punctuated string
	Start, End       float64 // seconds
	Confidence       float64
}

func words(all []word) (out []voice.Word) {
	for _, w := range all {
		text := w.Word
		if w.Punctuated != "" {
			text = w.Punctuated
		}
		out = append(out, voice.Word{Text: text, From: seconds(w.Start), To: seconds(w.End), Confidence: w.Confidence})
	}
	return out
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func readNova(m []byte) ([]socket.Heard, error) {
	var in struct {
		Type            string
		Start, Duration float64
		IsFinal         bool `json:"is_final"`
		FromFinalize    bool `json:"from_finalize"`
		Channel         json.RawMessage
		Description     string
		Message         string
	}
	if err := json.Unmarshal(m, &in); err != nil {
		return nil, err
	}
	if in.Type == "Error" {
		return nil, &rest.Refusal{Status: 502, Message: in.Description + in.Message}
	}
	if in.Type != "Results" {
		return nil, nil // SpeechStarted has a list in the place of Channel
	}
	var channel struct {
		Alternatives []struct {
			Transcript string
			Confidence float64
			Words      []struct {
				word
				Punctuated string `json:"punctuated_word"`
			}
			Languages []string
		}
	}
	if err := json.Unmarshal(in.Channel, &channel); err != nil {
		return nil, err
	}
	h := socket.Heard{To: seconds(in.Start + in.Duration)}
	if in.IsFinal {
		h.Sign = socket.Certain
	}
	if in.FromFinalize {
		h.Sign = socket.Answer
	}
	if len(channel.Alternatives) > 0 {
		a := channel.Alternatives[0]
		h.Text, h.Confidence = a.Transcript, a.Confidence
		for _, w := range a.Words {
			w.word.Punctuated = w.Punctuated
			h.Words = append(h.Words, words([]word{w.word})...)
		}
		if len(a.Languages) > 0 {
			h.Language = a.Languages[0]
		}
	}
	return []socket.Heard{h}, nil
}

// turnSigns are the events of Flux; a turn that begins has no text yet, or its first words.
var turnSigns = map[string]socket.Sign{"Update": socket.Partial, "StartOfTurn": socket.Partial, "EagerEndOfTurn": socket.Likely,
	"TurnResumed": socket.Resumed, "EndOfTurn": socket.Over}

func readFlux(m []byte) ([]socket.Heard, error) {
	var in struct {
		Type, Event, Transcript, Code, Description string
		Words                                      []word
		To                                         float64 `json:"audio_window_end"`
		Languages                                  []string
	}
	if err := json.Unmarshal(m, &in); err != nil {
		return nil, err
	}
	if in.Type == "Error" {
		return nil, &rest.Refusal{Status: 502, Code: in.Code, Message: in.Description}
	}
	sign, ok := turnSigns[in.Event]
	if in.Type != "TurnInfo" || !ok {
		return nil, nil
	}
	h := socket.Heard{Sign: sign, Text: in.Transcript, Words: words(in.Words), To: seconds(in.To)}
	if len(in.Languages) > 0 {
		h.Language = in.Languages[0]
	}
	return []socket.Heard{h}, nil
}
