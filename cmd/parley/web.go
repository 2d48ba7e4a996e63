package main

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"parley/wire"
)

// Bounds of what clients of the HTTP server may hold.
const (
	headerTime      = 10 * time.Second // for the header of a request
	idleTime        = 2 * time.Minute  // between two requests of a connection
	mostHeader      = 128 << 10        // bytes
	mostConns       = 8192
	connsPerAddress = 256 // an office behind one router, not a flood
)

// newWeb serves h through doors that leave half of the process's descriptors to calls, files and the database.
func newWeb(h http.Handler, l net.Listener, proxies []netip.Prefix) (*http.Server, net.Listener) {
	most := mostConns
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err == nil {
		most = int(min(uint64(most), files.Cur/2))
	}
	web := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug)}
	return web, wire.Doors{All: most, PerAddress: connsPerAddress, Proxies: proxies}.Open(l)
}
