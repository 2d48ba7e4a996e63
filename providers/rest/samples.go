package rest

import (
	"context"
	"io"
	"iter"
	"time"

	"parley/audio"
)

// Live is the patience of what a caller waits for.
var Live = Patience{Header: 10 * time.Second, Idle: 10 * time.Second, Tries: 2, Pause: 500 * time.Millisecond}

// Speech posts v as JSON and yields the speech that is the answer, as raw samples of a rate. Its errors are faults.
func (c *Client) Speech(ctx context.Context, path string, v any, rate int) iter.Seq2[audio.Frame, error] {
	return Told("speech service", func(emit func(audio.Frame) error) error {
		a, err := c.Post(ctx, path, v)
		if err != nil {
			return err
		}
		defer a.Close()
		for f, err := range Samples(a, rate) {
			if err == nil {
				err = emit(f)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Samples are raw samples, 16 bits with the lower byte first, in frames of at most 20 ms as they arrive. An answer without any is
// an error. A frame is the reader's until the next one.
func Samples(src io.Reader, rate int) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		buf := make([]byte, rate/50*2)
		pcm := make([]int16, len(buf)/2)
		kept, some := 0, false // an odd byte waits for its other half
		for {
			n, err := src.Read(buf[kept:])
			n += kept
			for i := range n / 2 {
				pcm[i] = int16(buf[2*i]) | int16(buf[2*i+1])<<8
			}
			if n >= 2 {
				some = true
				if !yield(audio.Frame{Rate: rate, PCM: pcm[:n/2]}, nil) {
					return
				}
			}
			if kept = n % 2; kept == 1 {
				buf[0] = buf[n-1]
			}
			if err == io.EOF && some {
				return
			}
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				yield(audio.Frame{}, err)
				return
			}
		}
	}
}
