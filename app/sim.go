package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"parley/config"
	"parley/fault"
	"parley/lines/media"
	"parley/messaging"
	"parley/sim"
	"parley/ssrf"
	"parley/voice"
)

// simulator: the pretend world, while nothing real is configured and nobody but this machine can reach it.
func (h *App) simulator(context.Context) error {
	c := h.on.Config
	if !Simulates(c) {
		return nil
	}
	h.Sim = sim.New(h.DB, h.on.Jobs, func() *messaging.Messaging { return h.Messaging }, c.Dev || c.Simulator.Enabled == "true")
	h.vendors.Add(h.Sim.Vendor(h.Accounts))
	h.Deps.Jobs = h.on.Jobs
	return nil
}

// Simulates reports whether the configuration wants the pretend world.
func Simulates(c *config.Config) bool {
	return c.Simulator.Enabled == "true" || c.Simulator.Enabled == "auto" && loopback(c.Listen)
}

// loopback reports whether an address is reachable from this machine only.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// known and missing tell a thing that is not there from a failure to look.
func known(err error) bool { return err == nil }

func missing(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Network opens the pretend telephone network on a media plane; nil without the simulator.
func (h *App) Network(plane *media.Plane, speak voice.Synthesizer, hear voice.OpenTranscriber) (*sim.Network, error) {
	if h.Sim == nil {
		return nil, nil
	}
	return h.Sim.OpenNetwork(sim.NetworkDeps{
		Plane: plane, Speak: speak, Hear: hear, Files: h.Blobs, Scratch: h.on.Config.DataPath("scratch"), Fetch: h.fetch,
		CallOf: func(ctx context.Context, signalID string) (int64, bool, error) {
			id, err := h.Calls.BySignal(ctx, h.DB, signalID)
			return int64(id), known(err), missing(err)
		},
		Owned: func(ctx context.Context, number string) (bool, error) {
			_, ok, err := callNumbers{h}.Called(ctx, h.DB, 0, number)
			return ok, err
		},
	})
}

// fetch reads a small file from an address that a customer chose.
func (h *App) fetch(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := h.Guard.Client(ssrf.Options{Timeout: 15 * time.Second}).Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(io.LimitReader(res.Body, 20<<20))
}
