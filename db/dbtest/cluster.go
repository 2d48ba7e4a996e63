package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster finds or starts the private server all test processes of this user share, on a socket in a folder of
// temporary files, in memory where there is such a folder (a new database then takes 25 ms, not 250). It writes nothing
// to disk in earnest and ends by itself ten minutes after its last user.
func cluster() (dsn string, err error) {
	tmp := os.TempDir()
	if memory := "/dev/shm"; os.Getenv("TMPDIR") == "" && roomy(memory) {
		tmp = memory
	}
	dir := filepath.Join(tmp, fmt.Sprintf("parley-postgres-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	start, err := os.OpenFile(filepath.Join(dir, "start"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer start.Close() // and with it the lock
	if err := syscall.Flock(int(start.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	// Held until this process ends: the watchdog stops the server only when nobody holds it.
	users, err := os.OpenFile(filepath.Join(dir, "users"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	inUse = users
	if err := syscall.Flock(int(users.Fd()), syscall.LOCK_SH); err != nil {
		return "", err
	}
	now := time.Now()
	if err := os.Chtimes(users.Name(), now, now); err != nil {
		return "", err
	}
	dsn = "postgres://parley@/postgres?host=" + url.QueryEscape(dir)
	if alive(dsn) {
		return dsn, nil
	}
	if err := launch(dir); err != nil {
		return "", err
	}
	if err := watch(dir); err != nil {
		return "", err
	}
	if !alive(dsn) {
		return "", errors.New("started, but does not answer; see " + filepath.Join(dir, "data", "log"))
	}
	return dsn, nil
}

//lint:ignore U1000 kept from the garbage collector, which would close it
var inUse *os.File

// roomy reports whether dir can take the cluster: a few databases of 8 MB per running test, and the log.
func roomy(dir string) bool {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return err == nil && s.Bavail*uint64(s.Bsize) > 2<<30
}

func alive(dsn string) bool {
	c, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		return false
	}
	c.Close(context.Background())
	return true
}

// launch makes a new cluster in dir and starts it.
func launch(dir string) error {
	bin, err := binaries()
	if err != nil {
		return err
	}
	as, err := unprivileged(dir)
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	if err := os.RemoveAll(data); err != nil { // a cluster that lost power without fsync is not worth mending
		return err
	}
	if err := runIn(dir, as, filepath.Join(bin, "initdb"), "-D", data, "-U", "parley", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync",
		"--no-instructions"); err != nil {
		return err
	}
	return runIn(dir, as, filepath.Join(bin, "pg_ctl"), "-D", data, "-w", "-l", filepath.Join(data, "log"), "-o", settings(dir), "start")
}

func settings(dir string) string {
	return "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off" +
		" -c max_connections=400 -c shared_buffers=64MB -c max_wal_size=256MB -c wal_level=minimal -c max_wal_senders=0 -c autovacuum_naptime=60 -c deadlock_timeout=50ms -c unix_socket_directories='" + dir + "'"
}

// watch starts the process that stops the server when nobody has used it for a while.
func watch(dir string) error {
	bin, err := binaries()
	if err != nil {
		return err
	}
	as, err := unprivileged(dir)
	if err != nil {
		return err
	}
	const script = `while sleep 60 && [ -e data/postmaster.pid ]; do
	[ "$(find users -mmin -10)" ] || flock -n start flock -n users "$0" -D data -m immediate stop
done`
	cmd := exec.Command("/bin/sh", "-c", script, filepath.Join(bin, "pg_ctl"))
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// unprivileged is who runs the server: PostgreSQL refuses root. For anybody else, nil: the user itself.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	for _, f := range []string{dir, filepath.Join(dir, "start"), filepath.Join(dir, "users")} {
		if err := os.Chown(f, uid, gid); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// binaries is the folder of initdb and pg_ctl: that of the newest Debian version, or of the search path.
func binaries() (string, error) {
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.SortFunc(dirs, func(a, b string) int { return major(b) - major(a) })
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, "initdb")); err == nil {
			return d, nil
		}
	}
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p), nil
	}
	return "", errors.New("not installed (Debian: apt-get install postgresql), and PARLEY_TEST_POSTGRES is not set")
}

func major(dir string) int {
	n, _ := strconv.Atoi(strings.Split(dir, "/")[4]) // /usr/lib/postgresql/15/bin; what is no number sorts last
	return n
}
