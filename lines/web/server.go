// Package web is the browser line: WebRTC audio on one UDP port, and one TCP port for networks that let no UDP through.
package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/webrtc/v4"
	"golang.org/x/net/netutil"

	"parley/audio/opus"
	"parley/lines"
	"parley/lines/media"
)

// Config says where browsers reach us.
type Config struct {
	Listen   []string      // udp://HOST:PORT, shared by every call, and perhaps tcp://HOST:PORT
	PublicIP netip.Addr    // address told to browsers when Listen is behind NAT; zero = the address of Listen
	Plane    *media.Plane  // carries the audio
	Opus     *opus.Library // nil: PCMU only

	ICEServers []string // stun:HOST:PORT, turn:HOST:PORT, turn:USER:PASSWORD@HOST:PORT
	TURNSecret string   // of TURN servers without a user; "" = none
}

// Server accepts WebRTC offers.
type Server struct {
	cfg  Config
	mux  ice.UDPMux
	conn net.PacketConn
	tcp  ice.TCPMux // nil = none

	mu   sync.Mutex
	legs map[*Leg]struct{}
}

// ErrOffer is an offer that cannot be answered: no SDP, or no audio codec we speak.
var ErrOffer = errors.New("web: offer cannot be answered")

// Open binds the ports.
func Open(cfg Config) (*Server, error) {
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled
	s := &Server{cfg: cfg, legs: map[*Leg]struct{}{}}
	var err error
	for _, address := range cfg.Listen {
		kind, at, _ := strings.Cut(address, "://")
		switch {
		case kind == "udp" && s.conn == nil:
			if s.conn, err = net.ListenPacket("udp", at); err == nil {
				s.mux = webrtc.NewICEUDPMux(quiet.NewLogger("ice"), s.conn)
			}
		case kind == "tcp" && s.tcp == nil:
			var l net.Listener
			if l, err = net.Listen("tcp", at); err == nil {
				s.tcp = webrtc.NewICETCPMux(quiet.NewLogger("ice"), netutil.LimitListener(l, mostConns), queued)
			}
		default:
			err = fmt.Errorf("webrtc.listen %q: one udp:// and one tcp:// address", address)
		}
		if err != nil {
			return nil, errors.Join(err, s.closePorts())
		}
	}
	if s.conn == nil {
		return nil, errors.Join(errors.New("webrtc.listen: no udp:// address"), s.closePorts())
	}
	return s, nil
}

const (
	mostConns = 2000 // TCP connections of browsers at once
	queued    = 32   // packets of each that wait to be read
)

// Addr is the UDP address browsers send to.
func (s *Server) Addr() net.Addr { return s.conn.LocalAddr() }

// Close ends every call and frees the port.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	var all []*Leg
	for l := range s.legs {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		l.Hangup(ctx)
	}
	return s.closePorts()
}

func (s *Server) closePorts() (err error) {
	if s.tcp != nil {
		err = s.tcp.Close()
	}
	if s.conn == nil {
		return err
	}
	err = errors.Join(err, s.mux.Close())
	if closed := s.conn.Close(); !errors.Is(closed, net.ErrClosed) { // the mux may have closed it
		err = errors.Join(err, closed)
	}
	return err
}

var (
	pcmu = webrtc.RTPCodecParameters{PayloadType: 0,
		RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000}}
	opus48 = webrtc.RTPCodecParameters{PayloadType: 111, RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus,
		ClockRate: 48000, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1"}}
)

// api builds the negotiator: Opus first when the library is there, PCMU always.
func (s *Server) api() (*webrtc.API, error) {
	engine := &webrtc.MediaEngine{}
	codecs := []webrtc.RTPCodecParameters{pcmu}
	if s.cfg.Opus != nil {
		codecs = []webrtc.RTPCodecParameters{opus48, pcmu}
	}
	for _, c := range codecs {
		if err := engine.RegisterCodec(c, webrtc.RTPCodecTypeAudio); err != nil {
			return nil, err
		}
	}
	settings := webrtc.SettingEngine{}
	settings.SetICEUDPMux(s.mux)
	if s.tcp != nil {
		settings.SetICETCPMux(s.tcp)
		settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6, webrtc.NetworkTypeTCP4,
			webrtc.NetworkTypeTCP6})
	}
	settings.SetLite(true)
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetICETimeouts(5*time.Second, 10*time.Second, 2*time.Second)
	if s.cfg.PublicIP.IsValid() {
		public := webrtc.ICEAddressRewriteRule{External: []string{s.cfg.PublicIP.String()},
			AsCandidateType: webrtc.ICECandidateTypeHost, Mode: webrtc.ICEAddressRewriteReplace}
		if err := settings.SetICEAddressRewriteRules(public); err != nil {
			return nil, err
		}
	}
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled
	settings.LoggerFactory = quiet
	// The media plane sends its own reports; pion's interceptors would count everything twice.
	return webrtc.NewAPI(webrtc.WithMediaEngine(engine), webrtc.WithSettingEngine(settings),
		webrtc.WithInterceptorRegistry(&interceptor.Registry{})), nil
}

// Accept answers a browser's SDP offer. The leg is live once the browser connects; Answer waits for that.
func (s *Server) Accept(ctx context.Context, offer string) (*Leg, string, error) {
	api, err := s.api()
	if err != nil {
		return nil, "", err
	}
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, "", err
	}
	l := &Leg{
		server: s, pc: pc, done: make(chan struct{}), connected: make(chan struct{}),
		info: lines.Info{ID: uuid.NewString(), Kind: "web"},
	}
	answer, err := l.negotiate(ctx, offer)
	if err != nil {
		pc.Close()
		l.free()
		return nil, "", err
	}
	l.info.SignalID = l.info.ID
	s.mu.Lock()
	s.legs[l] = struct{}{}
	s.mu.Unlock()
	return l, answer, nil
}

// codecOf is the first codec of the offer that we speak.
func codecOf(pc *webrtc.PeerConnection) (webrtc.RTPCodecParameters, error) {
	for _, t := range pc.GetTransceivers() {
		if t.Kind() != webrtc.RTPCodecTypeAudio {
			continue
		}
		for _, c := range t.Receiver().GetParameters().Codecs {
			if c.MimeType == webrtc.MimeTypeOpus || c.MimeType == webrtc.MimeTypePCMU {
				return c, nil
			}
		}
	}
	return webrtc.RTPCodecParameters{}, fmt.Errorf("%w: no common codec", ErrOffer)
}
