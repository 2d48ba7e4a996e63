package app_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/ids"
	"parley/lines"
	"parley/lines/media"
	"parley/lines/sip"
)

// registrar answers every REGISTER with 200, at 127.0.0.3: calls from there need no password.
func registrar(t *testing.T) (port uint16) {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 3)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { c.Close(); <-done })
	go func() {
		defer close(done)
		b := make([]byte, 65536)
		for {
			n, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			head, _, _ := strings.Cut(string(b[:n]), "\r\n\r\n")
			_, headers, _ := strings.Cut(head, "\r\n")
			_, _ = c.WriteToUDPAddrPort([]byte("SIP/2.0 200 OK\r\n"+headers+"\r\n\r\n"), from)
		}
	}()
	return netip.MustParseAddrPort(c.LocalAddr().String()).Port()
}

// TestTrunkOnTheLine makes a trunk over the API and uses it: it registers, is called with its password, calls, and goes.
//
// Contract: 10.7
func TestTrunkOnTheLine(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plane, err := media.New(media.Options{PortMin: 42000, PortMax: 44999})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { plane.Close() })
		serve := func(cfg sip.Config) *sip.Server {
			cfg.Media, cfg.Listen = plane, []string{"udp://127.0.0.1:0"}
			line, err := sip.Start(cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				ctx, stop := context.WithTimeout(context.Background(), 3*time.Second)
				defer stop()
				_ = line.Close(ctx)
			})
			return line
		}
		port := func(line *sip.Server) int {
			return int(netip.MustParseAddrPort(strings.TrimPrefix(line.Addrs()[0], "udp://")).Port())
		}
		taken := make(chan lines.Info, 1)
		home := serve(sip.Config{Trunks: s.App.Trunks(), OnCall: func(leg lines.Leg) { taken <- leg.Info(); _ = leg.Reject(486) }})

		quiet, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer quiet.Close()
		s.Send("POST /user/phone-numbers/sip-trunks", fmt.Sprintf(`{"sip_trunk_type":"extension","phone_number":"777","sip_username":"bob",
			"sip_password":"secret","sip_address":"127.0.0.1","port":%d,"sip_calling_format":"e164","country_code":"DE",
			"inbound_authorization_type":"ip","allowed_inbound_ips":["192.0.2.1"]}`, quiet.LocalAddr().(*net.UDPAddr).Port)).Want(201)
		made := s.Send("POST /user/phone-numbers/sip-trunks", fmt.Sprintf(`{"sip_trunk_type":"number","phone_number":"+4930123456","sip_username":"ada",
			"sip_password":"secret","sip_address":"127.0.0.3","port":%d,"sip_calling_format":"national","inbound_authorization_type":"auth"}`, registrar(t))).Want(201)
		id := ids.Number(made.ID("data.id"))
		for began := time.Now(); s.Send(fmt.Sprintf("GET /user/phone-numbers/sip-trunks/%d", id), "").Text("data.registration") != "registered"; {
			if time.Since(began) > 5*time.Second {
				t.Fatal("a new trunk is not registered within 5 s")
			}
		}
		if got := s.Send(fmt.Sprintf("POST /user/phone-numbers/sip-trunks/%d/register", id), "").Want(200).Text("data.registration"); got != "registered" {
			t.Errorf("registered when asked: %s", got)
		}
		var answered int
		if err := s.DB.Get(t.Context(), &answered, `SELECT answered FROM sip_trunks WHERE id = $1`, id); err != nil || answered != 1 {
			t.Errorf("the asking was answered %d times, %v", answered, err)
		}

		_ = quiet.SetReadDeadline(time.Now())
		if n, err := quiet.Read(make([]byte, 2000)); err == nil {
			t.Errorf("a trunk of type ip registers, with %d bytes", n)
		}

		for password, want := range map[string]int{"secret": 486, "wrong": 403} {
			phone := serve(sip.Config{Default: &sip.Trunk{Username: "ada", Password: password, Address: "127.0.0.1", Port: port(home)}})
			_, err := phone.Dial(t.Context(), lines.Destination{To: "030123456", From: "+4930777", RingFor: 5 * time.Second}, nil)
			var e *lines.DialError
			if !errors.As(err, &e) || e.Code != want {
				t.Errorf("called with password %s: %v", password, err)
			}
		}
		if got := <-taken; got.TrunkID != id || got.To != "+4930123456" || got.From != "+4930777" {
			t.Errorf("%+v", got)
		}

		far := serve(sip.Config{Open: true, OnCall: func(leg lines.Leg) { _ = leg.Answer(context.Background()) }})
		s.Send(fmt.Sprintf("PUT /user/phone-numbers/sip-trunks/%d", id), fmt.Sprintf(`{"sip_address":"127.0.0.1","port":%d}`, port(far))).Want(200)
		leg, err := home.Dial(t.Context(), lines.Destination{To: "+4930999", From: "+4930123456", TrunkID: id, RingFor: 5 * time.Second}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = leg.Hangup(t.Context())
		s.Send(fmt.Sprintf("DELETE /user/phone-numbers/%d", id), "").Want(200)
		if _, err := home.Dial(t.Context(), lines.Destination{To: "+4930999", TrunkID: id}, nil); err == nil {
			t.Error("a deleted trunk still calls")
		}
	})
}
