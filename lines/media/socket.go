package media

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"parley/safe"
)

// socket moves the packets of one stream. All methods but close belong to the pacer and never block.
type socket interface {
	// recv returns one packet, where it came from (unset for a transport) and when; ok is false when there is none.
	recv(buf []byte, now time.Time) (n int, from netip.AddrPort, at time.Time, ok bool)
	// send sends to the peer, if there is one.
	send(packet []byte) error
	// setPeer says where send goes; with only set, nobody else is received any more.
	setPeer(peer netip.AddrPort, only bool)
	close()
}

const (
	maxPacket = 1500
	inboxLen  = 16 // packets that wait for the pacer
)

// inbox is a ring of packets from one reading goroutine to the pacer.
type inbox struct {
	slots   [inboxLen]arrival
	written atomic.Uint32
	read    atomic.Uint32
}

type arrival struct {
	size int
	from netip.AddrPort
	at   time.Time
	data [maxPacket]byte
}

// free is the place of the next packet, nil when the ring is full. Reading goroutine only.
func (b *inbox) free() *arrival {
	w := b.written.Load()
	if w-b.read.Load() == inboxLen {
		return nil
	}
	return &b.slots[w%inboxLen]
}

func (b *inbox) commit() { b.written.Add(1) }

func (b *inbox) recv(buf []byte, _ time.Time) (n int, from netip.AddrPort, at time.Time, ok bool) {
	r := b.read.Load()
	if r == b.written.Load() {
		return 0, from, at, false
	}
	a := &b.slots[r%inboxLen]
	n, from, at = copy(buf, a.data[:a.size]), a.from, a.at
	b.read.Store(r + 1)
	return n, from, at, true
}

// udpSocket is the portable socket: a goroutine reads, the runtime's poller waits.
type udpSocket struct {
	inbox
	conn *net.UDPConn
	peer netip.AddrPort
	done chan struct{}
}

func listenUDP(addr netip.AddrPort) (socket, error) {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return nil, err
	}
	s := &udpSocket{conn: conn, done: make(chan struct{})}
	safe.Go("media socket", s.read)
	return s, nil
}

func (s *udpSocket) read() {
	defer close(s.done)
	var lost arrival
	for {
		a := s.free()
		if a == nil {
			a = &lost
		}
		n, from, err := s.conn.ReadFromUDPAddrPort(a.data[:])
		if err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() || isRefused(err) {
				continue
			}
			return
		}
		a.size, a.from, a.at = n, netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), time.Now()
		if a != &lost {
			s.commit()
		}
	}
}

func (s *udpSocket) send(packet []byte) error {
	if !s.peer.IsValid() {
		return nil
	}
	_, err := s.conn.WriteToUDPAddrPort(packet, s.peer)
	return err
}

func (s *udpSocket) setPeer(peer netip.AddrPort, _ bool) { s.peer = peer }

func (s *udpSocket) close() {
	_ = s.conn.Close()
	<-s.done
}

// transportSocket carries the packets of a stream over somebody else's connection.
type transportSocket struct {
	inbox
	out Transport
}

func (s *transportSocket) send(packet []byte) error     { return s.out.WriteRTP(packet) }
func (s *transportSocket) setPeer(netip.AddrPort, bool) {}
func (s *transportSocket) close()                       {}
