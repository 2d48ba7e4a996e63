//go:build linux

package main

import (
	"encoding/binary"
	"net"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"parley/audio"
	"parley/audio/rtp"
)

// load sends one RTP stream to each port from a single socket and looks at what comes back.
type load struct {
	conn      *net.UDPConn
	packets   *ipv4.PacketConn
	ports     []int
	measuring atomic.Bool
	quit      atomic.Bool
	wg        sync.WaitGroup
	calls     map[int]*call // by port
}

type call struct {
	got, first, last uint16
	any              bool
	at               time.Time
	deviation        []float32 // of the distance of two packets from 20 ms, in ms
}

type loadResult struct {
	lost float64 // per cent
	p99  float64 // ms
}

func newLoad(ports []int) (*load, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	if rc, err := conn.SyscallConn(); err == nil {
		_ = rc.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20)
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 32<<20)
		})
	}
	g := &load{conn: conn, packets: ipv4.NewPacketConn(conn), ports: ports, calls: map[int]*call{}}
	for _, p := range ports {
		g.calls[p] = &call{}
	}
	g.wg.Go(g.send)
	g.wg.Go(g.receive)
	return g, nil
}

func (g *load) start() { g.measuring.Store(true) }

func (g *load) stop() (r loadResult) {
	g.quit.Store(true)
	_ = g.conn.Close()
	g.wg.Wait()
	var expected, got int
	var all []float32
	for _, c := range g.calls {
		if c.any {
			expected += int(c.last-c.first) + 1
			got += int(c.got)
			all = append(all, c.deviation...)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	if expected == 0 || len(all) == 0 {
		return loadResult{lost: 100}
	}
	return loadResult{lost: 100 * float64(expected-got) / float64(expected), p99: float64(all[len(all)*99/100])}
}

// send spreads the calls over 20 slots of 1 ms.
func (g *load) send() {
	runtime.LockOSThread()
	const slots = 20
	pcm := make([]int16, 160)
	var out [slots][]ipv4.Message
	for i, port := range g.ports {
		b := make([]byte, rtp.HeaderLen+160)
		audio.GenSignal(pcm, 8000, int64(i*37), audio.Tone{Hz: 200 + float64(i%40)*20, Level: 0.2}, audio.Tone{Hz: 1200, Level: 0.05})
		audio.EncodeMuLaw(b[rtp.HeaderLen:], pcm)
		rtp.Header{SSRC: uint32(i + 1)}.Put(b)
		out[i%slots] = append(out[i%slots], ipv4.Message{Buffers: [][]byte{b}, Addr: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}})
	}
	next := time.Now()
	for turn := 0; !g.quit.Load(); turn++ {
		next = next.Add(time.Millisecond)
		if d := time.Until(next); d > 0 {
			ts := unix.NsecToTimespec(int64(d))
			_ = unix.Nanosleep(&ts, nil)
		}
		batch := out[turn%slots]
		for i := range batch {
			b := batch[i].Buffers[0]
			binary.BigEndian.PutUint16(b[2:], uint16(turn/slots))
			binary.BigEndian.PutUint32(b[4:], uint32(turn/slots)*160)
		}
		for len(batch) > 0 {
			n, err := g.packets.WriteBatch(batch, 0)
			if err != nil {
				break
			}
			batch = batch[n:]
		}
	}
}

func (g *load) receive() {
	batch := make([]ipv4.Message, 256)
	for i := range batch {
		batch[i].Buffers = [][]byte{make([]byte, 512)}
	}
	for !g.quit.Load() {
		n, err := g.packets.ReadBatch(batch, 0)
		if err != nil {
			return
		}
		now := time.Now()
		for _, m := range batch[:n] {
			c := g.calls[m.Addr.(*net.UDPAddr).Port]
			h, _, ok := rtp.Parse(m.Buffers[0][:m.N])
			if c == nil || !ok || !g.measuring.Load() {
				continue
			}
			if c.got++; !c.any {
				c.any, c.first = true, h.Sequence
			} else {
				d := float32(now.Sub(c.at).Seconds()*1000) - 20
				c.deviation = append(c.deviation, max(d, -d))
			}
			c.last, c.at = h.Sequence, now
		}
	}
}
