package opus

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"parley/audio"
)

// ErrOgg is a file that is not an Ogg file with one Opus track.
var ErrOgg = errors.New("not a readable Ogg Opus file")

// Packets reads the packets of an Ogg file, headers included (RFC 3533 §6, RFC 7845 §3). Checksums are not looked at:
// the file comes over connections that have their own.
func Packets(src io.Reader, each func(packet []byte) error) error {
	var packet []byte
	for {
		var head [27]byte
		if _, err := io.ReadFull(src, head[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil || string(head[:5]) != "OggS\x00" {
			return ErrOgg
		}
		lacing := make([]byte, head[26])
		if _, err := io.ReadFull(src, lacing); err != nil {
			return ErrOgg
		}
		for _, n := range lacing {
			at := len(packet)
			packet = append(packet, make([]byte, n)...)
			if _, err := io.ReadFull(src, packet[at:]); err != nil || len(packet) > 1<<20 {
				return ErrOgg
			}
			if n == 255 { // goes on in the next segment
				continue
			}
			if err := each(packet); err != nil {
				return err
			}
			packet = packet[:0]
		}
	}
}

// ReadOgg decodes a whole Ogg Opus file, mixed down to one channel at 16 kHz, of at most limit samples.
func (l *Library) ReadOgg(ctx context.Context, src io.Reader, limit int) (audio.Frame, error) {
	f := audio.Frame{Rate: 16000}
	d, err := l.NewDecoder(ctx, f.Rate)
	if err != nil {
		return f, err
	}
	pcm := make([]int16, maxSamples)
	n, skip := 0, 0
	err = Packets(src, func(packet []byte) error {
		switch n++; {
		case n == 1 && len(packet) >= 12 && bytes.HasPrefix(packet, []byte("OpusHead")):
			skip = int(binary.LittleEndian.Uint16(packet[10:])) * f.Rate / 48000
			return nil
		case n == 1:
			return ErrOgg
		case n == 2: // comments
			return nil
		}
		got, err := d.Decode(pcm, packet)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrOgg, err)
		}
		if f.PCM = append(f.PCM, pcm[:got]...); len(f.PCM) > limit {
			return fmt.Errorf("%w: too long", ErrOgg)
		}
		return nil
	})
	f.PCM = f.PCM[min(skip, len(f.PCM)):]
	return f, errors.Join(err, d.Close())
}
