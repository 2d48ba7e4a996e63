package sip

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"
)

// direction of a media stream as its sender sees it (RFC 3264 §5.1).
type direction string

const (
	sendRecv direction = "sendrecv"
	sendOnly direction = "sendonly"
	recvOnly direction = "recvonly"
	inactive direction = "inactive"
)

// answer is the direction we answer an offered one with.
func (d direction) answer() direction {
	switch d {
	case sendOnly:
		return recvOnly
	case recvOnly:
		return sendOnly
	case inactive:
		return inactive
	}
	return sendRecv
}

// payload is one audio format of a description.
type payload struct {
	Codec string // pcmu, pcma, g722, opus
	Type  uint8  // RTP payload type
}

// description is what a session description says about its first usable audio stream.
type description struct {
	Addr   netip.AddrPort // where that side receives RTP
	Audio  []payload      // in its order of preference, only codecs known here
	Events uint8          // payload type of telephone-event at 8000 Hz; 0 = none
	Dir    direction
	Crypto *keying     // the first key that can be used; nil = in the clear
	media  []mediaLine // every m= line in order, for the answer
	index  int         // which of them is the audio stream
}

type mediaLine struct {
	kind, protos string
	formats      []string
}

// held reports whether that side wants to hear nothing from us (RFC 3264 §8.4, and the older c=0.0.0.0).
func (d description) held() bool {
	return d.Dir == sendOnly || d.Dir == inactive || d.Addr.Addr().IsUnspecified()
}

// String is one line for logs and tests.
func (d description) String() string {
	s := d.Addr.String()
	for _, p := range d.Audio {
		s += fmt.Sprintf(" %s/%d", p.Codec, p.Type)
	}
	return fmt.Sprintf("%s ev%d %s", s, d.Events, d.Dir)
}

var (
	errNoAudio = errors.New("no usable audio stream")
	errNoCodec = errors.New("no common codec")
)

// static payload types need no rtpmap (RFC 3551 §6). G.722 has a clock of 8000 although it samples at 16000.
var static = map[string]string{"0": "pcmu", "8": "pcma", "9": "g722"}

var encodings = map[string]string{"pcmu/8000": "pcmu", "pcma/8000": "pcma", "g722/8000": "g722", "opus/48000/2": "opus"}

// parseSDP reads an offer or an answer on a trunk whose Trunk.SRTP is srtp. A missing last line end is forgiven.
func parseSDP(body []byte, srtp string) (description, error) {
	var s sdp.SessionDescription
	if !bytes.HasSuffix(body, []byte("\n")) {
		body = append(bytes.Clone(body), "\r\n"...)
	}
	if err := s.Unmarshal(body); err != nil {
		return description{}, fmt.Errorf("session description: %w", err)
	}
	d := description{index: -1}
	for i, m := range s.MediaDescriptions {
		d.media = append(d.media, mediaLine{m.MediaName.Media, strings.Join(m.MediaName.Protos, "/"), m.MediaName.Formats})
		if d.index < 0 && usable(m, srtp) {
			addr, ok := address(&s, m)
			if !ok {
				continue
			}
			d.index = i
			d.Addr = netip.AddrPortFrom(addr, uint16(m.MediaName.Port.Value))
			d.Dir = streamDirection(&s, m)
			d.Audio, d.Events = formats(m)
			if k := keyings(m); len(k) > 0 && (srtp == srtpOffered || srtp == srtpRequired) {
				d.Crypto = &k[0]
			}
		}
	}
	if d.index < 0 {
		return d, errNoAudio
	}
	return d, nil
}

func address(s *sdp.SessionDescription, m *sdp.MediaDescription) (netip.Addr, bool) {
	c := m.ConnectionInformation
	if c == nil {
		c = s.ConnectionInformation
	}
	if c == nil || c.Address == nil {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(c.Address.Address)
	if err != nil || addr.IsMulticast() {
		return netip.Addr{}, false
	}
	return addr.Unmap().WithZone(""), true
}

func streamDirection(s *sdp.SessionDescription, m *sdp.MediaDescription) direction {
	for _, attrs := range [][]sdp.Attribute{m.Attributes, s.Attributes} {
		for _, a := range attrs {
			switch d := direction(a.Key); d {
			case sendRecv, sendOnly, recvOnly, inactive:
				return d
			}
		}
	}
	return sendRecv
}

func formats(m *sdp.MediaDescription) (audio []payload, events uint8) {
	maps := map[string]string{} // payload type → lower-case encoding
	for _, a := range m.Attributes {
		if a.Key == "rtpmap" {
			if pt, enc, ok := strings.Cut(a.Value, " "); ok {
				maps[pt] = strings.ToLower(strings.TrimSpace(enc))
			}
		}
	}
	for _, f := range m.MediaName.Formats {
		pt, err := strconv.ParseUint(f, 10, 7)
		if err != nil {
			continue
		}
		enc, mapped := maps[f]
		enc = strings.TrimSuffix(enc, "/1")
		switch codec := encodings[enc]; {
		case codec != "":
			audio = append(audio, payload{codec, uint8(pt)})
		case !mapped && static[f] != "":
			audio = append(audio, payload{static[f], uint8(pt)})
		case enc == "telephone-event/8000" && events == 0:
			events = uint8(pt)
		}
	}
	return audio, events
}

// known is what the far end has of ours, in its own order.
func (d description) known(ours []string) []string {
	var list []string
	for _, p := range d.Audio {
		if slices.Contains(ours, p.Codec) {
			list = append(list, p.Codec)
		}
	}
	return list
}

// choose picks the first of our codecs, in our order, that the far end has too.
func (d description) choose(ours []string) (payload, error) {
	for _, name := range ours {
		for _, p := range d.Audio {
			if p.Codec == name {
				return p, nil
			}
		}
	}
	return payload{}, errNoCodec
}

// origin is our o= line; the version grows with every changed description (RFC 3264 §8).
type origin struct {
	ID, Version uint64
	Addr        netip.Addr
}

// eventsType is the payload type we offer telephone-event with; opusType the one for Opus.
const (
	eventsType = 101
	opusType   = 107
)

// offer writes a description with all our codecs in order, and our key for the stream; key nil = in the clear.
func offer(o origin, port uint16, codecs []string, dir direction, srtp string, key []byte) []byte {
	types := map[string]uint8{"pcmu": 0, "pcma": 8, "g722": 9, "opus": opusType}
	var audio []payload
	for _, c := range codecs {
		if t, ok := types[c]; ok {
			audio = append(audio, payload{c, t})
		}
	}
	var b strings.Builder
	header(&b, o)
	audioLine(&b, profile(srtp), port, audio, eventsType, dir, offered(key))
	return []byte(b.String())
}

// answer writes the answer to d: the chosen codec on its audio stream, with our key if it has one, every other stream refused.
func answer(d description, o origin, port uint16, chosen payload, dir direction, key []byte) []byte {
	var b strings.Builder
	header(&b, o)
	for i, m := range d.media {
		if i == d.index {
			var keys []keying
			if d.Crypto != nil {
				keys = []keying{{d.Crypto.Tag, d.Crypto.Suite, key}}
			}
			audioLine(&b, m.protos, port, []payload{chosen}, d.Events, dir, keys)
			continue
		}
		fmt.Fprintf(&b, "m=%s 0 %s %s\r\n", m.kind, m.protos, strings.Join(m.formats, " "))
	}
	return []byte(b.String())
}

func header(b *strings.Builder, o origin) {
	family := "IP4"
	if o.Addr.Is6() {
		family = "IP6"
	}
	fmt.Fprintf(b, "v=0\r\no=- %d %d IN %s %s\r\ns=-\r\nc=IN %s %s\r\nt=0 0\r\n", o.ID, o.Version, family, o.Addr, family, o.Addr)
}

func audioLine(b *strings.Builder, protos string, port uint16, audio []payload, events uint8, dir direction, keys []keying) {
	names := map[string]string{"pcmu": "PCMU/8000", "pcma": "PCMA/8000", "g722": "G722/8000", "opus": "opus/48000/2"}
	fmt.Fprintf(b, "m=audio %d %s", port, protos)
	for _, p := range audio {
		fmt.Fprintf(b, " %d", p.Type)
	}
	if events != 0 {
		fmt.Fprintf(b, " %d", events)
	}
	b.WriteString("\r\n")
	for _, p := range audio {
		fmt.Fprintf(b, "a=rtpmap:%d %s\r\n", p.Type, names[p.Codec])
	}
	if events != 0 {
		fmt.Fprintf(b, "a=rtpmap:%d telephone-event/8000\r\na=fmtp:%d 0-16\r\n", events, events)
	}
	for _, k := range keys {
		b.WriteString(k.line())
	}
	fmt.Fprintf(b, "a=ptime:20\r\na=%s\r\n", dir)
}
