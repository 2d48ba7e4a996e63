package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"

	"parley/app"
	"parley/assets"
	"parley/audio"
	"parley/audio/opus"
	"parley/audio/silero"
	"parley/config"
	"parley/lines"
	"parley/lines/media"
	"parley/lines/sip"
	"parley/lines/web"
	"parley/sim"
)

// lines opens the telephone and the browser line of a process that holds calls.
func (s *server) lines(ctx context.Context, a *app.App, onCall func(lines.Leg)) (out app.Lines, err error) {
	missing := assets.Missing()
	if slices.Contains(missing, voiceModel) {
		slog.Error("no calls: this binary was built without assets; run make assets and build again", "missing", missing)
		return out, nil
	}
	plane, err := openPlane(s.cfg)
	if err != nil {
		return out, err
	}
	s.closers = append(s.closers, func() error { plane.Close(); return nil })
	s.metrics.MustRegister(planeMetrics{plane})
	codec := s.opus
	if slices.Contains(missing, opusModule) {
		slog.Warn("no Opus", "missing", missing)
		codec = nil
	}
	public, _ := netip.ParseAddr(s.cfg.SIP.PublicIP) // checked when the configuration was read; empty = none
	line := sip.Config{Listen: s.cfg.SIP.Listen, PublicIP: public, Proxy: s.cfg.Telephony.ProxyAddress, Media: plane,
		Reach: a.Reach.Allowed, Opus: phoneOpus(ctx, codec), Trunks: a.Trunks(), OnCall: onCall, Forward: a.MayCall}
	own, err := openCertificate(s.cfg.SIP.TLSCert, s.cfg.SIP.TLSKey)
	if err != nil {
		return out, err
	}
	if own != nil {
		line.Certificate = own.For
	}
	pretend, err := s.pretend(a, plane, &line)
	if err != nil {
		return out, err
	}
	if s.bench != nil {
		s.bench.admit(&line)
	}
	phones, err := sip.Start(line)
	if err != nil {
		return out, fmt.Errorf("telephone line: %w", err)
	}
	if pretend != nil {
		if err := pretend.Home(phones.Addrs()[0]); err != nil {
			return out, errors.Join(err, phones.Close(ctx))
		}
	}
	s.phones = phones.Addrs()

	public, _ = netip.ParseAddr(s.cfg.WebRTC.PublicIP)
	browsers, err := web.Open(web.Config{Listen: s.cfg.WebRTC.Listen, PublicIP: public, Plane: plane, Opus: codec,
		ICEServers: s.cfg.WebRTC.ICEServers, TURNSecret: s.cfg.WebRTC.TURNSecret})
	if err != nil {
		return out, errors.Join(fmt.Errorf("browser line: %w", err), phones.Close(ctx))
	}
	s.browsers = "udp://" + browsers.Addr().String()
	s.drain = append(s.drain, func(ctx context.Context) {
		phones.Drain()
		s.app.Switchboard.Drain(ctx)
	})
	s.closers = append(s.closers,
		func() error { return browsers.Close(context.Background()) },
		func() error { return phones.Close(context.Background()) })
	return app.Lines{Phones: phones, Browsers: app.Browsers(browsers)}, nil
}

// pretend opens the simulated telephone network and makes it the carrier of the line; nil without the simulator.
func (s *server) pretend(a *app.App, plane *media.Plane, line *sip.Config) (*sim.Network, error) {
	speak, hear := phones(s.vendors.Now())
	n, err := a.Network(plane, speak, hear)
	if n == nil || err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { return n.Close(context.Background()) })
	trunk, err := n.Trunk()
	if err != nil {
		return nil, err
	}
	line.Default, line.Carrier = &trunk, n.Is
	return n, nil
}

// voiceModel is the asset that tells speech from everything else.
const voiceModel = "silero_vad.onnx"

// openPlane starts the media plane with voice detection.
func openPlane(cfg *config.Config) (*media.Plane, error) {
	from, to, err := config.PortRange(cfg.RTP.Ports)
	if err != nil {
		return nil, misuse{fmt.Errorf("rtp.ports: %w", err)}
	}
	weights, err := assets.Read(voiceModel)
	if err != nil {
		return nil, fmt.Errorf("voice detection: %w", err)
	}
	model, err := silero.Load(weights)
	if err != nil {
		return nil, fmt.Errorf("voice detection: %w", err)
	}
	return media.New(media.Options{PortMin: from, PortMax: to, Detector: func(rate int) audio.Detector { return model.Detector(rate) }})
}

// opusModule is the codec of browser calls; without it they use the other codec every browser has.
const opusModule = "opus.wasm"

func phoneOpus(ctx context.Context, lib *opus.Library) func() (media.Encoder, media.Decoder, error) {
	if lib == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return func() (media.Encoder, media.Decoder, error) {
		enc, err := lib.NewEncoder(ctx, media.Opus.Rate())
		if err != nil {
			return nil, nil, err
		}
		dec, err := lib.NewDecoder(ctx, media.Opus.Rate())
		if err != nil {
			return nil, nil, errors.Join(err, enc.Close())
		}
		return enc, dec, nil
	}
}
