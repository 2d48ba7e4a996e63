package media

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/pion/srtp/v3"

	"parley/audio/rtp"
	"parley/lines"
)

func key(b byte) []byte { return bytes.Repeat([]byte{b}, CryptoKeyLen) }

// otherEnd is the other end of an encrypted call.
func otherEnd(t *testing.T, c Crypto) (out, in *srtp.Context) {
	t.Helper()
	out, err := srtp.CreateContext(c.Remote[:16], c.Remote[16:], cryptoSuites[c.Suite])
	if err != nil {
		t.Fatal(err)
	}
	if in, err = srtp.CreateContext(c.Local[:16], c.Local[16:], cryptoSuites[c.Suite]); err != nil {
		t.Fatal(err)
	}
	return out, in
}

// sealed is a packet of the far end on the wire.
func sealed(t *testing.T, x *srtp.Context, h rtp.Header, payload []byte) []byte {
	t.Helper()
	b := make([]byte, rtp.HeaderLen)
	h.Put(b)
	b, err := x.EncryptRTP(nil, append(b, payload...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Sound goes encrypted both ways, reports too; what is in the clear, sealed with another key, or came before is not heard.
func TestEncrypted(t *testing.T) {
	for suite := range cryptoSuites {
		c := Crypto{Suite: suite, Local: key(1), Remote: key(2)}
		k := newDesk(t, Config{Crypto: &c}, nil)
		out, in := otherEnd(t, c)
		wrong, _ := otherEnd(t, Crypto{Suite: suite, Local: key(1), Remote: key(3)})
		k.packet(k.next(), mu(flat(500, 160)), phone) // in the clear
		k.wire.in = append(k.wire.in, letter{sealed(t, wrong, k.next(), mu(flat(500, 160))), phone})
		k.step(2)
		k.want("heard of strangers", len(k.hear()), 0)
		k.want("latched to nobody", k.in.latched, false)
		h := k.next()
		good := sealed(t, out, h, mu(flat(8031, 160)))
		k.wire.in = append(k.wire.in, letter{good, phone}, letter{good, phone})
		k.wire.out = nil
		k.play(flat(8031, 160))
		k.step(1)
		if pcm := k.hear(); len(pcm) != 160 || pcm[80] != 7932 {
			t.Errorf("%s: heard %d samples", suite, len(pcm))
		}
		k.want("played again", k.Stats().Received, int64(1))
		plain, err := in.DecryptRTP(nil, k.wire.out[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, payload, ok := rtp.Parse(plain); !ok || !bytes.Equal(payload, mu(flat(8031, 160))) {
			t.Errorf("%s: sent % x", suite, payload)
		}
		if bytes.Contains(k.wire.out[0], mu(flat(8031, 160))) {
			t.Errorf("%s: sent in the clear", suite)
		}
		k.step(60) // a report is due
		report, err := in.DecryptRTCP(nil, k.rtcp.out[0], nil)
		if err != nil || !rtp.IsRTCP(report) {
			t.Errorf("%s: report %v", suite, err)
		}
	}
}

// A re-INVITE with the same keys goes on where the stream was; one with other keys is heard with those, and none means none.
func TestKeysChange(t *testing.T) {
	c := Crypto{Suite: "AES_CM_128_HMAC_SHA1_80", Local: key(1), Remote: key(2)}
	k := newDesk(t, Config{Crypto: &c}, nil)
	out, in := otherEnd(t, c)
	say := func(x *srtp.Context) int {
		k.wire.in = append(k.wire.in, letter{sealed(t, x, k.next(), mu(flat(500, 160))), phone})
		k.hear()
		k.step(1)
		return len(k.hear())
	}
	k.want("before", say(out), 160)
	old := k.cipher
	again := *k.wanted.Load()
	again.Crypto = &Crypto{Suite: c.Suite, Local: key(1), Remote: key(2)}
	_ = k.Update(again)
	k.want("the same keys", say(out), 160)
	k.want("go on", k.cipher.in == old.in && k.cipher.out == old.out, true)
	again.Crypto = &Crypto{Suite: c.Suite, Local: key(1), Remote: key(4)}
	_ = k.Update(again)
	next, _ := otherEnd(t, *again.Crypto)
	k.want("another key", say(next), 160)
	k.want("ours goes on", k.cipher.out == old.out, true)
	for _, b := range k.wire.out {
		if _, err := in.DecryptRTP(nil, b, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Update(Config{Remote: phone, Crypto: &Crypto{Suite: "NULL", Local: key(1), Remote: key(1)}}); err == nil {
		t.Error("an unknown suite was taken")
	}
}

// A carrier's other machines are heard where its networks are known, and we go on sending where it said.
func TestSplitMedia(t *testing.T) {
	gateway := netip.MustParseAddrPort("198.51.100.9:7000")
	k := newDesk(t, Config{Peer: netip.MustParseAddr("192.0.2.1"), Sources: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}, nil)
	k.packet(k.next(), mu(flat(500, 160)), netip.MustParseAddrPort("203.0.113.1:7000"))
	k.packet(k.next(), mu(flat(500, 160)), gateway)
	k.step(2)
	k.want("heard", len(k.hear()) >= 160, true)
	k.want("refused", k.Stats().Refused, int64(1))
	k.want("sent to", k.wire.peer, phone)
	k.packet(rtp.Header{Sequence: 9, SSRC: 8}, mu(flat(500, 160)), phone)
	k.step(1)
	k.want("the signalled one is believed more", k.in.peer, phone)
	k.want("events", k.kinds(), []lines.EventKind{lines.Refused, lines.FirstIn})
}

// BenchmarkEncrypted is what encryption adds to a packet sent and one received: 160 bytes of sound each.
func BenchmarkEncrypted(b *testing.B) {
	for suite := range cryptoSuites {
		b.Run(suite, func(b *testing.B) {
			ours, err := newCipher(&Crypto{Suite: suite, Local: key(1), Remote: key(1)}, nil) // hears itself
			if err != nil {
				b.Fatal(err)
			}
			packet, wire := make([]byte, rtp.HeaderLen+160), make([]byte, 0, maxPacket)
			b.ReportAllocs()
			for i := range b.N {
				rtp.Header{Sequence: uint16(i), Timestamp: uint32(i) * 160, SSRC: 7}.Put(packet)
				wire = append(wire[:0], ours.seal(packet)...)
				if _, ok := ours.open(wire); !ok {
					b.Fatal("not opened")
				}
			}
		})
	}
}
