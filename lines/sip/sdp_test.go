package sip

import (
	"net/netip"
	"strings"
	"testing"
)

func text(s ...string) string { return strings.Join(s, "\r\n") + "\r\n" }

var audioOffer = text("v=0", "o=x 1 1 IN IP4 192.0.2.1", "s=x", "c=IN IP4 192.0.2.1", "t=0 0",
	"m=audio 4000 RTP/AVP 9 8 0 96", "a=rtpmap:96 telephone-event/8000")

func TestParseSDP(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		want   string // addr codecs events dir
		broken bool
	}{
		"plain":           {body: audioOffer, want: "192.0.2.1:4000 g722/9 pcma/8 pcmu/0 ev96 sendrecv"},
		"no last newline": {body: strings.TrimSuffix(audioOffer, "\r\n"), want: "192.0.2.1:4000 g722/9 pcma/8 pcmu/0 ev96 sendrecv"},
		"bare newlines":   {body: strings.ReplaceAll(audioOffer, "\r\n", "\n"), want: "192.0.2.1:4000 g722/9 pcma/8 pcmu/0 ev96 sendrecv"},
		"media address, session direction": {
			body: text("v=0", "o=x 1 1 IN IP4 192.0.2.1", "s=x", "c=IN IP4 192.0.2.1", "t=0 0", "a=inactive",
				"m=audio 4000 RTP/AVP 0", "c=IN IP6 2001:db8::5"), want: "[2001:db8::5]:4000 pcmu/0 ev0 inactive"},
		"second stream is the audio": {
			body: text("v=0", "o=x 1 1 IN IP4 192.0.2.1", "s=x", "c=IN IP4 192.0.2.1", "t=0 0",
				"m=video 5000 RTP/AVP 99", "m=audio 0 RTP/AVP 0", "m=audio 4002 RTP/AVP 0", "a=sendonly"), want: "192.0.2.1:4002 pcmu/0 ev0 sendonly"},
		"dynamic types, odd case": {
			body: text("v=0", "o=x 1 1 IN IP4 192.0.2.1", "s=x", "c=IN IP4 192.0.2.1", "t=0 0",
				"m=audio 4000 RTP/AVP 97 98 111", "a=rtpmap:97 pcma/8000/1", "a=rtpmap:98 TELEPHONE-EVENT/8000", "a=rtpmap:111 OPUS/48000/2"),
			want: "192.0.2.1:4000 pcma/97 opus/111 ev98 sendrecv"},
		"remapped static type": {
			body: text("v=0", "o=x 1 1 IN IP4 192.0.2.1", "s=x", "c=IN IP4 192.0.2.1", "t=0 0",
				"m=audio 4000 RTP/AVP 0 8", "a=rtpmap:0 speex/8000"), want: "192.0.2.1:4000 pcma/8 ev0 sendrecv"},
		"old hold":          {body: strings.ReplaceAll(audioOffer, "c=IN IP4 192.0.2.1", "c=IN IP4 0.0.0.0"), want: "0.0.0.0:4000 g722/9 pcma/8 pcmu/0 ev96 sendrecv"},
		"encrypted only":    {body: strings.ReplaceAll(audioOffer, "RTP/AVP", "RTP/SAVP"), broken: true},
		"refused":           {body: strings.ReplaceAll(audioOffer, "4000", "0"), broken: true},
		"no address":        {body: strings.ReplaceAll(audioOffer, "c=IN IP4 192.0.2.1\r\n", ""), broken: true},
		"a name":            {body: strings.ReplaceAll(audioOffer, "c=IN IP4 192.0.2.1", "c=IN IP4 evil.example"), broken: true},
		"multicast":         {body: strings.ReplaceAll(audioOffer, "c=IN IP4 192.0.2.1", "c=IN IP4 224.2.1.1/127"), broken: true},
		"not a description": {body: "hello", broken: true},
		"empty":             {body: "", broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parseSDP([]byte(c.body), "")
			if (err != nil) != c.broken {
				t.Fatalf("err %v", err)
			}
			if err == nil && d.String() != c.want {
				t.Fatalf("got  %s\nwant %s", d, c.want)
			}
		})
	}
}

func TestHeld(t *testing.T) {
	for dir, want := range map[string]bool{"": false, "a=sendrecv": false, "a=sendonly": true, "a=recvonly": false, "a=inactive": true} {
		d, err := parseSDP([]byte(audioOffer+dir+"\r\n"), "")
		if dir == "" {
			d, err = parseSDP([]byte(audioOffer), "")
		}
		if err != nil || d.held() != want {
			t.Errorf("%q: held %v, %v", dir, d.held(), err)
		}
	}
	d, _ := parseSDP([]byte(strings.ReplaceAll(audioOffer, "c=IN IP4 192.0.2.1", "c=IN IP4 0.0.0.0")), "")
	if !d.held() {
		t.Error("c=0.0.0.0 is hold")
	}
}

func TestAnswer(t *testing.T) {
	d, err := parseSDP([]byte(audioOffer+"m=video 5000 RTP/AVP 99\r\na=rtpmap:99 VP8/90000\r\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := d.choose([]string{"pcmu", "g722"})
	if err != nil || chosen != (payload{"pcmu", 0}) {
		t.Fatalf("our order decides: %v %v", chosen, err)
	}
	if _, err := d.choose([]string{"opus"}); err != errNoCodec {
		t.Fatalf("no common codec: %v", err)
	}
	o := origin{ID: 7, Version: 2, Addr: netip.MustParseAddr("198.51.100.4")}
	want := text("v=0", "o=- 7 2 IN IP4 198.51.100.4", "s=-", "c=IN IP4 198.51.100.4", "t=0 0",
		"m=audio 20000 RTP/AVP 0 96", "a=rtpmap:0 PCMU/8000", "a=rtpmap:96 telephone-event/8000", "a=fmtp:96 0-16", "a=ptime:20", "a=recvonly",
		"m=video 0 RTP/AVP 99")
	if got := string(answer(d, o, 20000, chosen, sendOnly.answer(), nil)); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOfferReadsBack(t *testing.T) {
	o := origin{ID: 7, Version: 1, Addr: netip.MustParseAddr("2001:db8::1")}
	d, err := parseSDP(offer(o, 20002, []string{"g722", "opus", "pcma"}, sendRecv, "", nil), "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.String(), "[2001:db8::1]:20002 g722/9 opus/107 pcma/8 ev101 sendrecv"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

// FuzzSDP: whatever is read can be answered, and the answer reads back with the same number of streams.
func FuzzSDP(f *testing.F) {
	f.Add([]byte(audioOffer))
	f.Add([]byte(strings.ReplaceAll(audioOffer, "\r\n", "\n")))
	f.Add([]byte(text("v=0", "o=x 1 1 IN IP4 192.0.2.1", "s=x", "t=0 0", "m=audio 4000 RTP/AVP 97", "c=IN IP6 ::1", "a=rtpmap:97 opus/48000/2")))
	f.Add([]byte(strings.ReplaceAll(audioOffer, "RTP/AVP", "RTP/SAVP") + goodKey))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := parseSDP(body, srtpOffered)
		if err != nil {
			return
		}
		chosen, err := d.choose([]string{"pcmu", "pcma", "g722", "opus"})
		if err != nil {
			return
		}
		o := origin{ID: 1, Version: 1, Addr: netip.MustParseAddr("192.0.2.9")}
		a, err := parseSDP(answer(d, o, 20000, chosen, d.Dir.answer(), newKey()), srtpOffered)
		if err != nil || len(a.media) != len(d.media) || a.index != d.index || len(a.Audio) != 1 || (a.Crypto == nil) != (d.Crypto == nil) {
			t.Fatalf("answer to %q: %v %+v", body, err, a)
		}
	})
}
