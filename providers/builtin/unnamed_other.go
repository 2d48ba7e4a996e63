//go:build unix && !linux

package builtin

import (
	"errors"
	"os"
)

// unnamedFile is a temporary file that no folder shows.
func unnamedFile() (*os.File, error) {
	f, err := os.CreateTemp("", "engine")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
