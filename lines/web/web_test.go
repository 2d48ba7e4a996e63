package web

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"
	sample "github.com/pion/webrtc/v4/pkg/media"
	"go.uber.org/goleak"

	"parley/assets"
	"parley/audio"
	"parley/audio/opus"
	"parley/lines"
	"parley/lines/media"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, withOpus bool) *Server {
	t.Helper()
	plane, err := media.New(media.Options{PortMin: 42000, PortMax: 42100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Close)
	cfg := Config{Listen: []string{"udp://127.0.0.1:0", "tcp://127.0.0.1:0"}, Plane: plane}
	if withOpus {
		cfg.Opus = opus.New(func() ([]byte, error) { return assets.Read("opus.wasm") })
		t.Cleanup(func() { cfg.Opus.Close(context.Background()) })
	}
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// browser is the far end: pion as a browser would use it, offering one codec.
type browser struct {
	pc    *webrtc.PeerConnection
	track *webrtc.TrackLocalStaticSample
	heard chan []byte // payloads from the server
}

func dial(t *testing.T, s *Server, codec webrtc.RTPCodecParameters) (*browser, *Leg) {
	t.Helper()
	return dialAs(t, s, codec, webrtc.RTPTransceiverDirectionSendrecv)
}

func dialAs(t *testing.T, s *Server, codec webrtc.RTPCodecParameters, direction webrtc.RTPTransceiverDirection) (*browser, *Leg) {
	t.Helper()
	return dialBy(t, s, codec, direction, webrtc.Configuration{}, webrtc.NetworkTypeUDP4)
}

// dialBy is a browser whose network lets it use only some ways.
func dialBy(t *testing.T, s *Server, codec webrtc.RTPCodecParameters, direction webrtc.RTPTransceiverDirection,
	cfg webrtc.Configuration, network webrtc.NetworkType) (*browser, *Leg) {
	t.Helper()
	engine := &webrtc.MediaEngine{}
	if err := engine.RegisterCodec(codec, webrtc.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	settings := webrtc.SettingEngine{}
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetNetworkTypes([]webrtc.NetworkType{network})
	pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(engine), webrtc.WithSettingEngine(settings)).NewPeerConnection(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.GracefulClose() })
	b := &browser{pc: pc, heard: make(chan []byte, 500)}
	if b.track, err = webrtc.NewTrackLocalStaticSample(codec.RTPCodecCapability, "mic", "mic"); err != nil {
		t.Fatal(err)
	}
	if direction == webrtc.RTPTransceiverDirectionRecvonly {
		_, err = pc.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio, webrtc.RTPTransceiverInit{Direction: direction})
	} else {
		_, err = pc.AddTrack(b.track)
	}
	if err != nil {
		t.Fatal(err)
	}
	pc.OnTrack(func(r *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			p, _, err := r.ReadRTP()
			if err != nil {
				return
			}
			select {
			case b.heard <- p.Payload:
			default:
			}
		}
	})
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	leg, answer, err := s.Accept(t.Context(), pc.LocalDescription().SDP)
	if err != nil {
		t.Fatal(err)
	}
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Second)
	defer stop()
	if err := leg.Answer(ctx); err != nil {
		t.Fatal(err)
	}
	return b, leg
}

func tone(rate int) []int16 {
	pcm := make([]int16, rate)
	audio.GenSignal(pcm, rate, 0, audio.Tone{Hz: 440, Level: 0.5})
	return pcm
}

// loud reports whether the tone stands out of what was heard.
func loud(pcm []int16, rate int) bool {
	for _, found := range audio.FindSignal(pcm, rate, 440) {
		if found.Level > 0.2 {
			return true
		}
	}
	return false
}

// A tone crosses in both directions, whichever codec the browser speaks.
func TestTonesBothWays(t *testing.T) {
	for _, c := range []struct {
		name  string
		codec webrtc.RTPCodecParameters
		opus  bool
	}{{"opus", opus48, true}, {"pcmu", pcmu, true}, {"pcmu without the library", pcmu, false}} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, c.opus)
			b, leg := dial(t, s, c.codec)
			m := leg.Media()
			if _, err := m.Play(t.Context(), tone(m.Rate())); err != nil {
				t.Fatal(err)
			}
			send(t, b, s, c.codec)
			got := make([]int16, 0, m.Rate())
			buf := make([]int16, 1600)
			for len(got) < m.Rate()*7/10 {
				n, err := m.Hear(t.Context(), buf)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, buf[:n]...)
			}
			if !loud(got[m.Rate()/5:], m.Rate()) {
				t.Error("the browser's tone was not heard")
			}
			if !loud(receive(t, b, s, c.codec), m.Rate()) {
				t.Error("our tone did not reach the browser")
			}
			leg.RemoteHangup()
			<-leg.Done()
			if !leg.End().Remote {
				t.Error("a hang-up of the browser counts as ours")
			}
		})
	}
}

// A browser that offers only to receive hears us, and its silence does not end the leg.
func TestOnlyHears(t *testing.T) {
	s := open(t, true)
	b, leg := dialAs(t, s, opus48, webrtc.RTPTransceiverDirectionRecvonly)
	if !leg.onlyHears {
		t.Error("taken for one who speaks")
	}
	if _, err := leg.Media().Play(t.Context(), tone(16000)); err != nil {
		t.Fatal(err)
	}
	if !loud(receive(t, b, s, opus48), 16000) {
		t.Error("our tone did not reach the browser")
	}
}

// Behind NAT the answer names the public address, and no other.
func TestPublicAddress(t *testing.T) {
	plane, err := media.New(media.Options{PortMin: 42000, PortMax: 42100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Close)
	s, err := Open(Config{Listen: []string{"udp://127.0.0.1:0"}, Plane: plane, PublicIP: netip.MustParseAddr("203.0.113.7")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	pc, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.GracefulClose() })
	if _, err := pc.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	leg, answer, err := s.Accept(t.Context(), offer.SDP)
	if err != nil {
		t.Fatal(err)
	}
	defer leg.Hangup(context.Background())
	hosts := 0
	for line := range strings.Lines(answer) {
		if strings.HasPrefix(line, "a=candidate:") {
			hosts++
			if !strings.Contains(line, " 203.0.113.7 ") {
				t.Error(line)
			}
		}
	}
	if hosts == 0 {
		t.Error("no candidates:", answer)
	}
}

func TestHangupReachesTheBrowser(t *testing.T) {
	b, leg := dial(t, open(t, false), pcmu)
	gone := make(chan struct{})
	b.pc.OnConnectionStateChange(func(st webrtc.PeerConnectionState) {
		if st == webrtc.PeerConnectionStateClosed || st == webrtc.PeerConnectionStateDisconnected || st == webrtc.PeerConnectionStateFailed {
			select {
			case <-gone:
			default:
				close(gone)
			}
		}
	})
	if err := leg.Hangup(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-gone
	if leg.End() != (lines.End{}) {
		t.Errorf("ended as %+v", leg.End())
	}
	if _, err := leg.Media().Hear(t.Context(), make([]int16, 160)); !errors.Is(err, io.EOF) {
		t.Errorf("the audio of a finished call answers %v", err)
	}
}

func TestBadOffers(t *testing.T) {
	s := open(t, false)
	for _, offer := range []string{"", "v=0", "m=audio", "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 97\r\na=rtpmap:97 speex/8000\r\n"} {
		if _, _, err := s.Accept(t.Context(), offer); !errors.Is(err, ErrOffer) {
			t.Errorf("offer %q: %v", offer, err)
		}
	}
}

func send(t *testing.T, b *browser, s *Server, codec webrtc.RTPCodecParameters) {
	t.Helper()
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	var encode func(pcm []int16) []byte
	rate := 8000
	if codec.MimeType == webrtc.MimeTypeOpus {
		rate = 16000
		enc, err := s.cfg.Opus.NewEncoder(t.Context(), rate)
		if err != nil {
			t.Fatal(err)
		}
		encode = func(pcm []int16) []byte {
			p := make([]byte, 1500)
			n, _ := enc.Encode(p, pcm)
			return p[:n]
		}
	} else {
		encode = func(pcm []int16) []byte {
			p := make([]byte, len(pcm))
			audio.EncodeMuLaw(p, pcm)
			return p
		}
	}
	go func() {
		defer close(done)
		all := tone(rate)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; i+rate/50 <= len(all); i += rate / 50 {
			<-tick.C
			b.track.WriteSample(sample.Sample{Data: encode(all[i : i+rate/50]), Duration: 20 * time.Millisecond})
		}
	}()
}

func receive(t *testing.T, b *browser, s *Server, codec webrtc.RTPCodecParameters) (pcm []int16) {
	t.Helper()
	buf := make([]int16, 5760)
	var dec *opus.Decoder
	if codec.MimeType == webrtc.MimeTypeOpus {
		var err error
		if dec, err = s.cfg.Opus.NewDecoder(t.Context(), 16000); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		payload, n := <-b.heard, 0
		if dec == nil {
			n = len(payload)
			audio.DecodeMuLaw(buf, payload)
		} else {
			var err error
			if n, err = dec.Decode(buf, payload); err != nil {
				t.Fatal(err)
			}
		}
		pcm = append(pcm, buf[:n]...)
	}
	return pcm
}
