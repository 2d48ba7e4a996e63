package audio

import "math"

// G.722 at 64 kbit/s (ITU-T G.722, mode 1): two sub-bands, each an adaptive differential quantiser. Names of variables
// and blocks follow the recommendation.

var (
	g722Q6 = [30]int{0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219, 1339, 1458,
		1612, 1765, 1980, 2195, 2557, 2919}
	g722WL  = [8]int{-60, -30, 58, 172, 334, 538, 1198, 3042}
	g722RL4 = [16]int{0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0}
	g722ILB = [32]int{2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025, 3091,
		3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008}
	g722QM4 = [16]int{0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0}
	g722QM6 = [64]int{
		-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
		-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
		24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
		4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
	}
	g722QM2 = [4]int{-7408, -1616, 7408, 1616}
	g722WH  = [3]int{0, -214, 798}
	g722RH2 = [4]int{2, 1, 2, 1}
	g722QMF = [12]int{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11}
)

// g722Band is the state of one sub-band: quantiser scale and predictor.
type g722Band struct {
	nb, det  int    // logarithmic scale factor, quantiser step
	s, sz    int    // predicted signal, its zero section
	r, p     [2]int // reconstructed and partially reconstructed signal, newest first
	a        [2]int // pole coefficients
	b, delta [6]int // zero coefficients, quantised differences
}

func sat(v int) int { return max(math.MinInt16, min(math.MaxInt16, v)) }

func (g *g722Band) reset(det int) { *g = g722Band{det: det} }

// scale is blocks 3L and 3H: the new step from the code just sent.
func (g *g722Band) scale(w, limit, shift int) {
	g.nb = max(0, min(limit, g.nb*127>>7+w))
	v := g722ILB[g.nb>>6&31]
	if down := shift - g.nb>>11; down >= 0 {
		v >>= down
	} else {
		v <<= -down
	}
	g.det = v << 2
}

// predict is block 4: it takes the quantised difference and computes the next prediction.
func (g *g722Band) predict(d int) {
	r, p := sat(g.s+d), sat(g.sz+d)
	sign := p < 0
	// UPPOL2
	wd := sat(g.a[0] << 2)
	if sign == (g.p[0] < 0) {
		wd = min(-wd, math.MaxInt16)
	}
	a2 := wd>>7 - 128
	if sign == (g.p[1] < 0) {
		a2 += 256
	}
	a2 = max(-12288, min(12288, a2+g.a[1]*32512>>15))
	// UPPOL1
	a1 := -192
	if sign == (g.p[0] < 0) {
		a1 = 192
	}
	limit := sat(15360 - a2)
	a1 = max(-limit, min(limit, sat(a1+g.a[0]*32640>>15)))
	// UPZERO, DELAYA and FILTEZ of the zero section in one pass. |b| stays below 2^15 by itself.
	step := 0
	if d != 0 {
		step = 128
	}
	zeros, newer := 0, d
	for i, old := range g.delta {
		differ := (old ^ d) >> 63 // -1 when the signs differ
		b := (step ^ differ) - differ + g.b[i]*32640>>15
		g.b[i], g.delta[i] = b, newer
		zeros += b * sat(2*newer) >> 15
		newer = old
	}
	// DELAYA
	g.r[1], g.r[0] = g.r[0], r
	g.p[1], g.p[0] = g.p[0], p
	g.a = [2]int{a1, a2}
	// FILTEP, PREDIC
	poles := sat(a1*sat(2*g.r[0])>>15 + a2*sat(2*g.r[1])>>15)
	g.sz = sat(zeros)
	g.s = sat(poles + g.sz)
}

func (g *g722Band) low(ril int) {
	d := g.det * g722QM4[ril] >> 15
	g.scale(g722WL[g722RL4[ril]], 18432, 8)
	g.predict(d)
}

func (g *g722Band) high(ih int) (d int) {
	d = g.det * g722QM2[ih] >> 15
	g.scale(g722WH[g722RH2[ih]], 22528, 10)
	g.predict(d)
	return d
}

// G722Encoder codes 16 kHz audio. Reset it before use.
type G722Encoder struct {
	bandL, bandH g722Band
	x            [24]int
}

// Reset begins a new stream.
func (e *G722Encoder) Reset() {
	e.bandL.reset(32)
	e.bandH.reset(8)
	e.x = [24]int{}
}

// Encode writes one byte for every two samples of pcm and returns the number of bytes.
func (e *G722Encoder) Encode(dst []byte, pcm []int16) int {
	n := len(pcm) / 2
	for i := range n {
		copy(e.x[:], e.x[2:])
		e.x[22], e.x[23] = int(pcm[2*i]), int(pcm[2*i+1])
		var even, odd int
		for k, c := range g722QMF {
			odd += e.x[2*k] * c
			even += e.x[2*k+1] * g722QMF[11-k]
		}
		dst[i] = e.encode((even+odd)>>14, (even-odd)>>14)
	}
	return n
}

func (e *G722Encoder) encode(low, high int) byte {
	// 1L
	el := sat(low - e.bandL.s)
	wd := el
	if el < 0 {
		wd = -(el + 1)
	}
	m := 1
	for m < 30 && wd >= g722Q6[m]*e.bandL.det>>12 {
		m++
	}
	il := 62 - m // positive: 61 for the smallest difference down to 32
	if el < 0 {
		if il = 34 - m; m < 3 { // 31 down to 4, but 63 and 62 for the two smallest
			il = 64 - m
		}
	}
	e.bandL.low(il >> 2)
	// 1H
	eh := sat(high - e.bandH.s)
	wd, ih := eh, 3
	if eh < 0 {
		wd, ih = -(eh + 1), 1
	}
	if wd >= 564*e.bandH.det>>12 {
		ih--
	}
	e.bandH.high(ih)
	return byte(ih<<6 | il)
}

// G722Decoder decodes to 16 kHz. Reset it before use.
type G722Decoder struct {
	bandL, bandH g722Band
	x            [24]int
}

// Reset begins a new stream.
func (d *G722Decoder) Reset() {
	d.bandL.reset(32)
	d.bandH.reset(8)
	d.x = [24]int{}
}

// Decode writes two samples for every byte of src and returns the number of samples.
func (d *G722Decoder) Decode(pcm []int16, src []byte) int {
	for i, code := range src {
		il, ih := int(code&0x3F), int(code>>6)
		low := max(-16384, min(16383, d.bandL.s+d.bandL.det*g722QM6[il]>>15))
		d.bandL.low(il >> 2)
		predicted := d.bandH.s
		high := max(-16384, min(16383, predicted+d.bandH.high(ih)))
		copy(d.x[:], d.x[2:])
		d.x[22], d.x[23] = low+high, low-high
		var first, second int
		for k, c := range g722QMF {
			second += d.x[2*k] * c
			first += d.x[2*k+1] * g722QMF[11-k]
		}
		pcm[2*i], pcm[2*i+1] = int16(sat(first>>11)), int16(sat(second>>11))
	}
	return 2 * len(src)
}
