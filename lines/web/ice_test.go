package web

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"
	"github.com/pion/webrtc/v4"

	"parley/lines"
)

// hears plays a tone to the browser until packets of it come.
func hears(t *testing.T, b *browser, leg *Leg) {
	t.Helper()
	if _, err := leg.Media().Play(t.Context(), tone(leg.Media().Rate())); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		select {
		case <-b.heard:
		case <-time.After(15 * time.Second):
			t.Fatal("nothing was heard")
		}
	}
}

// A browser whose network lets no UDP through talks over TCP.
func TestOverTCP(t *testing.T) {
	s := open(t, false)
	b, leg := dialBy(t, s, pcmu, webrtc.RTPTransceiverDirectionSendrecv, webrtc.Configuration{}, webrtc.NetworkTypeTCP4)
	hears(t, b, leg)
	pair, err := b.pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	if err == nil && pair.Remote.Protocol != webrtc.ICEProtocolTCP {
		t.Errorf("%s", pair)
	}
	_ = leg.Hangup(t.Context())
}

// A browser behind a firewall reaches us through the TURN server that it is told of, with a password of the shared secret.
func TestThroughTURN(t *testing.T) {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled
	relay, err := turn.NewServer(turn.ServerConfig{Realm: "parley", LoggerFactory: quiet,
		AuthHandler: turn.LongTermTURNRESTAuthHandler("shared", quiet.NewLogger("turn")),
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: conn,
			RelayAddressGenerator: &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = relay.Close() })
	s := open(t, false)
	s.cfg.ICEServers, s.cfg.TURNSecret = []string{"turn:" + conn.LocalAddr().String() + "?transport=udp"}, "shared"
	is := s.ICEServers()[0]
	b, leg := dialBy(t, s, pcmu, webrtc.RTPTransceiverDirectionSendrecv, webrtc.Configuration{ICETransportPolicy: webrtc.ICETransportPolicyRelay,
		ICEServers: []webrtc.ICEServer{{URLs: is.URLs, Username: is.Username, Credential: is.Credential}}}, webrtc.NetworkTypeUDP4)
	hears(t, b, leg)
	if sdp := b.pc.LocalDescription().SDP; !strings.Contains(sdp, "typ relay") || strings.Contains(sdp, "typ host") {
		t.Errorf("%s", sdp)
	}
	_ = leg.Hangup(t.Context())
}

func TestICEServers(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for entry, want := range map[string]lines.ICEServer{
		"stun:s.example:3478":                      {URLs: []string{"stun:s.example:3478"}},
		"turn:ada:p@ss@t.example:3478":             {URLs: []string{"turn:t.example:3478"}, Username: "ada", Credential: "p@ss"},
		"turns:t.example:5349?transport=tcp":       {URLs: []string{"turns:t.example:5349?transport=tcp"}, Username: "1700043200:parley", Credential: "?"},
		"turn:ada:secret@[2001:db8::1]:3478?x=tcp": {URLs: []string{"turn:[2001:db8::1]:3478?x=tcp"}, Username: "ada", Credential: "secret"},
	} {
		got := iceServer(entry, "shared", now)
		if want.Credential == "?" {
			want.Credential = got.Credential
		}
		if got.URLs[0] != want.URLs[0] || got.Username != want.Username || got.Credential != want.Credential {
			t.Errorf("%s: %+v", entry, got)
		}
	}
	if _, err := Open(Config{Listen: []string{"tcp://127.0.0.1:0"}}); err == nil {
		t.Error("opened without UDP")
	}
}
