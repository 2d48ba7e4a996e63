package media

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"parley/audio"
	"parley/safe"
)

// Options say how a plane is built.
type Options struct {
	PortMin, PortMax int                           // RTP ports, both included; RTP takes even ones, RTCP the odd one above
	Detector         func(rate int) audio.Detector // makes the voice detector of a stream at 8000 or 16000 Hz; nil = none
	Pacers           int                           // threads for phones; 0 = half of the processors, at least 1
	Portable         bool                          // read sockets through the runtime's poller where the pacer could do it itself
}

// Plane is the media plane of the process.
type Plane struct {
	opt        Options
	cname      string
	phones     []*pacer
	browsers   []*pacer
	background safe.Group // recorders

	gate   sync.Mutex // between start and Close
	closed bool

	mu   sync.Mutex // short: the pacer gives ports back under it
	used map[int]bool
	next int
}

// ErrNoPort says that the whole port range is in use.
var ErrNoPort = errors.New("no free RTP port")

var errClosed = errors.New("the media plane is closed")

// New starts a plane. It raises GOMAXPROCS to max(4, 2 × processors) unless the environment sets it: a free slot in the
// scheduler, when a pacer wakes, does more for its precision than any priority.
func New(o Options) (*Plane, error) {
	if o.PortMin < 1 || o.PortMax > 65535 || o.PortMax-o.PortMin < 1 {
		return nil, fmt.Errorf("media: bad port range %d-%d", o.PortMin, o.PortMax)
	}
	if n := max(4, 2*runtime.NumCPU()); os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
	if o.Pacers <= 0 {
		o.Pacers = max(1, runtime.NumCPU()/2)
	}
	p := &Plane{opt: o, used: map[int]bool{}, cname: strconv.FormatUint(rand.Uint64(), 36)}
	p.next = p.even(o.PortMin) + rand.IntN((o.PortMax-o.PortMin)/2+1)*2
	for range o.Pacers {
		p.phones = append(p.phones, newPacer(p, true))
		p.browsers = append(p.browsers, newPacer(p, false))
	}
	return p, nil
}

func (p *Plane) even(port int) int { return port + port&1 }

// Port is a pair of bound sockets that waits for its stream.
type Port struct {
	plane     *Plane
	port      int
	addr      netip.Addr
	rtp, rtcp socket
	once      sync.Once
}

// LocalPort is the RTP port, an even number; RTCP has the next one.
func (p *Port) LocalPort() int { return p.port }

// LocalAddr is the address the port is bound to.
func (p *Port) LocalAddr() netip.Addr { return p.addr }

// Close gives up a port that no stream was opened on. After Open it does nothing.
func (p *Port) Close() {
	p.once.Do(func() {
		p.rtp.close()
		p.rtcp.close()
		p.plane.release(p.port)
	})
}

func (p *Plane) release(port int) {
	p.mu.Lock()
	delete(p.used, port)
	p.mu.Unlock()
}

// Allocate binds the next free pair of ports on a local address (unspecified = all addresses). Freed ports come back as
// late as possible. It returns ErrNoPort when there is none.
func (p *Plane) Allocate(local netip.Addr) (*Port, error) {
	var last error
	p.gate.Lock()
	closed := p.closed
	p.gate.Unlock()
	if closed {
		return nil, errClosed
	}
	for range (p.opt.PortMax-p.opt.PortMin)/2 + 1 {
		n, ok := p.reserve()
		if !ok {
			break
		}
		port, err := p.bind(local, n)
		if err == nil {
			return port, nil
		}
		p.release(n)
		if last = err; errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			break // no descriptor is left for any other port either
		}
	}
	return nil, errors.Join(ErrNoPort, last)
}

// reserve takes the next number that none of our own ports has.
func (p *Plane) reserve() (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range (p.opt.PortMax-p.opt.PortMin)/2 + 1 {
		n := p.next
		if p.next += 2; p.next+1 > p.opt.PortMax {
			p.next = p.even(p.opt.PortMin)
		}
		if n+1 <= p.opt.PortMax && !p.used[n] {
			p.used[n] = true
			return n, true
		}
	}
	return 0, false
}

func (p *Plane) bind(local netip.Addr, n int) (*Port, error) {
	listen := listenRaw
	if p.opt.Portable || !hasRaw {
		listen = listenUDP
	}
	rtp, err := listen(netip.AddrPortFrom(local, uint16(n)))
	if err != nil {
		return nil, err
	}
	rtcp, err := listen(netip.AddrPortFrom(local, uint16(n+1)))
	if err != nil {
		rtp.close()
		return nil, err
	}
	return &Port{plane: p, port: n, addr: local, rtp: rtp, rtcp: rtcp}, nil
}

// Open starts the stream of a phone on a port. The port belongs to the stream from then on.
func (p *Plane) Open(port *Port, c Config) (*Stream, error) {
	s, err := newStream(c, p.opt.Detector)
	if err != nil {
		return nil, err
	}
	taken := false
	port.once.Do(func() { taken = true })
	if !taken {
		return nil, errors.New("media: the port is closed or in use")
	}
	s.port = port
	s.socket, s.rtcp = port.rtp, port.rtcp
	if s.cfg.RTCPMux {
		s.rtcp.close()
		s.rtcp = nil
	}
	s.unlatch()
	return p.start(s, p.phones)
}

// OpenTransport starts the stream of a browser: its packets come by Stream.Receive and leave by t. It has a pacer apart
// from the phones', so that its codec does not delay them. t.WriteRTP is called by that pacer.
func (p *Plane) OpenTransport(t Transport, c Config) (*Stream, error) {
	s, err := newStream(c, p.opt.Detector)
	if err != nil {
		return nil, err
	}
	s.socket = &transportSocket{out: t}
	return p.start(s, p.browsers)
}

func (p *Plane) start(s *Stream, pacers []*pacer) (*Stream, error) {
	s.pacer = pacers[0]
	for _, q := range pacers[1:] {
		if q.size.Load() < s.pacer.size.Load() {
			s.pacer = q
		}
	}
	p.gate.Lock() // no stream is added once Close has begun
	defer p.gate.Unlock()
	if p.closed || !s.pacer.tell(command{stream: s, add: true}) {
		s.socket.close()
		if s.rtcp != nil {
			s.rtcp.close()
		}
		return nil, errClosed
	}
	s.pacer.size.Add(1)
	return s, nil
}

// Load is how a plane is doing.
type Load struct {
	Streams int           // open
	Skipped int64         // frames of 20 ms a pacer could not catch up with, so far
	Late    time.Duration // worst lateness of a slot since the last call
}

// Load tells how the plane is doing; the worst lateness begins anew with every call.
func (p *Plane) Load() Load {
	var l Load
	for _, q := range append(p.phones[:len(p.phones):len(p.phones)], p.browsers...) {
		l.Streams += int(q.size.Load())
		l.Skipped += q.skipped.Load()
		l.Late = max(l.Late, time.Duration(q.late.Swap(0)))
	}
	return l
}

// Close ends every stream and returns when all recordings are written. Ports that no stream was opened on are their
// owners' to close.
func (p *Plane) Close() {
	p.gate.Lock()
	closed := p.closed
	p.closed = true
	p.gate.Unlock()
	if !closed {
		for i := range p.phones {
			close(p.phones[i].quit)
			close(p.browsers[i].quit)
		}
	}
	for i := range p.phones {
		<-p.phones[i].gone
		<-p.browsers[i].gone
	}
	p.background.Wait()
}
