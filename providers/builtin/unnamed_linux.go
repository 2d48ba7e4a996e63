package builtin

import "golang.org/x/sys/unix"

func unnamedFile() (int, error) { return unix.MemfdCreate("engine", unix.MFD_CLOEXEC) }
