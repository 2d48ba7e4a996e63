package vec

import "golang.org/x/sys/cpu"

var accelerated = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// dot is the inner product of n floats; n is a multiple of 8, at least 8.
//
//go:noescape
func dot(a, b *float32, n int) float32

// dot4 is Dot4 for n floats; n is a multiple of 8, at least 8.
//
//go:noescape
func dot4(w, x *float32, stride, n int, out *[4]float32)

// expConstants are what the kernel of sigmoid needs, in the order it reads them.
//
//lint:ignore U1000 vec_amd64.s reads it
var expConstants = [...]float32{expLimit, -expLimit, log2e, ln2High, ln2Low, expP5, expP4, expP3, expP2, expP1, expP0, 1}

// sigmoid is Sigmoid for n floats; n is a multiple of 8.
//
//go:noescape
func sigmoid(x *float32, n int)
