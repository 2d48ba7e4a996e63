package media

import (
	"time"

	"parley/audio"
	"parley/lines"
)

// Turns of speech: a window at or above the threshold is voiced; while somebody speaks, one down to slack below it
// counts as voiced too. At or above sure, silence is a closure inside a word. Two voiced windows (64 ms) begin a turn,
// three unvoiced ones (96 ms) end it.
const (
	defaultThreshold = 0.5
	slack            = 0.15
	sure             = 0.9
	beginWindows     = 2
	endWindows       = 3
	backlog          = 5 // windows that may wait for the detector

	quietPower   = 16 * 16 // mean square of a block: -66 dBFS, where a digital line is silent
	quietWindows = 8       // that many in a row: the detector rests
)

// ear runs the detector over a stream and makes turns of its probabilities.
type ear struct {
	detector audio.Detector
	rate     int
	window   int
	buf      []int16
	n        int       // samples in buf
	used     int       // of them, the detector has seen so many
	newest   time.Time // when the last of them arrived

	speaking bool
	faded    bool      // and no sound in the last window
	run      int       // windows in a row that contradict speaking
	onset    time.Time // beginning of the first window of that run
	voiced   time.Time // end of the last voiced window
	fore     foreground
	level    level
	measured bool    // level has seen the next window
	loudest  float32 // of its blocks
	quiet    int     // windows in a row without sound
}

func (e *ear) init(d audio.Detector, rate int) {
	e.detector, e.rate = d, rate
	if d != nil {
		e.window = d.Window()
		e.buf = make([]int16, backlog*e.window)
	}
}

// feed takes samples, the last of which arrived at `at`. What the detector has not got to by now is given up.
func (e *ear) feed(pcm []int16, at time.Time) {
	if e.detector == nil {
		return
	}
	if len(pcm) > len(e.buf) {
		pcm = pcm[len(pcm)-len(e.buf):]
	}
	if over := e.n + len(pcm) - len(e.buf); over > 0 {
		e.n = copy(e.buf, e.buf[over:e.n])
	}
	e.n += copy(e.buf[e.n:], pcm)
	e.newest = at
}

// full tells whether a whole window waits for the detector.
func (e *ear) full() bool { return e.detector != nil && e.n-e.used >= e.window }

// rest passes over windows of digital silence, once there were so many that the detector has nothing to remember.
func (e *ear) rest(threshold float32, post func(lines.Event)) {
	for e.full() {
		if !e.measured {
			e.measured, e.loudest = true, e.level.window(e.next(), e.speaking)
		}
		switch {
		case e.loudest > quietPower:
			e.quiet = 0
			return
		case e.quiet < quietWindows:
			e.quiet++
			return
		case e.quiet == quietWindows:
			e.quiet++
			e.detector.Reset()
		}
		e.heard(0, threshold, post)
	}
}

// next is that window.
func (e *ear) next() []int16 { return e.buf[e.used : e.used+e.window] }

// heard takes the probability of the next window.
func (e *ear) heard(p, threshold float32, post func(lines.Event)) {
	e.measured = false
	e.used += e.window
	end := e.newest.Add(-time.Duration(e.n-e.used) * time.Second / time.Duration(e.rate))
	e.step(p, threshold, end, post)
	if !e.full() {
		e.n, e.used = copy(e.buf, e.buf[e.used:e.n]), 0
	}
}

// step takes the probability of one window that ended at end.
func (e *ear) step(p, threshold float32, end time.Time, post func(lines.Event)) {
	mean, quietest := e.level.last()
	if e.speaking {
		e.follow(p, end, post)
		speech := p >= threshold-slack
		background := e.fore.window(mean, quietest, speech, true)
		if speech && !background {
			e.run, e.voiced = 0, end
			return
		}
		if e.run++; e.run == endWindows || background {
			e.end(background, end, post)
		}
		return
	}
	if e.fore.window(mean, quietest, p >= threshold, false) || p < threshold {
		e.run = 0
		return
	}
	if e.run++; e.run == 1 {
		e.onset = end.Add(-time.Duration(e.window) * time.Second / time.Duration(e.rate))
	}
	if e.run == beginWindows {
		e.speaking, e.run, e.voiced = true, 0, end
		e.level.peak = 0
		post(lines.Event{Kind: lines.SpeechStart, At: e.onset})
	}
}

// end tells of the end of speech: behind its last sound, or its last loud one where others go on in the background.
func (e *ear) end(background bool, now time.Time, post func(lines.Event)) {
	at := e.voiced.Add(-e.level.hangover(e.run))
	if background {
		at = now.Add(-time.Duration(e.fore.since) * 32 * time.Millisecond)
	}
	post(lines.Event{Kind: lines.SpeechEnd, At: at})
	e.speaking, e.faded, e.run = false, false, 0
}

// follow tells of sound that fades while the detector says speech, and of its return. A closure inside a word is without sound
// too, but there the detector stays sure.
func (e *ear) follow(p float32, end time.Time, post func(lines.Event)) {
	if e.faded {
		if p >= sure || e.loudest > e.level.gate() {
			e.faded = false
			post(lines.Event{Kind: lines.SpeechBack, At: end})
		}
		return
	}
	if p >= sure {
		return
	}
	if silent := e.level.hangover(0); silent >= blocksPerWindow*blockDur {
		e.faded = true
		post(lines.Event{Kind: lines.SpeechFaded, At: end.Add(-silent)})
	}
}

const (
	blocksPerWindow = 4 // 8 ms each
	blocksKept      = 64
	blocksSearched  = 36 // 288 ms
	blockDur        = 32 * time.Millisecond / blocksPerWindow
)

// level follows the energy of the signal in blocks of 8 ms. The detector goes on saying speech for up to 200 ms after the
// last sound; level tells how long that was.
type level struct {
	block [blocksKept]float32 // mean squares, a ring
	n     int
	floor float32 // of the noise
	peak  float32 // of this turn
}

// window takes the samples of one window and returns its loudest block.
func (l *level) window(pcm []int16, speaking bool) (loudest float32) {
	size := len(pcm) / blocksPerWindow
	for i := range blocksPerWindow {
		var sum int64
		for _, s := range pcm[i*size : (i+1)*size] {
			sum += int64(s) * int64(s)
		}
		e := float32(sum) / float32(size)
		l.block[l.n%blocksKept] = e
		l.n++
		switch {
		case l.n == 1:
			l.floor = min(e, 100*100)
		case e < l.floor:
			l.floor = e
		case !speaking:
			l.floor += (e - l.floor) / 64
		}
		loudest = max(loudest, e)
	}
	l.peak = max(l.peak, loudest)
	return loudest
}

// last is the mean square of the last window, and of its quietest block.
func (l *level) last() (mean, quietest float32) {
	quietest = l.peak
	for back := range blocksPerWindow {
		e := l.block[(l.n-1-back+blocksKept)%blocksKept]
		mean, quietest = mean+e/blocksPerWindow, min(quietest, e)
	}
	return mean, quietest
}

// gate is what a block of sound exceeds: 9 dB above the noise and 30 dB below the loudest of the turn.
func (l *level) gate() float32 { return max(8*l.floor, l.peak/1000, quietPower) }

// hangover is how much of the end of the last voiced window was no sound. run windows came after it. It is 0 when no
// sound is found nearby, as in loud noise.
func (l *level) hangover(run int) time.Duration {
	gate := l.gate()
	last := l.n - 1 - run*blocksPerWindow
	for back := range min(blocksSearched, last+1) {
		if l.block[(last-back)%blocksKept] > gate {
			return time.Duration(back) * blockDur
		}
	}
	return 0
}

// EnergyDetector takes any sound well above the noise for speech, tones too: for load tests whose callers do not speak.
type EnergyDetector struct {
	window int
	floor  float64 // noise power, follows the quietest windows
}

// NewEnergyDetector makes one for a rate in Hz.
func NewEnergyDetector(rate int) *EnergyDetector {
	return &EnergyDetector{window: rate * 32 / 1000, floor: 100 * 100}
}

// Reset implements audio.Detector.
func (d *EnergyDetector) Reset() { d.floor = 100 * 100 }

// Window implements audio.Detector.
func (d *EnergyDetector) Window() int { return d.window }

// Speech implements audio.Detector: 1 when the window is 12 dB above the floor and above -46 dBFS, else 0.
func (d *EnergyDetector) Speech(window []int16) float32 {
	var sum int64
	for _, s := range window {
		sum += int64(s) * int64(s)
	}
	power := float64(sum) / float64(len(window))
	if power < d.floor {
		d.floor = power
	} else {
		d.floor = min(d.floor*1.02, 300*300)
	}
	if power > 16*d.floor && power > 160*160 {
		return 1
	}
	return 0
}

// FindSpeech finds the turns of speech in a recording as they are found on a call: known is when the event would have come.
func FindSpeech(pcm []int16, rate int, d audio.Detector, post func(ev lines.Event, known time.Time)) {
	var e ear
	e.init(d, rate)
	var now time.Time
	tell := func(ev lines.Event) { post(ev, now) }
	for frame := rate / 50; len(pcm) >= frame; pcm = pcm[frame:] {
		now = now.Add(audio.FrameDur)
		e.feed(pcm[:frame], now)
		for e.full() {
			if e.rest(defaultThreshold, tell); e.full() {
				e.heard(d.Speech(e.next()), defaultThreshold, tell)
			}
		}
	}
}
