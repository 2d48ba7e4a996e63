//go:build unix && !linux

package builtin

import (
	"os"

	"golang.org/x/sys/unix"
)

func unnamedFile() (int, error) {
	f, err := os.CreateTemp("", "engine")
	if err != nil {
		return -1, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return -1, err
	}
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}
