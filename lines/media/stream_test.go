package media

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"testing"
	"time"

	"parley/audio"
	"parley/audio/rtp"
	"parley/lines"
)

func TestSendsAnUnbrokenFlow(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.step(3)
	k.play(flat(8031, 200))
	k.step(3)
	var last rtp.Header
	for i, b := range k.wire.out {
		h, payload, ok := rtp.Parse(b)
		if !ok || len(payload) != 160 || h.PayloadType != 0 || h.Marker != (i == 0) {
			t.Errorf("packet %d: %+v, %d bytes", i, h, len(payload))
		}
		if i > 0 && (h.Sequence != last.Sequence+1 || h.Timestamp != last.Timestamp+160 || h.SSRC != last.SSRC) {
			t.Errorf("packet %d: %+v after %+v", i, h, last)
		}
		last = h
	}
	pcm := k.sent()
	k.want("packets", len(pcm)/160, 6)
	k.want("silence before", pcm[479], int16(0))
	k.want("speech", pcm[480], int16(7932))
	k.want("its last sample", pcm[679], int16(7932))
	k.want("silence behind", pcm[680], int16(0))
	k.want("played", k.Played(), int64(200))
	k.want("events", k.kinds(), []lines.EventKind{lines.FirstOut, lines.PlayStart, lines.Drained})
}

func TestClearDropsWhatWasNotSent(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.want("first position", k.play(flat(1, 1000)), int64(0))
	k.want("second position", k.play(flat(2, 1000)), int64(1000))
	k.step(2)
	k.want("cleared at", k.Clear(), int64(320))
	k.want("cleared again at", k.Clear(), int64(320))
	k.step(1)
	k.want("no Drained after Clear", k.kinds(), []lines.EventKind{lines.FirstOut, lines.PlayStart})
	k.want("next position", k.play(flat(8031, 160)), int64(320))
	k.sent()
	k.step(1)
	k.want("new speech at once", k.sent()[0], int16(7932))
	k.want("played", k.Played(), int64(480))
	e := <-k.events
	k.want("kind", e.Kind, lines.PlayStart)
	k.want("its position", e.Pos, int64(320))
	e = <-k.events
	k.want("kind", e.Kind, lines.Drained)
	k.want("its position", e.Pos, int64(480))
}

func TestClearEndsAWaitingPlay(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.play(flat(1, 20*8000))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := k.Play(ctx, flat(2, 320))
		done <- err
	}()
	for !k.speech.waiting.Load() {
		k.p.random(2)
	}
	k.Clear()
	if err := <-done; err != nil {
		t.Error(err)
	}
	k.step(1)
	k.want("nothing of the rest", k.sent()[0], int16(0))
	k.play(flat(1, 20*8000))
	go func() {
		_, err := k.Play(ctx, flat(2, 320))
		done <- err
	}()
	for !k.speech.waiting.Load() {
		k.p.random(2)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestHearsInOrderWithoutHoles(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	frame := func(level int16) []byte { return mu(flat(level, 160)) }
	h := make([]rtp.Header, 8)
	for i := range h {
		h[i] = k.next()
	}
	for _, i := range []int{0, 2, 1, 3, 3, 5, 6, 7} { // 1 and 2 exchanged, 3 twice, 4 lost
		k.packet(h[i], frame(int16(100*(i+1))), phone)
		k.step(1)
	}
	pcm := k.hear()
	k.want("samples", len(pcm), 8*160)
	for i := range h {
		if i == 4 || i == 5 {
			continue // concealed, and faded in from concealment
		}
		if got := int(pcm[i*160+80]); got < 100*i+80 || got > 100*i+120 {
			t.Errorf("frame %d sounds like %d", i, got)
		}
	}
	if pcm[4*160+1] == 0 {
		t.Error("the hole was not filled")
	}
	s := k.Stats()
	k.want("lost", s.Lost, int64(1))
	k.want("late", s.Late, int64(1))
	k.want("received", s.Received, int64(8))
}

func TestSilenceStandsInForNothing(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.step(10)
	k.want("before the first packet", len(k.hear()), 0)
	k.say(flat(500, 320))
	k.step(int(longestGap/audio.FrameDur) + 30)
	if pcm := k.hear(); len(pcm) < 320+20*160 || pcm[len(pcm)-1] != 0 {
		t.Errorf("%d samples heard in 640 ms behind the longest gap", len(pcm))
	}
}

func TestOnePeerIsHeard(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.packet(rtp.Header{SSRC: 1, Sequence: 1}, mu(flat(900, 160)), stranger)
	k.packet(rtp.Header{SSRC: 1, Sequence: 1, PayloadType: 8}, mu(flat(900, 160)), phone)
	k.step(1)
	k.want("a stranger and a wrong payload", len(k.hear()), 0)
	k.say(flat(500, 160))
	k.want("the signalled peer", len(k.hear()), 160)
	k.want("latched to", k.wire.peer, phone)
	k.packet(rtp.Header{SSRC: 7, Sequence: k.seq + 1}, mu(flat(900, 160)), stranger)
	k.packet(rtp.Header{SSRC: 9, Sequence: 1}, mu(flat(900, 160)), phone)
	k.step(1)
	k.want("another source and another SSRC", len(k.hear()), 0)
	k.want("events", k.kinds(), []lines.EventKind{lines.Refused, lines.FirstIn})
	k.want("discarded", k.Stats().Discarded, int64(4))
	k.want("refused among them", k.Stats().Refused, int64(2))

	k.step(12)
	k.hear()
	k.packet(rtp.Header{SSRC: 9, Sequence: 50}, mu(flat(900, 160)), phone)
	k.step(1)
	k.want("the same phone with a new SSRC after a pause", len(k.hear()), 160)

	if err := k.Update(Config{Remote: stranger}); err != nil {
		t.Fatal(err)
	}
	k.step(1)
	k.hear()
	k.packet(rtp.Header{SSRC: 3, Sequence: 1}, mu(flat(900, 160)), stranger)
	k.step(1)
	k.want("the peer of a re-INVITE", len(k.hear()), 160)
	k.want("latched to", k.wire.peer, stranger)
}

// A phone may send from another port than it named; but when the named one speaks up, that is the peer.
func TestSignalledPortWins(t *testing.T) {
	other := netip.AddrPortFrom(phone.Addr(), 9999)
	k := newDesk(t, Config{}, nil)
	k.packet(rtp.Header{SSRC: 1, Sequence: 1}, mu(flat(900, 160)), other)
	k.step(1)
	k.say(flat(500, 160))
	k.want("both heard in turn", len(k.hear()), 320)
	k.packet(rtp.Header{SSRC: 1, Sequence: 2}, mu(flat(900, 160)), other)
	k.step(1)
	k.want("the other one is over", len(k.hear()), 0)
	k.want("latched to", k.wire.peer, phone)

	k = newDesk(t, Config{}, nil)
	for i := range 200 { // however long it took
		k.packet(rtp.Header{SSRC: 1, Sequence: uint16(i), Timestamp: uint32(i * 160)}, mu(flat(900, 160)), other)
		k.step(1)
	}
	k.hear()
	k.packet(k.next(), mu(flat(900, 160)), phone)
	k.step(1)
	k.want("taken back", len(k.hear()), 160)
	k.want("latched to", k.wire.peer, phone)
}

// A phone behind NAT writes an address that we cannot know. Then the address of its signalling counts, from any port, and
// nobody else's, whoever is first.
func TestPhoneBehindNAT(t *testing.T) {
	for _, private := range []string{"10.0.0.5:4000", "192.168.1.5:4000", "100.64.0.5:4000", "100.127.255.5:4000", "169.254.1.1:4000", "127.0.0.1:4000",
		"[fd00::5]:4000", "[::ffff:10.0.0.5]:4000"} {
		named := netip.MustParseAddrPort(private)
		unmapped := netip.AddrPortFrom(named.Addr().Unmap(), named.Port())
		k := newDesk(t, Config{Remote: named, Peer: phone.Addr()}, nil)
		k.want("sends nothing into our own network", k.wire.peer, phone)
		k.packet(rtp.Header{SSRC: 1, Sequence: 1}, mu(flat(900, 160)), stranger)
		k.step(1)
		k.want("a stranger who is first", len(k.hear()), 0)
		k.packet(rtp.Header{SSRC: 2, Sequence: 1}, mu(flat(900, 160)), netip.AddrPortFrom(phone.Addr(), 61234))
		k.packet(rtp.Header{SSRC: 1, Sequence: 2}, mu(flat(900, 160)), stranger)
		k.step(1)
		k.want("the peer's other port", len(k.hear()), 160)
		k.want("sends to", k.wire.peer, netip.AddrPortFrom(phone.Addr(), 61234))
		k.packet(rtp.Header{SSRC: 3, Sequence: 1}, mu(flat(900, 160)), phone)
		k.step(probeEvery)
		k.want("the named port takes over", k.wire.peer, phone)
		k.packet(rtp.Header{SSRC: 4, Sequence: 1}, mu(flat(900, 160)), unmapped)
		k.step(probeEvery)
		k.want("and the named address", k.wire.peer, unmapped)
		k.want("told once", k.kinds(), []lines.EventKind{lines.Refused, lines.FirstIn, lines.Gap, lines.GapOver, lines.Gap})
		k.want("refused", k.Stats().Refused, int64(2))
	}
	for _, public := range []string{"203.0.113.5:4000", "100.63.255.255:4000", "100.128.0.1:4000"} {
		k := newDesk(t, Config{Remote: netip.MustParseAddrPort(public), Peer: phone.Addr()}, nil)
		k.packet(rtp.Header{SSRC: 1, Sequence: 1}, mu(flat(900, 160)), netip.AddrPortFrom(phone.Addr(), 61234))
		k.step(1)
		k.want("no NAT, no other port", len(k.hear()), 0)
		k.packet(rtp.Header{SSRC: 1, Sequence: 1}, mu(flat(900, 160)), phone)
		k.step(1)
		k.want("the signalled port of the peer", len(k.hear()), 160)
	}
}

// Held in the old way (c=0.0.0.0) and without a known peer nobody is heard: not even whoever comes first.
func TestNobodyIsHeardUnannounced(t *testing.T) {
	k := newDesk(t, Config{Remote: netip.MustParseAddrPort("10.0.0.5:4000")}, nil)
	for range 5 {
		k.packet(rtp.Header{SSRC: 1, Sequence: 1}, mu(flat(900, 160)), stranger)
		k.step(1)
	}
	k.want("heard", len(k.hear()), 0)
	k.want("sends to", k.wire.peer, netip.MustParseAddrPort("10.0.0.5:4000"))
}

// A stranger who floods does not cost the call its sound: the system refuses him then.
func TestFloodShutsTheSocket(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.say(flat(500, 160))
	for range nuisance {
		k.packet(rtp.Header{SSRC: 1, Sequence: 1}, mu(flat(900, 160)), stranger)
	}
	k.want("not before", k.wire.only, false)
	k.step(10 * probeEvery)
	k.want("shut to others", k.wire.only, true)
	if err := k.Update(Config{Remote: stranger}); err != nil {
		t.Fatal(err)
	}
	k.step(1)
	k.want("open again for a new description", k.wire.only, false)
}

func TestDigits(t *testing.T) {
	k := newDesk(t, Config{DTMFPayload: 101}, nil)
	if err := k.SendDigits("1wD"); err != nil {
		t.Fatal(err)
	}
	k.play(flat(8031, 160))
	k.step(10 + 25 + 10 + 1)
	far := newDesk(t, Config{DTMFPayload: 101}, nil)
	events, audioAt := 0, -1
	for i, b := range k.wire.out {
		h, payload, _ := rtp.Parse(b)
		if h.PayloadType == 101 {
			events++
		} else if payload[0] != audio.MuLawSilence && audioAt < 0 {
			audioAt = i
		}
		far.wire.in = append(far.wire.in, letter{b, phone})
		far.step(1)
	}
	k.want("event packets", events, 16)
	k.want("speech after the digits", audioAt, 45)
	var keys []byte
	for len(far.events) > 0 {
		if e := <-far.events; e.Kind == lines.Digit {
			keys = append(keys, e.Digit)
		}
	}
	k.want("keys", string(keys), "1D")
	if k.SendDigits("x") == nil || newDesk(t, Config{}, nil).SendDigits("1") == nil {
		t.Error("a wrong key, or a far end without telephone events, was taken")
	}
}

func TestHold(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.play(flat(8031, 800))
	k.step(1)
	_ = k.Update(Config{Remote: phone, Direction: RecvOnly})
	k.step(5)
	k.want("packets sent", len(k.wire.out), 1)
	k.want("played", k.Played(), int64(160))
	_ = k.Update(Config{Remote: phone})
	k.step(5)
	k.want("played in all", k.Played(), int64(800))
	k.want("events", k.kinds(), []lines.EventKind{lines.FirstOut, lines.PlayStart, lines.HeldOn, lines.HeldOff, lines.Drained})
}

func TestCodecChange(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	_ = k.Update(Config{Remote: phone, Codec: G722})
	k.step(1)
	var far codec
	far.init(&Config{Codec: G722}, 16000)
	pcm, payload, wide := make([]int16, 320), make([]byte, 160), make([]int16, 320)
	tone := make([]int16, 8000)
	audio.GenSignal(tone, 8000, 0, audio.Tone{Hz: 700, Level: 0.3})
	k.play(tone)
	k.wire.out = nil
	var got []int16
	for i := range 50 {
		audio.GenSignal(pcm, 16000, int64(i*320), audio.Tone{Hz: 1000, Level: 0.3})
		far.encode(payload, pcm)
		h := k.next()
		h.PayloadType = 9
		k.packet(h, payload, phone)
		k.step(1)
		_, sent, _ := rtp.Parse(k.wire.out[i])
		got = append(got, far.decode(wide, sent)...)
	}
	heard := k.hear()
	if n := len(heard); n < 7900 || n > 8000 {
		t.Errorf("%d samples at 8 kHz for one second", n)
	}
	if l := audio.FindSignal(heard[2000:], 8000, 1000)[0].Level; l < 0.28 || l > 0.32 {
		t.Errorf("1000 Hz heard at %.3f", l)
	}
	if l := audio.FindSignal(got[4000:], 16000, 700)[0].Level; l < 0.28 || l > 0.32 {
		t.Errorf("700 Hz sent at %.3f", l)
	}
}

func TestMediaTimeout(t *testing.T) {
	over := make(chan error, 2)
	k := newDesk(t, Config{OnTimeout: func(err error) { over <- err }}, nil)
	k.say(flat(0, 160))
	k.step(1400)
	k.want("after 28 s", len(over), 0)
	k.step(200)
	if err := <-over; err != lines.ErrMediaTimeout {
		t.Error(err)
	}
	held := newDesk(t, Config{Direction: SendOnly, OnTimeout: func(err error) { over <- err }}, nil)
	held.step(1600)
	k.want("once, and not on hold", len(over), 0)
}

func TestReports(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.say(flat(100, 160*700)) // 14 s
	if n := len(k.rtcp.out); n < 2 || n > 6 {
		t.Errorf("%d reports in 14 s", n)
	}
	last := k.rtcp.out[len(k.rtcp.out)-1]
	ssrc := k.out.header.SSRC
	if last[1] != 200 || binary.BigEndian.Uint32(last[4:]) != ssrc || binary.BigEndian.Uint32(last[28:]) != 7 {
		t.Errorf("report % x", last)
	}
	// The far end answers: its report block names the middle of our NTP time and a delay of 1 s.
	answer := append([]byte{0x81, 201, 0, 7}, make([]byte, 28)...)
	binary.BigEndian.PutUint32(answer[4:], 7)
	binary.BigEndian.PutUint32(answer[8:], ssrc)
	then := k.now.Add(-1300 * time.Millisecond).UnixNano()
	binary.BigEndian.PutUint32(answer[24:], uint32((then/1e9+2208988800)<<16)|uint32(then%1e9<<16/1e9))
	binary.BigEndian.PutUint32(answer[28:], 65536)
	k.rtcp.in = append(k.rtcp.in, letter{answer, netip.AddrPortFrom(stranger.Addr(), 4001)}, letter{answer, netip.AddrPortFrom(phone.Addr(), 4001)})
	k.step(25) // the RTCP socket is read twice a second
	if r := k.RoundTrip(); r < 300*time.Millisecond || r > 810*time.Millisecond {
		t.Errorf("round trip %v", r)
	}
	k.finish(k.p, k.now)
	bye := k.rtcp.out[len(k.rtcp.out)-1]
	k.want("BYE", bye[len(bye)-7], byte(203))
	if _, err := k.Hear(t.Context(), make([]int16, 1<<17)); err != nil {
		t.Errorf("what was heard before the end: %v", err)
	}
	if _, err := k.Hear(t.Context(), make([]int16, 10)); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	if _, err := k.Play(t.Context(), flat(1, 10)); err != io.EOF {
		t.Errorf("Play after the end: %v", err)
	}
}

func TestEventsNeverBlock(t *testing.T) {
	k := newDesk(t, Config{DTMFPayload: 101}, nil)
	for i := range 300 {
		k.packet(rtp.Header{PayloadType: 101, Sequence: uint16(i), Timestamp: uint32(i * 1600), SSRC: 7}, []byte{byte(i % 10), 10, 1, 0}, phone)
		k.step(1)
	}
	var last lines.Event
	for len(k.events) > 0 {
		last = <-k.events
	}
	k.want("the newest event survives", last.Digit, byte('9'))
	k.want("dropped", k.count.dropped.Load(), int64(301-eventRoom))
}

// Keys as sound: both tones, with gaps, and nothing else is said meanwhile. Keys by signalling: told once each, in silence.
func TestKeysTheOtherWays(t *testing.T) {
	k := newDesk(t, Config{Keys: KeyTones}, nil)
	if err := k.SendDigits("5w#"); err != nil {
		t.Fatal(err)
	}
	k.play(flat(8031, 8000))
	k.step(10 + 25 + 10)
	pcm := k.sent()
	for at, key := range map[int]byte{0: '5', 35 * 160: '#'} {
		pair, _ := audio.DTMF(key, 0)
		for _, tone := range pair {
			if level := audio.FindSignal(pcm[at:at+800], 8000, tone.Hz)[0].Level; level < toneLevel*0.9 || level > toneLevel*1.1 {
				t.Errorf("%c: %v Hz at a level of %v", key, tone.Hz, level)
			}
		}
	}
	k.want("the gap", pcm[9*160], int16(0))
	k.step(1)
	k.want("speech goes on", k.sent()[0], int16(7932))

	told := make(chan byte, 2)
	k = newDesk(t, Config{Keys: KeysSignalled, OnKey: func(key byte) { told <- key }}, nil)
	if err := k.SendDigits("7"); err != nil {
		t.Fatal(err)
	}
	k.step(10)
	k.want("told", <-told, byte('7'))
	k.want("once", len(told), 0)
	k.want("in silence", k.sent()[80], int16(0))
}

// A far end that tells of a key in two ways pressed it once; the same key twice in one way is two.
func TestOnePressToldTwice(t *testing.T) {
	k := newDesk(t, Config{DTMFPayload: 101}, nil)
	event := func(at uint32) {
		h, b := k.next(), make([]byte, rtp.EventLen)
		h.PayloadType, h.Timestamp = 101, at
		rtp.Event{Code: 5, Duration: 160}.Put(b)
		k.packet(h, b, phone)
		k.step(1)
	}
	event(1000)
	k.Press('5')
	k.step(30)
	k.Press('5')
	k.step(1)
	k.Press('5')
	k.step(30)
	event(9000)
	k.Press('6')
	k.step(1)
	var keys []byte
	for len(k.events) > 0 {
		if e := <-k.events; e.Kind == lines.Digit {
			keys = append(keys, e.Digit)
		}
	}
	k.want("keys", string(keys), "55556")
}
