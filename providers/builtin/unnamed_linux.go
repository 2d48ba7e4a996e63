package builtin

import (
	"os"

	"golang.org/x/sys/unix"
)

// unnamedFile is a file in memory that no folder shows.
func unnamedFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("engine", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "engine"), nil
}
