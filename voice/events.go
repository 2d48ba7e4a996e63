package voice

import "time"

// Event is something that happened in the conversation, as the call's event log shows it.
type Event struct {
	At   time.Time
	Type string
	Data any  // JSON-encodable, never changed afterwards
	Live bool // for those who watch now; not kept
}

// The data of the events this package makes. The thinker's own events carry the structs of package agent.
type (
	// Side is the data of speech.start and speech.end: "customer" or "assistant".
	Side struct {
		Side string `json:"side"`
	}
	// UserTurn is the data of turn.user.
	UserTurn struct {
		Text     string `json:"text"`
		Language string `json:"language"`
		Source   string `json:"source"` // speech, keypad, chat
	}
	// TurnEnd is the data of turn.end: why the caller's turn was taken to be over. Reason is silence, no_words (sound went on),
	// too_long or recogniser (it said so).
	TurnEnd struct {
		Reason      string   `json:"reason"`
		SilenceMS   int64    `json:"silence_ms"`  // there was
		Threshold   int64    `json:"threshold"`   // ms of silence that were needed
		Probability *float64 `json:"probability"` // that they had finished, by what they said; null with endpoint_type vad
	}
	// AssistantTurn is the data of turn.assistant.
	AssistantTurn struct {
		Text        string  `json:"text"`
		Interrupted bool    `json:"interrupted"`
		PlayedMS    int64   `json:"played_ms"`
		Stages      *Stages `json:"stages,omitempty"` // of an answer to speech
	}
	// Stages are the times of one answer in ms after the caller's last sound.
	Stages struct {
		Endpoint    int64 `json:"endpoint_ms"`     // the turn was taken to be over
		Heard       int64 `json:"heard_ms"`        // its text was there
		FirstToken  int64 `json:"first_token_ms"`  // first sentence of the answer
		FirstAudio  int64 `json:"first_audio_ms"`  // first sound made of it
		FirstPacket int64 `json:"first_packet_ms"` // first packet on the line
	}
	// SpeechRequest is the data of tts.request.
	SpeechRequest struct {
		Provider   string  `json:"provider"`
		Voice      string  `json:"voice"`
		Speed      float64 `json:"speed"`
		Stability  float64 `json:"stability"`
		Similarity float64 `json:"similarity"`
		Emotion    bool    `json:"emotion"`
		Text       string  `json:"text"`
	}
	// Denoise is the data of audio.denoise: whether noise is taken out of the caller's audio before speech is looked for.
	Denoise struct {
		Enabled bool `json:"enabled"`
	}
	// ListenRequest is the data of stt.request.
	ListenRequest struct {
		Provider string `json:"provider"`
		Language string `json:"language"`
		Denoise  bool   `json:"denoise"`
	}
	// Ambient is the data of ambient: the sound under the call, and its volume of 0-1.
	Ambient struct {
		Sound  string  `json:"sound"`
		Volume float64 `json:"volume"`
	}
	// BargeIn is the data of barge_in: how long the caller had been speaking, and the words recognised by then.
	BargeIn struct {
		AfterMS int64 `json:"after_ms"`
		Words   int   `json:"words"`
	}
	// Filler is the data of filler.
	Filler struct {
		Category string `json:"category"`
		Text     string `json:"text"`
	}
	// Reengage is the data of reengage: the how-manieth line of this silence.
	Reengage struct {
		N int `json:"n"`
	}
	// Limit is the data of limit: max_duration or balance.
	Limit struct {
		Kind string `json:"kind"`
	}
	// Key is the data of dtmf.in.
	Key struct {
		Digit string `json:"digit"`
	}
	// KeysSent is the data of dtmf.out.
	KeysSent struct {
		Digits string `json:"digits"`
	}
	// KeypadInput is the data of keypad; EndedBy is "stop_key" or "timeout".
	KeypadInput struct {
		Digits  string `json:"digits"`
		EndedBy string `json:"ended_by"`
	}
	// LanguageSwitch is the data of language.switch.
	LanguageSwitch struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	// Pickup is the data of amd: human, machine or unknown.
	Pickup struct {
		Result  string `json:"result"`
		AfterMS int64  `json:"after_ms"` // since the answer
	}
	// Trouble is the data of warning (Stage may be empty) and error.
	Trouble struct {
		Stage   string `json:"stage,omitempty"` // stt, llm, tts
		Message string `json:"message"`
	}
	// Partial is the data of the live event "partial": words recognised so far.
	Partial struct {
		Text string `json:"text"`
	}
	// None is the data of events that carry none.
	None struct{}
)
