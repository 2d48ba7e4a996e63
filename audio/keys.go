package audio

import "math"

// Keys hears keys that are pressed as sound (ITU-T Q.23, Q.24): both tones for 50 ms or more. It is made for speech to go on
// beside it: a key is told once two windows in a row hold its pair and hardly anything else.
type Keys struct {
	rate   int
	window []float64 // Hann
	twice  [8]float64
	buf    []int16 // at 8 kHz, the last window
	odd    int     // samples of a rate of 16 kHz left over: one
	half   int16
	last   byte // of the last window
	key    byte // told, and not over
	misses int
}

const (
	keyRate   = 8000
	keyWindow = keyRate * 30 / 1000
	keyHop    = keyRate * 20 / 1000
)

// NewKeys makes a detector of sound at rate Hz, 8000 or 16000.
func NewKeys(rate int) *Keys {
	k := &Keys{rate: rate, window: make([]float64, keyWindow), buf: make([]int16, 0, keyWindow)}
	for i := range k.window {
		k.window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/keyWindow)
	}
	for i := range 4 {
		k.twice[i] = 2 * math.Cos(2*math.Pi*dtmfRows[i]/keyRate)
		k.twice[4+i] = 2 * math.Cos(2*math.Pi*dtmfColumns[i]/keyRate)
	}
	return k
}

// Feed takes the next samples and calls pressed for every key, when it has sounded for 50 ms. It allocates nothing.
func (k *Keys) Feed(pcm []int16, pressed func(key byte)) {
	for _, v := range pcm {
		if k.rate > keyRate { // two samples are one
			if k.odd ^= 1; k.odd == 1 {
				k.half = v
				continue
			}
			v = int16((int32(k.half) + int32(v)) / 2)
		}
		if k.buf = append(k.buf, v); len(k.buf) < keyWindow {
			continue
		}
		if key := k.heard(k.find()); key != 0 {
			pressed(key)
		}
		k.buf = k.buf[:copy(k.buf, k.buf[keyHop:])]
	}
}

// heard takes what a window holds and returns a key that is now certain. A dropout of one window does not end a key.
func (k *Keys) heard(found byte) (certain byte) {
	switch {
	case found == 0:
		if k.misses++; k.misses >= 2 {
			k.key = 0
		}
	case found == k.key:
		k.misses = 0
	case found == k.last:
		k.key, k.misses, certain = found, 0, found
	}
	k.last = found
	return certain
}

// find names the key in the window, 0 = none. The rows, which speech has too, are looked at first.
func (k *Keys) find() byte {
	energy := Energy(k.buf)
	if energy < keyWindow*160*160 { // -46 dBFS
		return 0
	}
	var w [keyWindow]float64
	for i, v := range k.buf {
		w[i] = float64(v) * k.window[i]
	}
	row, low := k.loudest(&w, 0)
	if row < 0 {
		return 0
	}
	column, high := k.loudest(&w, 4)
	if column < 0 || low > 6*high || high > 4*low { // twist of more than 8 dB, and 6 dB the other way
		return 0
	}
	// A tone of amplitude a has a power of a²/2 and a sum under the window of a·n/4.
	tones := (low + high) * 8 / keyWindow
	if tones < 0.75*energy {
		return 0
	}
	return dtmfKeys[row*4+column-4]
}

// loudest is the tone of a group that stands out by 10 dB, with its power under the window; -1 when none does.
func (k *Keys) loudest(w *[keyWindow]float64, group int) (best int, power float64) {
	c := [4]float64(k.twice[group : group+4])
	var a, b, d, e, a2, b2, d2, e2 float64 // side by side: they do not wait for each other
	for _, v := range w {
		a, a2 = v+c[0]*a-a2, a
		b, b2 = v+c[1]*b-b2, b
		d, d2 = v+c[2]*d-d2, d
		e, e2 = v+c[3]*e-e2, e
	}
	next := 0.0
	for i, s := range [4][2]float64{{a, a2}, {b, b2}, {d, d2}, {e, e2}} {
		switch p := s[0]*s[0] + s[1]*s[1] - c[i]*s[0]*s[1]; {
		case p > power:
			best, power, next = group+i, p, power
		case p > next:
			next = p
		}
	}
	if power < 10*next || power == 0 {
		return -1, 0
	}
	return best, power
}
