package silero

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"parley/assets"
	"parley/audio"
)

func model(t testing.TB) *Model {
	t.Helper()
	file, err := assets.Read("silero_vad.onnx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func speech(t testing.TB, rate int) []int16 {
	t.Helper()
	code, err := os.ReadFile(fmt.Sprintf("testdata/speech%d.ulaw", rate))
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(code))
	audio.DecodeMuLaw(pcm, code)
	return pcm
}

// The golden probabilities were computed by onnxruntime 1.30 from the same samples.
func TestAgainstOnnxruntime(t *testing.T) {
	m := model(t)
	for _, rate := range []int{8000, 16000} {
		text, err := os.ReadFile(fmt.Sprintf("testdata/speech%d.golden", rate))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(string(text))
		d, pcm, worst, voiced := m.Detector(rate), speech(t, rate), 0.0, 0
		for range 2 { // the second time after a reset
			for i, line := range want {
				w, err := strconv.ParseFloat(line, 64)
				if err != nil {
					t.Fatal(err)
				}
				p := float64(d.Speech(pcm[i*d.Window() : (i+1)*d.Window()]))
				worst = max(worst, math.Abs(p-w))
				if p > 0.5 {
					voiced++
				}
			}
			d.Reset()
		}
		if worst > 2e-5 {
			t.Errorf("%d Hz: off by %.2g", rate, worst)
		}
		if voiced < len(want) || voiced == 2*len(want) {
			t.Errorf("%d Hz: %d of %d windows voiced", rate, voiced/2, len(want))
		}
	}
}

// A group must say exactly what each of its members says alone, up to the order of additions.
func TestGroup(t *testing.T) {
	m := model(t)
	pcm := speech(t, 8000)
	for size := 1; size <= audio.GroupSize; size++ {
		var alone, together []audio.Detector
		for range size {
			alone, together = append(alone, m.Detector(8000)), append(together, m.Detector(8000))
		}
		first := together[0].(*Detector)
		p, windows := make([]float32, size), make([][]int16, size)
		for at := 0; at+256*(size+1) <= len(pcm); at += 256 {
			for i := range windows {
				windows[i] = pcm[at+256*i : at+256*(i+1)]
			}
			first.SpeechAll(together, windows, p)
			for i, d := range alone {
				if want := d.Speech(windows[i]); math.Abs(float64(p[i]-want)) > 1e-5 {
					t.Fatalf("member %d of %d: %v, alone %v", i, size, p[i], want)
				}
			}
		}
		if !first.Together(together[size-1]) || first.Together(m.Detector(16000)) {
			t.Error("the wrong ones work together")
		}
	}
}

func TestNoiseAndTonesAreNotSpeech(t *testing.T) {
	m := model(t)
	noise := rand.New(rand.NewPCG(1, 1))
	for _, rate := range []int{8000, 16000} {
		for name, fill := range map[string]func([]int16, int){
			"tone":  func(b []int16, at int) { audio.GenSignal(b, rate, int64(at), audio.Tone{Hz: 440, Level: 0.3}) },
			"quiet": func(b []int16, _ int) { clear(b) },
			"hiss": func(b []int16, _ int) {
				for i := range b {
					b[i] = int16(noise.NormFloat64() * 300)
				}
			},
		} {
			d := m.Detector(rate)
			pcm, voiced := make([]int16, d.Window()), 0
			for i := range 90 {
				fill(pcm, i*len(pcm))
				if d.Speech(pcm) > 0.5 {
					voiced++
				}
			}
			if voiced > 3 {
				t.Errorf("%s at %d Hz: %d of 90 windows taken for speech", name, rate, voiced)
			}
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, b := range [][]byte{nil, {1, 2, 3}, make([]byte, 100), {0x3A, 0x02, 0x0A, 0x00}} {
		if _, err := Load(b); !errors.Is(err, errModel) {
			t.Errorf("%v: %v", b, err)
		}
	}
}

func TestDoesNotAllocate(t *testing.T) {
	d := model(t).Detector(8000)
	pcm := make([]int16, d.Window())
	ds, windows, p := []audio.Detector{d, d, d, d}, [][]int16{pcm, pcm, pcm, pcm}, make([]float32, 4)
	if n := testing.AllocsPerRun(20, func() { d.Speech(pcm); d.SpeechAll(ds, windows, p) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte{0x3A, 0x02, 0x0A, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := Load(b); err == nil && m.narrow == nil {
			t.Error("no model")
		}
	})
}

func BenchmarkGroup(b *testing.B) {
	m, pcm := model(b), speech(b, 8000)
	var ds []audio.Detector
	windows, p := make([][]int16, audio.GroupSize), make([]float32, audio.GroupSize)
	for i := range audio.GroupSize {
		ds = append(ds, m.Detector(8000))
		windows[i] = pcm[i*256 : (i+1)*256]
	}
	for b.Loop() {
		ds[0].(*Detector).SpeechAll(ds, windows, p)
	}
}

func BenchmarkSpeech(b *testing.B) {
	for _, rate := range []int{8000, 16000} {
		b.Run(strconv.Itoa(rate), func(b *testing.B) {
			d, pcm := model(b).Detector(rate), speech(b, rate)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i % (len(pcm)/d.Window() - 1) * d.Window()
				d.Speech(pcm[at : at+d.Window()])
			}
		})
	}
}
