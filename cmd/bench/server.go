//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parley/sim/load"
)

// server is the program as a process of its own.
type server struct {
	*exec.Cmd
	api string // address of the HTTP server
	sip string // HOST:PORT
}

// start runs the program until it says that it is ready.
func start(ctx context.Context, args ...string) (*server, error) {
	s := &server{Cmd: exec.CommandContext(ctx, *binary, args...)}
	s.Cancel = func() error { return s.Process.Signal(syscall.SIGTERM) }
	s.WaitDelay = 40 * time.Second
	s.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PARLEY_") }),
		"PARLEY_SIP_LISTEN=udp://127.0.0.1:0", "PARLEY_WEBRTC_LISTEN=udp://127.0.0.1:0", "PARLEY_RTP_PORTS=20000-29999", "PARLEY_LOG_LEVEL=error")
	s.Stderr = os.Stderr
	out, err := s.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		f := strings.Fields(lines.Text())
		switch {
		case len(f) == 2 && f[0] == "API":
			s.api = strings.TrimSuffix(f[1], "/api")
		case len(f) == 2 && f[0] == "SIP":
			s.sip = strings.TrimPrefix(f[1], "udp://")
		case len(f) == 1 && f[0] == "ready":
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return s, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s did not start", *binary), s.Wait())
}

// stop ends the server as its operator does.
func (s *server) stop() error {
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.Wait()
}

// state is how a server is doing.
type state struct {
	at      time.Time
	cpu     float64 // s so far
	memory  float64 // bytes resident
	skipped float64 // frames so far; by metrics alone
	late    float64 // s, the worst since the last time; by metrics alone
}

// look asks the system: that costs the server nothing.
func (s *server) look() (st state, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Process.Pid))
	if err != nil {
		return st, err
	}
	st.at = time.Now()
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from field 3 on
	for _, i := range []int{11, 12} {
		ticks, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return st, err
		}
		st.cpu += ticks / 100
	}
	pages, err := strconv.ParseFloat(f[21], 64)
	st.memory = pages * float64(os.Getpagesize())
	return st, err
}

// metrics asks the server.
func (s *server) metrics() (st state, err error) {
	res, err := http.Get(s.api + "/metrics")
	if err != nil {
		return st, err
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "parley_media_skipped_frames_total":
			st.skipped = v
		case "parley_media_late_seconds":
			st.late = v
		}
	}
	return st, nil
}

// usage is how a server did while it was called.
type usage struct {
	perCall float64 // CPU seconds per call and second, while all calls were there
	memory  float64 // KiB per call
	skipped float64 // frames
	late    float64 // ms, the worst of a slot
}

// call has telephones call the server from a process of their own and watches the server.
func (s *server) call(ctx context.Context, calls int, rate float64, wav string, more ...string) (r load.Report, u usage, err error) {
	before, err := s.look()
	if err != nil {
		return r, u, err
	}
	clean, err := s.metrics()
	if err != nil {
		return r, u, err
	}
	cmd := exec.CommandContext(ctx, *binary, append([]string{"sim", "load", "--calls", strconv.Itoa(calls), "--rate", fmt.Sprint(rate),
		"--wav", wav, "--target", s.sip}, more...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, u, err
	}
	if err := cmd.Start(); err != nil {
		return r, u, err
	}
	over := make(chan error, 1)
	go func() { over <- errors.Join(json.NewDecoder(out).Decode(&r), cmd.Wait()) }()
	if u, err = s.watch(before, calls, rate, over); err != nil {
		return r, u, err
	}
	dirty, err := s.metrics()
	u.skipped, u.late = dirty.skipped-clean.skipped, dirty.late*1000
	return r, u, err
}

// watch measures the server until the telephones are done. CPU time counts from when the last of them has called until the
// first one hangs up: that is as long before the end as it called before the last.
func (s *server) watch(before state, calls int, rate float64, over <-chan error) (u usage, err error) {
	var seen []state
	most, ramp := before.memory, time.Duration(float64(calls)/rate*float64(time.Second))
	for {
		select {
		case err = <-over:
			u.memory = (most - before.memory) / 1024 / float64(calls)
			end := time.Now().Add(-ramp)
			seen = slices.DeleteFunc(seen, func(st state) bool { return st.at.Sub(before.at) < ramp || st.at.After(end) })
			if n := len(seen); n > 1 {
				first, last := seen[0], seen[n-1]
				u.perCall = (last.cpu - first.cpu) / last.at.Sub(first.at).Seconds() / float64(calls)
			}
			return u, err
		case <-time.After(500 * time.Millisecond):
		}
		now, err := s.look()
		if err != nil {
			return u, errors.Join(err, <-over)
		}
		most, seen = max(most, now.memory), append(seen, now)
	}
}
