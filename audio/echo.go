package audio

import "math"

// EchoReach is how late an echo may be, in ms: the longest delay that is looked for, with some reverberation behind it.
const EchoReach = 600

const (
	echoBlock  = 10                    // ms: the step of delays
	echoLags   = EchoReach / echoBlock // delays that are looked at
	echoRing   = 128                   // blocks of our own sound that are remembered, a power of two
	echoSmooth = 4                     // blocks a level is the mean of
	echoFirst  = -12                   // dB: the return that is expected of a line not heard yet, and the highest there is
	echoMargin = 10                    // dB by which sound must exceed the expected echo: rooms change its spectrum
	echoFall   = 2.0                   // dB a block, towards a return that is lower than thought,
	echoRise   = 0.1                   // and towards one that is higher: the return is a twentieth's quantile
	echoLoud   = -45                   // dBFS: our own sound that tells something of the return
	echoNone   = -66                   // dBFS: an echo that G.711 hardly carries
	echoOpen   = 2                     // blocks in a row that the echo does not explain begin to be heard
	echoHold   = 20                    // blocks, and as long behind the last of them
	echoSettle = 100                   // blocks after which a shifted clock is believed
)

// Echo takes the echo of our own sound out of what comes back on a line: it knows what was sent, learns for every delay how
// much of it returns at most, and replaces sound that this explains by noise as loud as the line's own. Other sound passes as it
// is. It costs 0.2 ms per second of our own sound and next to nothing else.
//
// That bound needs no search: sound that comes in is never less than the echo in it, whoever else speaks. So the lowest ratio of
// what came to what was sent a delay earlier is at least the return, and at the true delay it is the return; at other delays
// it is lower, because speech is not.
type Echo struct {
	block int // samples
	seed  uint32

	sent    int // blocks
	own     [echoRing]float32
	level   [echoRing]float32 // dBFS, mean of echoSmooth blocks
	sounded int               // blocks since the last of our own sound

	heard   int // blocks
	base    int // sent - heard, without jitter
	lowest  int // of the last blocks
	settled int
	in      [echoSmooth]float32
	bound   [echoLags]float32 // dB: the return of each delay
	floor   float32           // dBFS of the line
	strange int               // blocks in a row that are no echo
	held    int               // blocks for which sound passes yet
}

// Init makes it ready for a line of rate Hz.
func (e *Echo) Init(rate int) {
	*e = Echo{block: rate * echoBlock / 1000, seed: 1, sounded: echoRing, floor: -60}
	for i := range e.level {
		e.level[i] = -100
	}
	for i := range e.bound {
		e.bound[i] = echoFirst
	}
	e.lowest = math.MaxInt32
}

// Sent takes the next 20 ms of what is sent, silence too.
func (e *Echo) Sent(pcm []int16) {
	for ; len(pcm) >= e.block; pcm = pcm[e.block:] {
		at := e.sent & (echoRing - 1)
		e.own[at] = power(pcm[:e.block])
		sum := float32(0)
		for i := range echoSmooth {
			sum += e.own[(e.sent-i)&(echoRing-1)]
		}
		e.level[at] = decibels(sum / echoSmooth)
		if e.sounded++; e.level[at] > echoNone {
			e.sounded = 0
		}
		e.sent++
	}
}

// Clean takes the next sound that was received and replaces, in place, what is echo.
func (e *Echo) Clean(pcm []int16) {
	for ; len(pcm) >= e.block; pcm = pcm[e.block:] {
		now := e.follow()
		copy(e.in[1:], e.in[:])
		e.in[0] = power(pcm[:e.block])
		resting := e.sounded >= echoLags+echoSmooth
		if e.quieter(decibels(e.in[0]), resting); resting {
			e.strange, e.held = 0, 0
			continue
		}
		sum := float32(0)
		for _, v := range e.in {
			sum += v
		}
		if e.echo(now, decibels(sum/echoSmooth)) {
			e.replace(pcm[:e.block])
		}
	}
}

// follow counts a block that was received and returns the number of the block that was sent at its time. Packets come late and
// in bursts, so the shortest way of the last second counts.
func (e *Echo) follow() (now int) {
	e.heard++
	ahead := e.sent - e.heard
	e.lowest = min(e.lowest, ahead)
	if e.settled++; ahead < e.base || e.settled == echoSettle || e.heard == 1 {
		e.base, e.lowest, e.settled = min(e.lowest, ahead), math.MaxInt32, 0
	}
	return e.heard + e.base - 1
}

// quieter learns the floor of the line, upwards only while nothing of ours can be heard.
func (e *Echo) quieter(in float32, resting bool) {
	switch {
	case in < e.floor:
		e.floor--
	case resting:
		e.floor += 0.05
	}
}

// echo tells whether a block as loud as in is explained by what was sent.
func (e *Echo) echo(now int, in float32) bool {
	expected := float32(-100)
	var next, here, last float32 = -100, e.level[now&(echoRing-1)], 0
	for lag := range e.bound {
		last = e.level[(now-lag-1)&(echoRing-1)]
		b := e.bound[lag]
		expected = max(expected, b+max(next, here, last))
		if here > echoLoud {
			if ratio := max(in, echoNone) - here; ratio < b {
				e.bound[lag] = max(ratio, b-echoFall)
			} else {
				e.bound[lag] = min(ratio, b+echoRise, echoFirst)
			}
		}
		next, here = here, last
	}
	if expected < echoNone {
		return false
	}
	if in <= max(expected, e.floor)+echoMargin {
		e.strange = 0
	} else if e.strange++; e.strange >= echoOpen {
		e.held = echoHold
	}
	e.held--
	return e.held < 0
}

// replace makes noise of a block.
func (e *Echo) replace(pcm []int16) {
	peak := int32(32768 * math.Sqrt(3) * math.Pow(10, float64(max(-100, e.floor))/20)) // of even noise
	for i := range pcm {
		e.seed = e.seed*1664525 + 1013904223
		pcm[i] = int16((int32(e.seed>>16) - 32768) * min(peak, 300) / 32768)
	}
}

// Return is the delay in ms at which the loudest echo comes back and its level in dB below what was sent.
func (e *Echo) Return() (delay int, level float32) {
	level = -100
	for lag, b := range e.bound {
		if b > level {
			delay, level = lag*echoBlock, b
		}
	}
	return delay, level
}

// power is the mean square of pcm, full scale being 1.
func power(pcm []int16) float32 {
	return float32(Energy(pcm) / float64(len(pcm)) / (32768 * 32768))
}

func decibels(power float32) float32 {
	return float32(10 * math.Log10(float64(power)+1e-10))
}
