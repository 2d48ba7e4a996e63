package elevenlabs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/coder/websocket"

	"parley/providers/rest"
	"parley/providers/socket"
	"parley/voice"
)

// Transcriber opens transcribers with a realtime model of Scribe.
func (c *Client) Transcriber(model string) voice.OpenTranscriber {
	return func(ctx context.Context, l voice.Transcription) (voice.Transcriber, error) {
		format := fmt.Sprintf("pcm_%d", l.Rate)
		if socket.MuLaw(l.Rate) {
			format = "ulaw_8000"
		}
		query := "?model_id=" + url.QueryEscape(model) + "&audio_format=" + format + "&commit_strategy=manual"
		if len(l.Languages) == 1 {
			query += "&language_code=" + l.Languages[0]
		}
		chunk := func(sound []byte, commit bool) []byte {
			return fmt.Appendf(nil, `{"message_type":"input_audio_chunk","audio_base_64":"%s","commit":%t,"sample_rate":%d}`,
				base64.StdEncoding.EncodeToString(sound), commit, l.Rate)
		}
		return socket.Transcribe(ctx, socket.Dialect{Client: c.rest, Path: "/v1/speech-to-text/realtime" + query, Piece: 60 * time.Millisecond,
			Pack:    func(sound []byte) (websocket.MessageType, []byte) { return websocket.MessageText, chunk(sound, false) },
			EndTurn: chunk(nil, true), Wait: 1500 * time.Millisecond, Idle: chunk(nil, false), Read: read}, l)
	}
}

// refusals are the errors of the vendor, with the status of HTTP that says the same; 503 and 429 are worth another connection.
var refusals = map[string]int{"auth_error": 401, "quota_exceeded": 402, "unaccepted_terms": 403, "input_error": 400, "chunk_size_exceeded": 400,
	"rate_limited": 429, "queue_overflow": 503, "resource_exhausted": 503, "session_time_limit_exceeded": 503,
	"insufficient_audio_activity": 503, "transcriber_error": 503, "error": 503}

func read(m []byte) ([]socket.Heard, error) {
	var in struct {
		Type     string `json:"message_type"`
		Text     string
		Language string `json:"language_code"`
		Error    string
	}
	if err := json.Unmarshal(m, &in); err != nil {
		return nil, err
	}
	if status := refusals[in.Type]; status > 0 {
		return nil, &rest.Refusal{Status: status, Code: in.Type, Message: in.Error}
	}
	switch h := (socket.Heard{Text: in.Text, Language: in.Language}); in.Type {
	case "partial_transcript":
		return []socket.Heard{h}, nil
	case "committed_transcript":
		h.Sign = socket.Answer
		return []socket.Heard{h}, nil
	}
	return nil, nil
}
