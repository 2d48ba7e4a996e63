package rtp

// MaxPayload is the longest payload taken: 120 ms of G.711 or any Opus packet.
const MaxPayload = 1280

const (
	window     = 2    // packets held back for a missing one
	maxDropout = 1000 // a larger step forward is a restart of the sender (RFC 3550 A.1)
	maxMisord  = 100  // so is a larger step back
)

// Verdict says what became of a packet.
type Verdict uint8

const (
	Now  Verdict = iota // it is the next one: use it, then Pop
	Held                // it waits for a predecessor: Pop
	Late                // its place was passed or it came twice: drop it
)

// Order puts packets in order. Up to two packets wait for a missing one; the third shows that it is lost. Put together
// with Lost this is what voice detection and recognition read: no playout delay.
type Order struct {
	started bool
	next    uint16
	held    [window]packet
	n       int
}

type packet struct {
	Header
	size int
	data [MaxPayload]byte
}

// Reset forgets everything.
func (o *Order) Reset() { o.started, o.n = false, 0 }

// Waiting tells whether packets are held back.
func (o *Order) Waiting() bool { return o.n > 0 }

// Push takes the next packet off the wire. It copies the payload only when the packet is Held.
func (o *Order) Push(h Header, payload []byte) Verdict {
	ahead := int16(h.Sequence - o.next)
	if !o.started || ahead > maxDropout || ahead < -maxMisord {
		o.started, o.n = true, 0
		ahead = 0
	}
	switch {
	case ahead < 0 || len(payload) > MaxPayload:
		return Late
	case ahead == 0:
		o.next = h.Sequence + 1
		return Now
	}
	at := o.n
	for at > 0 && int16(o.held[at-1].Sequence-h.Sequence) >= 0 {
		if at--; o.held[at].Sequence == h.Sequence {
			return Late
		}
	}
	if o.n == window {
		return Late // Pop was not called
	}
	copy(o.held[at+1:o.n+1], o.held[at:o.n])
	p := &o.held[at]
	p.Header, p.size = h, copy(p.data[:], payload)
	o.n++
	return Held
}

// Pop returns the next packet in order. lost packets are missing before it. With force it does not wait for them. The
// payload is valid until the next Push.
func (o *Order) Pop(force bool) (h Header, payload []byte, lost int, ok bool) {
	if o.n == 0 {
		return h, nil, 0, false
	}
	p := &o.held[0]
	lost = int(p.Sequence - o.next)
	if lost > 0 && o.n < window && !force {
		return h, nil, 0, false
	}
	h = p.Header
	o.next = h.Sequence + 1
	o.n--
	if o.n > 0 { // keep the payload of the popped one valid: exchange instead of overwriting
		o.held[0], o.held[1] = o.held[1], o.held[0]
		p = &o.held[1]
	}
	return h, p.data[:p.size], lost, true
}
