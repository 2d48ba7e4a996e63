package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWAVRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.wav")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWAVWriter(f, 8000, 2)
	if err != nil {
		t.Fatal(err)
	}
	pcm := []int16{1, -1, 2, -2, 32767, -32768}
	if err := w.WriteSamples(pcm); err != nil {
		t.Fatal(err)
	}
	if w.Samples() != 3 {
		t.Errorf("%d samples per channel", w.Samples())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(name)
	if n := binary.LittleEndian.Uint32(b[4:]); int(n) != len(b)-8 {
		t.Errorf("RIFF length %d of %d bytes", n, len(b))
	}
	r, err := NewWAVReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int16, 10)
	n, err := r.Read(got)
	if err != nil || r.Rate != 8000 || r.Channels != 2 || !slices.Equal(got[:n], pcm) {
		t.Errorf("read %v %v at %d Hz, %d channels", got[:n], err, r.Rate, r.Channels)
	}
	if _, err := r.Read(got); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestWAVCutShort(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.wav")
	var b bytes.Buffer
	w, _ := NewWAVWriter(&b, 16000, 1)
	_ = w.WriteSamples([]int16{5, 6, 7})
	b.WriteByte(1) // half a sample
	if f, err := ReadWAV(bytes.NewReader(b.Bytes()), 100); err != nil || !slices.Equal(f.PCM, []int16{5, 6, 7}) {
		t.Errorf("unfinished file read as %v, %v", f.PCM, err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 { // the second time there is nothing to do
		if err := FinishWAV(f); err != nil {
			t.Fatal(err)
		}
		done, _ := os.ReadFile(name)
		if n := binary.LittleEndian.Uint32(done[40:]); n != 6 {
			t.Errorf("data length %d after finishing", n)
		}
	}
}

// file builds a WAV file with one format chunk, an odd-sized chunk to pass over, and data.
func file(tag, channels, bits uint16, data []byte) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVELIST\x03\x00\x00\x00abc\x00fmt \x10\x00\x00\x00")
	b = binary.LittleEndian.AppendUint16(b, tag)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint16(b, bits)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

func TestWAVCodings(t *testing.T) {
	half := binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5))
	for _, c := range []struct {
		name     string
		tag, bit uint16
		data     []byte
		want     int16
	}{
		{"8 bit", wavPCM, 8, []byte{0xC0}, 0x4000},
		{"16 bit", wavPCM, 16, []byte{0x34, 0x12}, 0x1234},
		{"24 bit", wavPCM, 24, []byte{0xFF, 0x34, 0x12}, 0x1234},
		{"32 bit", wavPCM, 32, []byte{0xFF, 0xFF, 0x34, 0x12}, 0x1234},
		{"float", wavFloat, 32, half, 16384},
		{"A-law", wavALaw, 8, []byte{0xAA}, 32256},
		{"µ-law", wavMuLaw, 8, []byte{0x00}, -32124},
	} {
		f, err := ReadWAV(bytes.NewReader(file(c.tag, 1, c.bit, c.data)), 10)
		if err != nil || len(f.PCM) != 1 || f.PCM[0] != c.want {
			t.Errorf("%s: %v %v, want %d", c.name, f.PCM, err, c.want)
		}
	}
	stereo, err := ReadWAV(bytes.NewReader(file(wavPCM, 2, 16, []byte{0, 1, 0, 3})), 10)
	if err != nil || !slices.Equal(stereo.PCM, []int16{0x200}) {
		t.Errorf("stereo mixed to %v, %v", stereo.PCM, err)
	}
	for name, b := range map[string][]byte{
		"ADPCM": file(2, 1, 4, nil), "no channel": file(wavPCM, 0, 16, nil), "empty": nil, "too long": file(wavPCM, 1, 8, make([]byte, 11)),
	} {
		if _, err := ReadWAV(bytes.NewReader(b), 10); !errors.Is(err, ErrWAV) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadWAV(f *testing.F) {
	f.Add(file(wavPCM, 1, 16, []byte{1, 2, 3, 4}))
	f.Add(file(wavFloat, 8, 32, make([]byte, 64)))
	f.Add(file(wavMuLaw, 2, 8, make([]byte, 3)))
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := ReadWAV(bytes.NewReader(b), 1000)
		if err == nil && (len(frame.PCM) > 1000 || frame.Rate <= 0) {
			t.Errorf("%d samples at %d Hz", len(frame.PCM), frame.Rate)
		}
	})
}
