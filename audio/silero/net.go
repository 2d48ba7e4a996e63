package silero

import (
	"math"

	"parley/audio"
	"parley/audio/vec"
)

const (
	hidden = 128        // of the LSTM
	frames = 4          // of the spectrum of one window
	gateN  = 4 * hidden // sums of the gates input, forget, cell, output
	reach  = 2 * hidden // inputs of a gate: the encoder's output and the LSTM's own
	maxRow = 129        // bins of the widest spectrum
	rows   = frames + 2 // with a row of zeros at each end, which the convolutions see
	slackF = 8          // a padded kernel reads that far behind the last row
	planeF = rows*maxRow + slackF
)

// net is the network of one rate: spectrum, four convolutions over time, LSTM, one output.
type net struct {
	window, context   int // samples
	fft, hop, bins    int
	basis             []float32 // real rows, then imaginary rows, of fft values
	conv              [4]conv
	lstm              []float32 // gateN × reach
	lstmBias, outputs []float32
	outputBias        float32
}

// conv is a convolution of three frames, followed by max(0, x).
type conv struct {
	in, out, stride int
	kernel          int       // 3*in padded to a multiple of 8 with zeros
	weights         []float32 // out × kernel, frame by frame
	bias            []float32
}

// state is what a stream remembers: 1.3 KB.
type state struct {
	h, c    [hidden]float32
	context [64]float32
}

// work is the memory one window needs.
type work struct {
	samples [64 + 512 + 64]float32
	a, b    [planeF]float32
	x       [reach]float32 // inputs of the gates
}

type gate [gateN]float32

// group is the input and output of the gates of several streams.
type group struct {
	in   [audio.GroupSize * reach]float32
	gate [audio.GroupSize]gate
}

func newNet(c constants, window, context, fft int) (*net, error) {
	n := &net{window: window, context: context, fft: fft, hop: fft / 2, bins: fft/2 + 1}
	var err error
	get := func(name string, size int) []float32 {
		v, e := c.get(name, size)
		if e != nil && err == nil {
			err = e
		}
		return v
	}
	n.basis = get("stft.forward_basis_buffer", 2*n.bins*fft)
	for i, shape := range [4][3]int{{n.bins, 128, 1}, {128, 64, 2}, {64, 64, 2}, {64, 128, 1}} {
		l := conv{in: shape[0], out: shape[1], stride: shape[2]}
		name := "encoder." + string(rune('0'+i)) + ".reparam_conv."
		l.bias = get(name+"bias", l.out)
		if w := get(name+"weight", l.out*l.in*3); err == nil {
			l.arrange(w)
		}
		n.conv[i] = l
	}
	ih, hh := get("decoder.rnn.weight_ih", gateN*hidden), get("decoder.rnn.weight_hh", gateN*hidden)
	bi, bh := get("decoder.rnn.bias_ih", gateN), get("decoder.rnn.bias_hh", gateN)
	n.outputs = get("decoder.decoder.2.weight", hidden)
	bias := get("decoder.decoder.2.bias", 1)
	if err != nil {
		return nil, err
	}
	n.outputBias = bias[0]
	for g := range gateN {
		n.lstm = append(append(n.lstm, ih[g*hidden:(g+1)*hidden]...), hh[g*hidden:(g+1)*hidden]...)
		n.lstmBias = append(n.lstmBias, bi[g]+bh[g])
	}
	return n, nil
}

// arrange turns [out][in][3] into rows that are an inner product with three frames lying one behind the other.
func (l *conv) arrange(w []float32) {
	l.kernel = (3*l.in + 7) &^ 7
	l.weights = make([]float32, l.out*l.kernel)
	for o := range l.out {
		for i := range l.in {
			for k := range 3 {
				l.weights[o*l.kernel+k*l.in+i] = w[(o*l.in+i)*3+k]
			}
		}
	}
}

// front computes the inputs of the gates for one window into w.x: the encoder's output and what the LSTM said last.
func (n *net) front(s *state, w *work, window []int16) {
	total := n.context + n.window
	copy(w.samples[:], s.context[:n.context])
	for i, v := range window[:n.window] {
		w.samples[n.context+i] = float32(v) * (1.0 / 32768)
	}
	copy(s.context[:], w.samples[n.window:total])
	for i := range n.context { // mirrored end
		w.samples[total+i] = w.samples[total-2-i]
	}
	n.spectrum(w)
	n.conv[0].run(w.a[:], w.b[:], frames)
	n.conv[1].run(w.b[:], w.a[:], frames)
	n.conv[2].run(w.a[:], w.b[:], frames/2)
	n.conv[3].run(w.b[:], w.a[:], frames/4)
	copy(w.x[:hidden], w.a[hidden:2*hidden])
	copy(w.x[hidden:], s.h[:])
}

// spectrum leaves the magnitudes of four overlapping frames in w.a, from the second row on.
func (n *net) spectrum(w *work) {
	var re, im [4]float32
	for k := range n.bins {
		vec.Dot4(n.basis[k*n.fft:(k+1)*n.fft], w.samples[:], n.hop, &re)
		vec.Dot4(n.basis[(n.bins+k)*n.fft:(n.bins+k+1)*n.fft], w.samples[:], n.hop, &im)
		for f := range frames {
			w.a[(f+1)*n.bins+k] = float32(math.Sqrt(float64(re[f]*re[f] + im[f]*im[f])))
		}
	}
	clear(w.a[(frames+1)*n.bins : (frames+2)*n.bins+slackF])
}

// run convolves steps frames of src; frames begin at the second row of both.
func (l *conv) run(src, dst []float32, steps int) {
	clear(dst[:l.out])
	steps = (steps-1)/l.stride + 1
	var sum [4]float32
	if steps == 4 { // every weight once for all frames
		for o := range l.out {
			vec.Dot4(l.weights[o*l.kernel:(o+1)*l.kernel], src, l.in, &sum)
			for f, v := range sum {
				dst[(f+1)*l.out+o] = max(0, v+l.bias[o])
			}
		}
	} else { // every frame for four rows of weights
		for f := range steps {
			x := src[f*l.stride*l.in:][:l.kernel]
			row := dst[(f+1)*l.out:][:l.out]
			for o := 0; o < l.out; o += 4 {
				vec.Dot4(x, l.weights[o*l.kernel:], l.kernel, &sum)
				for i, v := range sum {
					row[o+i] = max(0, v+l.bias[o+i])
				}
			}
		}
	}
	clear(dst[(steps+1)*l.out : (steps+2)*l.out+slackF])
}

// gates computes the sums of one stream: its input for four rows of weights at a time.
func (n *net) gates(w *work, g *gate) {
	var sum [4]float32
	for k := 0; k < gateN; k += 4 {
		vec.Dot4(w.x[:], n.lstm[k*reach:], reach, &sum)
		copy(g[k:], sum[:])
	}
}

// gatesAll computes the sums of a group: every row of weights for all streams at a time.
func (n *net) gatesAll(x *group) {
	var sum [4]float32
	for k := range gateN {
		vec.Dot4(n.lstm[k*reach:(k+1)*reach], x.in[:], reach, &sum)
		for i, v := range sum {
			x.gate[i][k] = v
		}
	}
}

// cell updates the state from the sums of the gates.
func (n *net) cell(s *state, gate []float32) float32 {
	for i, b := range n.lstmBias {
		gate[i] += b
	}
	value := gate[2*hidden : 3*hidden]
	double(value) // tanh(x) = 2/(1+e^-2x) - 1
	vec.Sigmoid(gate)
	input, forget, output := gate[:hidden], gate[hidden:2*hidden], gate[3*hidden:]
	for i := range hidden {
		s.c[i] = forget[i]*s.c[i] + input[i]*(2*value[i]-1)
		value[i] = s.c[i]
	}
	double(value)
	vec.Sigmoid(value)
	sum := [1]float32{n.outputBias}
	for i := range hidden {
		s.h[i] = output[i] * (2*value[i] - 1)
		sum[0] += max(0, s.h[i]) * n.outputs[i]
	}
	vec.Sigmoid(sum[:])
	return sum[0]
}

func double(x []float32) {
	for i := range x {
		x[i] += x[i]
	}
}
