package voice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"parley/audio"
	"parley/safe"
)

// utterance queues the sound of an engine on the telephone line as it comes, piece by piece, on a goroutine of its own.
type utterance struct {
	s             *Session
	ctx           context.Context
	out           Utterance
	turn, attempt int

	piece    int
	some     bool // there was sound of the piece
	resample *audio.Resampler
	from     int
	long     time.Duration // of the piece so far
	began    bool          // the owner knows where the piece begins
	end      int64         // behind its last queued sample; -1 = none
}

const (
	mostSkipped = 1000            // pieces without sound
	mostSound   = 3 * time.Minute // of a piece
)

var errNoSound = errors.New("the synthesizer made no sound")

func (u *utterance) run() {
	err := safe.Do("synthesizer", u.speak)
	u.out.Close()
	u.s.post(u.s.ctx, speechOver{u.turn, u.attempt, u.piece, u.end, err})
}

func (u *utterance) speak() error {
	for {
		snd, err := u.out.Recv()
		switch {
		case u.ctx.Err() != nil:
			return u.ctx.Err()
		case errors.Is(err, io.EOF):
			return u.finish()
		case err != nil:
			return err
		case snd.Piece < u.piece || snd.Piece > u.piece+mostSkipped:
			return errors.New("the synthesizer speaks something else than it was given")
		case len(snd.PCM) > 0 && (snd.Rate < 8000 || snd.Rate > 48000):
			return fmt.Errorf("the synthesizer makes sound at %d Hz", snd.Rate)
		case u.much(snd) > mostSound:
			return errors.New("the synthesizer does not come to an end")
		}
		for u.piece < snd.Piece {
			if err := u.over(); err != nil {
				return err
			}
		}
		if err := u.take(snd); err != nil {
			return err
		}
	}
}

// much is how long the piece is with a sound.
func (u *utterance) much(snd Sound) time.Duration {
	if snd.Piece > u.piece {
		u.long = 0
	}
	u.long += snd.Dur()
	return u.long
}

func (u *utterance) take(snd Sound) error {
	if len(snd.Marks) > 0 {
		u.s.post(u.ctx, wordsPlaced{u.turn, u.attempt, u.piece, snd.Marks})
	}
	if len(snd.PCM) > 0 {
		if u.resample == nil || u.from != snd.Rate {
			u.resample, u.from = audio.NewResampler(snd.Rate, u.s.media.Rate()), snd.Rate
		}
		if err := u.play(u.resample.Process(snd.PCM)); err != nil {
			return err
		}
	}
	if snd.Last {
		return u.over()
	}
	return nil
}

// over ends a piece: all of it is queued.
func (u *utterance) over() error {
	if err := u.flush(); err != nil {
		return err
	}
	u.s.post(u.ctx, soundMade{u.turn, u.attempt, u.piece, u.end})
	u.piece++
	u.some, u.began, u.end, u.long = false, false, -1, 0
	return nil
}

func (u *utterance) flush() error {
	if u.resample == nil {
		return nil
	}
	rest := u.resample.Flush()
	u.resample = nil
	return u.play(rest)
}

func (u *utterance) finish() error {
	if err := u.flush(); err != nil {
		return err
	}
	if u.some {
		u.s.post(u.ctx, soundMade{u.turn, u.attempt, u.piece, u.end})
		u.piece++
		u.end = -1
	}
	return nil
}

// play queues samples piece by piece, the first when the owner lets it. Where the call goes on without them, what slipped in
// is taken out again.
func (u *utterance) play(pcm []int16) error {
	media := u.s.media
	if len(pcm) > 0 && !u.some {
		u.some = true
		granted := make(chan struct{})
		if !u.s.post(u.ctx, soundReady{u.turn, u.attempt, u.piece, granted}) {
			return u.ctx.Err()
		}
		select {
		case <-granted:
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
		if !u.began || dry {
			u.began = true
			u.s.post(u.ctx, soundBegan{u.turn, u.attempt, u.piece, start})
		}
		u.end, pcm = start+int64(n), pcm[n:]
	}
	return nil
}
