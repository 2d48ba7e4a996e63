package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// room is the address space reserved for the memory of one module instance; pages cost nothing until they are touched.
const room = 512 << 20

// memory is the linear memory of one instance. It never moves, so that its content can be exchanged under the instance:
// restore maps a snapshot copy-on-write, and instances share every page they do not write.
type memory struct{ all []byte }

var _ experimental.LinearMemory = (*memory)(nil)

func newMemory() (*memory, error) {
	b, err := unix.Mmap(-1, 0, room, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve memory for an engine: %w", err)
	}
	return &memory{all: b}, nil
}

// Reallocate grows in place; nil beyond the reserved room, which the module sees as being out of memory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size:len(m.all)]
}

// Free gives everything back to the system.
func (m *memory) Free() {
	if m.all != nil {
		_ = unix.Munmap(m.all)
		m.all = nil
	}
}

// snapshot is a frozen linear memory. It may hold only what differs from another one. Its file is closed when nobody
// refers to the snapshot any more; memories that were restored from it keep their pages.
type snapshot struct {
	parent *snapshot
	file   *os.File // unnamed: the pieces, one after the other
	size   int      // bytes of the memory
	pieces []piece
}

// piece is a run of memory that is in the file.
type piece struct{ from, to, at int }

// grain is the unit in which memory is compared and mapped, a multiple of every page size.
const grain = 64 << 10

// freeze copies a memory, or where it has a parent what differs from that.
func freeze(mem []byte, parent *snapshot) (*snapshot, error) {
	s := &snapshot{parent: parent, size: len(mem)}
	var old []byte
	if parent != nil {
		before, err := newMemory()
		if err != nil {
			return nil, err
		}
		defer before.Free()
		if err := parent.restore(before); err != nil {
			return nil, err
		}
		old = before.all[:parent.size]
	}
	at := 0
	for from := 0; from < len(mem); from += grain {
		to := min(from+grain, len(mem))
		if to <= len(old) && bytes.Equal(mem[from:to], old[from:to]) {
			continue
		}
		if n := len(s.pieces); n > 0 && s.pieces[n-1].to == from {
			s.pieces[n-1].to = to
		} else {
			s.pieces = append(s.pieces, piece{from, to, at})
		}
		at += grain
	}
	file, err := unnamedFile()
	if err != nil {
		return nil, fmt.Errorf("freeze an engine: %w", err)
	}
	s.file = file
	for _, p := range s.pieces {
		if _, err := file.WriteAt(mem[p.from:p.to], int64(p.at)); err != nil {
			return nil, errors.Join(fmt.Errorf("freeze an engine: %w", err), file.Close())
		}
	}
	return s, nil
}

// restore makes m what it was when s was taken. The pages are shared until they are written.
func (s *snapshot) restore(m *memory) error {
	if s.parent != nil {
		if err := s.parent.restore(m); err != nil {
			return err
		}
	}
	for _, p := range s.pieces {
		at := unsafe.Pointer(&m.all[p.from])
		if _, err := unix.MmapPtr(int(s.file.Fd()), int64(p.at), at, uintptr(p.to-p.from), unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_PRIVATE|unix.MAP_FIXED); err != nil {
			return fmt.Errorf("restore an engine: %w", err)
		}
	}
	runtime.KeepAlive(s)
	return nil
}
