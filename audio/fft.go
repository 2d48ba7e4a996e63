package audio

import "math"

// fft transforms runs of n real samples to n/2+1 bins and back; n is a power of two. It allocates only when it is made.
type fft struct {
	n        int
	half     []complex64 // e^(-2πik/(n/2)), for the transform of half the length
	turn     []complex64 // e^(-2πik/n), k up to n/4
	reversed []uint16
	z        []complex64
}

func newFFT(n int) *fft {
	f := &fft{n: n, half: make([]complex64, n/4), turn: make([]complex64, n/2+1), reversed: make([]uint16, n/2), z: make([]complex64, n/2)}
	unit := func(k, of int) complex64 {
		s, c := math.Sincos(-2 * math.Pi * float64(k) / float64(of))
		return complex(float32(c), float32(s))
	}
	for k := range f.half {
		f.half[k] = unit(k, n/2)
	}
	for k := range f.turn {
		f.turn[k] = unit(k, n)
	}
	for i, bit := 1, n/4; i < n/2; i++ {
		f.reversed[i] = f.reversed[i>>1]>>1 | uint16(i&1)*uint16(bit)
	}
	return f
}

// run is the transform of z in place.
func (f *fft) run() {
	z := f.z
	for i, r := range f.reversed {
		if int(r) > i {
			z[i], z[r] = z[r], z[i]
		}
	}
	for size := 2; size <= len(z); size *= 2 {
		h, step := size/2, len(z)/size
		for at := 0; at < len(z); at += size {
			a, b := z[at:at+h], z[at+h:at+size]
			for k := range a {
				w := f.half[k*step]
				x, y := a[k], b[k]
				t := complex(real(w)*real(y)-imag(w)*imag(y), real(w)*imag(y)+imag(w)*real(y))
				a[k], b[k] = x+t, x-t
			}
		}
	}
}

// forward fills bins (n/2+1) with the spectrum of x (n).
func (f *fft) forward(bins []complex64, x []float32) {
	for i := range f.z {
		f.z[i] = complex(x[2*i], x[2*i+1])
	}
	f.run()
	m := len(f.z)
	for k := range m + 1 {
		a, b := f.z[k&(m-1)], f.z[(m-k)&(m-1)]
		w, x, y := f.turn[k], (imag(a)+imag(b))/2, (real(b)-real(a))/2
		bins[k] = complex((real(a)+real(b))/2+real(w)*x-imag(w)*y, (imag(a)-imag(b))/2+real(w)*y+imag(w)*x)
	}
}

// inverse fills x with the samples of a spectrum.
func (f *fft) inverse(x []float32, bins []complex64) {
	m := len(f.z)
	for k := range m {
		a, b, w := bins[k], bins[m-k], f.turn[k]
		x, y := (real(a)-real(b))/2, (imag(a)+imag(b))/2
		re, im := x*real(w)+y*imag(w), y*real(w)-x*imag(w)
		f.z[k] = complex((real(a)+real(b))/2-im, -(imag(a)-imag(b))/2-re) // the conjugate: the transform below is then the inverse
	}
	f.run()
	part := 1 / float32(m)
	for i, z := range f.z {
		x[2*i], x[2*i+1] = real(z)*part, -imag(z)*part
	}
}
