package builtin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The acoustic model was trained on 16 kHz speech: 13 cepstra of 25 mel bands from 130 to 6800 Hz. A telephone carries
// the lower bands only. Instead of feeding it speech with an empty upper half, narrow computes what its Gaussians are
// in the cepstra of those lower bands alone: cepstra are linear in the log energies of the bands, so means and
// variances follow, and CMN, deltas and the rest of the transcriber stay as they are.

const (
	wideBands   = 25
	narrowBands = 18 // the highest of them ends at 3445 Hz
	cepstra     = 13
	lowestHz    = 130
	highestHz   = 6800
	lifter      = 22
)

// narrowestHz is the upper edge of the highest narrow band.
func narrowTop() float64 {
	mel := func(hz float64) float64 { return 2595 * math.Log10(1+hz/700) }
	step := (mel(highestHz) - mel(lowestHz)) / (wideBands + 1)
	return 700 * (math.Pow(10, (mel(lowestHz)+(narrowBands+1)*step)/2595) - 1)
}

// dct is row k of the orthonormal DCT-II over n bands.
func dct(k, j, n int) float64 {
	if k == 0 {
		return math.Sqrt(1 / float64(n))
	}
	return math.Sqrt(2/float64(n)) * math.Cos(math.Pi*float64(k)*(float64(j)+0.5)/float64(n))
}

func lift(k int) float64 { return 1 + lifter/2*math.Sin(float64(k)*math.Pi/lifter) }

// bandChange maps wideBands unliftered cepstra of the wide bands to liftered cepstra of the narrow ones.
func bandChange() (m [cepstra][wideBands]float64) {
	for i := range cepstra {
		for q := range wideBands {
			for j := range narrowBands {
				m[i][q] += dct(i, j, narrowBands) * dct(q, j, wideBands)
			}
			m[i][q] *= lift(i)
		}
	}
	return m
}

// gaussians is a means or variances file of the model.
type gaussians struct {
	head   []byte // up to the data
	vector []int  // length per stream
	values []float32
}

func readGaussians(b []byte) (*gaussians, error) {
	_, rest, ok := bytes.Cut(b, []byte("endhdr\n"))
	if !ok || len(rest) < 16 || binary.LittleEndian.Uint32(rest) != 0x11223344 {
		return nil, errors.New("not a model file of this byte order")
	}
	word := func(i int) int { return int(binary.LittleEndian.Uint32(rest[4+4*i:])) }
	streams := word(1)
	g := &gaussians{}
	for i := range streams {
		g.vector = append(g.vector, word(3+i))
	}
	n := word(3 + streams)
	at := 4 + 4*(4+streams)
	if len(rest) < at+4*n {
		return nil, fmt.Errorf("model file is cut short")
	}
	g.head = rest[:at]
	g.values = make([]float32, n)
	for i := range g.values {
		g.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[at+4*i:]))
	}
	return g, nil
}

// bytes is the file again, without a checksum.
func (g *gaussians) bytes() []byte {
	b := append([]byte("s3\nversion 1.0\nendhdr\n"), g.head...)
	for _, v := range g.values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// narrow rewrites means and variances for the narrow bands.
func narrow(means, variances []byte) (m, v []byte, err error) {
	mean, err := readGaussians(means)
	if err != nil {
		return nil, nil, fmt.Errorf("means: %w", err)
	}
	vari, err := readGaussians(variances)
	if err != nil {
		return nil, nil, fmt.Errorf("variances: %w", err)
	}
	change := bandChange()
	for at := 0; at+cepstra <= len(mean.values); at += cepstra {
		var mu, va [cepstra]float64
		tail := float64(vari.values[at+cepstra-1]) / (lift(cepstra-1) * lift(cepstra-1))
		for i := range cepstra {
			for q := range wideBands {
				if q < cepstra {
					mu[i] += change[i][q] * float64(mean.values[at+q]) / lift(q)
					va[i] += change[i][q] * change[i][q] * float64(vari.values[at+q]) / (lift(q) * lift(q))
				} else {
					va[i] += change[i][q] * change[i][q] * tail * tailFactor
				}
			}
		}
		for i := range cepstra {
			mean.values[at+i] = float32(mu[i])
			vari.values[at+i] = float32(va[i])
		}
	}
	return mean.bytes(), vari.bytes(), nil
}

var tailFactor = 1.0
