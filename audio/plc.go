package audio

// Concealer fills the holes that lost packets leave in decoded audio: it repeats the last pitch period and fades to
// silence within 60 ms, as ITU-T G.711 Appendix I does. The zero value is ready after Init.
type Concealer struct {
	rate   int
	past   []int16 // the last 40 ms, oldest first
	period int     // pitch period in samples, found at the first lost frame
	lost   int     // samples concealed since the last good frame
}

// Init prepares the concealer for a rate in Hz.
func (c *Concealer) Init(rate int) {
	c.rate = rate
	c.past = make([]int16, rate/25)
	c.period, c.lost = 0, 0
}

// Good takes a frame that arrived, and smooths its beginning when it follows a concealed one.
func (c *Concealer) Good(pcm []int16) {
	if c.lost > 0 {
		n := min(len(pcm), c.rate/200) // 5 ms cross-fade from what concealment would have gone on with
		for i := range n {
			v := int32(c.next())
			pcm[i] = int16((v*int32(n-i) + int32(pcm[i])*int32(i)) / int32(n))
		}
		c.lost = 0
	}
	if n := len(c.past); len(pcm) >= n {
		copy(c.past, pcm[len(pcm)-n:])
	} else {
		copy(c.past, c.past[len(pcm):])
		copy(c.past[n-len(pcm):], pcm)
	}
}

// Conceal fills pcm in place of a lost frame.
func (c *Concealer) Conceal(pcm []int16) {
	if c.lost == 0 {
		c.period = c.pitch()
	}
	for i := range pcm {
		pcm[i] = c.next()
	}
}

// next is the following concealed sample: the last period again and again, at full level for 10 ms, then falling.
func (c *Concealer) next() int16 {
	if c.period == 0 {
		c.period = len(c.past) / 2
	}
	v := int32(c.past[len(c.past)-c.period+c.lost%c.period])
	hold, end := c.rate/100, c.rate*6/100
	if c.lost > hold {
		v = v * int32(max(0, end-c.lost)) / int32(end-hold)
	}
	c.lost++
	return int16(v)
}

// pitch finds the lag of 2.5 to 15 ms (66-400 Hz) at which the last 20 ms resemble what came before.
func (c *Concealer) pitch() int {
	n := len(c.past)
	low, high, window := c.rate/400, c.rate*15/1000, n/2
	now := c.past[n-window:]
	best, bestScore := high, -1.0
	for lag := low; lag <= high; lag++ {
		then := c.past[n-window-lag : n-lag]
		var cross, energy int64
		for i := 0; i < window; i += 2 {
			cross += int64(now[i]) * int64(then[i])
			energy += int64(then[i]) * int64(then[i])
		}
		if cross <= 0 || energy == 0 {
			continue
		}
		if score := float64(cross) * float64(cross) / float64(energy); score > bestScore*1.0001 {
			best, bestScore = lag, score
		}
	}
	return best
}
