//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"parley/sim/load"
)

const (
	silence   = 300 * time.Millisecond // that ends a turn
	interrupt = 500 * time.Millisecond // of speech that stops an answer: the default
	ask       = "I would like to know when you open on Monday"
)

// ms are milliseconds of a duration.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// idle is the server that nobody calls.
func (b *bench) idle(ctx context.Context) error {
	s, err := start(ctx, "serve", "--data", filepath.Join(b.dir, "idle"), "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	select {
	case <-time.After(5 * time.Second):
	case <-ctx.Done():
	}
	st, err := s.look()
	if err != nil {
		return err
	}
	fmt.Printf("\nparley serve, nobody calls (%s)\n", machine())
	goal("memory, engines not loaded", st.memory/1024/1024, 100, "MiB")
	return s.stop()
}

// instant are conversations with engines that take no time.
func (b *bench) instant(ctx context.Context) error {
	counts, err := numbers(*sizes)
	if err != nil {
		return err
	}
	wav, err := b.say(ctx, ask)
	if err != nil {
		return err
	}
	fmt.Printf("\nConversations with engines that take no time (bench serve --silence %v), %d turns each, telephones in a process beside it\n",
		silence, *turns)
	fmt.Printf("%6s %7s %7s | %-20s | %-20s | %-20s | %9s %7s %6s %7s %8s\n", "", "", "", "answer after silence", "INVITE → 200",
		"INVITE → greeting", "", "", "", "", "")
	fmt.Printf("%6s %7s %7s | %6s %6s %6s | %6s %6s %6s | %6s %6s %6s | %9s %7s %6s %7s %8s\n", "calls", "lost %", "late %", "p50", "p95",
		"p99",
		"p50", "p95", "p99", "p50", "p95", "p99", "µs/call-s", "per core", "KiB", "skipped", "slot max")
	profile := ""
	for _, n := range counts {
		file := filepath.Join(b.dir, strconv.Itoa(n)+".prof")
		r, u, err := b.conversations(ctx, n, wav, file)
		if err != nil {
			return err
		}
		wait := func(p float64) float64 { return p - ms(silence) }
		fmt.Printf("%6d %7.2f %7.2f | %6.0f %6.0f %6.0f | %6.1f %6.1f %6.1f | %6.0f %6.0f %6.0f | %9.0f %7.0f %6.0f %7.0f %6.1fms\n", n, r.Loss,
			r.Dry,
			wait(r.Response.P50), wait(r.Response.P95), wait(r.Response.P99), r.SetUp.P50, r.SetUp.P95, r.SetUp.P99,
			r.FirstSound.P50, r.FirstSound.P95, r.FirstSound.P99, u.perCall*1e6, 1/u.perCall, u.memory, u.skipped, u.late)
		if bad := r.Calls - r.Answered + r.CutOff + r.Unanswered; bad > 0 {
			fmt.Printf("       not answered %v, cut off %d, turns without an answer %d\n", r.Failures, r.CutOff, r.Unanswered)
		}
		if n >= 100 && profile == "" {
			profile = file
			defer func() {
				goal(fmt.Sprintf("lost + late of %d conversations", n), r.Loss+r.Dry, 1, "%")
				goal("  answer after the silence, p95", wait(r.Response.P95), 60, "ms")
				goal("  INVITE → 200, p50", r.SetUp.P50, 10, "ms")
				goal("  memory per call", u.memory, 1024, "KiB")
				if err := spent(profile); err != nil {
					fmt.Fprintln(os.Stderr, "bench: profile:", err)
				}
			}()
		}
	}
	return nil
}

// conversations has n telephones talk with a fresh server.
func (b *bench) conversations(ctx context.Context, n int, wav, profile string) (r load.Report, u usage, err error) {
	s, err := start(ctx, "bench", "serve", "--silence", silence.String(), "--profile", profile)
	if err != nil {
		return r, u, err
	}
	rate := max(10, float64(n)/8) // all are there after 8 s
	if r, u, err = s.call(ctx, n, rate, wav, "--turns", strconv.Itoa(*turns)); err != nil {
		return r, u, err
	}
	return r, u, s.stop()
}

// bargeIn is how fast an answer stops.
func (b *bench) bargeIn(ctx context.Context) error {
	wav, err := b.say(ctx, ask)
	if err != nil {
		return err
	}
	s, err := start(ctx, "bench", "serve", "--silence", silence.String(), "--answer", "4s")
	if err != nil {
		return err
	}
	const n = 20
	r, _, err := s.call(ctx, n, 10, wav, "--turns", "1", "--barge-in", "400ms")
	if err != nil {
		return err
	}
	fmt.Printf("\nInterrupting an answer, %d calls: p50 %.0f ms, p95 %.0f ms beyond the %v of speech that it takes; %d went on\n", n,
		r.Stop.P50-ms(interrupt), r.Stop.P95-ms(interrupt), interrupt, r.Unstopped)
	goal("answer stops after its minimum, p95", r.Stop.P95-ms(interrupt), 60, "ms")
	return s.stop()
}

// realtime is how much later an answer comes in the modes that have a realtime engine, made of the same engines that take no time.
func (b *bench) realtime(ctx context.Context) error {
	wav, err := b.say(ctx, ask)
	if err != nil {
		return err
	}
	const n = 20
	fmt.Printf("\nAnswers in the three modes, %d calls of %d turns, beyond the silence\n", n, *turns)
	pipeline := 0.0
	for _, mode := range []string{"pipeline", "multimodal", "dualplex"} {
		s, err := start(ctx, "bench", "serve", "--silence", silence.String(), "--mode", mode)
		if err != nil {
			return err
		}
		r, _, err := s.call(ctx, n, 10, wav, "--turns", strconv.Itoa(*turns))
		if err != nil {
			return err
		}
		if err := s.stop(); err != nil {
			return err
		}
		fmt.Printf("  %-12s p50 %.0f ms, p95 %.0f ms; without an answer %d\n", mode, r.Response.P50-ms(silence), r.Response.P95-ms(silence), r.Unanswered)
		if mode == "pipeline" {
			pipeline = r.Response.P95
			continue
		}
		goal("  later than the pipeline, p95", r.Response.P95-pipeline, 30, "ms")
	}
	return nil
}
