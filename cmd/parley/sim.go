package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"parley/config"
	"parley/sim/load"
)

func newSim() *cobra.Command {
	cmd := &cobra.Command{Use: "sim", Short: "Tools of the simulator"}
	cmd.AddCommand(newSimLoad())
	return cmd
}

// newSimLoad drives many telephones against a server on this machine and prints what they measured as JSON.
func newSimLoad() *cobra.Command {
	c := load.Config{PortMin: 30000, PortMax: 59999}
	var target string
	cmd := &cobra.Command{Use: "load --calls N --wav FILE", Short: "Call a server on this machine with many telephones and measure",
		Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string, _ *config.Loaded) (err error) {
			if c.Target, err = netip.ParseAddrPort(target); err != nil {
				return misuse{fmt.Errorf("--target: %w", err)}
			}
			if err := c.Check(); err != nil {
				return misuse{err}
			}
			report, err := load.Run(cmd.Context(), c)
			if report.Calls == 0 && err != nil {
				return err
			}
			out := json.NewEncoder(cmd.OutOrStdout())
			out.SetIndent("", "  ")
			return out.Encode(report)
		})}
	f := cmd.Flags()
	f.IntVar(&c.Calls, "calls", 0, "telephones that call")
	f.StringVar(&c.WAV, "wav", "", "recording that each telephone speaks")
	f.StringVar(&target, "target", "127.0.0.1:5060", "SIP address of the server, on loopback")
	f.StringVar(&c.Network, "transport", "udp", "udp or tcp")
	f.Float64Var(&c.Rate, "rate", 20, "new calls per second")
	f.IntVar(&c.Turns, "turns", 3, "recordings spoken per call")
	f.StringVar(&c.To, "to", "1000", "number or extension to call")
	f.StringVar(&c.From, "from", "+4930555000", "number or extension to show")
	f.StringVar(&c.Username, "username", "", "digest user, when the server asks for one")
	f.StringVar(&c.Password, "password", "", "digest password")
	f.DurationVar(&c.Quiet, "quiet", 700*time.Millisecond, "silence of the other side before a telephone speaks")
	f.DurationVar(&c.Patience, "patience", 15*time.Second, "how long a telephone waits for silence and for an answer")
	f.DurationVar(&c.BargeIn, "barge-in", 0, "after the turns, speak once more into an answer, that long after its first sound; 0 = not")
	_ = cmd.MarkFlagRequired("calls")
	_ = cmd.MarkFlagRequired("wav")
	return cmd
}
