package main

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
)

// What a flood of big requests took is given back to the system.
func TestMemoryAfterAFlood(t *testing.T) {
	const clients, size = 24, 16 << 20
	var inside sync.WaitGroup
	inside.Add(clients)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || len(b) != size {
			t.Error(len(b), err)
		}
		inside.Done()
		inside.Wait() // all of them are in memory at once
		runtime.KeepAlive(b)
	}))
	defer s.Close()
	body := make([]byte, size)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			res, err := http.Post(s.URL, "application/octet-stream", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
		})
	}
	all.Wait()
	flooded, _ := heap()
	runtime.GC() // as Go does within two minutes
	if !giveBack() {
		t.Error("nothing was given back")
	}
	after, living := heap()
	t.Logf("%d MiB after the flood, %d given back to, %d living", flooded>>20, after>>20, living>>20)
	if flooded < clients*size || after > 2*living+slack || after > flooded/2 {
		t.Errorf("%d bytes after the flood, %d at the end, %d living", flooded, after, living)
	}
	if giveBack() {
		t.Error("there was more to give back")
	}
}

func TestMachineMemory(t *testing.T) {
	for text, want := range map[string]int64{"MemTotal:       24684320 kB\nMemFree: 1 kB\n": 24684320 << 10, "": math.MaxInt64, "MemTotal: x kB": math.MaxInt64} {
		if got := machineMemory(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
