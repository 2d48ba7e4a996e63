// Package testonly holds third-party files that tests need and the binary does not: axe-core/axe.min.js.
package testonly

import (
	"embed"

	"parley/assets"
)

//go:embed all:cache
var cache embed.FS

// Read returns the named file, unpacked, or an error that says how to bring it.
func Read(name string) ([]byte, error) { return assets.ReadFrom(cache, name) }
