package builtin

import (
	"context"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/agent"
	"parley/providers/providertest"
	"parley/voice"
)

// cpu is the processor time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSpeak reports per voice the processor time per second of speech and the wait for the first sound.
func BenchmarkSpeak(b *testing.B) {
	for _, who := range speakers {
		b.Run(who.code, func(b *testing.B) {
			s := voice.Speech{Text: practice[0], Voice: who.code, Speed: 1, Stability: 1, Similarity: 1}
			if _, err := engines.Render(b.Context(), voice.Speech{Text: "warm", Voice: who.code}); err != nil {
				b.Fatal(err)
			}
			var first, work, spoken time.Duration
			began := cpu()
			for b.Loop() {
				start, before, heard := time.Now(), cpu(), false
				for f, err := range engines.Speak(b.Context(), s) {
					if err != nil {
						b.Fatal(err)
					}
					if !heard {
						first += time.Since(start)
						work += cpu() - before
						heard = true
					}
					spoken += f.Dur()
				}
			}
			b.ReportMetric((cpu()-began).Seconds()/spoken.Seconds(), "cpu/audio")
			b.ReportMetric(float64(first.Milliseconds())/float64(b.N), "ms-to-first-sound")
			b.ReportMetric(float64(work.Milliseconds())/float64(b.N), "cpu-ms-to-first-sound")
		})
	}
}

// BenchmarkFirstSound reports when the first sound of a sentence of 28 words is there, from the first token of a model that
// makes one of four letters every 30 and 80 ms. Targets: 0.6 s and 1.2 s.
func BenchmarkFirstSound(b *testing.B) {
	const text = "You can pick up your city bike at our shop in the old town on any day between nine and five if you bring the card that you booked with."
	how := voice.Speech{Voice: "slt", Language: "en", Speed: 1, Stability: 1, Similarity: 1}
	if _, err := engines.Render(b.Context(), voice.Speech{Text: "warm", Voice: how.Voice}); err != nil {
		b.Fatal(err)
	}
	for _, each := range []time.Duration{30 * time.Millisecond, 80 * time.Millisecond} {
		b.Run(each.String(), func(b *testing.B) {
			var sum, worst time.Duration
			for b.Loop() {
				t := agent.Turn{Engine: agent.Engine{Model: typist{text, each}}, Prompt: agent.Prompt{Spoken: true}}
				began := time.Now().Add(each)
				u := voice.Open(b.Context(), engines, how)
				heard := make(chan time.Duration, 1)
				go func() {
					_, _ = u.Recv()
					heard <- time.Since(began)
				}()
				for piece := range t.Sentences(b.Context()) {
					u.Write(strings.TrimSpace(piece))
					u.Flush()
				}
				first := <-heard
				sum, worst = sum+first, max(worst, first)
				u.Close()
			}
			b.ReportMetric(sum.Seconds()/float64(b.N), "s-to-first-sound")
			b.ReportMetric(worst.Seconds(), "s-at-worst")
		})
	}
}

// typist makes four letters at a time.
type typist struct {
	text string
	each time.Duration
}

func (m typist) Reply(ctx context.Context, _ agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		tick := time.NewTicker(m.each)
		defer tick.Stop()
		for token := range slices.Chunk([]byte(m.text), 4) {
			if <-tick.C; !yield(agent.Chunk{Text: string(token)}, nil) {
				return
			}
		}
	}
}

// BenchmarkListen reports word errors, processor time per second of caller audio and the wait from the end of the turn
// to the final text, for twenty sentences per voice.
func BenchmarkListen(b *testing.B) {
	for _, set := range []struct {
		name string
		l    voice.Transcription
	}{
		{"telephone", telephone8k},
		{"telephone-without-hints", voice.Transcription{Rate: 8000}},
		{"wideband", voice.Transcription{Rate: 16000, Hints: practice}},
	} {
		if err := engines.Warm(b.Context(), set.l); err != nil {
			b.Fatal(err)
		}
		for _, who := range []string{"rms", "kal16", "awb", "slt"} {
			b.Run(set.name+"/"+who, func(b *testing.B) { benchTranscriber(b, set.l, who) })
		}
	}
}

func benchTranscriber(b *testing.B, l voice.Transcription, who string) {
	var said []providertest.Utterance
	for _, text := range callers {
		said = append(said, overPhone(b, text, who, l.Rate))
	}
	var used, audio, waited time.Duration
	wrong, all := 0, 0
	for b.Loop() {
		tr, err := engines.Transcriber(b.Context(), l)
		if err != nil {
			b.Fatal(err)
		}
		for _, u := range said {
			began := cpu()
			for pcm := range slices.Chunk(u.PCM, l.Rate/50) {
				if err := tr.Write(pcm); err != nil {
					b.Fatal(err)
				}
			}
			drained(tr)
			used += cpu() - began
			audio += time.Duration(len(u.PCM)) * time.Second / time.Duration(l.Rate)
			asked := time.Now()
			final := finalText(b, tr)
			waited += time.Since(asked)
			wrong += providertest.Errors(u.Words, final)
			all += len(strings.Fields(u.Words))
			if os.Getenv("SHOW") != "" {
				b.Logf("%-70s | %s", u.Words, final)
			}
		}
		_ = tr.Close()
	}
	b.ReportMetric(100*float64(wrong)/float64(all), "%wrong-words")
	b.ReportMetric(used.Seconds()/audio.Seconds(), "cpu/audio")
	b.ReportMetric(float64(waited.Milliseconds())/float64(b.N*len(said)), "ms-to-final")
}

// drained waits until everything written has been recognised.
func drained(tr voice.Transcriber) {
	q := tr.(*stream).in
	for {
		q.mu.Lock()
		idle := len(q.items) == 0
		q.mu.Unlock()
		if idle {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func finalText(b *testing.B, tr voice.Transcriber) string {
	if err := tr.EndTurn(); err != nil {
		b.Fatal(err)
	}
	for {
		t, err := tr.Recv()
		if err != nil {
			b.Fatal(err)
		}
		if t.Final {
			return t.Text
		}
	}
}

// BenchmarkCapacity lets callers speak at their own pace, half of the time as in a conversation, and reports how late the
// final text is and what a call costs, when one is listened to, as many as Capacity says, half and twice of that.
func BenchmarkCapacity(b *testing.B) {
	u := overPhone(b, callers[5], "rms", 8000)
	if err := engines.Warm(b.Context(), telephone8k); err != nil {
		b.Fatal(err)
	}
	for _, calls := range []int{1, engines.Capacity() / 2, engines.Capacity(), 2 * engines.Capacity()} {
		b.Run(strconv.Itoa(calls), func(b *testing.B) {
			before := resident()
			var mu sync.Mutex
			var waits []time.Duration
			most := before
			var spent, lasted time.Duration
			for b.Loop() {
				began, start := cpu(), time.Now()
				var all sync.WaitGroup
				for i := range calls {
					all.Go(func() {
						w := converse(b, u, time.Duration(i)*2*time.Second/time.Duration(calls))
						mu.Lock()
						waits = append(waits, w...)
						most = max(most, resident())
						mu.Unlock()
					})
				}
				all.Wait()
				spent += cpu() - began
				lasted += time.Since(start)
			}
			b.ReportMetric(spent.Seconds()/lasted.Seconds()/float64(calls), "cores/call")
			slices.Sort(waits)
			b.ReportMetric(float64(waits[len(waits)/2].Milliseconds()), "ms-to-final-p50")
			b.ReportMetric(float64(waits[len(waits)*95/100].Milliseconds()), "ms-to-final-p95")
			b.ReportMetric(float64(most-before)/float64(calls)/(1<<20), "MiB/call")
		})
	}
}

// converse is a call of three turns: the caller speaks, then is silent for as long while the assistant answers.
func converse(b *testing.B, u providertest.Utterance, delay time.Duration) (waits []time.Duration) {
	time.Sleep(delay)
	tr := engines.transcribe(b.Context(), telephone8k, func() {})
	defer func() { _ = tr.Close() }()
	const frame = 160
	due := time.Now()
	play := func(pcm []int16) {
		for f := range slices.Chunk(pcm, frame) {
			due = due.Add(20 * time.Millisecond)
			time.Sleep(time.Until(due))
			_ = tr.Write(f)
		}
	}
	for range 3 {
		play(u.PCM)
		asked := time.Now()
		finalText(b, tr)
		waits = append(waits, time.Since(asked))
		play(make([]int16, len(u.PCM)))
	}
	return waits
}

// resident is the resident memory of this process in bytes, 0 where /proc is not there.
func resident() int {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	pages, _ := strconv.Atoi(fields[1])
	shared, _ := strconv.Atoi(fields[2])
	return (pages - shared) * os.Getpagesize()
}
