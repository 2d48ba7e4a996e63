// Package rtp reads and writes RTP, RTCP and telephone events without allocating.
package rtp

import "encoding/binary"

// HeaderLen is the length of the headers written here: no extension, no contributing sources.
const HeaderLen = 12

// Header is the fixed part of an RTP packet (RFC 3550 §5.1).
type Header struct {
	PayloadType uint8 // 0-127
	Marker      bool
	Sequence    uint16
	Timestamp   uint32
	SSRC        uint32
}

// Parse splits a packet. The payload is a part of b. ok is false when b is not an RTP packet of version 2.
func Parse(b []byte) (h Header, payload []byte, ok bool) {
	if len(b) < HeaderLen || b[0]>>6 != 2 {
		return h, nil, false
	}
	start, end := HeaderLen+4*int(b[0]&0x0F), len(b)
	if b[0]&0x10 != 0 { // extension, §5.3.1
		if start+4 > len(b) {
			return h, nil, false
		}
		start += 4 + 4*int(binary.BigEndian.Uint16(b[start+2:]))
	}
	if b[0]&0x20 != 0 { // padding
		end -= int(b[len(b)-1])
	}
	if start > end || b[0]&0x20 != 0 && end == len(b) {
		return h, nil, false
	}
	h = Header{
		PayloadType: b[1] & 0x7F,
		Marker:      b[1]&0x80 != 0,
		Sequence:    binary.BigEndian.Uint16(b[2:]),
		Timestamp:   binary.BigEndian.Uint32(b[4:]),
		SSRC:        binary.BigEndian.Uint32(b[8:]),
	}
	return h, b[start:end], true
}

// Put writes the header into the first HeaderLen bytes of b.
func (h Header) Put(b []byte) {
	_ = b[HeaderLen-1]
	b[0], b[1] = 0x80, h.PayloadType
	if h.Marker {
		b[1] |= 0x80
	}
	binary.BigEndian.PutUint16(b[2:], h.Sequence)
	binary.BigEndian.PutUint32(b[4:], h.Timestamp)
	binary.BigEndian.PutUint32(b[8:], h.SSRC)
}

// IsRTCP tells RTCP from RTP on a shared port (RFC 5761 §4).
func IsRTCP(b []byte) bool { return len(b) >= 8 && b[0]>>6 == 2 && b[1] >= 192 && b[1] <= 223 }
