//go:build linux

// Command bench compares the media plane with a bare UDP engine: CPU time per call and second, lateness, allocations and
// memory. Every engine runs as a process of its own, one after the other, against the same generator.
//
//	go run ./lines/media/bench [-calls 500] [-seconds 4] [-rounds 3]
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"
)

var (
	calls   = flag.Int("calls", 500, "concurrent calls")
	seconds = flag.Int("seconds", 4, "length of each measurement")
	rounds  = flag.Int("rounds", 3, "how often each engine is measured; its best round counts")
	engine  = flag.String("engine", "", "run one engine and speak the bench's own protocol (internal)")
)

// figures are what an engine tells of the time it was measured.
type figures struct {
	CPU     float64 // µs of CPU per call and second
	Allocs  float64 // per frame
	Memory  float64 // KiB per call
	Late    float64 // worst lateness of a slot in ms
	Skipped int64
}

// engines in the order they run. They take turns, and the best round of each counts: a shared machine is not equally fast
// all the time, and whatever else it does only ever adds.
var engines = []struct{ name, what string }{
	{"raw", "sockets only"},
	{"plane", "media plane"},
	{"hear", "+ a reader per call"},
	{"vad", "+ voice detection"},
}

func main() {
	flag.Parse()
	if *engine != "" {
		serve(*engine)
		return
	}
	fmt.Printf("%d calls, PCMU, 50 packets/s each way, best of %d rounds of %d s\n", *calls, *rounds, *seconds)
	best, loss := map[string]figures{}, map[string]loadResult{}
	for range *rounds {
		for _, e := range engines {
			f, l, err := measure(e.name)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if b, ok := best[e.name]; !ok || f.CPU < b.CPU {
				best[e.name], loss[e.name] = f, l
			}
		}
	}
	fmt.Printf("%-20s %10s %7s %8s %9s %9s %9s %13s\n", "engine", "µs/call-s", "ratio", "lost %", "late p99", "late max", "KiB/call",
		"allocs/frame")
	raw := best["raw"].CPU
	for _, e := range engines {
		f, l := best[e.name], loss[e.name]
		fmt.Printf("%-20s %10.1f %7.2f %8.3f %7.2fms %7.2fms %9.1f %13.3f\n", e.what, f.CPU, f.CPU/raw, l.lost, l.p99, f.Late, f.Memory, f.Allocs)
	}
	fmt.Printf("media plane / raw: %.2f (target 1.25)   with voice detection: %.0f µs per call-second (target 1000)\n",
		best["plane"].CPU/raw, best["vad"].CPU)
}

// measure runs one engine under load.
func measure(name string) (f figures, l loadResult, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, l, err
	}
	cmd := exec.Command(self, "-engine", name, "-calls", fmt.Sprint(*calls), "-seconds", fmt.Sprint(*seconds))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return f, l, err
	}
	begin, err := cmd.StdinPipe()
	if err != nil {
		return f, l, err
	}
	if err := cmd.Start(); err != nil {
		return f, l, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	var ports []int
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &ports) != nil {
		return f, l, fmt.Errorf("%s did not start: %v", name, cmd.Wait())
	}
	g, err := newLoad(ports)
	if err != nil {
		return f, l, err
	}
	time.Sleep(2 * time.Second) // every call has latched
	g.start()
	if _, err := begin.Write([]byte("go\n")); err != nil {
		return f, l, err
	}
	ok := lines.Scan()
	l = g.stop()
	if !ok || json.Unmarshal(lines.Bytes(), &f) != nil {
		return f, l, fmt.Errorf("%s gave no figures", name)
	}
	return f, l, cmd.Wait()
}
