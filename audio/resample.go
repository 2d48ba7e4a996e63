package audio

import (
	"math"
	"sync"

	"parley/audio/vec"
)

// Filter of the resampler: a Kaiser-windowed sinc, 64 taps per phase, pass band to 95 % of the narrower Nyquist frequency.
const (
	resampleTaps   = 64
	resampleBeta   = 8.0
	resampleCutoff = 0.95
)

// bank is the polyphase filter of one ratio, shared by all resamplers of that ratio.
type bank struct {
	up, down int       // the ratio in lowest terms
	taps     int       // per phase, a multiple of 32
	phase    []float32 // up × taps, each phase reversed so that it is an inner product with the past
}

var banks sync.Map // [2]int{up, down} → *bank

func bankFor(from, to int) *bank {
	g := gcd(from, to)
	key := [2]int{to / g, from / g}
	if b, ok := banks.Load(key); ok {
		return b.(*bank)
	}
	b, _ := banks.LoadOrStore(key, newBank(key[0], key[1]))
	return b.(*bank)
}

func newBank(up, down int) *bank {
	narrow := max(1, float64(down)/float64(up))
	b := &bank{up: up, down: down, taps: (int(resampleTaps*narrow) + 31) &^ 31}
	n := b.taps * up
	b.phase = make([]float32, n)
	cutoff := resampleCutoff / narrow / 2 // cycles per input sample
	centre := float64(n) / 2
	for i := range n {
		x := (float64(i) - centre) / float64(up) // input samples from the centre
		v := 2 * cutoff
		if x != 0 {
			v = math.Sin(2*math.Pi*cutoff*x) / (math.Pi * x)
		}
		w := (float64(i) - centre) / centre
		v *= bessel0(resampleBeta*math.Sqrt(max(0, 1-w*w))) / bessel0(resampleBeta)
		b.phase[i%up*b.taps+b.taps-1-i/up] = float32(v)
	}
	for p := range up { // unity gain at 0 Hz for every phase
		row := b.phase[p*b.taps : (p+1)*b.taps]
		var sum float64
		for _, v := range row {
			sum += float64(v)
		}
		for k := range row {
			row[k] = float32(float64(row[k]) / sum)
		}
	}
	return b
}

// bessel0 is the modified Bessel function of the first kind, order zero.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; k < 60; k++ {
		term *= x / (2 * k) * x / (2 * k)
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Resampler converts a stream of samples from one rate to another. Its output is aligned with its input: it holds back
// half a filter (4 ms at 8 kHz), which Flush releases.
type Resampler struct {
	*bank
	past []float32 // the last taps-1 inputs and what came since
	n    int       // valid samples in past
	pos  int       // phase of the next output, 0 to up-1
	skip int       // inputs to pass over before it
	out  []int16
}

// NewResampler makes a resampler between two rates in Hz, any pair of 1 to 192000.
func NewResampler(from, to int) *Resampler {
	r := &Resampler{bank: bankFor(from, to)}
	r.Reset()
	return r
}

// Reset forgets the past.
func (r *Resampler) Reset() {
	if r.past == nil {
		r.past = make([]float32, r.taps+1024)
	}
	r.n = r.taps/2 - 1
	clear(r.past[:r.n])
	r.pos, r.skip = 0, 0
}

// Process converts in and returns the samples that are ready. The result is valid until the next call. Once the calls
// have reached their largest size it does not allocate.
func (r *Resampler) Process(in []int16) []int16 {
	if r.up == r.down {
		r.out = append(r.out[:0], in...)
		return r.out
	}
	r.out = r.out[:0]
	for len(in) > 0 {
		k := min(len(in), len(r.past)-r.n)
		for i, s := range in[:k] {
			r.past[r.n+i] = float32(s)
		}
		r.n += k
		in = in[k:]
		r.drain()
	}
	return r.out
}

// Flush ends the stream: it returns the samples held back and resets.
func (r *Resampler) Flush() []int16 {
	if r.up == r.down {
		return r.out[:0]
	}
	r.out = r.out[:0]
	tail := min(r.taps/2, len(r.past)-r.n)
	clear(r.past[r.n : r.n+tail])
	r.n += tail
	r.drain()
	r.Reset()
	return r.out
}

func (r *Resampler) drain() {
	i, p := r.skip, r.pos
	for i+r.taps <= r.n {
		v := vec.Dot(r.phase[p*r.taps:(p+1)*r.taps], r.past[i:])
		r.out = append(r.out, round(v))
		for p += r.down; p >= r.up; p -= r.up {
			i++
		}
	}
	keep := min(i, r.n)
	copy(r.past, r.past[keep:r.n])
	r.n -= keep
	r.skip, r.pos = i-keep, p
}

func round(v float32) int16 {
	if v >= 0 {
		return Clip(int32(v + 0.5))
	}
	return Clip(int32(v - 0.5))
}
