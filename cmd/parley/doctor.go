package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"parley/assets"
	"parley/config"
)

// complaint is one thing that doctor looked at.
type complaint struct {
	what string
	err  error
	note string
}

func newDoctor() *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Say what is wrong: ports, assets, disk, database, engines", Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string, cfg *config.Loaded) error {
			ctx, stop := context.WithTimeout(cmd.Context(), 30*time.Second)
			defer stop()
			bad := 0
			for _, c := range examine(ctx, cfg.Config) {
				if c.err != nil {
					bad++
					fmt.Fprintf(cmd.OutOrStdout(), "BAD  %-22s %v\n", c.what, c.err)
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "ok   %-22s %s\n", c.what, c.note)
			}
			if bad > 0 {
				return fmt.Errorf("%d of these need attention", bad)
			}
			return nil
		})}
}

// examine looks at everything a server needs. A running server on the same data folder holds its own ports.
func examine(ctx context.Context, cfg *config.Config) []complaint {
	out := append([]complaint{checkDisk(cfg), checkDatabase(ctx, cfg)}, checkEngines(ctx, cfg)...)
	lock, err := lockData(cfg)
	if err != nil {
		return append(out, complaint{what: "ports", note: "a server is running on this data folder"}, checkAssets())
	}
	defer lock.Close()
	out = append(out, checkTCP("http", cfg.Listen))
	for _, at := range cfg.SIP.Listen {
		out = append(out, checkListen("sip "+at, at))
	}
	for _, at := range cfg.WebRTC.Listen {
		out = append(out, checkListen("webrtc "+at, at))
	}
	return append(out, checkRTP(cfg), checkAssets())
}

func checkDisk(cfg *config.Config) complaint {
	c := complaint{what: "data folder"}
	if c.err = os.MkdirAll(cfg.Data, 0o700); c.err != nil {
		return c
	}
	probe := filepath.Join(cfg.Data, ".probe")
	if c.err = os.WriteFile(probe, []byte("x"), 0o600); c.err != nil {
		return c
	}
	var fs syscall.Statfs_t
	if c.err = errors.Join(os.Remove(probe), syscall.Statfs(cfg.Data, &fs)); c.err != nil {
		return c
	}
	free := uint64(fs.Bavail) * uint64(fs.Bsize) >> 20
	c.note = fmt.Sprintf("%s, %d MiB free", cfg.Data, free)
	if free < 500 {
		c.err = fmt.Errorf("%s has only %d MiB left", cfg.Data, free)
	}
	return c
}

func checkDatabase(ctx context.Context, cfg *config.Config) complaint {
	c := complaint{what: "database", note: "SQLite"}
	d, err := openDatabase(ctx, cfg)
	if err != nil {
		c.err = err
		return c
	}
	if d.Postgres() {
		c.note = "PostgreSQL"
	}
	c.err = errors.Join(d.Ping(ctx), d.Close())
	return c
}

// checkListen tries an address such as udp://127.0.0.1:5060.
func checkListen(what, at string) complaint {
	kind, address, _ := strings.Cut(at, "://")
	if kind == "udp" {
		return checkUDP(what, address)
	}
	return checkTCP(what, address)
}

func checkTCP(what, address string) complaint {
	c := complaint{what: what, note: address + " is free"}
	l, err := net.Listen("tcp", address)
	if err != nil {
		c.err = err
		return c
	}
	c.err = l.Close()
	return c
}

func checkUDP(what, address string) complaint {
	c := complaint{what: what, note: address + " is free"}
	l, err := net.ListenPacket("udp", address)
	if err != nil {
		c.err = err
		return c
	}
	c.err = l.Close()
	return c
}

// checkRTP sends a datagram to itself over the first free port of the range.
func checkRTP(cfg *config.Config) complaint {
	c := complaint{what: "rtp ports"}
	from, to, err := config.PortRange(cfg.RTP.Ports)
	if err != nil {
		c.err = err
		return c
	}
	for port := from; port <= to; port++ {
		l, err := net.ListenPacket("udp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer l.Close()
		buf := make([]byte, 1)
		_, err = l.WriteTo([]byte("x"), l.LocalAddr())
		if err == nil {
			_ = l.SetReadDeadline(time.Now().Add(2 * time.Second)) // only a closed socket fails here, and reading then says so
			_, _, err = l.ReadFrom(buf)
		}
		c.note, c.err = cfg.RTP.Ports+", datagrams pass", err
		return c
	}
	c.err = fmt.Errorf("no port of %s is free", cfg.RTP.Ports)
	return c
}

func checkAssets() complaint {
	c := complaint{what: "assets", note: "all in the binary"}
	if missing := assets.Missing(); len(missing) > 0 {
		c.err = fmt.Errorf("built without %s; run make build", strings.Join(missing, ", "))
	}
	return c
}

// checkEngines asks every vendor, and says what else there is on this machine.
func checkEngines(ctx context.Context, cfg *config.Config) []complaint {
	vs, err := openVendors(ctx, cfg, nil)
	if err != nil {
		return []complaint{{what: "engines", err: err}}
	}
	var out []complaint
	for _, v := range vs.Now() {
		c := complaint{what: "vendor " + v.Code, note: v.About + " (" + strings.Join(v.Roles(), ", ") + ")"}
		if v.Check != nil {
			c.err = v.Check(ctx)
		}
		out = append(out, c)
	}
	out[0].err = errors.Join(out[0].err, vs.Err(), vs.Close())
	for _, line := range found(ctx, vs.Now()) {
		out = append(out, complaint{what: "engines", note: line})
	}
	return out
}
