// Package lines says what a line is: a leg that can be answered and hung up, and the live audio on it.
// Its folders fill it: sip (phones), web (browsers).
package lines

import (
	"context"
	"fmt"
	"io"
	"time"

	"parley/ids"
)

// Leg is one party of a call, from the first signal to the last.
type Leg interface {
	// Info does not change during the life of the leg.
	Info() Info
	// Ring tells the far end that we are alerting (SIP 180). Inbound only.
	Ring() error
	// Answer accepts an inbound leg; Media is live when it returns. Outbound legs are answered already.
	Answer(ctx context.Context) error
	// Reject refuses an unanswered inbound leg with a SIP status code.
	Reject(code int) error
	// Media is the audio of an answered leg.
	Media() Media
	// Hangup ends the leg and returns when the far end was told; calling it twice is harmless.
	Hangup(ctx context.Context) error
	// Done is closed when the leg is over, whoever ended it.
	Done() <-chan struct{}
	// End says how it ended; valid once Done is closed.
	End() End
}

// Info is what is known of a leg from its signalling.
type Info struct {
	ID         string     // unique for the life of the process
	SignalID   string     // SIP Call-ID, or the uuid of a web call
	Kind       string     // "sip" or "web"
	From       string     // E.164 number or extension of the caller; "anonymous" when withheld
	To         string     // number or extension called
	TrunkID    ids.Number // the SIP trunk the leg belongs to; 0 = none
	RemoteAddr string     // signalling address of the far end
}

// Referrer is a leg whose far end can be asked to call somebody else itself (SIP REFER, RFC 3515).
type Referrer interface {
	// Refer asks the far end to call a number or sip: URI. It returns nil when that call was answered; the leg is then ours
	// to hang up. A *DialError tells why it was not.
	Refer(ctx context.Context, to string) error
}

// Tracer is a leg that remembers its signalling.
type Tracer interface {
	// Trace is every message so far, oldest first, without secrets.
	Trace() []Message
}

// Message is one signalling message of a leg.
type Message struct {
	At     time.Time `json:"at"`
	Sent   bool      `json:"sent"`   // by us
	Remote string    `json:"remote"` // transport and address of the far end
	Title  string    `json:"title"`  // INVITE, 180 Ringing, …
	Text   string    `json:"text"`   // the whole message; secrets are replaced by …
}

// ICEServer is a STUN or TURN server that a browser is told of (RTCIceServer of WebRTC).
type ICEServer struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username,omitzero"`
	Credential string   `json:"credential,omitzero"`
}

// End is the reason a leg is over.
type End struct {
	Remote bool  // the far end ended it
	Code   int   // SIP status of a refused INVITE; 0 for an answered leg
	Err    error // transport or protocol failure; ErrMediaTimeout when no packet came for 30 s
}

// ErrMediaTimeout ends a leg whose far end sent no audio for 30 s.
var ErrMediaTimeout = fmt.Errorf("no media for 30 s")

// DialError is a leg that was never answered.
type DialError struct {
	Code    int // SIP status; 408 for the ringing time-out, 0 when nothing answered the signalling
	Timeout bool
	Err     error
	Trace   []Message // the signalling until then, without secrets
}

func (e *DialError) Error() string { return fmt.Sprintf("dial: %d %v", e.Code, e.Err) }
func (e *DialError) Unwrap() error { return e.Err }

// Dialer places outbound legs.
type Dialer interface {
	// Dial returns an answered leg or a *DialError. progress is called with the SIP code of each provisional answer.
	// Cancelling ctx sends CANCEL; so does the end of d.RingFor.
	Dial(ctx context.Context, d Destination, progress func(code int)) (Leg, error)
}

// Destination says whom to call and as whom.
type Destination struct {
	To      string        // E.164 number, extension or sip: URI
	From    string        // caller number shown
	TrunkID ids.Number    // trunk to leave through; 0 = the installation's default line
	RingFor time.Duration // unanswered after that long: CANCEL
	Headers map[string]string
	Placed  func(signalID string) // told the Call-ID before the INVITE leaves; nil = nobody is
	Early   func(Media)           // told when the far end is heard before it answers; nil = that is not listened to
}

// Media is the audio of one answered leg. All methods may be called from any goroutine; none but Hear and Play block.
type Media interface {
	// Rate is the sample rate in Hz of everything that crosses this interface: 8000 or 16000.
	Rate() int
	// Events delivers what the media plane noticed, in order. It is closed when the leg is over.
	Events() <-chan Event
	// Hear fills buf with the far end's samples in arrival order, blocking until at least one is there.
	// It returns io.EOF when the leg is over. One reader.
	Hear(ctx context.Context, buf []int16) (int, error)
	// Play queues samples for the far end and blocks while more than 20 s are queued.
	// It returns the position in samples of the first sample queued: that many samples will have been played when its turn
	// comes. Cleared samples leave no gap, so after Clear the next position is what Clear returned.
	Play(ctx context.Context, pcm []int16) (start int64, err error)
	// Clear drops what is queued and not yet sent. It returns the number of samples really sent so far.
	Clear() (played int64)
	// Played is the number of queued samples really sent so far; cleared samples do not count.
	Played() int64
	// Under mixes a loop under everything that is sent from now on, also while nothing is queued: pcm at Rate again and again, with
	// a linear gain of 0-1, half of it while queued samples are sent. pcm must not change; none ends it.
	Under(pcm []int16, gain float64)
	// SendDigits queues RFC 4733 telephone events: 0-9 * # A-D, w = 0.5 s pause; each 120 ms with an 80 ms gap.
	SendDigits(digits string) error
	// SetThreshold sets the probability, 0-1, at which sound counts as speech; 0.5 at first.
	SetThreshold(p float32)
	// Record writes both directions to w as interleaved 16-bit little-endian stereo at Rate, far end left, ours right,
	// aligned by one clock, from now to the end of the leg; then w is closed. Writes happen off the media thread.
	Record(w io.WriteCloser)
	// Join lets the far ends of this and another leg of the same process hear each other, at either's rate, until part is
	// called; keys pressed on one are sent on to the other. What is queued with Play is heard besides, a recording goes on,
	// speech is not detected meanwhile. A leg is joined with one other at a time: the last one counts.
	Join(other Media) (part func(), err error)
	// Stats are counters so far.
	Stats() Stats
}

// Denoiser is a Media that can take steady noise out of what is looked at to find speech. Hear and Record keep the sound as it came.
type Denoiser interface {
	// Denoise switches it.
	Denoise(on bool)
}

// Stats counts packets and frames of one leg.
type Stats struct {
	Received, Lost, Late, Sent, Discarded int64
	Refused                               int64         // packets of others than the far end, among the discarded
	Dry                                   int64         // periods of 20 ms that a telephone 60 ms behind the first packet had no sound for
	Jitter                                time.Duration // RFC 3550 §6.4.1
}

// EventKind says what the media plane noticed.
type EventKind int

const (
	FirstIn     EventKind = iota // the first packet of the far end arrived
	FirstOut                     // the first queued sample was sent
	SpeechStart                  // the far end began to speak; At is the onset
	SpeechEnd                    // it stopped; At is the last voiced moment (the event comes a little later)
	Digit                        // a key was pressed; Digit says which
	Drained                      // every queued sample was sent; Pos = Played. Not after Clear
	HeldOn                       // the far end put us on hold
	HeldOff                      // and took us back
	SpeechFaded                  // the far end made no sound for a window, at the end of speech or inside it; At is the last sound
	SpeechBack                   // it goes on, without having been taken for over; SpeechEnd may come instead
	Refused                      // audio of somebody else than the far end came, and is not heard; once
	Gap                          // packets of the far end stopped coming, which says nothing of what it does; At is the last one
	GapOver                      // they come again, or have been missing for so long that silence counts from now on
	PlayStart                    // the first sample of an utterance (queued after silence or Clear) was sent; Pos is its position
)

// Event is one thing the media plane noticed.
type Event struct {
	Kind  EventKind
	At    time.Time
	Digit byte
	Pos   int64 // samples played when it happened
}
