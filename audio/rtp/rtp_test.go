package rtp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	pion "github.com/pion/rtp"

	"github.com/pion/rtcp"
)

func TestHeaderAgainstPion(t *testing.T) {
	h := Header{PayloadType: 101, Marker: true, Sequence: 65535, Timestamp: 0xDEADBEEF, SSRC: 0x01020304}
	b := make([]byte, HeaderLen, 20)
	h.Put(b)
	b = append(b, 1, 2, 3)
	var p pion.Packet
	if err := p.Unmarshal(b); err != nil || p.PayloadType != 101 || !p.Marker || p.SequenceNumber != 65535 || p.Timestamp != 0xDEADBEEF || p.SSRC != 0x01020304 || len(p.Payload) != 3 {
		t.Errorf("read as %v, %v", p.Header, err)
	}
	p.CSRC = []uint32{1, 2}
	p.PaddingSize, p.Padding = 4, true
	if err := p.SetExtension(1, []byte{9, 9}); err != nil {
		t.Fatal(err)
	}
	full, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, payload, ok := Parse(full)
	if !ok || got != h || !bytes.Equal(payload, []byte{1, 2, 3}) {
		t.Errorf("parsed %v %v %v", got, payload, ok)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"short":           make([]byte, 11),
		"version 1":       append([]byte{0x40}, make([]byte, 20)...),
		"missing sources": append([]byte{0x8F}, make([]byte, 20)...),
		"long extension":  append([]byte{0x90}, bytes.Repeat([]byte{0xFF}, 20)...),
		"no padding":      append([]byte{0xA0}, make([]byte, 20)...),
		"long padding":    append([]byte{0xA0}, bytes.Repeat([]byte{0xFF}, 20)...),
	} {
		if _, _, ok := Parse(b); ok {
			t.Errorf("%s was taken", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{0xB1, 0x80, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0xBE, 0xDE, 0, 0, 7, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, payload, ok := Parse(b)
		var keys Keys
		keys.Hear(h, payload)
		var want pion.Packet
		if err := want.Unmarshal(b); err == nil && want.Version == 2 && ok {
			if want.SequenceNumber != h.Sequence || want.SSRC != h.SSRC || want.PayloadType != h.PayloadType {
				t.Errorf("parsed %v, pion %v", h, want.Header)
			}
		}
	})
}

func FuzzHearReport(f *testing.F) {
	var r Reception
	r.Packet(Header{SSRC: 7, Sequence: 1}, 0)
	f.Add(AppendReport(nil, Sending{SSRC: 9, Packets: 1}, &r, "name", time.Unix(1, 0), true))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Reception
		r.Packet(Header{SSRC: 7, Sequence: 1}, 0)
		r.HearReport(b, 9, time.Unix(2, 0))
		var e Event
		e, _ = ParseEvent(b)
		if e.Key() == 0 && e.Code < 16 {
			t.Error("key 0")
		}
	})
}

// order runs sequence numbers through Order and writes down what comes out: a number, or x for a lost packet.
func order(seqs ...uint16) string {
	var o Order
	var out []string
	take := func(h Header, payload []byte, lost int) {
		for range lost {
			out = append(out, "x")
		}
		if payload[0] != byte(h.Sequence) {
			out = append(out, "wrong payload")
		}
		out = append(out, fmt.Sprint(h.Sequence))
	}
	for _, s := range seqs {
		h, payload := Header{Sequence: s}, []byte{byte(s)}
		switch o.Push(h, payload) {
		case Now:
			take(h, payload, 0)
		case Late:
			out = append(out, fmt.Sprintf("(%d)", s))
		}
		for {
			h, payload, lost, ok := o.Pop(false)
			if !ok {
				break
			}
			take(h, payload, lost)
		}
	}
	for o.Waiting() {
		h, payload, lost, _ := o.Pop(true)
		take(h, payload, lost)
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		in   []uint16
		want string
	}{
		{[]uint16{1, 2, 3}, "1 2 3"},
		{[]uint16{1, 3, 2, 4}, "1 2 3 4"},
		{[]uint16{1, 4, 3, 2, 5}, "1 x 3 4 (2) 5"},
		{[]uint16{1, 3, 4, 5}, "1 x 3 4 5"},
		{[]uint16{1, 3, 4, 2, 5}, "1 x 3 4 (2) 5"},
		{[]uint16{1, 1, 2, 2}, "1 (1) 2 (2)"},
		{[]uint16{1, 3, 3, 2}, "1 (3) 2 3"},
		{[]uint16{65534, 0, 65535, 1}, "65534 65535 0 1"},
		{[]uint16{1, 5}, "1 x x x 5"},
		{[]uint16{10, 5000, 5001}, "10 5000 5001"},
		{[]uint16{5000, 10, 11}, "5000 10 11"},
		{[]uint16{1, 4, 6, 7}, "1 x x 4 x 6 7"},
	} {
		if got := order(c.in...); got != c.want {
			t.Errorf("%v came out as %q, want %q", c.in, got, c.want)
		}
	}
}

func TestKeysOncePerPress(t *testing.T) {
	var keys Keys
	var heard []byte
	ts := uint32(4294967000)
	for _, digit := range "112#" {
		p, ok := NewPress(byte(digit), ts)
		if !ok {
			t.Fatalf("no code for %c", digit)
		}
		sent := 0
		for over := false; !over; ts += 160 {
			var e Event
			var at uint32
			var marker, send bool
			if e, at, marker, send, over = p.Step(160); !send {
				continue
			}
			sent++
			if wantEnd := sent >= 6; e.End != wantEnd || e.Duration != uint16(min(sent, 6)*160) {
				t.Errorf("packet %d: %+v", sent, e)
			}
			payload := make([]byte, EventLen)
			e.Put(payload)
			for range 2 { // the network doubles it
				if key := keys.Hear(Header{Timestamp: at, Marker: marker}, payload); key != 0 {
					heard = append(heard, key)
				}
			}
		}
		if sent != 8 {
			t.Errorf("%d packets for one press", sent)
		}
	}
	if string(heard) != "112#" {
		t.Errorf("heard %q", heard)
	}
}

func TestPressTiming(t *testing.T) {
	for key, want := range map[byte]int{'5': 10, 'w': 25} {
		p, _ := NewPress(key, 0)
		frames := 0
		for over := false; !over; frames++ {
			_, _, _, _, over = p.Step(160)
		}
		if frames != want {
			t.Errorf("%c takes %d frames, want %d", key, frames, want)
		}
	}
	if _, ok := NewPress('x', 0); ok {
		t.Error("x is a key")
	}
}

func TestLongPress(t *testing.T) {
	var keys Keys
	payload := make([]byte, EventLen)
	Event{Code: 3, Duration: 0xFFFF}.Put(payload)
	if keys.Hear(Header{Timestamp: 100, Marker: true}, payload) != '3' {
		t.Error("no press")
	}
	Event{Code: 3, Duration: 160}.Put(payload)
	if keys.Hear(Header{Timestamp: 100 + 0xFFFF}, payload) != 0 {
		t.Error("the second segment of a press was taken for another")
	}
}

func TestReportAgainstPion(t *testing.T) {
	var r Reception
	for seq := range uint16(10) {
		if seq != 4 {
			r.Packet(Header{SSRC: 77, Sequence: 65530 + seq, Timestamp: uint32(seq) * 160}, uint32(seq)*160+uint32(seq%2)*40)
		}
	}
	now := time.Unix(1700000000, 500_000_000)
	b := AppendReport(nil, Sending{SSRC: 5, Timestamp: 1600, Packets: 10, Octets: 1600}, &r, "parley", now, true)
	packets, err := rtcp.Unmarshal(b)
	if err != nil || len(packets) != 3 {
		t.Fatalf("%v: %v", packets, err)
	}
	sr := packets[0].(*rtcp.SenderReport)
	block := sr.Reports[0]
	if sr.SSRC != 5 || sr.PacketCount != 10 || sr.OctetCount != 1600 || sr.RTPTime != 1600 || sr.NTPTime>>32 != 1700000000+2208988800 || sr.NTPTime&0xFFFFFFFF != 1<<31 {
		t.Errorf("sender report %+v", sr)
	}
	if block.SSRC != 77 || block.TotalLost != 1 || block.FractionLost != 25 || block.LastSequenceNumber != 65536+3 || block.Jitter == 0 || block.Jitter > 40 {
		t.Errorf("report block %+v", block)
	}
	if sdes := packets[1].(*rtcp.SourceDescription); sdes.Chunks[0].Items[0].Text != "parley" {
		t.Errorf("%+v", sdes)
	}
	if bye := packets[2].(*rtcp.Goodbye); bye.Sources[0] != 5 {
		t.Errorf("%+v", bye)
	}
}

func TestHearReport(t *testing.T) {
	var r Reception
	r.Packet(Header{SSRC: 77}, 0)
	now := time.Unix(1700000000, 0)
	sr := &rtcp.SenderReport{SSRC: 77, NTPTime: 0x1122334455667788, Reports: []rtcp.ReceptionReport{
		{SSRC: 1, TotalLost: 99},
		{SSRC: 5, TotalLost: 3, Jitter: 12, LastSenderReport: uint32(ntp(now.Add(-300*time.Millisecond)) >> 16), Delay: 65536 / 10},
	}}
	b, err := sr.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	f, ok := r.HearReport(b, 5, now)
	if !ok || f.Lost != 3 || f.Jitter != 12 || f.RoundTrip < 199*time.Millisecond || f.RoundTrip > 201*time.Millisecond {
		t.Errorf("%+v %v", f, ok)
	}
	if r.lastSR != 0x33445566 {
		t.Errorf("last sender report %x", r.lastSR)
	}
	answer, _ := rtcp.Unmarshal(AppendReport(nil, Sending{SSRC: 5}, &r, "x", now.Add(time.Second), false))
	if block := answer[0].(*rtcp.ReceiverReport).Reports[0]; block.LastSenderReport != 0x33445566 || block.Delay != 65536 {
		t.Errorf("%+v", block)
	}
	if f, ok := r.HearReport([]byte{0x80, 203, 0, 0}, 5, now); !ok || !f.Bye {
		t.Error("no goodbye")
	}
	if _, ok := r.HearReport(b[:10], 5, now); ok {
		t.Error("half a report was taken")
	}
}

func TestNothingAllocates(t *testing.T) {
	var r Reception
	var o Order
	b, report := make([]byte, 172), make([]byte, 0, 128)
	seq := uint16(0)
	now := time.Now()
	n := testing.AllocsPerRun(100, func() {
		seq++
		Header{Sequence: seq}.Put(b)
		h, payload, _ := Parse(b)
		r.Packet(h, 5)
		o.Push(h, payload)
		o.Pop(true)
		AppendReport(report, Sending{Packets: 1}, &r, "parley", now, true)
		r.HearReport(report[:cap(report)], 1, now)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
