// Package media is the media plane: one paced thread sends and receives the live audio of every call.
//
// A Plane owns the pacer. Signalling takes a Port from it, tells the far end its number, and opens a Stream with what
// was negotiated. The Stream is the lines.Media the rest of the program talks to.
//
//	port, err := plane.Allocate(localIP)           // port.LocalPort() goes into the SDP
//	stream, err := plane.Open(port, media.Config{Codec: media.PCMU, Remote: peer, DTMFPayload: 101})
//	stream.Update(cfg)                             // re-INVITE: new peer, codec or direction
//	stream.Close()                                 // end of the call
package media

import (
	"net/netip"
	"time"
)

// Codec is the coding of the audio on the wire.
type Codec uint8

// The codecs of the lines. PCMU and PCMA are 8 kHz, G722 and Opus cross the plane at 16 kHz.
const (
	PCMU Codec = iota
	PCMA
	G722
	Opus
)

// Rate is the sample rate in Hz of the decoded audio.
func (c Codec) Rate() int {
	if c == G722 || c == Opus {
		return 16000
	}
	return 8000
}

// Clock is the RTP timestamp rate in Hz: 8000 (G722 too, RFC 3551 §4.5.2) or 48000 (RFC 7587 §4.1).
func (c Codec) Clock() int {
	if c == Opus {
		return 48000
	}
	return 8000
}

// PayloadType is the static payload type of RFC 3551; Opus has none and answers 111, the customary one.
func (c Codec) PayloadType() uint8 { return [...]uint8{0, 8, 9, 111}[c] }

// String is the encoding name of the SDP rtpmap.
func (c Codec) String() string { return [...]string{"PCMU", "PCMA", "G722", "opus"}[c] }

// Direction says which way audio flows, seen from us (the a= line of our own SDP).
type Direction uint8

// Directions of RFC 4566 §6. A far end that puts us on hold makes ours RecvOnly or Inactive.
const (
	SendRecv Direction = iota
	SendOnly
	RecvOnly
	Inactive
)

func (d Direction) sends() bool    { return d == SendRecv || d == SendOnly }
func (d Direction) receives() bool { return d == SendRecv || d == RecvOnly }

// KeyWay is how keys are sent.
type KeyWay uint8

const (
	KeyEvents     KeyWay = iota // telephone events (RFC 4733), where DTMFPayload is negotiated
	KeysSignalled               // Config.OnKey sends them (SIP INFO)
	KeyTones                    // as sound
)

// Config is what signalling negotiated for one stream.
type Config struct {
	Codec       Codec
	PayloadType uint8 // of the codec, both ways; 0 with another codec than PCMU = Codec.PayloadType()
	DTMFPayload uint8 // telephone-event payload type; 0 = not negotiated
	DTMFClock   int   // its rtpmap rate in Hz; 0 = Codec.Clock()

	Keys  KeyWay         // how SendDigits tells of keys
	OnKey func(key byte) // with KeysSignalled: called for each key sent, on its own goroutine

	Remote     netip.AddrPort // where the far end wants audio (its c= and m= lines); unset = not known yet
	Peer       netip.Addr     // where its signalling comes from; unset = not known. Audio of nobody else is heard: see source
	RTCPRemote netip.AddrPort // its a=rtcp: line; unset = port of Remote + 1
	RTCPMux    bool           // RTCP on the RTP port (RFC 5761)
	Direction  Direction
	Crypto     *Crypto // nil = in the clear
	// Sources are networks that audio is taken from besides where the far end said: a carrier's other machines.
	Sources []netip.Prefix

	// Timeout is how long the far end may send nothing; 0 = 30 s, negative = for ever. It does not run on hold.
	Timeout time.Duration
	// OnTimeout is called once, on its own goroutine, with lines.ErrMediaTimeout.
	OnTimeout func(error)

	// Encoder and Decoder carry Opus; the other codecs need none. They belong to the stream and are called by one
	// goroutine only.
	Encoder Encoder
	Decoder Decoder

	// Echo says that the far end may send our own sound back, as telephones do and browsers do not: it is not heard then.
	Echo bool

	// NoDetection leaves voice detection off (music on hold, bridged legs that nobody transcribes).
	NoDetection bool
}

// Encoder makes one payload of 20 ms of audio.
type Encoder interface {
	// Encode fills dst with the payload of pcm (20 ms at Codec.Rate) and returns its length.
	Encode(dst []byte, pcm []int16) (int, error)
}

// Decoder makes audio of payloads.
type Decoder interface {
	// Decode fills pcm with the audio of one payload at Codec.Rate, at most 120 ms, and returns the number of samples.
	// A nil payload stands for one lost packet: 20 ms of concealment.
	Decode(pcm []int16, payload []byte) (int, error)
}

// Transport carries the packets of a stream whose socket is not ours (WebRTC).
type Transport interface {
	// WriteRTP sends one RTP packet. It must not keep the slice.
	WriteRTP(packet []byte) error
}
