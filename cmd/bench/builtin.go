//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
)

// perCore is the limit of conversations that the built-in engines state.
const perCore = 4

// builtin are conversations with the engines inside the binary: one, as many as are admitted, and some more.
func (b *bench) builtin(ctx context.Context) error {
	wav, err := b.say(ctx, "When do you open?")
	if err != nil {
		return err
	}
	s, err := start(ctx, "bench", "serve", "--builtin", "--silence", silence.String())
	if err != nil {
		return err
	}
	more := []string{"--quiet", "1s", "--turns"}
	if _, _, err := s.call(ctx, 1, 1, wav, append(more, "1")...); err != nil { // loads the engines
		return err
	}
	fmt.Printf("\nConversations with the built-in engines (bench serve --builtin --silence %v)\n", silence)
	fmt.Printf("%6s %8s %8s | %-13s | %7s %7s %12s %8s\n", "calls", "answered", "refused", "answer after", "lost %", "late %", "cores in use",
		"MiB/call")
	fmt.Printf("%6s %8s %8s | %6s %6s |\n", "", "", "", "p50", "p95")
	most := perCore * runtime.NumCPU()
	for _, n := range []int{1, most, most + 2} {
		turns := 3
		if n == 1 {
			turns = 6
		}
		r, u, err := s.call(ctx, n, 2, wav, append(more, strconv.Itoa(turns))...)
		if err != nil {
			return err
		}
		cores := u.perCall * float64(n)
		fmt.Printf("%6d %8d %8d | %6.0f %6.0f | %7.2f %7.2f %12.2f %8.1f\n", n, r.Answered, r.Failures["486"], r.Response.P50, r.Response.P95,
			r.Loss, r.Dry, cores, u.memory/1024)
		if n == most {
			goal(fmt.Sprintf("%d conversations leave room: share of the processors", most), 100*cores/float64(runtime.NumCPU()), 100, "%")
		}
	}
	return s.stop()
}
