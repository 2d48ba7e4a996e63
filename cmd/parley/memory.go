package main

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// limitMemory has the collector work harder before the process takes more than three quarters of what there is; the
// built-in engines have the rest. GOMEMLIMIT goes before it.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	meminfo, _ := os.ReadFile("/proc/meminfo") // where there is none, there is no limit
	most := machineMemory(string(meminfo))
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, _ := os.ReadFile(file)
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > 0 {
			most = min(most, n)
		}
	}
	if most < math.MaxInt64 {
		debug.SetMemoryLimit(most / 4 * 3)
	}
}

// machineMemory reads the bytes of memory out of /proc/meminfo.
func machineMemory(meminfo string) int64 {
	_, rest, _ := strings.Cut(meminfo, "MemTotal:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if n, err := strconv.ParseInt(kib, 10, 64); err == nil && n > 0 {
		return n << 10
	}
	return math.MaxInt64
}

// slack is how many bytes beyond twice the living ones the heap may keep from the system.
const slack = 128 << 20

// heap is how many bytes the heap keeps from the system, and how many of them lived at the last collection.
func heap() (kept, living uint64) {
	all := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(all)
	return all[0].Value.Uint64() + all[1].Value.Uint64() + all[2].Value.Uint64(), all[3].Value.Uint64()
}

// giveBack returns to the system what a flood took and nobody uses any more. It reports whether there was any.
func giveBack() bool {
	kept, living := heap()
	if kept < 2*living+slack {
		return false
	}
	debug.FreeOSMemory()
	return true
}

// keepGivingBack looks once a minute. What lived during a flood counts as living until the next collection, which Go
// makes within two minutes.
func keepGivingBack(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Minute):
			giveBack()
		}
	}
}
