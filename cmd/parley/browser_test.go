package main

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"

	"parley/audio"
)

// browser is the audio of a page: a peer connection that says nothing and notices when it hears something.
type browser struct {
	*webrtc.PeerConnection
	offer string
	once  sync.Once
	loud  chan struct{} // closed when something is heard
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	var settings webrtc.SettingEngine
	settings.SetIncludeLoopbackCandidate(true)
	var codecs webrtc.MediaEngine
	pcmu := webrtc.RTPCodecParameters{RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000}, PayloadType: 0}
	if err := codecs.RegisterCodec(pcmu, webrtc.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(&codecs)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{PeerConnection: pc, loud: make(chan struct{})}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { b.hear(track) })
	if _, err := pc.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	b.offer = pc.LocalDescription().SDP
	return b
}

func (b *browser) hear(track *webrtc.TrackRemote) {
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		pcm := make([]int16, len(packet.Payload))
		audio.DecodeMuLaw(pcm, packet.Payload)
		if audio.Level(pcm) > -40 {
			b.once.Do(func() { close(b.loud) })
		}
	}
}

// connect takes the other side's answer.
func (b *browser) connect(t *testing.T, sdp string) {
	t.Helper()
	if err := b.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: sdp}); err != nil {
		t.Fatal(err)
	}
}

// hears waits until something is heard.
func (b *browser) hears(t *testing.T) {
	t.Helper()
	select {
	case <-b.loud:
	case <-time.After(patience):
		t.Fatal("nothing is heard")
	}
}

// webCall is a call that a browser opened.
type webCall struct {
	*browser
	id          int64
	uuid, token string
}

// browser opens a web call to the desk and lets it go on.
func (c client) browser() webCall {
	c.t.Helper()
	b := newBrowser(c.t)
	body, err := json.Marshal(map[string]string{"assistant_id": c.desk(), "sdp": b.offer, "type": "test"})
	if err != nil {
		c.t.Fatal(err)
	}
	var answer struct {
		CallID string `json:"call_id"`
		Token  string
		SDP    string
	}
	if err := json.Unmarshal([]byte(c.want(201, "POST", "/web-calls", string(body))), &answer); err != nil {
		c.t.Fatal(err)
	}
	b.connect(c.t, answer.SDP)
	return webCall{b, c.id(c.want(200, "GET", "/user/calls/"+answer.CallID, ""), "id"), answer.CallID, answer.Token}
}

// listenIn lets a browser hear a call.
func (c client) listenIn(call int64) *browser {
	c.t.Helper()
	b := newBrowser(c.t)
	body, err := json.Marshal(map[string]string{"sdp": b.offer})
	if err != nil {
		c.t.Fatal(err)
	}
	var answer struct{ SDP string }
	if err := json.Unmarshal([]byte(c.want(200, "POST", fmt.Sprintf("/user/calls/%d/listen", call), string(body))), &answer); err != nil {
		c.t.Fatal(err)
	}
	b.connect(c.t, answer.SDP)
	return b
}
