// Package vec has the inner products behind the resampler and the voice detector: AVX2 where the processor has it, plain
// Go everywhere else.
package vec

import "math"

// Dot is the inner product of a and b; b must be at least as long as a.
func Dot(a, b []float32) float32 {
	b = b[:len(a)]
	if accelerated && len(a) >= 8 {
		n := len(a) &^ 7
		s := dot(&a[0], &b[0], n)
		for i := n; i < len(a); i++ {
			s += a[i] * b[i]
		}
		return s
	}
	return dotPlain(a, b)
}

// Dot4 computes four inner products of w with x, x[stride:], x[2*stride:] and x[3*stride:].
func Dot4(w, x []float32, stride int, out *[4]float32) {
	n := len(w)
	_ = x[3*stride+n-1]
	if accelerated && n&7 == 0 {
		dot4(&w[0], &x[0], stride, n, out)
		return
	}
	dot4Plain(w, x, stride, out)
}

// Sigmoid replaces every x by 1/(1+e^-x), to about seven digits.
func Sigmoid(x []float32) {
	n := 0
	if accelerated && len(x) >= 8 {
		n = len(x) &^ 7
		sigmoid(&x[0], n)
	}
	sigmoidPlain(x[n:])
}

func sigmoidPlain(x []float32) {
	for i, v := range x {
		x[i] = 1 / (1 + exp(-v))
	}
}

// The constants of exp: 1/ln 2, ln 2 in two parts, a polynomial for e^r on ±ln 2/2 from the highest power down.
const (
	expLimit = 87
	log2e    = math.Log2E
	ln2High  = 0.693359375
	ln2Low   = -2.12194440e-4
	expP5    = 1.9875691500e-4
	expP4    = 1.3981999507e-3
	expP3    = 8.3334519073e-3
	expP2    = 4.1665795894e-2
	expP1    = 1.6666665459e-1
	expP0    = 5.0000001201e-1
)

// exp is e^x in single precision, without the detour of math.Exp through double: 2^k times the polynomial.
func exp(x float32) float32 {
	x = max(-expLimit, min(expLimit, x))
	k := float32(math.RoundToEven(float64(x * log2e)))
	r := x - k*ln2High - k*ln2Low
	p := float32(expP5)
	p = p*r + expP4
	p = p*r + expP3
	p = p*r + expP2
	p = p*r + expP1
	p = p*r + expP0
	p = p*r*r + r + 1
	return p * math.Float32frombits(uint32(int32(k)+127)<<23)
}

func dotPlain(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func dot4Plain(w, x []float32, stride int, out *[4]float32) {
	n := len(w)
	x0, x1 := x[:n], x[stride:stride+n]
	x2, x3 := x[2*stride:2*stride+n], x[3*stride:3*stride+n]
	var s0, s1, s2, s3 float32
	for i, v := range w {
		s0 += v * x0[i]
		s1 += v * x1[i]
		s2 += v * x2[i]
		s3 += v * x3[i]
	}
	*out = [4]float32{s0, s1, s2, s3}
}
