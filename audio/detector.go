package audio

// Detector tells speech from everything else, one window at a time. Each stream has its own, because what it heard before
// counts.
type Detector interface {
	// Window is the number of samples Speech takes, at most 32 ms.
	Window() int
	// Speech is the probability (0-1) that the window holds speech, in the light of the ones before.
	Speech(window []int16) float32
	// Reset forgets what was heard.
	Reset()
}

// GroupSize is how many streams a GroupDetector takes at once.
const GroupSize = 4

// GroupDetector is a Detector that costs less for several streams at once, because their weights are read only once.
type GroupDetector interface {
	Detector
	// Together tells whether it can work in one group with another detector.
	Together(other Detector) bool
	// SpeechAll is Speech for each of 1 to GroupSize detectors, this one among them, that work together with this one.
	SpeechAll(detectors []Detector, windows [][]int16, p []float32)
}
