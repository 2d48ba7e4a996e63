package rtp

import "encoding/binary"

// EventLen is the length of a telephone-event payload.
const EventLen = 4

// Event is a telephone event (RFC 4733 §2.3).
type Event struct {
	Code     byte // 0-15 are the keys
	End      bool
	Volume   byte   // 0-63: -dBm0
	Duration uint16 // RTP timestamp units since the packet's timestamp
}

const eventKeys = "0123456789*#ABCD"

// ParseEvent reads a payload; ok is false when it is too short.
func ParseEvent(b []byte) (e Event, ok bool) {
	if len(b) < EventLen {
		return e, false
	}
	return Event{b[0], b[1]&0x80 != 0, b[1] & 0x3F, binary.BigEndian.Uint16(b[2:])}, true
}

// Put writes the payload into the first EventLen bytes of b.
func (e Event) Put(b []byte) {
	b[0], b[1] = e.Code, e.Volume&0x3F
	if e.End {
		b[1] |= 0x80
	}
	binary.BigEndian.PutUint16(b[2:], e.Duration)
}

// Key is the key of an event, 0 when it is none.
func (e Event) Key() byte {
	if int(e.Code) < len(eventKeys) {
		return eventKeys[e.Code]
	}
	return 0
}

// KeyCode is the event code of a key: 0-9 * # A-D, lower case too.
func KeyCode(key byte) (code byte, ok bool) {
	if key >= 'a' && key <= 'd' {
		key -= 'a' - 'A'
	}
	for i := range len(eventKeys) {
		if eventKeys[i] == key {
			return byte(i), true
		}
	}
	return 0, false
}

// Keys turns event packets into key presses: one per press, however many packets tell of it.
type Keys struct {
	timestamp uint32 // of the last press
	last      Event
	any       bool
}

// Hear takes one packet and returns the key when it is a press not heard of yet, else 0.
func (k *Keys) Hear(h Header, payload []byte) byte {
	e, ok := ParseEvent(payload)
	if !ok {
		return 0
	}
	age := int32(h.Timestamp - k.timestamp)
	switch {
	case k.any && age <= 0 && age > -1<<20: // the same press, or a straggler of an earlier one
		k.last = e
		return 0
	case k.any && e.Code == k.last.Code && !h.Marker && k.last.Duration == 0xFFFF && age == 0xFFFF:
		k.timestamp, k.last = h.Timestamp, e // the next segment of a long press, §2.5.1.3
		return 0
	}
	k.timestamp, k.last, k.any = h.Timestamp, e, true
	return e.Key()
}

// Lengths of a sent press and of the gap behind it, in frames of 20 ms.
const (
	pressFrames = 6 // 120 ms
	gapFrames   = 4 // 80 ms
	pauseFrames = 25
	endRepeats  = 3 // §2.5.1.4: the last packet is sent three times
)

// Press sends one key: a state machine stepped once per 20 ms frame.
type Press struct {
	code  byte
	pause bool
	frame int // frames already stepped
	start uint32
}

// NewPress begins a key, or with 'w' a pause of 0.5 s. now is the RTP timestamp of the current frame.
func NewPress(key byte, now uint32) (p Press, ok bool) {
	if key == 'w' || key == 'W' {
		return Press{pause: true}, true
	}
	code, ok := KeyCode(key)
	return Press{code: code, start: now}, ok
}

// Step returns the event of this frame. send is false in the gap or pause, when the frame carries audio; over is true
// with the last frame. step is the number of timestamp units in a frame.
func (p *Press) Step(step uint32) (e Event, timestamp uint32, marker, send, over bool) {
	p.frame++
	if p.pause {
		return e, 0, false, false, p.frame >= pauseFrames
	}
	length := min(p.frame, pressFrames)
	e = Event{Code: p.code, End: p.frame >= pressFrames, Volume: 10, Duration: uint16(uint32(length) * step)}
	send = p.frame < pressFrames+endRepeats
	return e, p.start, p.frame == 1, send, p.frame >= pressFrames+gapFrames
}
