// Package silero detects voice: the Silero VAD v6 network (MIT licence) written out in Go, for 8 and 16 kHz.
package silero

import "parley/audio"

// Model is the weights, shared by all streams.
type Model struct{ narrow, wide *net }

// Load reads the model file (silero_vad.onnx, version 5 or 6).
func Load(onnx []byte) (*Model, error) {
	wide, narrow, err := branches(onnx)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	if m.wide, err = newNet(wide, 512, 64, 256); err != nil {
		return nil, err
	}
	m.narrow, err = newNet(narrow, 256, 32, 128)
	return m, err
}

// Detector listens to one stream. It is used by one goroutine at a time; its working memory is on the stack.
type Detector struct {
	net *net
	state
}

// Detector makes a detector for 8000 Hz; every other rate is taken for 16000 Hz.
func (m *Model) Detector(rate int) *Detector {
	if rate == 8000 {
		return &Detector{net: m.narrow}
	}
	return &Detector{net: m.wide}
}

// Window is the number of samples Speech takes: 32 ms.
func (d *Detector) Window() int { return d.net.window }

// Reset forgets what was heard.
func (d *Detector) Reset() { d.state = state{} }

// Speech is the probability (0-1) of speech in a window, in the light of the windows before it.
func (d *Detector) Speech(window []int16) float32 {
	var w work
	var g [1]gate
	d.net.front(&d.state, &w, window)
	d.net.gates(&w, &g[0])
	return d.net.cell(&d.state, g[0][:])
}

// Together implements audio.GroupDetector: detectors of one model and rate work together.
func (d *Detector) Together(other audio.Detector) bool {
	o, ok := other.(*Detector)
	return ok && o.net == d.net
}

// SpeechAll implements audio.GroupDetector.
func (d *Detector) SpeechAll(detectors []audio.Detector, windows [][]int16, p []float32) {
	if len(detectors) < 3 { // a row of four would be mostly empty
		for i, o := range detectors {
			p[i] = o.Speech(windows[i])
		}
		return
	}
	var w work
	var x group
	for i, o := range detectors {
		o := o.(*Detector)
		d.net.front(&o.state, &w, windows[i])
		copy(x.in[i*reach:], w.x[:])
	}
	d.net.gatesAll(&x)
	for i, o := range detectors {
		p[i] = d.net.cell(&o.(*Detector).state, x.gate[i][:])
	}
}

var _ audio.GroupDetector = (*Detector)(nil)
