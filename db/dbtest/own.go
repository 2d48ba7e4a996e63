package dbtest

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Server is a PostgreSQL server that belongs to one test, which may stop it or let it hang.
type Server struct {
	t   testing.TB
	dir string
}

// Own starts a server and ends it with the test. It takes about two seconds.
func Own(t testing.TB) *Server {
	t.Helper()
	tmp := ""
	if memory := "/dev/shm"; roomy(memory) {
		tmp = memory
	}
	dir, err := os.MkdirTemp(tmp, "parley-own-") // short: a socket's path is at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t, dir}
	t.Cleanup(func() {
		s.Thaw()
		_ = s.control("stop", "-m", "immediate")
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := launch(dir); err != nil {
		t.Fatal(err)
	}
	return s
}

// URL is that of its one database, which is empty at first.
func (s *Server) URL() string { return "postgres://parley@/postgres?host=" + url.QueryEscape(s.dir) }

// Stop ends the server and its connections; Start starts it again.
func (s *Server) Stop() { s.must(s.control("stop", "-m", "fast")) }

// Start starts the server after Stop.
func (s *Server) Start() {
	s.must(s.control("start", "-w", "-l", filepath.Join(s.dir, "data", "log"), "-o", settings(s.dir)))
}

// Freeze stops all its processes where they are: connections stay open, and new ones are accepted by the system, but
// nothing is answered. Thaw lets them go on.
func (s *Server) Freeze() { s.must(s.signal(syscall.SIGSTOP)) }

// Thaw ends Freeze.
func (s *Server) Thaw() { s.must(s.signal(syscall.SIGCONT)) }

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) control(args ...string) error {
	bin, err := binaries()
	if err != nil {
		return err
	}
	as, err := unprivileged(s.dir)
	if err != nil {
		return err
	}
	return runIn(s.dir, as, filepath.Join(bin, "pg_ctl"), append([]string{"-D", filepath.Join(s.dir, "data")}, args...)...)
}

// signal goes to the postmaster, which then starts no more of them, and to its children. It returns when those that are to
// stop stand still: the kernel tells a process when it next runs.
func (s *Server) signal(sig syscall.Signal) error {
	b, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // it is stopped
	}
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(b), "\n")
	master, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	if err := syscall.Kill(master, sig); err != nil {
		return err
	}
	for sig == syscall.SIGSTOP && !stands(first) {
		runtime.Gosched()
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		pid := strings.Split(stat, "/")[2]
		if _, parent := status(pid); parent != first {
			continue
		}
		n, _ := strconv.Atoi(pid)
		_ = syscall.Kill(n, sig) // it may have ended
		for sig == syscall.SIGSTOP && !stands(pid) {
			runtime.Gosched()
		}
	}
	return err
}

// stands reports that a process is stopped or at its end, which the stopped postmaster does not notice.
func stands(pid string) bool {
	state, _ := status(pid)
	return state == "T" || state == "Z" || state == "X" || state == ""
}

// status is the state and the parent of a process; empty when it has ended.
func status(pid string) (state, parent string) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "", ""
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	return f[0], f[1]
}

// runIn runs a program of PostgreSQL's to its end.
func runIn(dir string, as *syscall.Credential, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setsid: true}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, out)
	}
	return nil
}
