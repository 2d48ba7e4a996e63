package builtin

import (
	"fmt"
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

// snapshot is a frozen linear memory in an unnamed file.
type snapshot struct {
	fd   int
	size int // bytes, a multiple of the WebAssembly page
}

func freeze(mem []byte) (*snapshot, error) {
	fd, err := unnamedFile()
	if err != nil {
		return nil, err
	}
	s := &snapshot{fd: fd, size: len(mem)}
	for done := 0; done < len(mem); {
		n, err := unix.Pwrite(fd, mem[done:], int64(done))
		if err != nil {
			s.drop()
			return nil, fmt.Errorf("freeze an engine: %w", err)
		}
		done += n
	}
	return s, nil
}

// restore makes m what it was when s was taken. Memory beyond the snapshot becomes zero.
func (s *snapshot) restore(m *memory) error {
	base := unsafe.Pointer(&m.all[0])
	const prot = unix.PROT_READ | unix.PROT_WRITE
	if _, err := unix.MmapPtr(s.fd, 0, base, uintptr(s.size), prot, unix.MAP_PRIVATE|unix.MAP_FIXED); err != nil {
		return fmt.Errorf("restore an engine: %w", err)
	}
	rest := unsafe.Add(base, s.size)
	if _, err := unix.MmapPtr(-1, 0, rest, uintptr(room-s.size), prot,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED); err != nil {
		return fmt.Errorf("restore an engine: %w", err)
	}
	return nil
}

// drop releases the file; memories that were restored from it keep their pages.
func (s *snapshot) drop() { _ = unix.Close(s.fd) }
