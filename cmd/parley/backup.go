package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
	"parley/blobs"
	"parley/config"
	"parley/db"
)

// A backup is a tar file, compressed with zstd: the database as it was at one moment and the files of the data folder. The
// key for secrets is left out unless asked for: whoever finds the file could read them. So are files in an S3 store.
const (
	backupSQLite   = "parley.db"
	backupPostgres = "tables/"
	backupFiles    = "files/"
	backupKey      = "secrets.key"
	backupType     = "PARLEY.content-type" // of a file that came from an S3 store
)

func newBackup() *cobra.Command {
	var with included
	cmd := &cobra.Command{Use: "backup FILE", Short: "Write a consistent copy of database and files, also while serving",
		Args: cobra.ExactArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string, cfg *config.Loaded) error {
			return backup(cmd.Context(), cfg.Config, args[0], with, cmd.ErrOrStderr())
		})}
	cmd.Flags().BoolVar(&with.key, "with-key", false, "take the key for secrets along")
	cmd.Flags().BoolVar(&with.files, "files", false, "take the files of an S3 store (blobs.url) along")
	return cmd
}

// included is what a backup takes along when asked to.
type included struct{ key, files bool }

func newRestore() *cobra.Command {
	return &cobra.Command{Use: "restore FILE", Short: "Bring a backup back into an empty data folder", Args: cobra.ExactArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string, cfg *config.Loaded) error {
			return restore(cmd.Context(), cfg.Config, args[0], cmd.ErrOrStderr())
		})}
}

// backup writes beside path and moves the whole file there at the end.
func backup(ctx context.Context, cfg *config.Config, path string, with included, tell io.Writer) (err error) {
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
	if err = errors.Join(writeBackup(ctx, cfg, d, w, with, tell), w.Close(), z.Close(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// writeBackup takes the database first: files may be added meanwhile, and what it names is there.
func writeBackup(ctx context.Context, cfg *config.Config, d *db.DB, w *tar.Writer, with included, tell io.Writer) error {
	var err error
	if d.Postgres() {
		err = dumpPostgres(ctx, d.URL(), w)
	} else {
		err = dumpSQLite(ctx, cfg, d, w)
	}
	if err != nil {
		return err
	}
	if err := addKey(cfg, w, with, tell); err != nil {
		return err
	}
	if cfg.Blobs.URL != "" {
		return addRemote(ctx, cfg, w, with, tell)
	}
	root := cfg.DataPath(backupFiles)
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

// addKey takes the key for secrets along, or says that it does not.
func addKey(cfg *config.Config, w *tar.Writer, with included, tell io.Writer) error {
	if cfg.Secrets.Key != "" {
		fmt.Fprintln(tell, "left out: secrets.key of the configuration, without which nobody can read the secrets in this backup")
		return nil
	}
	path := cfg.DataPath(backupKey)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if with.key {
		return addFile(w, path, backupKey)
	}
	fmt.Fprintf(tell, "left out: %s, without which nobody can read the secrets in this backup; keep a copy elsewhere, or use --with-key\n",
		path)
	return nil
}

// addRemote takes the files of an S3 store along, or says which it leaves there.
func addRemote(ctx context.Context, cfg *config.Config, w *tar.Writer, with included, tell io.Writer) error {
	store, err := blobs.Open(ctx, cfg.Blobs.URL, cfg.DataPath(backupFiles))
	if err != nil {
		return err
	}
	keys, _ := blobs.Remote(ctx, store)
	left := map[string]int{} // by folder
	for key, err := range keys {
		if err != nil {
			return err
		}
		if !with.files {
			folder, _, _ := strings.Cut(key, "/")
			left[folder]++
			continue
		}
		if err := addBlob(ctx, store, w, key); err != nil && !errors.Is(err, blobs.ErrNone) { // deleted meanwhile
			return err
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(tell, "left out: %d files under %s/ in the S3 store of blobs.url, which keeps them; --files takes them along\n", left[folder],
			folder)
	}
	return nil
}

func addBlob(ctx context.Context, store blobs.Store, w *tar.Writer, key string) (err error) {
	f, info, err := store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := w.WriteHeader(&tar.Header{Name: backupFiles + key, Mode: 0o600, Size: info.Size, ModTime: info.Modified,
		PAXRecords: map[string]string{backupType: info.ContentType}}); err != nil {
		return err
	}
	_, err = io.CopyN(w, f, info.Size)
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
func restore(ctx context.Context, cfg *config.Config, path string, tell io.Writer) (err error) {
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
	if err := r.run(ctx); err != nil {
		return err
	}
	if _, err := root.Stat(backupKey); errors.Is(err, fs.ErrNotExist) && cfg.Secrets.Key == "" {
		fmt.Fprintf(tell, "still needed: the key for secrets. Put secrets.key of the old data folder into %s, or set secrets.key, before the first start\n", cfg.Data)
	}
	return nil
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
		case h.PAXRecords[backupType] != "":
			err = r.store(ctx, strings.TrimPrefix(h.Name, backupFiles), h.PAXRecords[backupType])
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

// store puts a file of an S3 store into the store of the configuration, whichever that is.
func (r *restoring) store(ctx context.Context, key, contentType string) error {
	store, err := blobs.Open(ctx, r.cfg.Blobs.URL, r.cfg.DataPath(backupFiles))
	if err != nil {
		return err
	}
	return store.Put(ctx, key, r.tar, contentType)
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
