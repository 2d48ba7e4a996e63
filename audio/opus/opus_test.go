package opus_test

import (
	"math"
	"testing"

	"parley/assets"
	"parley/audio/opus"
)

func load(t testing.TB) *opus.Library {
	lib := opus.New(func() ([]byte, error) { return assets.Read("opus.wasm") })
	t.Cleanup(func() { lib.Close(t.Context()) })
	return lib
}

// A tone survives the way through the codec, and a lost packet leaves no hole.
func TestToneSurvives(t *testing.T) {
	lib := load(t)
	enc, err := lib.NewEncoder(t.Context(), 16000)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := lib.NewDecoder(t.Context(), 16000)
	if err != nil {
		t.Fatal(err)
	}
	in, packet, out := make([]int16, 320), make([]byte, 1500), make([]int16, 5760)
	for i := range 50 {
		for j := range in {
			in[j] = int16(10000 * math.Sin(2*math.Pi*440*float64(i*320+j)/16000))
		}
		n, err := enc.Encode(packet, in)
		if err != nil {
			t.Fatal(err)
		}
		payload := packet[:n]
		if i == 25 {
			payload = nil
		}
		if n, err = dec.Decode(out, payload); err != nil || n != 320 {
			t.Fatalf("frame %d: %d samples, %v", i, n, err)
		}
		if i < 5 {
			continue
		}
		least := 5500.0
		if i == 25 || i == 26 {
			least = 1500 // concealed, and fading in again
		}
		if got := rms(out[:n]); got < least || got > 8500 {
			t.Errorf("frame %d has level %.0f, want %.0f to 8500", i, got, least)
		}
	}
}

func TestBadPacket(t *testing.T) {
	dec, err := load(t).NewDecoder(t.Context(), 16000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Decode(make([]int16, 5760), make([]byte, 2000)); err == nil {
		t.Error("an oversized packet was decoded")
	}
	if _, err := dec.Decode(make([]int16, 5760), []byte{0xff, 0xff, 0xff, 0xff}); err == nil {
		t.Error("a broken packet was decoded")
	}
}

func BenchmarkEncode(b *testing.B) {
	enc, err := load(b).NewEncoder(b.Context(), 16000)
	if err != nil {
		b.Fatal(err)
	}
	in, packet := make([]int16, 320), make([]byte, 1500)
	for i := range in {
		in[i] = int16(i * 50)
	}
	for b.Loop() {
		enc.Encode(packet, in)
	}
}

func rms(pcm []int16) float64 {
	var sum float64
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(pcm)))
}
