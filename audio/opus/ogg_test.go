package opus_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"parley/audio/opus"
)

// page is an Ogg page of whole packets, as encoders of telephones write them; its checksum is left out.
func page(packets ...[]byte) []byte {
	var lacing, body []byte
	for _, p := range packets {
		for n := len(p); ; n -= 255 {
			lacing = append(lacing, byte(min(n, 255)))
			if n < 255 {
				break
			}
		}
		body = append(body, p...)
	}
	head := make([]byte, 27)
	copy(head, "OggS")
	head[26] = byte(len(lacing))
	return append(append(head, lacing...), body...)
}

func opusHead(skip uint16) []byte {
	head := append([]byte("OpusHead\x01\x01\x00\x00"), make([]byte, 7)...)
	binary.LittleEndian.PutUint16(head[10:], skip)
	return head
}

// A voice note comes out as long and as loud as it was spoken, without the silence that encoders put in front.
func TestReadOgg(t *testing.T) {
	lib := load(t)
	enc, err := lib.NewEncoder(t.Context(), 16000)
	if err != nil {
		t.Fatal(err)
	}
	file := append(page(opusHead(312)), page(append([]byte("OpusTags"), make([]byte, 600)...))...)
	in, packet := make([]int16, 320), make([]byte, 1500)
	for i := range 50 {
		for j := range in {
			in[j] = int16(10000 * math.Sin(2*math.Pi*440*float64(i*320+j)/16000))
		}
		n, err := enc.Encode(packet, in)
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, page(append([]byte{}, packet[:n]...))...)
	}
	f, err := lib.ReadOgg(t.Context(), bytes.NewReader(file), 20000)
	if err != nil || f.Rate != 16000 || len(f.PCM) != 50*320-104 || rms(f.PCM) < 5500 {
		t.Errorf("%d samples at %d Hz, level %.0f, %v", len(f.PCM), f.Rate, rms(f.PCM), err)
	}
	for name, bad := range map[string][]byte{"cut short": file[:len(file)-5], "no Opus": page([]byte("vorbis")), "no Ogg": []byte("RIFFRIFFRIFFRIFFRIFFRIFFRIFFRIFF")} {
		if _, err := lib.ReadOgg(t.Context(), bytes.NewReader(bad), 20000); !errors.Is(err, opus.ErrOgg) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := lib.ReadOgg(t.Context(), bytes.NewReader(file), 1000); !errors.Is(err, opus.ErrOgg) {
		t.Error("too long:", err)
	}
}

// FuzzPackets splits anything without falling over.
func FuzzPackets(f *testing.F) {
	f.Add(append(page(opusHead(312)), page(make([]byte, 300), nil, []byte{1})...))
	f.Fuzz(func(t *testing.T, b []byte) {
		total := 0
		_ = opus.Packets(bytes.NewReader(b), func(p []byte) error { total += len(p); return nil })
		if total > len(b) {
			t.Errorf("%d bytes out of %d", total, len(b))
		}
	})
}
