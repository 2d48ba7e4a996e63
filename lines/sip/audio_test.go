package sip

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/lines"
	"parley/lines/linetest"
)

// connected is a call between two servers with the given codec.
func connected(t *testing.T, codec string) (out, in lines.Leg) {
	t.Helper()
	p := plane(t)
	taken := make(chan lines.Leg, 1)
	b := serve(t, Config{Media: p, Open: true, OnCall: func(l lines.Leg) { _ = l.Answer(context.Background()); taken <- l }})
	a := serve(t, Config{Media: p, Default: &Trunk{Address: "127.0.0.1", Port: int(b.sockets[0].local.Port()), Codecs: []string{codec}}})
	out, err := a.Dial(t.Context(), lines.Destination{To: "205", From: "100", RingFor: patience}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out, receive(t, taken, "inbound leg")
}

func TestSound(t *testing.T) {
	t.Parallel()
	out, in := connected(t, "pcmu")
	linetest.Legs(t, out, in, linetest.Options{})
}

func TestCodecs(t *testing.T) {
	t.Parallel()
	for codec, hz := range map[string]int{"pcma": 8000, "g722": 16000} {
		out, in := connected(t, codec)
		if out.Media().Rate() != hz || in.Media().Rate() != hz {
			t.Errorf("%s at %d Hz", codec, out.Media().Rate())
		}
		linetest.Play(t, out.Media(), 500, 500*time.Millisecond)
		linetest.Play(t, in.Media(), 700, 500*time.Millisecond)
		linetest.Hears(t, in.Media(), 500, 0.2)
		linetest.Hears(t, out.Media(), 700, 0.2)
	}
}

func TestHoldIsNoticed(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	leg, _ := p.established(legs)
	p.send(p.request("INVITE", "205", p.sdp("a=sendonly")))
	p.expect("200 OK")
	p.send(p.request("ACK", "205", ""))
	linetest.Event(t, leg.Media(), lines.HeldOn)
	p.send(p.request("UPDATE", "205", p.sdp()))
	p.expect("200 OK")
	linetest.Event(t, leg.Media(), lines.HeldOff)
}

// TestAudioMoves: a re-INVITE names another address, and the sound follows.
func TestAudioMoves(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	leg, _ := p.established(legs)
	other := newPhone(t, s)
	p.send(p.request("INVITE", "205", strings.ReplaceAll(p.sdp(), " "+port(p)+" ", " "+port(other)+" ")))
	p.expect("200 OK")
	p.send(p.request("ACK", "205", ""))
	linetest.Play(t, leg.Media(), 440, time.Second)
	b := make([]byte, 2000)
	_ = other.conn.SetReadDeadline(time.Now().Add(patience))
	if n, err := other.conn.Read(b); err != nil || n != 172 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func port(p *phone) string { _, port, _ := strings.Cut(p.addr(), ":"); return port }

// The phone's description names an address behind NAT: whoever is first to send gets no sound and is not heard, the phone is.
//
// Contract: 10.7
func TestAudioOfStrangers(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	p.send(p.request("INVITE", "205", strings.ReplaceAll(p.sdp(), "c=IN IP4 127.0.0.1", "c=IN IP4 100.64.1.1")))
	p.expect("200 OK")
	p.send(p.request("ACK", "205", ""))
	leg := receive(t, legs, "leg")
	ours := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(leg.(*Leg).audio.port.LocalPort()))
	stranger, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	packet := make([]byte, 12+160)
	packet[0] = 0x80
	if _, err := stranger.WriteToUDPAddrPort(packet, ours); err != nil {
		t.Fatal(err)
	}
	linetest.Event(t, leg.Media(), lines.Refused)
	if _, err := p.conn.WriteToUDPAddrPort(packet, ours); err != nil {
		t.Fatal(err)
	}
	linetest.Event(t, leg.Media(), lines.FirstIn)
	linetest.Play(t, leg.Media(), 440, 300*time.Millisecond)
	linetest.Event(t, leg.Media(), lines.Drained)
	b := make([]byte, 2000)
	if n, err := p.conn.Read(b); err != nil || n == 0 {
		t.Errorf("the phone hears nothing: %v", err)
	}
	_ = stranger.SetReadDeadline(time.Now())
	if n, err := stranger.Read(b); err == nil {
		t.Errorf("the stranger hears %d bytes", n)
	}
	if got := leg.Media().Stats().Refused; got != 1 {
		t.Errorf("%d packets refused", got)
	}
}

// TestDeadAir: a far end that sends nothing is hung up on.
func TestDeadAir(t *testing.T) {
	t.Parallel()
	legs := make(chan lines.Leg, 1)
	s := serve(t, Config{Open: true, OnCall: func(l lines.Leg) { _ = l.Answer(context.Background()); legs <- l }},
		func(s *Server) { s.deadAir = 300 * time.Millisecond })
	p := newPhone(t, s)
	leg, _ := p.established(legs)
	p.send(p.answer(p.expect("BYE"), "200 OK"))
	receive(t, leg.Done(), "end")
	if leg.End() != (lines.End{Err: lines.ErrMediaTimeout}) {
		t.Errorf("%+v", leg.End())
	}
}
