package media

import "math"

// Who talks behind the caller is told from the caller by being less loud. Levels are in dB below full scale, of windows of 32 ms.
const (
	foreDown   = 10   // dB under the caller's own level is background
	foreHigher = 3    // dB more are needed to begin to speak into it
	foreBabble = 6    // dB above the lowest level of the last second, when that is high: many people at once
	foreLeast  = 4    // dB under the caller's level are background at the most
	foreWeak   = 20   // windows without a loud one (640 ms) are background: the end of a sentence is weak for less
	foreBusy   = 12   // and as many (384 ms) where it is never quiet
	foreQuiet  = 24   // windows (768 ms) without any speech: who speaks then may be anybody
	foreRise   = 0.6  // dB a window by which the own level is learnt,
	foreFall   = 0.08 // and unlearnt,
	foreForget = 0.02 // and while there is only background: 0.6 dB a second
	foreNever  = 32   // dB under the caller's level: where no block of the last second was, it is never quiet
	lowWindows = 32   // 1 s
)

// foreground knows how loud the caller speaks.
type foreground struct {
	known bool
	own   float32 // level of the caller's loud windows
	low   [lowWindows]float32
	n     int
	still [lowWindows]float32 // the quietest block of each window
	slow  float32             // power, of the last windows
	weak  int                 // windows of speech since the last loud one
	since int                 // windows since then
	quiet int                 // windows since the detector heard speech of anybody
	mixed bool                // others go on talking where the caller stopped
}

// border is the level under which speech is background, and for how many windows it must be.
func (f *foreground) border() (level float32, windows int) {
	floor, still := f.low[0], f.still[0]
	for i, v := range f.low {
		floor, still = min(floor, v), min(still, f.still[i])
	}
	if f.n < lowWindows || still < f.own-foreNever {
		return f.own - foreDown, foreWeak
	}
	return max(f.own-foreDown, min(floor+foreBabble, f.own-foreLeast)), foreBusy
}

// window takes the mean square of one window and of its quietest block, and the detector's opinion; it tells whether the window is
// background.
func (f *foreground) window(power, quietest float32, speech, speaking bool) (background bool) {
	level := decibels(power)
	if f.n == 0 {
		f.slow = power
	}
	f.slow += (power - f.slow) / 3
	f.low[f.n%lowWindows], f.still[f.n%lowWindows] = decibels(f.slow), decibels(quietest)
	f.n++
	f.since++
	if !speech {
		f.quiet++
		f.mixed = f.mixed && f.quiet < foreQuiet
		return false
	}
	if !f.known || !speaking && f.quiet >= foreQuiet { // anybody may begin in silence, however quietly
		if !f.known || level < f.own {
			f.own = level
		}
		f.known, f.weak, f.since = true, 0, 0
	}
	f.quiet = 0
	border, most := f.border()
	if !speaking && f.mixed {
		border, most = border+foreHigher, 1
	}
	if f.weak++; level >= border {
		f.weak, f.since = 0, 0
	}
	background = f.weak >= most && (speaking || f.mixed)
	f.mixed = f.mixed || background
	f.learn(level, background)
	return background
}

// learn follows the level of the caller's loud windows.
func (f *foreground) learn(level float32, background bool) {
	switch {
	case background:
		f.own -= foreForget
	case level > f.own:
		f.own += min(foreRise, level-f.own)
	default:
		f.own -= foreFall
	}
}

func decibels(power float32) float32 {
	return float32(10*math.Log10(float64(power)+1e-3)) - 90.3
}
