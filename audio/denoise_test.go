package audio

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFFT(t *testing.T) {
	const n = 256
	f := newFFT(n)
	random := rand.New(rand.NewPCG(1, 2))
	x, y, bins := make([]float32, n), make([]float32, n), make([]complex64, n/2+1)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	f.forward(bins, x)
	for k := range bins {
		var re, im float64
		for i, v := range x {
			s, c := math.Sincos(-2 * math.Pi * float64(i*k) / n)
			re, im = re+float64(v)*c, im+float64(v)*s
		}
		if math.Hypot(re-float64(real(bins[k])), im-float64(imag(bins[k]))) > 1e-3 {
			t.Fatalf("bin %d is %v, want %v", k, bins[k], complex(re, im))
		}
	}
	f.inverse(y, bins)
	for i := range x {
		if math.Abs(float64(x[i]-y[i])) > 1e-4 {
			t.Fatalf("sample %d comes back as %v, was %v", i, y[i], x[i])
		}
	}
}

// hiss is steady noise, tonal like a voice's band.
func hiss(seed uint64, n int, db float64) []int16 {
	random := rand.New(rand.NewPCG(seed, 3))
	pcm, y := make([]int16, n), 0.0
	for i := range pcm {
		y += 0.4 * (random.NormFloat64() - y)
		pcm[i] = Clip(int32(2 * 32768 * math.Pow(10, db/20) * y))
	}
	return pcm
}

func denoised(d *Denoiser, pcm []int16) []int16 {
	out := append([]int16(nil), pcm...)
	for at := 0; at+160 <= len(out); at += 160 {
		d.Process(out[at : at+160])
	}
	return out[d.Delay():]
}

func TestSteadyNoiseIsTakenOut(t *testing.T) {
	noise := hiss(1, 8000*4, -30)
	if gone := Level(noise) - Level(denoised(NewDenoiser(8000), noise)[8000:]); gone < 11 {
		t.Errorf("%.1f dB of steady noise are taken out, want 11", gone)
	}
}

// Sound without noise comes out as it went in, Delay later.
func TestCleanSoundStays(t *testing.T) {
	clean := append(make([]int16, 8000), chatter(1, 4, -12)...)
	out := denoised(NewDenoiser(8000), clean)
	diff := make([]int16, len(out))
	for i := range out {
		diff[i] = out[i] - clean[i]
	}
	if off := Level(clean) - Level(diff); off < 15 {
		t.Errorf("clean sound is changed at %.1f dB below it", off)
	}
}

func TestSpeechComesOutOfNoise(t *testing.T) {
	clean := make([]int16, 7*8000)
	for i := range clean[8000:] { // a voice that sings, with pauses
		at := float64(i) / 8000
		for h := 1.0; h < 12; h++ {
			clean[8000+i] += int16(1500 / h * max(0, math.Sin(2*math.Pi*1.5*at)) * math.Sin(2*math.Pi*h*(140*at+3*math.Sin(at))))
		}
	}
	noisy := append([]int16(nil), clean...)
	noise := hiss(2, len(clean), -28)
	Mix(noisy, noise)
	out := denoised(NewDenoiser(8000), noisy)
	rest := make([]int16, len(out))
	for i := range rest {
		rest[i] = out[i] - clean[i]
	}
	if better := Level(noise) - Level(rest); better < 5 {
		t.Errorf("what is not speech became %.1f dB less loud", better)
	}
}

func TestDenoiserAllocatesNothing(t *testing.T) {
	d := NewDenoiser(16000)
	pcm := hiss(1, 320, -30)
	if n := testing.AllocsPerRun(200, func() { d.Process(pcm) }); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkDenoise(b *testing.B) {
	for name, rate := range map[string]int{"8000": 8000, "16000": 16000} {
		b.Run(name, func(b *testing.B) {
			d := NewDenoiser(rate)
			pcm := hiss(1, rate/50, -30)
			for b.Loop() {
				d.Process(pcm)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)*50, "µs/call-s")
		})
	}
}
