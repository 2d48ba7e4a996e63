//go:build linux

// Command bench measures conversations: it runs the program itself as the server, drives it with a second process full of
// telephones, and prints what was measured beside what was aimed at.
//
//	go run ./cmd/bench [-parley bin/parley] [-calls 1,50,100,200,500] [-turns 3]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"parley/audio"
	"parley/providers/builtin"
	"parley/voice"
)

var (
	binary = flag.String("parley", "bin/parley", "the program")
	sizes  = flag.String("calls", "1,50,100,200,500", "concurrent calls, one run each")
	turns  = flag.Int("turns", 3, "turns per call")
	only   = flag.String("only", "", "idle, instant, barge-in, realtime or builtin; empty = all")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir}
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{{"idle", b.idle}, {"instant", b.instant}, {"barge-in", b.bargeIn}, {"realtime", b.realtime}, {"builtin", b.builtin}} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// bench is one run.
type bench struct{ dir string }

// say makes a recording of a caller with a voice of our own.
func (b *bench) say(ctx context.Context, text string) (file string, err error) {
	file = filepath.Join(b.dir, strconv.Itoa(len(text))+".wav")
	e := builtin.Open(filepath.Join(b.dir, "engines"))
	defer e.Close()
	said, err := e.Render(ctx, voice.Speech{Text: text, Voice: "rms", Language: "en", Speed: 1, Stability: 1, Similarity: 1})
	if err != nil {
		return "", err
	}
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	w, err := audio.NewWAVWriter(f, said.Rate, 1)
	if err != nil {
		return "", err
	}
	if err := w.WriteSamples(said.PCM); err != nil {
		return "", err
	}
	return file, w.Close()
}

func numbers(list string) (out []int, err error) {
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-calls: %q is no number of calls", s)
		}
		out = append(out, n)
	}
	return out, nil
}

// goal prints a figure beside what was aimed at.
func goal(what string, got, most float64, unit string) {
	verdict := "met"
	if got > most {
		verdict = "NOT met"
	}
	fmt.Printf("  %-58s %8.1f %-4s target ≤ %g %s: %s\n", what, got, unit, most, unit, verdict)
}

func machine() string { return fmt.Sprintf("%d processors", runtime.NumCPU()) }
