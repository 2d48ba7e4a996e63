package audio

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"
)

// g722Input is one second of a sweeping saw with noise, in four loudnesses; integers only, so that it is the same
// everywhere.
func g722Input() []int16 {
	floor := func(a, b int) int {
		q := a / b
		if a%b < 0 {
			q--
		}
		return q
	}
	x, phase := uint32(12345), 0
	pcm := make([]int16, 16000)
	for i := range pcm {
		x = (x*1103515245 + 12345) & 0x7FFFFFFF
		noise := int(x>>16)%2001 - 1000
		phase = (phase + 200 + i/4) % 65536
		level := []int{0, 20, 500, 9000}[i/1000%4]
		pcm[i] = int16(floor((phase-32768)*level, 32768) + floor(noise*level, 9000))
	}
	return pcm
}

// The checksums were made with spandsp's implementation, which passes the ITU-T test sequences.
func TestG722BitExact(t *testing.T) {
	pcm := g722Input()
	bytes := func(pcm []int16) (b []byte) {
		for _, s := range pcm {
			b = binary.LittleEndian.AppendUint16(b, uint16(s))
		}
		return b
	}
	if sum := crc32.ChecksumIEEE(bytes(pcm)); sum != 0xfc5b36cf {
		t.Fatalf("the input changed: %#x", sum)
	}
	var e G722Encoder
	e.Reset()
	code := make([]byte, len(pcm)/2)
	for i := 0; i < len(pcm); i += 320 {
		if n := e.Encode(code[i/2:], pcm[i:i+320]); n != 160 {
			t.Fatalf("%d bytes for 320 samples", n)
		}
	}
	if sum := crc32.ChecksumIEEE(code); sum != 0xb85060b3 {
		t.Errorf("encoded %#x", sum)
	}
	var d G722Decoder
	d.Reset()
	out := make([]int16, len(pcm))
	if n := d.Decode(out, code); n != len(pcm) {
		t.Fatalf("%d samples", n)
	}
	if sum := crc32.ChecksumIEEE(bytes(out)); sum != 0x6738ceef {
		t.Errorf("decoded %#x", sum)
	}
}

func TestG722Tone(t *testing.T) {
	var e G722Encoder
	var d G722Decoder
	e.Reset()
	d.Reset()
	pcm, code := make([]int16, 16000), make([]byte, 8000)
	for _, hz := range []float64{300, 1000, 3500, 6000} {
		GenSignal(pcm, 16000, 0, Tone{hz, 0.3})
		e.Encode(code, pcm)
		d.Decode(pcm, code)
		if got := FindSignal(pcm[8000:], 16000, hz)[0].Level; math.Abs(got-0.3) > 0.03 {
			t.Errorf("%.0f Hz came back at %.3f", hz, got)
		}
	}
}

func TestG722DoesNotAllocate(t *testing.T) {
	var e G722Encoder
	var d G722Decoder
	e.Reset()
	d.Reset()
	pcm, code := make([]int16, 320), make([]byte, 160)
	if n := testing.AllocsPerRun(50, func() { e.Encode(code, pcm); d.Decode(pcm, code) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkG722(b *testing.B) {
	var e G722Encoder
	var d G722Decoder
	e.Reset()
	d.Reset()
	pcm, code := g722Input()[:320], make([]byte, 160)
	for b.Loop() {
		e.Encode(code, pcm)
		d.Decode(pcm, code)
	}
}
