package audio

import "testing"

// Anchor values of ITU-T G.711 tables 1a and 2a (decoder output, scaled to 16 bits).
func TestG711Anchors(t *testing.T) {
	mu := map[byte]int16{0xFF: 0, 0x7F: 0, 0x80: 32124, 0x00: -32124, 0xFE: 8, 0x7E: -8, 0xF0: 120, 0xEF: 132, 0x8F: 16764}
	a := map[byte]int16{0xD5: 8, 0x55: -8, 0xAA: 32256, 0x2A: -32256, 0xD4: 24, 0xC5: 264}
	for code, want := range mu {
		if got := muToLinear[code]; got != want {
			t.Errorf("µ-law %#x = %d, want %d", code, got, want)
		}
	}
	for code, want := range a {
		if got := aToLinear[code]; got != want {
			t.Errorf("A-law %#x = %d, want %d", code, got, want)
		}
	}
	if muFrom14[0] != MuLawSilence || aFrom12[0] != ALawSilence {
		t.Errorf("silence codes %#x %#x", muFrom14[0], aFrom12[0])
	}
}

// Larger samples must never get smaller codes, and every code is within half of its own (the wider) step, which at the
// edge of a segment is twice the distance to the nearest value.
func TestG711Nearest(t *testing.T) {
	for _, law := range []struct {
		name   string
		encode func([]byte, []int16)
		table  *[256]int16
		slack  int
	}{{"µ-law", EncodeMuLaw, &muToLinear, 8}, {"A-law", EncodeALaw, &aToLinear, 32}} {
		code, last := make([]byte, 1), -1<<20
		for s := -32768; s <= 32767; s++ {
			law.encode(code, []int16{int16(s)})
			best := 1 << 20
			for _, v := range law.table {
				best = min(best, abs(int(v)-s))
			}
			value := int(law.table[code[0]])
			if value < last {
				t.Fatalf("%s of %d decodes to %d, below %d", law.name, s, value, last)
			}
			last = value
			if got := abs(value - s); got > 2*best+law.slack {
				t.Fatalf("%s of %d decodes to %d: off by %d, best %d", law.name, s, law.table[code[0]], got, best)
			}
		}
	}
}

func TestG711RoundTrip(t *testing.T) {
	codes, again, pcm := make([]byte, 256), make([]byte, 256), make([]int16, 256)
	for i := range codes {
		codes[i] = byte(i)
	}
	DecodeMuLaw(pcm, codes)
	EncodeMuLaw(again, pcm)
	for i := range codes {
		if again[i] != codes[i] && codes[i] != 0x7F { // 0x7F is the second zero
			t.Errorf("µ-law %#x came back as %#x", codes[i], again[i])
		}
	}
	DecodeALaw(pcm, codes)
	EncodeALaw(again, pcm)
	for i := range codes {
		if again[i] != codes[i] {
			t.Errorf("A-law %#x came back as %#x", codes[i], again[i])
		}
	}
}

func TestG711DoesNotAllocate(t *testing.T) {
	pcm, code := make([]int16, 160), make([]byte, 160)
	if n := testing.AllocsPerRun(100, func() { EncodeMuLaw(code, pcm); DecodeMuLaw(pcm, code); EncodeALaw(code, pcm); DecodeALaw(pcm, code) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func abs(v int) int { return max(v, -v) }

func BenchmarkG711(b *testing.B) {
	pcm, code := make([]int16, 160), make([]byte, 160)
	for i := range pcm {
		pcm[i] = int16(i * 401)
	}
	for b.Loop() {
		EncodeMuLaw(code, pcm)
		DecodeMuLaw(pcm, code)
	}
}
