//go:build linux && (amd64 || arm64)

package media

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const hasRaw = true

// rawSocket is a UDP socket that the pacer itself reads and writes with non-blocking system calls: no poller, no
// goroutine.
type rawSocket struct {
	fd      int
	six     bool
	only    bool // connected
	peer    [unix.SizeofSockaddrInet6]byte
	peerLen uintptr // 0 = none
	from    [unix.SizeofSockaddrInet6]byte
	fromLen uint32
}

const dscpExpedited = 46 << 2 // RFC 4594: telephony

func listenRaw(addr netip.AddrPort) (socket, error) {
	s := &rawSocket{six: addr.Addr().Is6() && !addr.Addr().Is4In6()}
	family := unix.AF_INET
	if s.six {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	s.fd = fd
	if s.six {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, dscpExpedited)
	} else {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, dscpExpedited)
	}
	if err := unix.Bind(fd, sockaddr(addr, s.six)); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return s, nil
}

func sockaddr(a netip.AddrPort, six bool) unix.Sockaddr {
	if six {
		return &unix.SockaddrInet6{Addr: a.Addr().As16(), Port: int(a.Port())}
	}
	return &unix.SockaddrInet4{Addr: a.Addr().Unmap().As4(), Port: int(a.Port())}
}

func (s *rawSocket) recv(buf []byte, now time.Time) (int, netip.AddrPort, time.Time, bool) {
	for range 4 {
		s.fromLen = uint32(len(s.from))
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)),
			unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&s.from[0])), uintptr(unsafe.Pointer(&s.fromLen)))
		if errno == 0 {
			return int(n), s.source(), now, true
		}
		if errno == unix.EAGAIN {
			break
		} // anything else is an earlier send refused by the far end's host: read on
	}
	return 0, netip.AddrPort{}, now, false
}

func (s *rawSocket) source() netip.AddrPort {
	port := binary.BigEndian.Uint16(s.from[2:])
	if s.six {
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(s.from[8:24])).Unmap(), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(s.from[4:8])), port)
}

func (s *rawSocket) send(packet []byte) error {
	var to unsafe.Pointer
	length := s.peerLen
	switch {
	case s.only:
		length = 0
	case length == 0:
		return nil
	default:
		to = unsafe.Pointer(&s.peer[0])
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&packet[0])), uintptr(len(packet)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, uintptr(to), length)
	if errno != 0 {
		return errno
	}
	return nil
}

func (s *rawSocket) setPeer(peer netip.AddrPort, only bool) {
	if s.only { // dissolve the association, else other sources stay shut out
		var none [unix.SizeofSockaddrInet6]byte
		_, _, _ = unix.RawSyscall(unix.SYS_CONNECT, uintptr(s.fd), uintptr(unsafe.Pointer(&none[0])), uintptr(len(none)))
		s.only = false
	}
	s.peerLen = 0
	if !peer.IsValid() || s.six != (peer.Addr().Is6() && !peer.Addr().Is4In6()) {
		return
	}
	binary.BigEndian.PutUint16(s.peer[2:], peer.Port())
	if s.six {
		binary.NativeEndian.PutUint16(s.peer[:], unix.AF_INET6)
		a := peer.Addr().As16()
		copy(s.peer[8:], a[:])
		s.peerLen = unix.SizeofSockaddrInet6
	} else {
		binary.NativeEndian.PutUint16(s.peer[:], unix.AF_INET)
		a := peer.Addr().Unmap().As4()
		copy(s.peer[4:], a[:])
		s.peerLen = unix.SizeofSockaddrInet4
	}
	s.only = only && unix.Connect(s.fd, sockaddr(peer, s.six)) == nil
}

func (s *rawSocket) close() { _ = unix.Close(s.fd) }

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// sleep waits on the thread itself; its deviation is a tenth of time.Sleep's.
func sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}
