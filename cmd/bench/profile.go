//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// shares are what the CPU time of a server goes to, by the functions below which it is spent. The functions of a share do
// not call each other; a share with without loses what is spent below that.
var shares = []struct {
	what    string
	below   []string
	without []string
}{
	{"media: sockets, RTP, codecs, queues", []string{"media.(*pacer).run"}, []string{"media.(*pacer).listen"}},
	{"voice detection", []string{"media.(*pacer).listen"}, nil},
	{"database: records, events, jobs, leases", []string{"db.(*DB).once", "db.(*DB).Get", "db.(*DB).Select", "db.(*DB).Exec"}, nil},
	{"conversations: turns, reading and filling the line",
		[]string{"voice.(*Session).Run", "voice.(*Session).hear", "voice.(*Session).fillLine",
			"voice.(*Session).recognise", "voice.(*Session).makeSound.func1", "voice.(*Session).think.func1"}, nil},
	{"signalling", []string{"sip.(*Server).serveUDP", "sip.(*Server).handle", "sip.(*Leg).run", "sip.(*TransactionLayer).handleMessage"}, nil},
	{"garbage collection", []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge"}, nil},
	{"scheduler", []string{"runtime.mcall", "runtime.sysmon"}, nil},
	{"start of the program", []string{"main.assemble"}, nil},
}

// spent prints where the CPU time of a profile went.
func spent(file string) error {
	out, err := exec.Command("go", "tool", "pprof", "-top", "-cum", "-unit=ms", "-nodecount=1000000", "-nodefraction=0", file).Output()
	if err != nil {
		return err
	}
	below, total := map[string]float64{}, 0.0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if _, after, ok := strings.Cut(lines.Text(), "Total samples = "); ok {
			_, _ = fmt.Sscanf(strings.TrimLeft(after, " "), "%fms", &total)
			if total == 0 {
				var s float64
				_, _ = fmt.Sscanf(after, "%fs", &s)
				total = s * 1000
			}
		}
		f := strings.Fields(lines.Text())
		if len(f) < 6 || !strings.HasSuffix(f[3], "ms") {
			continue
		}
		if v, err := strconv.ParseFloat(strings.TrimSuffix(f[3], "ms"), 64); err == nil {
			name := f[5]
			below[name[strings.LastIndexByte(name, '/')+1:]] = v
		}
	}
	if total == 0 {
		return fmt.Errorf("%s holds no samples", file)
	}
	fmt.Println("  where the server's CPU time goes:")
	rest := total
	for _, s := range shares {
		var v float64
		for _, name := range s.below {
			v += below[name]
		}
		for _, name := range s.without {
			v -= below[name]
		}
		rest -= v
		fmt.Printf("    %-52s %5.1f %%\n", s.what, 100*v/total)
	}
	fmt.Printf("    %-52s %5.1f %%\n", "everything else", 100*rest/total)
	_ = os.Stdout.Sync()
	return nil
}
