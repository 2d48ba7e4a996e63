package sip

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"

	"parley/lines/media"
)

// sound is the media side of a leg: its port, what was negotiated, and the stream once it runs.
// It belongs to the goroutine of the leg.
type sound struct {
	s      *Server
	port   *media.Port
	stream *media.Stream
	codecs []string // ours, in order of preference
	picky  bool     // that order was asked for; otherwise an offer's own order counts
	origin origin
	chosen payload
	peer   description // the far end's last description
	local  []byte      // our last description
	dir    direction   // ours
	from   netip.Addr  // where the far end's signalling comes from
	trunk  Trunk
	key    []byte // ours; nil = no encryption
	opus   struct {
		enc media.Encoder
		dec media.Decoder
	}
	infos     bool // the far end takes INFO
	onTimeout func(error)
	onKey     func(key byte) // sends a key by INFO
}

// newAudio takes an RTP port at bind for a call of t; host is the address the far end is told.
func (s *Server) newAudio(bind, host netip.Addr, t Trunk) (*sound, error) {
	port, err := s.cfg.Media.Allocate(bind)
	if err != nil {
		return nil, err
	}
	a := &sound{s: s, port: port, codecs: t.codecs(s.codecs()), picky: len(t.Codecs) > 0, dir: sendRecv, trunk: t,
		origin: origin{ID: uint64(rand.Int64N(1 << 53)), Addr: host}}
	if t.SRTP == srtpOffered || t.SRTP == srtpRequired {
		a.key = newKey()
	}
	return a, nil
}

// close ends the stream and frees the port.
func (a *sound) close() {
	if a.stream != nil {
		a.stream.Close()
	} else {
		a.port.Close()
	}
	for _, coder := range []any{a.opus.enc, a.opus.dec} { // memory outside of Go's
		if c, ok := coder.(io.Closer); ok {
			_ = c.Close()
		}
	}
}

// offer describes what we want. A running stream keeps its codec.
func (a *sound) offer() []byte {
	if a.local == nil {
		a.origin.Version++
		a.local = offer(a.origin, uint16(a.port.LocalPort()), a.codecs, sendRecv, a.trunk.SRTP, a.key)
	}
	return a.local
}

// answer reads an offer and describes what we take of it.
func (a *sound) answer(body []byte) ([]byte, error) {
	d, err := parseSDP(body, a.trunk.SRTP)
	if err != nil {
		return nil, err
	}
	chosen, err := d.choose(a.preferred(d))
	if err != nil {
		return nil, err
	}
	dir := d.Dir.answer()
	if d.Addr.Addr().IsUnspecified() && dir == sendRecv {
		dir = recvOnly
	}
	a.adopt(d, chosen, dir)
	reply := answer(d, a.origin, uint16(a.port.LocalPort()), chosen, dir, a.key)
	if string(reply) != string(a.local) {
		a.origin.Version++
		reply = answer(d, a.origin, uint16(a.port.LocalPort()), chosen, dir, a.key)
	}
	a.local = reply
	return reply, nil
}

// accept reads the far end's answer to our offer.
func (a *sound) accept(body []byte) error {
	d, err := parseSDP(body, a.trunk.SRTP)
	if err != nil {
		return err
	}
	if len(d.Audio) == 0 {
		return errNoCodec
	}
	if k := d.Crypto; k != nil && (k.Tag < 1 || k.Tag > len(suites) || suites[k.Tag-1] != k.Suite) {
		return errNoAudio // not one of those we offered
	}
	chosen, err := d.choose([]string{d.Audio[0].Codec}) // the first of an answer is the one it will send
	if err != nil || !slices.Contains(a.codecs, chosen.Codec) {
		return errNoCodec
	}
	a.adopt(d, chosen, d.Dir.answer())
	return nil
}

// preferred puts the running codec first: a far end that only moves or holds keeps it, and a stream never changes its rate.
func (a *sound) preferred(d description) []string {
	ours := a.codecs
	if !a.picky {
		ours = d.known(ours)
	}
	if a.stream == nil {
		return ours
	}
	list := []string{a.chosen.Codec}
	for _, c := range ours {
		if c != a.chosen.Codec && codecs[c].Rate() == codecs[a.chosen.Codec].Rate() {
			list = append(list, c)
		}
	}
	return list
}

func (a *sound) adopt(d description, chosen payload, dir direction) {
	if d.Addr.Addr().IsUnspecified() && a.peer.Addr.IsValid() {
		d.Addr = a.peer.Addr // on hold in the old way: where it was stays known
	}
	a.peer, a.chosen, a.dir = d, chosen, dir
}

var codecs = map[string]media.Codec{"pcmu": media.PCMU, "pcma": media.PCMA, "g722": media.G722, "opus": media.Opus}

var directions = map[direction]media.Direction{sendRecv: media.SendRecv, sendOnly: media.SendOnly, recvOnly: media.RecvOnly,
	inactive: media.Inactive}

// keys is how keys are sent: as the trunk has it, or else the first way that the far end takes.
func (a *sound) keys() media.KeyWay {
	switch a.trunk.DTMF {
	case "rfc4733":
		return media.KeyEvents
	case "info":
		return media.KeysSignalled
	case "inband":
		return media.KeyTones
	}
	switch {
	case a.peer.Events != 0:
		return media.KeyEvents
	case a.infos:
		return media.KeysSignalled
	}
	return media.KeyTones
}

// apply starts the stream, or changes the running one, as negotiated.
func (a *sound) apply() error {
	cfg := media.Config{Codec: codecs[a.chosen.Codec], PayloadType: a.chosen.Type, DTMFPayload: a.peer.Events, DTMFClock: 8000,
		Remote: a.peer.Addr, Peer: a.from, Direction: directions[a.dir], Timeout: a.s.deadAir, OnTimeout: a.onTimeout,
		Crypto: a.crypto(), Sources: a.trunk.MediaFrom, Echo: true, Keys: a.keys(), OnKey: a.onKey}
	if a.peer.Addr.Addr().IsUnspecified() {
		cfg.Remote = netip.AddrPort{}
	}
	if cfg.Codec == media.Opus {
		if a.opus.enc == nil {
			var err error
			if a.opus.enc, a.opus.dec, err = a.s.cfg.Opus(); err != nil {
				return fmt.Errorf("opus: %w", err)
			}
		}
		cfg.Encoder, cfg.Decoder = a.opus.enc, a.opus.dec
	}
	if a.stream != nil {
		return a.stream.Update(cfg)
	}
	var err error
	a.stream, err = a.s.cfg.Media.Open(a.port, cfg)
	return err
}
