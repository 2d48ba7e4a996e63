// Package vec has the inner products behind the resampler and the voice detector: AVX2 where the processor has it, plain
// Go everywhere else.
package vec

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
