//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"parley/assets"
	"parley/audio"
	"parley/audio/rtp"
	"parley/audio/silero"
	"parley/lines/media"
)

// serve runs an engine in this process: it prints its ports, waits for a line, measures itself and prints the figures.
func serve(name string) {
	runtime.GOMAXPROCS(max(4, 2*runtime.NumCPU())) // as media.New does, for the raw engine too
	idle := memory()
	ports, load, err := open(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	reply(ports)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	load()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	time.Sleep(time.Duration(*seconds) * time.Second)
	cpu = cpuTime() - cpu
	runtime.ReadMemStats(&after)
	l := load()
	callSeconds := float64(*calls * *seconds)
	reply(figures{
		CPU:     float64(cpu.Microseconds()) / callSeconds,
		Allocs:  float64(after.Mallocs-before.Mallocs) / (callSeconds * 50),
		Memory:  float64(memory()-idle) / float64(*calls),
		Late:    float64(l.Late.Microseconds()) / 1000,
		Skipped: l.Skipped,
	})
}

func reply(v any) {
	b, _ := json.Marshal(v)
	fmt.Println(string(b))
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// memory is the resident set in KiB.
func memory() int {
	var pages int
	b, _ := os.ReadFile("/proc/self/statm")
	_, _ = fmt.Sscan(strings.Fields(string(b))[1], &pages)
	return pages * os.Getpagesize() / 1024
}

// open starts an engine with all its calls.
func open(name string) (ports []int, load func() media.Load, err error) {
	if name == "raw" {
		return raw()
	}
	o := media.Options{PortMin: 20000, PortMax: 31999, Pacers: 1}
	if name == "vad" {
		weights, err := assets.Read("silero_vad.onnx")
		if err != nil {
			return nil, nil, err
		}
		model, err := silero.Load(weights)
		if err != nil {
			return nil, nil, err
		}
		o.Detector = func(rate int) audio.Detector { return model.Detector(rate) }
	}
	plane, err := media.New(o)
	if err != nil {
		return nil, nil, err
	}
	for range *calls {
		port, err := plane.Allocate(netip.MustParseAddr("127.0.0.1"))
		if err != nil {
			return nil, nil, err
		}
		s, err := plane.Open(port, media.Config{DTMFPayload: 101, Peer: netip.MustParseAddr("127.0.0.1")})
		if err != nil {
			return nil, nil, err
		}
		if name != "plane" {
			go read(s)
		}
		ports = append(ports, port.LocalPort())
	}
	return ports, plane.Load, nil
}

func read(s *media.Stream) {
	buf := make([]int16, 1600)
	for {
		if _, err := s.Hear(context.Background(), buf); err != nil {
			return
		}
	}
}

// raw is the least a Go program can do: one thread, connected sockets, read what is there, send one packet, sleep.
func raw() ([]int, func() media.Load, error) {
	type peer struct {
		fd   int
		on   bool
		send [rtp.HeaderLen + 160]byte
		h    rtp.Header
	}
	peers := make([]*peer, *calls)
	var ports []int
	for i := range peers {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, nil, err
		}
		if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return nil, nil, err
		}
		name, err := unix.Getsockname(fd)
		if err != nil {
			return nil, nil, err
		}
		peers[i] = &peer{fd: fd}
		ports = append(ports, name.(*unix.SockaddrInet4).Port)
	}
	go func() {
		runtime.LockOSThread()
		const slots, slot = 4, 5 * time.Millisecond
		buf := new([1500]byte)
		next := time.Now()
		for turn := 0; ; turn++ {
			next = next.Add(slot)
			if d := time.Until(next); d > 0 {
				ts := unix.NsecToTimespec(int64(d))
				_ = unix.Nanosleep(&ts, nil)
			}
			for i := turn % slots; i < len(peers); i += slots {
				p := peers[i]
				if !p.on {
					if _, from, err := unix.Recvfrom(p.fd, buf[:], unix.MSG_DONTWAIT); err == nil {
						p.on = unix.Connect(p.fd, from) == nil
					}
					continue
				}
				for {
					n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(p.fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)),
						unix.MSG_DONTWAIT, 0, 0)
					if errno != 0 {
						break
					}
					copy(p.send[rtp.HeaderLen:], buf[rtp.HeaderLen:n])
				}
				p.h.Sequence++
				p.h.Timestamp += 160
				p.h.Put(p.send[:])
				binary.BigEndian.PutUint32(p.send[8:], uint32(i))
				_, _, _ = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(p.fd), uintptr(unsafe.Pointer(&p.send[0])), uintptr(len(p.send)), unix.MSG_DONTWAIT,
					0, 0)
			}
		}
	}()
	return ports, func() media.Load { return media.Load{} }, nil
}
