package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/uuid"
	"parley/config"
	"parley/db"
	"parley/secrets"
)

// openDatabase opens what the configuration names, making the data folder when it is not there.
func openDatabase(ctx context.Context, cfg *config.Config) (*db.DB, error) {
	if err := ownFolder(cfg.Data); err != nil {
		return nil, err
	}
	url := cfg.Database.URL
	if url == "" {
		file, err := filepath.Abs(cfg.DataPath("parley.db"))
		if err != nil {
			return nil, err
		}
		url = "sqlite:" + file
	}
	opts := []db.Option{db.Synchronous(strings.ToUpper(cfg.Database.Synchronous))}
	if cfg.Clock.Mode == "manual" {
		opts = append(opts, db.Manual())
	}
	d, err := db.Open(ctx, url, opts...)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return d, nil
}

// ownFolder makes the data folder, and makes one that was there before its owner's alone, with what is in it. One that
// belongs to somebody else, such as a mounted volume, stays as it is.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	private(dir)
	for _, name := range ours {
		private(filepath.Join(dir, name))
	}
	return nil
}

// ours are the files and folders of a data folder.
var ours = []string{"parley.db", "parley.db-wal", "parley.db-shm", "secrets.key", "node", "lock", "files", "scratch", "engines"}

// private takes the rights of others away from a file.
func private(path string) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSymlink == 0 {
		err = os.Chmod(path, info.Mode().Perm()&0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("others may read the data folder", "path", path, "error", err)
	}
}

// openSecrets opens what is sealed at rest, with the configured key or that of the data folder.
func openSecrets(cfg *config.Config) (*secrets.Box, error) {
	if cfg.Secrets.Key != "" {
		return secrets.Text(cfg.Secrets.Key)
	}
	return secrets.File(cfg.DataPath("secrets.key"))
}

// lockData keeps a second server out of the data folder. The lock ends with the process.
func lockData(cfg *config.Config) (*os.File, error) {
	if err := ownFolder(cfg.Data); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(cfg.DataPath("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another parley serves the data folder %s", cfg.Data)
	}
	return f, nil
}

// nodeName names this data folder among the processes that share a database; it stays over restarts.
func nodeName(cfg *config.Config) (string, error) {
	path := cfg.DataPath("node")
	b, err := os.ReadFile(path)
	if name := strings.TrimSpace(string(b)); err == nil && name != "" {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	name := uuid.NewString()
	return name, os.WriteFile(path, []byte(name+"\n"), 0o600)
}
