//go:build !amd64

package vec

const accelerated = false

func dot(a, b *float32, n int) float32                   { panic("vec: no kernel") }
func dot4(w, x *float32, stride, n int, out *[4]float32) { panic("vec: no kernel") }
func sigmoid(x *float32, n int)                          { panic("vec: no kernel") }
