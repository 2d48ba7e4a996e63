//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A server without descriptors, before its first call has opened the engines, refuses what is new and goes on; when it has
// descriptors again it talks.
func TestOutOfDescriptors(t *testing.T) {
	t.Parallel()
	c, number, _ := desk(t, t.TempDir())
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var before unix.Rlimit
	if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(len(open) + 8), Max: before.Max}, nil); err != nil {
		t.Fatal(err)
	}
	var held []net.Conn
	for range 60 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
		if err != nil {
			break
		}
		held = append(held, conn)
	}
	c.refusesCalls(number)
	for _, conn := range held {
		conn.Close()
	}
	if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_NOFILE, &before, nil); err != nil {
		t.Fatal(err)
	}
	c.talksAgain(number)
}

// A server whose disk was full before its first call, and while the engines were compiled, refuses what is new and goes on;
// when there is room again it talks.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := syscall.Mount("none", data, "tmpfs", 0, "size=24m"); err != nil {
		t.Skip("only root mounts a small disk:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
	c, number, _ := desk(t, data)
	f, err := os.Create(filepath.Join(data, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	c.refusesCalls(number)
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		t.Fatal(err)
	}
	c.talksAgain(number)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// refusesCalls has somebody call a server that lacks what a call needs.
func (c client) refusesCalls(number string) {
	c.t.Helper()
	for range 3 {
		code, body := c.ask(c.t, c.key, "POST", "/api/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":[{"wait_ms":500},{"hangup":true}]}`, number))
		if code != 200 && code != 503 {
			c.t.Errorf("a call: %d %s", code, body)
		}
	}
}

// talksAgain has somebody call and be greeted.
func (c client) talksAgain(number string) {
	c.t.Helper()
	if code := c.get(c.t, "/readyz"); code != 200 {
		c.t.Errorf("ready: %d", code)
	}
	id := c.id(c.want(200, "POST", "/sim/calls", fmt.Sprintf(
		`{"from":"+491701234567","to":%q,"script":[{"wait_for":"speech_end","timeout_ms":30000},{"hangup":true}]}`, number)), "data", "call_id")
	if one := c.until(id, final); one.Status != "completed" || !strings.Contains(one.Transcript, "Assistant: Map shop.") {
		c.t.Errorf("the call afterwards: %+v", one)
	}
	c.stop(c.t)
}
