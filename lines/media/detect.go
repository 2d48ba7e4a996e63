package media

import (
	"time"

	"parley/lines"
)

// Detector tells speech from everything else, one window at a time. A stream has its own; only the pacer calls it.
type Detector interface {
	// Window is the number of samples Speech takes, at most 32 ms.
	Window() int
	// Speech is the probability (0-1) that the window holds speech, in the light of the ones before.
	Speech(window []int16) float32
}

// Turns of speech: a window at or above the threshold is voiced; while somebody speaks, one down to slack below it counts
// as voiced too. Two voiced windows (64 ms) begin a turn, three unvoiced ones (96 ms) end it.
const (
	defaultThreshold = 0.5
	slack            = 0.15
	beginWindows     = 2
	endWindows       = 3
	backlog          = 5 // windows that may wait for the detector
)

// ear runs the detector over a stream and makes turns of its probabilities.
type ear struct {
	detector Detector
	rate     int
	window   int
	buf      []int16
	n        int       // samples in buf
	newest   time.Time // when the last of them arrived

	speaking bool
	run      int       // windows in a row that contradict speaking
	onset    time.Time // beginning of the first window of that run
	voiced   time.Time // end of the last voiced window
	level    level
}

func (e *ear) init(d Detector, rate int) {
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

func (e *ear) full() bool { return e.detector != nil && e.n >= e.window }

// listen runs the detector over every full window and tells post of beginnings and ends.
func (e *ear) listen(threshold float32, post func(lines.Event)) {
	used := 0
	for ; used+e.window <= e.n; used += e.window {
		window := e.buf[used : used+e.window]
		p := e.detector.Speech(window)
		e.level.window(window, e.speaking)
		end := e.newest.Add(-time.Duration(e.n-used-e.window) * time.Second / time.Duration(e.rate))
		e.step(p, threshold, end, post)
	}
	e.n = copy(e.buf, e.buf[used:e.n])
}

// step takes the probability of one window that ended at end.
func (e *ear) step(p, threshold float32, end time.Time, post func(lines.Event)) {
	if e.speaking {
		if p >= threshold-slack {
			e.run, e.voiced = 0, end
			return
		}
		if e.run++; e.run == endWindows {
			post(lines.Event{Kind: lines.SpeechEnd, At: e.voiced.Add(-e.level.hangover(e.run))})
			e.speaking, e.run = false, 0
		}
		return
	}
	if p < threshold {
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

func (l *level) window(pcm []int16, speaking bool) {
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
		l.peak = max(l.peak, e)
	}
}

// hangover is how much of the end of the last voiced window was no sound: less than 9 dB above the noise or 30 dB below the
// loudest of the turn. run windows came after it. It is 0 when no sound is found nearby, as in loud noise.
func (l *level) hangover(run int) time.Duration {
	gate := max(8*l.floor, l.peak/1000, 16*16)
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

// Window implements Detector.
func (d *EnergyDetector) Window() int { return d.window }

// Speech implements Detector: 1 when the window is 12 dB above the floor and above -46 dBFS, else 0.
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
