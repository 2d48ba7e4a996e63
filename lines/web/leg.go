package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pion/webrtc/v4"

	"parley/lines"
	"parley/lines/media"
	"parley/safe"
)

// Leg is one browser call.
type Leg struct {
	server *Server
	pc     *webrtc.PeerConnection
	info   lines.Info
	stream *media.Stream
	codec  []io.Closer // Opus states

	onlyHears bool // the browser offers to receive and sends nothing

	connected chan struct{}
	once      sync.Once // guards connected

	done chan struct{}
	mu   sync.Mutex
	end  lines.End
	over bool
}

// track sends what the media plane made.
type track struct{ *webrtc.TrackLocalStaticRTP }

// WriteRTP sends one packet; pion fills in the negotiated SSRC and payload type.
func (t track) WriteRTP(packet []byte) error {
	_, err := t.Write(packet)
	return err
}

// negotiate applies the offer, opens the stream in the agreed codec and returns our answer with its candidates.
func (l *Leg) negotiate(ctx context.Context, offer string) (string, error) {
	if !strings.Contains(offer, "m=audio") {
		return "", fmt.Errorf("%w: no audio section", ErrOffer)
	}
	if err := l.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", fmt.Errorf("%w: %v", ErrOffer, err)
	}
	codec, err := codecOf(l.pc)
	if err != nil {
		return "", err
	}
	l.onlyHears = strings.Contains(offer, "a=recvonly")
	local, err := webrtc.NewTrackLocalStaticRTP(codec.RTPCodecCapability, "audio", "parley")
	if err != nil {
		return "", err
	}
	if _, err := l.pc.AddTrack(local); err != nil {
		return "", err
	}
	if err := l.openStream(ctx, codec, track{local}); err != nil {
		return "", err
	}
	l.pc.OnTrack(l.receive)
	l.pc.OnConnectionStateChange(l.changed)
	answer, err := l.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: %v", ErrOffer, err)
	}
	gathered := webrtc.GatheringCompletePromise(l.pc)
	if err := l.pc.SetLocalDescription(answer); err != nil {
		return "", err
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	return l.pc.LocalDescription().SDP, nil
}

// openStream joins the negotiated codec to the media plane.
func (l *Leg) openStream(ctx context.Context, codec webrtc.RTPCodecParameters, out track) error {
	cfg := media.Config{
		Codec: media.PCMU, PayloadType: uint8(codec.PayloadType),
		OnTimeout: func(err error) { l.finish(lines.End{Err: err}) },
	}
	if l.onlyHears {
		cfg.Direction, cfg.NoDetection = media.SendOnly, true
	}
	if codec.MimeType == webrtc.MimeTypeOpus {
		enc, err := l.server.cfg.Opus.NewEncoder(ctx, media.Opus.Rate())
		if err != nil {
			return err
		}
		dec, err := l.server.cfg.Opus.NewDecoder(ctx, media.Opus.Rate())
		if err != nil {
			return errors.Join(err, enc.Close())
		}
		l.codec = []io.Closer{enc, dec}
		cfg.Codec, cfg.Encoder, cfg.Decoder = media.Opus, enc, dec
	}
	var err error
	l.stream, err = l.server.cfg.Plane.OpenTransport(out, cfg)
	return err
}

// free ends the stream first: it calls the codec.
func (l *Leg) free() {
	if l.stream != nil {
		l.stream.Close()
		<-l.stream.Done()
	}
	for _, c := range l.codec {
		c.Close()
	}
}

// receive feeds one remote track into the stream until it ends.
func (l *Leg) receive(remote *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
	buf := make([]byte, 1500)
	for {
		n, _, err := remote.Read(buf)
		if err != nil {
			return
		}
		l.stream.Receive(buf[:n], time.Now())
	}
}

func (l *Leg) changed(state webrtc.PeerConnectionState) {
	switch state {
	case webrtc.PeerConnectionStateConnected:
		l.once.Do(func() { close(l.connected) })
	case webrtc.PeerConnectionStateFailed, webrtc.PeerConnectionStateClosed:
		l.finish(lines.End{Remote: true})
	}
}

// finish ends the leg once, whoever comes first.
func (l *Leg) finish(end lines.End) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	l.over, l.end = true, end
	l.server.forget(l)
	safe.Go("end of a browser line", func() { // pion calls changed from inside Close, which waits for it
		defer close(l.done)
		defer l.free()
		l.pc.Close()
	})
}

func (s *Server) forget(l *Leg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.legs, l)
}

// Info describes the call; From and To are empty.
func (l *Leg) Info() lines.Info { return l.info }

// Ring does nothing: a browser that sent an offer hears no ringing.
func (l *Leg) Ring() error { return nil }

// Answer waits until audio can flow.
func (l *Leg) Answer(ctx context.Context) error {
	select {
	case <-l.connected:
		return nil
	case <-l.done:
		return fmt.Errorf("web: %w", context.Canceled)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reject ends a call nobody takes; the code has no meaning for a browser.
func (l *Leg) Reject(code int) error {
	l.finish(lines.End{Code: code})
	return nil
}

// Media is the audio: 16 kHz with Opus, 8 kHz with PCMU.
func (l *Leg) Media() lines.Media { return l.stream }

// Hangup closes the connection; the browser notices at once.
func (l *Leg) Hangup(ctx context.Context) error {
	l.finish(lines.End{})
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RemoteHangup ends the leg in the browser's name: DELETE /web-calls.
func (l *Leg) RemoteHangup() { l.finish(lines.End{Remote: true}) }

// Done is closed when the call is over.
func (l *Leg) Done() <-chan struct{} { return l.done }

// End says how.
func (l *Leg) End() lines.End {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}
