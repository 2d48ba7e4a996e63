//go:build !(linux && (amd64 || arm64))

package media

import (
	"errors"
	"net/netip"
	"syscall"
	"time"
)

const hasRaw = false

func listenRaw(addr netip.AddrPort) (socket, error) { return listenUDP(addr) }

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

func sleep(d time.Duration) { time.Sleep(d) }
