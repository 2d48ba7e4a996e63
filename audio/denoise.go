package audio

import "math"

const (
	noiseHops   = 2    // windows overlap by half
	noiseLeast  = 0.2  // amplitude that is left of noise: -14 dB
	noiseFollow = 0.8  // of the noise's estimate stays from window to window
	noiseTrust  = 0.96 // of the last window's speech counts in this one's estimate
	noiseSNR    = 31.6 // 15 dB: how loud speech is where there is some
	noiseStuck  = 0.99 // a bin that has been speech for so long is noise
	noiseBegin  = 8    // windows that are taken for noise at the beginning, at most
)

const presenceMost, presenceStep = 14, 16

// presence is how likely there is speech in a bin whose power is so many times the noise's, in steps.
var presence = func() (p [presenceMost * presenceStep]float32) {
	for i := range p {
		post := (float64(i) + 0.5) / presenceStep
		p[i] = float32(1 / (1 + (1+noiseSNR)*math.Exp(-post*noiseSNR/(1+noiseSNR))))
	}
	return p
}()

// Denoiser takes steady noise out of the sound of a line: it estimates in each bin of the spectrum how likely there is speech
// (Gerkmann and Hendriks, Unbiased MMSE-Based Noise Power Estimation, 2012), follows the noise where there is none, and leaves
// of each bin the part that is speech (Wiener, with the a-priori estimate of Ephraim and Malah, 1984).
type Denoiser struct {
	size   int
	fft    *fft
	shape  []float32 // square root of a Hann window
	in     []float32 // the last window of samples
	fresh  int       // samples in it that no window was made of
	out    []float32 // the sum of windows that overlap
	ready  []int16   // what may be taken
	work   []float32
	bins   []complex64
	noise  []float32 // power of each bin
	clean  []float32 // power of the last window's speech
	likely []float32 // speech, smoothed
	seen   int       // windows
}

// NewDenoiser makes one for a line of rate Hz.
func NewDenoiser(rate int) *Denoiser {
	n := rate * 32 / 1000
	samples := func() []float32 { return make([]float32, n) }
	bins := func() []float32 { return make([]float32, n/2+1) }
	d := &Denoiser{size: n, fft: newFFT(n), shape: samples(), in: samples(), out: samples(), work: samples(), bins: make([]complex64, n/2+1),
		noise: bins(), clean: bins(), likely: bins()}
	for i := range d.shape {
		d.shape[i] = float32(math.Sin(math.Pi * (float64(i) + 0.5) / float64(n)))
	}
	d.ready = make([]int16, n/noiseHops, n+rate/5)
	return d
}

// Delay is by how many samples Process is late.
func (d *Denoiser) Delay() int { return d.size }

// Process replaces pcm by what came Delay samples earlier, without its noise.
func (d *Denoiser) Process(pcm []int16) {
	hop := d.size / noiseHops
	for rest := pcm; len(rest) > 0; {
		n := min(len(rest), hop-d.fresh)
		at := d.size - hop + d.fresh
		for i, v := range rest[:n] {
			d.in[at+i] = float32(v)
		}
		rest = rest[n:]
		if d.fresh += n; d.fresh == hop {
			d.window()
			d.fresh = 0
		}
	}
	taken := copy(pcm, d.ready)
	d.ready = d.ready[:copy(d.ready, d.ready[taken:])]
}

// window cleans the last window of samples.
func (d *Denoiser) window() {
	hop := d.size / noiseHops
	for i, v := range d.in {
		d.work[i] = v * d.shape[i]
	}
	copy(d.in, d.in[hop:])
	d.fft.forward(d.bins, d.work)
	for k, b := range d.bins {
		g := d.gain(k, real(b)*real(b)+imag(b)*imag(b)+1)
		d.bins[k] = complex(real(b)*g, imag(b)*g)
	}
	d.seen++
	d.fft.inverse(d.work, d.bins)
	copy(d.out, d.out[hop:])
	clear(d.out[d.size-hop:])
	for i, v := range d.work {
		d.out[i] += v * d.shape[i]
	}
	for _, v := range d.out[:hop] {
		d.ready = append(d.ready, Clip(int32(v)))
	}
}

// gain is how much is left of the amplitude of bin k, which has so much power.
func (d *Denoiser) gain(k int, power float32) float32 {
	if d.seen < noiseBegin && (d.seen == 0 || power < 4*d.noise[k]) {
		d.noise[k] += (power - d.noise[k]) / float32(d.seen+1)
	}
	noise := d.noise[k]
	post := power / noise
	p := float32(1)
	if post < presenceMost {
		p = presence[int(post*presenceStep)]
	}
	d.likely[k] = 0.9*d.likely[k] + 0.1*p
	if d.likely[k] > noiseStuck {
		p = min(p, noiseStuck)
	}
	d.noise[k] = noiseFollow*noise + (1-noiseFollow)*((1-p)*power+p*noise)
	prior := noiseTrust*d.clean[k]/noise + (1-noiseTrust)*max(0, post-1)
	g := prior / (1 + prior)
	d.clean[k] = g * g * power
	return max(noiseLeast, g)
}
