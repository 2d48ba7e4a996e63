package audio

import "math"

// Stretcher changes the speed of speech without changing its pitch (WSOLA: waveform similarity overlap-add).
type Stretcher struct {
	step   int       // output samples per round, 10 ms: half of a window
	seek   int       // how far a window may be moved to fit, 5 ms each way
	speed  float64   // input per output
	window []float32 // rising half of a Hann window, step long
	in     []int16   // input not used up
	at     float64   // ideal start of the next window in `in`
	tail   []int16   // second half of the last window, to be overlapped
	out    []int16
}

// NewStretcher makes one for a rate in Hz and a speed of 0.5 to 2 (1.2 = a fifth faster).
func NewStretcher(rate int, speed float64) *Stretcher {
	s := &Stretcher{step: rate / 100, seek: rate / 200, speed: max(0.5, min(2, speed))}
	s.window = make([]float32, s.step)
	for i := range s.window {
		s.window[i] = float32(0.5 - 0.5*math.Cos(math.Pi*(float64(i)+0.5)/float64(s.step)))
	}
	return s
}

// Process takes samples and returns those that are ready; the result is valid until the next call.
func (s *Stretcher) Process(pcm []int16) []int16 {
	s.out = s.out[:0]
	if s.speed == 1 {
		s.out = append(s.out, pcm...)
		return s.out
	}
	s.in = append(s.in, pcm...)
	for int(s.at)+s.seek+2*s.step <= len(s.in) {
		s.round()
	}
	if drop := int(s.at) - s.seek; drop > 0 {
		s.in = s.in[:copy(s.in, s.in[drop:])]
		s.at -= float64(drop)
	}
	return s.out
}

// round puts out one step: the last window's second half faded into the best place near the ideal one.
func (s *Stretcher) round() {
	start := int(s.at)
	if s.tail == nil {
		s.out = append(s.out, s.in[start:start+s.step]...)
	} else {
		start = s.fit(start)
		for i, w := range s.window {
			v := float32(s.tail[i])*(1-w) + float32(s.in[start+i])*w
			s.out = append(s.out, round(v))
		}
	}
	s.tail = append(s.tail[:0], s.in[start+s.step:start+2*s.step]...)
	s.at += float64(s.step) * s.speed
}

// fit is the start near ideal whose samples resemble the tail most.
func (s *Stretcher) fit(ideal int) int {
	best, bestScore := ideal, math.Inf(-1)
	for start := max(0, ideal-s.seek); start <= ideal+s.seek; start++ {
		var cross, energy int64
		for i := 0; i < s.step; i += 2 {
			v := int64(s.in[start+i])
			cross += v * int64(s.tail[i])
			energy += v * v
		}
		if score := float64(cross) / math.Sqrt(float64(energy)+1); score > bestScore {
			best, bestScore = start, score
		}
	}
	return best
}

// Flush returns what is left and resets.
func (s *Stretcher) Flush() []int16 {
	s.out = s.out[:0]
	switch start := int(s.at); {
	case s.tail == nil:
		s.out = append(s.out, s.in...)
	case start+s.step <= len(s.in) && start >= 0:
		for i, w := range s.window {
			s.out = append(s.out, round(float32(s.tail[i])*(1-w)+float32(s.in[start+i])*w))
		}
		s.out = append(s.out, s.in[start+s.step:]...)
	default:
		s.out = append(s.out, s.tail...)
	}
	s.in, s.tail, s.at = s.in[:0], nil, 0
	return s.out
}
