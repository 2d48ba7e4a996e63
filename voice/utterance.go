package voice

import (
	"context"
	"errors"
	"time"

	"parley/audio"
)

// utterance makes one line into sound and queues it on the telephone line as it comes, on a goroutine of its own: the
// line's queue is the only one on the way.
type utterance struct {
	s                  *Session
	ctx                context.Context
	turn, line, source int
	granted            chan struct{} // closed when the owner lets it be heard

	heard bool // granted was closed
	some  bool // there was sound
	end   int64
}

var errNoSound = errors.New("the synthesizer made no sound")

// speak plays what a synthesizer makes, at the line's rate.
func (u *utterance) speak(m NamedSynthesizer, sp Speech) error {
	var r *audio.Resampler
	from := 0
	for f, err := range m.Speak(u.ctx, sp) {
		if err != nil {
			return err
		}
		if r == nil || from != f.Rate {
			r, from = audio.NewResampler(f.Rate, u.s.media.Rate()), f.Rate
		}
		if err := u.play(r.Process(f.PCM)); err != nil {
			return err
		}
	}
	if r != nil {
		if err := u.play(r.Flush()); err != nil {
			return err
		}
	}
	if !u.some && u.ctx.Err() == nil {
		return errNoSound
	}
	return u.ctx.Err()
}

// play queues samples piece by piece, the first when the owner lets it. Where the call goes on without them, what slipped in
// is taken out again.
func (u *utterance) play(pcm []int16) error {
	media := u.s.media
	if len(pcm) > 0 && !u.some {
		u.some = true
		if !u.s.post(u.ctx, soundReady{u.turn, u.line, u.source, u.granted}) {
			return u.ctx.Err()
		}
		select {
		case <-u.granted:
			u.heard = true
		case <-u.ctx.Done():
			return u.ctx.Err()
		}
	}
	size := media.Rate() * int(chunk/time.Millisecond) / 1000
	for len(pcm) > 0 {
		n := min(size, len(pcm))
		dry := u.end >= 0 && media.Played() >= u.end
		start, err := media.Play(u.ctx, pcm[:n])
		if err == nil {
			err = u.ctx.Err()
		}
		if err != nil {
			media.Clear()
			return err
		}
		if u.end < 0 || dry {
			u.s.post(u.ctx, soundBegan{u.turn, u.line, start})
		}
		u.end, pcm = start+int64(n), pcm[n:]
	}
	return nil
}
