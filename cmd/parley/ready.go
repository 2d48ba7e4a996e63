package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"parley/config"
)

func newReady() *cobra.Command {
	cmd := &cobra.Command{Use: "ready", Short: "Ask a running server whether it takes requests, for health checks", Args: cobra.NoArgs,
		RunE: action(func(_ *cobra.Command, _ []string, cfg *config.Loaded) error { return ready(cfg.Listen) })}
	cmd.Flags().String("listen", "127.0.0.1:8080", "HTTP address of the server, HOST:PORT")
	return cmd
}

// ready is nil when the server that listens there takes requests.
func ready(listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return misuse{err}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // it listens everywhere, so here too
		host = "localhost"
	}
	client := http.Client{Timeout: 5 * time.Second}
	res, err := client.Get("http://" + net.JoinHostPort(host, port) + "/readyz")
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", res.Status)
	}
	return nil
}
