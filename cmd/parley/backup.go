package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
	"parley/config"
	"parley/db"
)

// A backup is a tar file, compressed with zstd: the database as it was at one moment, the files of the data folder and
// the key for secrets. Files in an S3 store stay where they are.
const (
	backupSQLite   = "parley.db"
	backupPostgres = "tables/"
	backupFiles    = "files/"
	backupKey      = "secrets.key"
)

func newBackup() *cobra.Command {
	return &cobra.Command{Use: "backup FILE", Short: "Write a consistent copy of database and files, also while serving", Args: cobra.ExactArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string, cfg *config.Loaded) error {
			return backup(cmd.Context(), cfg.Config, args[0])
		})}
}

func newRestore() *cobra.Command {
	return &cobra.Command{Use: "restore FILE", Short: "Bring a backup back into an empty data folder", Args: cobra.ExactArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string, cfg *config.Loaded) error {
			return restore(cmd.Context(), cfg.Config, args[0])
		})}
}

// backup writes beside path and moves the whole file there at the end.
func backup(ctx context.Context, cfg *config.Config, path string) (err error) {
	d, err := openDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	f, err := os.CreateTemp(filepath.Dir(path), ".backup-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	z, err := zstd.NewWriter(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w := tar.NewWriter(z)
	if err = errors.Join(writeBackup(ctx, cfg, d, w), w.Close(), z.Close(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// writeBackup takes the database first: files may be added meanwhile, and what it names is there.
func writeBackup(ctx context.Context, cfg *config.Config, d *db.DB, w *tar.Writer) error {
	var err error
	if d.Postgres() {
		err = dumpPostgres(ctx, d.URL(), w)
	} else {
		err = dumpSQLite(ctx, cfg, d, w)
	}
	if err != nil {
		return err
	}
	if err := addFile(w, cfg.DataPath(backupKey), backupKey); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	root := cfg.DataPath(backupFiles)
	if cfg.Blobs.URL != "" {
		return nil
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(path, "/.") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		err = addFile(w, path, backupFiles+filepath.ToSlash(name))
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			return nil
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func addFile(w *tar.Writer, path, name string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	_, err = io.CopyN(w, f, info.Size())
	return err
}

// dumpSQLite lets SQLite write a copy of one moment, while others go on writing.
func dumpSQLite(ctx context.Context, cfg *config.Config, d *db.DB, w *tar.Writer) error {
	dir, err := os.MkdirTemp(cfg.Data, ".backup-")
	if err != nil {
		return err
	}
	copied := filepath.Join(dir, backupSQLite)
	err = d.CopyTo(ctx, copied)
	if err == nil {
		err = addFile(w, copied, backupSQLite)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// restore fills an empty data folder, and with database.url an empty PostgreSQL database.
func restore(ctx context.Context, cfg *config.Config, path string) (err error) {
	if entries, err := os.ReadDir(cfg.Data); err == nil && len(entries) > 0 {
		return fmt.Errorf("the data folder %s is not empty", cfg.Data)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return err
	}
	defer z.Close()
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(cfg.Data)
	if err != nil {
		return err
	}
	defer root.Close()
	r := &restoring{cfg: cfg, root: root, tar: tar.NewReader(z)}
	return r.run(ctx)
}

type restoring struct {
	cfg    *config.Config
	root   *os.Root
	tar    *tar.Reader
	tables *postgresRestore
}

func (r *restoring) run(ctx context.Context) (err error) {
	defer func() {
		if r.tables != nil {
			err = r.tables.close(ctx, err)
		}
	}()
	found := false
	for {
		h, err := r.tar.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case h.Name == backupSQLite && r.cfg.Database.URL != "":
			return errors.New("this is a backup of SQLite: restore it without database.url")
		case h.Name == backupSQLite:
			found, err = true, r.write(h.Name)
		case strings.HasPrefix(h.Name, backupPostgres):
			found, err = true, r.table(ctx, strings.TrimPrefix(h.Name, backupPostgres))
		case h.Name == backupKey, strings.HasPrefix(h.Name, backupFiles):
			err = r.write(h.Name)
		default:
			err = fmt.Errorf("%s does not belong in a backup", h.Name)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return errors.New("no database in this file")
	}
	return nil
}

// write puts a file into the data folder; a name cannot lead out of it.
func (r *restoring) write(name string) error {
	if err := r.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r.tar)
	return errors.Join(err, f.Sync(), f.Close())
}

func (r *restoring) table(ctx context.Context, name string) (err error) {
	if r.tables == nil {
		if r.cfg.Database.URL == "" {
			return errors.New("this is a backup of PostgreSQL: set database.url to an empty database")
		}
		if r.tables, err = openPostgresRestore(ctx, r.cfg); err != nil {
			return err
		}
	}
	return r.tables.fill(ctx, name, r.tar)
}
