package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"time"
)

const childVar = "PARLEY_EXTRACT_KIND"

// Patience is how long one file may take.
const Patience = time.Minute

// maxMemory ends a child that outgrows it.
const maxMemory = 768 << 20

// report is what a child prints.
type report struct {
	Pages int
	Text  string
	Error string
}

// Child does the work of Isolated when this process was started for it, and then ends it. The program calls it first of all.
func Child() {
	kind := os.Getenv(childVar)
	if kind == "" {
		return
	}
	debug.SetMaxStack(256 << 20)
	debug.SetMemoryLimit(maxMemory / 2)
	go watchMemory()
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	out, err := Read(Kind(kind), &memory{raw}, int64(len(raw)))
	r := report{Pages: out.Pages, Text: out.Text}
	if why, ok := errors.AsType[Reason](err); ok {
		r.Error = string(why)
	}
	if json.NewEncoder(os.Stdout).Encode(r) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func watchMemory() {
	var m runtime.MemStats
	for range time.Tick(20 * time.Millisecond) {
		runtime.ReadMemStats(&m)
		if m.Sys > maxMemory {
			os.Exit(3)
		}
	}
}

type memory struct{ b []byte }

func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(m.b)) {
		return 0, io.EOF
	}
	n := copy(p, m.b[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Isolated reads a file in a child process of this same program, so that a file that leads the parser astray costs a minute and some
// memory and nothing else.
func Isolated(ctx context.Context, kind Kind, f io.Reader) (Text, error) {
	exe, err := os.Executable()
	if err != nil {
		return Text{}, err
	}
	ctx, stop := context.WithTimeout(ctx, Patience)
	defer stop()
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = []string{childVar + "=" + string(kind)}
	cmd.Stdin = f
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return Text{}, ErrTooSlow
		}
		return Text{}, ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if exit.ExitCode() == 3 {
			return Text{}, ErrTooLarge
		}
		return Text{}, fmt.Errorf("%w (reader ended with %v)", ErrDamaged, exit)
	}
	if err != nil {
		return Text{}, err
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		return Text{}, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	if r.Error != "" {
		return Text{}, Reason(r.Error)
	}
	return Text{r.Pages, r.Text}, nil
}
