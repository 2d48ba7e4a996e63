package house

import (
	"context"
	"net"

	"parley/fault"
	"parley/sim"
)

// simulator: the pretend world, while nothing real is configured and nobody but this machine can reach it.
func (h *House) simulator(context.Context) error {
	c := h.on.Config
	if c.Simulator.Enabled == "false" || c.Simulator.Enabled == "auto" && !loopback(c.Listen) {
		return nil
	}
	h.Sim = sim.New(h.DB, h.on.Jobs)
	h.Sim.Power = c.Dev || c.Simulator.Enabled == "true"
	h.Deps.Jobs = h.on.Jobs
	return nil
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
