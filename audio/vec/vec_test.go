package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-4*(1+math.Abs(float64(b))) }

func exact(a, b []float32) float32 {
	var s float64
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return float32(s)
}

func floats(r *rand.Rand, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = r.Float32()*2 - 1
	}
	return s
}

func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		a, b := floats(r, n), floats(r, n+3)
		want := exact(a, b)
		if got := Dot(a, b); !near(got, want) {
			t.Errorf("Dot of %d = %v, want %v", n, got, want)
		}
		if got := dotPlain(a, b); !near(got, want) {
			t.Errorf("dotPlain of %d = %v, want %v", n, got, want)
		}
	}
}

func TestDot4(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n < 130; n++ {
		for _, stride := range []int{0, 1, n, n + 5} {
			w, x := floats(r, n), floats(r, 3*stride+n)
			var got, plain [4]float32
			Dot4(w, x, stride, &got)
			dot4Plain(w, x, stride, &plain)
			for k := range 4 {
				want := exact(w, x[k*stride:])
				if !near(got[k], want) || !near(plain[k], want) {
					t.Fatalf("n=%d stride=%d row %d: %v, plain %v, want %v", n, stride, k, got[k], plain[k], want)
				}
			}
		}
	}
}

func TestSigmoid(t *testing.T) {
	var x, kernel []float32
	for v := float32(-100); v < 100; v += 0.0137 {
		x = append(x, v)
	}
	kernel = append(kernel, x...)
	plain := append([]float32(nil), x...)
	Sigmoid(kernel)
	sigmoidPlain(plain)
	for i, v := range x {
		want := 1 / (1 + math.Exp(-float64(v)))
		for _, got := range []float32{kernel[i], plain[i]} {
			if d := math.Abs(float64(got) - want); d > 3e-7*want+1e-37 {
				t.Fatalf("sigmoid(%v) = %v, want %v", v, got, want)
			}
		}
	}
}

func BenchmarkDot256(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := floats(r, 256), floats(r, 256)
	b.Run("kernel", func(b *testing.B) {
		for b.Loop() {
			Dot(x, y)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			dotPlain(x, y)
		}
	})
}
