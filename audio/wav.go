package audio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrWAV is a file that is not a WAV file this package can read.
var ErrWAV = errors.New("not a readable WAV file")

const (
	wavPCM        = 1
	wavFloat      = 3
	wavALaw       = 6
	wavMuLaw      = 7
	wavExtensible = 0xFFFE
)

// WAVReader reads the samples of a WAV file: PCM of 8, 16, 24 or 32 bits, 32-bit float, A-law or µ-law.
type WAVReader struct {
	Rate     int // Hz, 1-192000
	Channels int // 1-8, interleaved

	src    *bufio.Reader
	left   int64 // bytes of the data chunk not read yet
	width  int   // bytes per sample
	decode func([]byte) int16
	buf    []byte
}

// NewWAVReader reads up to the first sample. A data chunk of unknown length (0 or 0xFFFFFFFF, a file still being written)
// ends with the file.
func NewWAVReader(src io.Reader) (*WAVReader, error) {
	r := &WAVReader{src: bufio.NewReader(src)}
	var head [12]byte
	if _, err := io.ReadFull(r.src, head[:]); err != nil || string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return nil, ErrWAV
	}
	for range 64 {
		var chunk [8]byte
		if _, err := io.ReadFull(r.src, chunk[:]); err != nil {
			return nil, ErrWAV
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch string(chunk[:4]) {
		case "fmt ":
			if err := r.format(size); err != nil {
				return nil, err
			}
		case "data":
			if r.width == 0 {
				return nil, ErrWAV
			}
			if r.left = size; size == 0 || size == math.MaxUint32 {
				r.left = math.MaxInt64
			}
			return r, nil
		default:
			if _, err := io.CopyN(io.Discard, r.src, size+size&1); err != nil {
				return nil, ErrWAV
			}
		}
	}
	return nil, ErrWAV
}

func (r *WAVReader) format(size int64) error {
	if size < 16 || size > 1024 {
		return ErrWAV
	}
	b := make([]byte, size+size&1)
	if _, err := io.ReadFull(r.src, b); err != nil {
		return ErrWAV
	}
	tag := binary.LittleEndian.Uint16(b)
	if tag == wavExtensible && size >= 26 {
		tag = binary.LittleEndian.Uint16(b[24:])
	}
	r.Channels = int(binary.LittleEndian.Uint16(b[2:]))
	r.Rate = int(binary.LittleEndian.Uint32(b[4:]))
	bits := int(binary.LittleEndian.Uint16(b[14:]))
	if r.Channels < 1 || r.Channels > 8 || r.Rate < 1 || r.Rate > 192000 {
		return fmt.Errorf("%w: %d channels at %d Hz", ErrWAV, r.Channels, r.Rate)
	}
	r.width, r.decode = bits/8, nil
	switch {
	case tag == wavPCM && bits == 8:
		r.decode = func(b []byte) int16 { return int16(b[0])<<8 ^ -0x8000 }
	case tag == wavPCM && bits == 16:
		r.decode = func(b []byte) int16 { return int16(binary.LittleEndian.Uint16(b)) }
	case tag == wavPCM && bits == 24:
		r.decode = func(b []byte) int16 { return int16(binary.LittleEndian.Uint16(b[1:])) }
	case tag == wavPCM && bits == 32:
		r.decode = func(b []byte) int16 { return int16(binary.LittleEndian.Uint16(b[2:])) }
	case tag == wavFloat && bits == 32:
		r.decode = func(b []byte) int16 { return unit(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case tag == wavALaw && bits == 8:
		r.decode = func(b []byte) int16 { return aToLinear[b[0]] }
	case tag == wavMuLaw && bits == 8:
		r.decode = func(b []byte) int16 { return muToLinear[b[0]] }
	default:
		return fmt.Errorf("%w: coding %d with %d bits", ErrWAV, tag, bits)
	}
	return nil
}

// unit converts a sample of ±1.
func unit(v float32) int16 {
	if v != v {
		return 0
	}
	return round(max(-1, min(1, v)) * 32767)
}

// Read fills pcm with interleaved samples, whole frames of all channels. It returns io.EOF at the end.
func (r *WAVReader) Read(pcm []int16) (int, error) {
	frame := r.Channels * r.width
	want := int64(len(pcm)/r.Channels) * int64(frame)
	want = min(want, r.left-r.left%int64(frame))
	if want == 0 {
		return 0, io.EOF
	}
	if int64(len(r.buf)) < want {
		r.buf = make([]byte, want)
	}
	n, err := io.ReadFull(r.src, r.buf[:want])
	n -= n % frame
	if r.left -= want; n == 0 {
		return 0, io.EOF
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	for i := range n / r.width {
		pcm[i] = r.decode(r.buf[i*r.width:])
	}
	return n / r.width, nil
}

// ReadWAV reads a whole file of at most limit samples (all channels counted) and mixes it down to one channel.
func ReadWAV(src io.Reader, limit int) (Frame, error) {
	r, err := NewWAVReader(src)
	if err != nil {
		return Frame{}, err
	}
	f := Frame{Rate: r.Rate}
	buf := make([]int16, 4096*r.Channels)
	for {
		n, err := r.Read(buf)
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return Frame{}, err
		}
		if limit -= n; limit < 0 {
			return Frame{}, fmt.Errorf("%w: too long", ErrWAV)
		}
		for i := 0; i < n; i += r.Channels {
			var sum int32
			for _, s := range buf[i : i+r.Channels] {
				sum += int32(s)
			}
			f.PCM = append(f.PCM, int16(sum/int32(r.Channels)))
		}
	}
}

const wavHeader = 44

// WAVWriter writes 16-bit PCM. It takes samples as little-endian bytes (io.Writer) or as numbers (WriteSamples).
type WAVWriter struct {
	dst      io.Writer
	rate     int
	channels int
	bytes    int64
	buf      []byte
}

// NewWAVWriter writes the header with the length left open, so that a file cut short by a crash can still be read.
func NewWAVWriter(dst io.Writer, rate, channels int) (*WAVWriter, error) {
	w := &WAVWriter{dst: dst, rate: rate, channels: channels}
	_, err := dst.Write(header(rate, channels, math.MaxUint32))
	return w, err
}

func header(rate, channels int, data uint32) []byte {
	var b bytes.Buffer
	riff := uint32(math.MaxUint32)
	if data != math.MaxUint32 {
		riff = data + wavHeader - 8
	}
	b.WriteString("RIFF")
	_ = binary.Write(&b, binary.LittleEndian, riff)
	b.WriteString("WAVEfmt ")
	_ = binary.Write(&b, binary.LittleEndian,
		[]uint32{16, wavPCM | uint32(channels)<<16, uint32(rate), uint32(rate * channels * 2), uint32(channels*2) | 16<<16})
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, data)
	return b.Bytes()
}

// WriteWAV writes a whole mono file, its length in the header.
func WriteWAV(dst io.Writer, f Frame) error {
	if _, err := dst.Write(header(f.Rate, 1, uint32(2*len(f.PCM)))); err != nil {
		return err
	}
	return (&WAVWriter{dst: dst, rate: f.Rate, channels: 1}).WriteSamples(f.PCM)
}

// Write takes interleaved little-endian samples.
func (w *WAVWriter) Write(p []byte) (int, error) {
	n, err := w.dst.Write(p)
	w.bytes += int64(n)
	return n, err
}

// WriteSamples takes interleaved samples.
func (w *WAVWriter) WriteSamples(pcm []int16) error {
	w.buf = w.buf[:0]
	for _, s := range pcm {
		w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(s))
	}
	_, err := w.Write(w.buf)
	return err
}

// Samples is the number of samples written per channel.
func (w *WAVWriter) Samples() int64 { return w.bytes / int64(2*w.channels) }

// Close puts the length into the header when the destination can seek, and closes the destination when it can be closed.
func (w *WAVWriter) Close() error {
	var err error
	if ws, ok := w.dst.(io.WriteSeeker); ok {
		err = finish(ws, w.rate, w.channels, w.bytes)
	}
	if c, ok := w.dst.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

func finish(ws io.WriteSeeker, rate, channels int, data int64) error {
	if data > math.MaxUint32-wavHeader {
		return nil // the open length stays: readers go to the end of the file
	}
	if _, err := ws.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := ws.Write(header(rate, channels, uint32(data))); err != nil {
		return err
	}
	_, err := ws.Seek(0, io.SeekEnd)
	return err
}

// FinishWAV puts the length into the header of a file that a WAVWriter could not close (a crash). A finished file is
// left as it is.
func FinishWAV(f io.ReadWriteSeeker) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var h [wavHeader]byte
	if _, err := io.ReadFull(f, h[:]); err != nil || string(h[:4]) != "RIFF" || string(h[36:40]) != "data" {
		return ErrWAV
	}
	if binary.LittleEndian.Uint32(h[40:]) != math.MaxUint32 {
		return nil
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	channels := int(binary.LittleEndian.Uint16(h[22:]))
	data := end - wavHeader
	if channels > 0 {
		data -= data % int64(2*channels)
	}
	return finish(f, int(binary.LittleEndian.Uint32(h[24:])), channels, data)
}
