package switchboard

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/calls"
	"parley/db"
	"parley/safe"
	"parley/voice"
)

const stopChannel = "calls.stop"

// Recover ends the calls that an earlier life of this process left behind: failed, or completed if they had been answered.
// Of their recordings what was written is kept.
func (s *Switchboard) Recover(ctx context.Context) error {
	left, err := s.Calls.HeldBy(ctx, s.DB, s.Node)
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(c calls.Call) bool { return s.find(c.ID) != nil || c.CreatedReal.Time().After(s.began) })
	if err := s.bury(ctx, left); err != nil {
		return err
	}
	s.Recordings.Sweep()
	return nil
}

// reap ends the calls of processes that went silent.
func (s *Switchboard) reap(ctx context.Context) error {
	left, err := s.Calls.Orphans(ctx, s.DB, 100)
	if err != nil {
		return err
	}
	return s.bury(ctx, left)
}

func (s *Switchboard) bury(ctx context.Context, left []calls.Call) error {
	var errs []error
	for _, c := range left {
		last, err := s.lastSign(ctx, c)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		o := calls.Over{Reason: calls.ServerRestart, At: last}
		if c.Answered() {
			key, written := s.Recordings.Rescue(ctx, c.ID)
			o.Recording, o.At = key, latest(last, written)
			o.AISeconds = calls.Begun(o.At.Sub(c.AnsweredReal.Time()))
		}
		err = s.DB.Do(ctx, func(tx *db.Tx) error {
			if _, err := s.Calls.End(ctx, tx, c.ID, o); err != nil {
				return err
			}
			return s.later(ctx, tx, c.ID)
		})
		if err != nil && o.Recording != "" {
			errs = append(errs, s.Recordings.Discard(ctx, o.Recording))
		}
		if !errors.Is(err, db.ErrNone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// lastSign is when a lost call was last known to go on, by its lease and its log: nobody pays for the time after.
func (s *Switchboard) lastSign(ctx context.Context, c calls.Call) (time.Time, error) {
	last := latest(c.CreatedReal.Time(), c.AnsweredReal.Time(), c.LeaseReal.Time().Add(-lease))
	events, err := s.Calls.Events(ctx, s.DB, c.ID)
	if err != nil {
		return last, err
	}
	for _, e := range events {
		last = latest(last, e.At.Time())
	}
	if now := time.Now(); last.After(now) {
		last = now // sound that was queued is noted ahead
	}
	return last, nil
}

func latest(ts ...time.Time) time.Time { return slices.MaxFunc(ts, time.Time.Compare) }

// Run renews the leases of this process's calls and carries out the hang-ups it was asked for, until ctx ends. Calls go on
// while the database is away, and no process ends those of another before that has had the time to renew them again;
// calls whose records have ended meanwhile are hung up.
func (s *Switchboard) Run(ctx context.Context) error {
	poke := make(chan struct{}, 1)
	wake := func(string) {
		select {
		case poke <- struct{}{}:
		default:
		}
	}
	defer s.DB.Listen(stopChannel, wake)()
	defer s.Logs.OnWatcher(s.watched)()
	if err := s.Recover(ctx); err != nil && ctx.Err() == nil {
		s.Log.Error("calls of an earlier life not ended", "error", err) // the reaper will
	}
	var beside safe.Group
	beside.Loop(ctx, "sound made ahead", s.makeReady)
	defer beside.Wait()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	renewed, reaped := time.Now(), time.Now()
	var failed time.Time // when the database was away for the last time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-poke:
		case <-tick.C:
		}
		if time.Since(renewed) >= lease/4 {
			if err := s.renew(ctx); err != nil {
				failed = time.Now()
				continue
			}
			renewed = time.Now()
		}
		if time.Since(reaped) >= lease/2 && time.Since(failed) >= lease {
			reaped = time.Now()
			if err := s.reap(ctx); err != nil {
				s.Log.Error("lost calls not ended", "error", err)
			}
		}
		if len(s.held()) > 0 {
			s.obey(ctx)
		}
	}
}

// watched takes the sign of a watcher in another process.
func (s *Switchboard) watched(id calls.ID) {
	if l := s.find(id); l != nil {
		l.relay.Watch()
	}
}

// obey ends the calls that somebody asked to end.
func (s *Switchboard) obey(ctx context.Context) {
	stops, err := s.Calls.Stops(ctx, s.DB, s.Node)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.Error("hang-ups not read", "error", err)
		}
		return
	}
	for id, r := range stops {
		s.stopHere(r, []calls.ID{id})
	}
}

// renew extends the leases and hangs up the calls whose records have ended. A process without calls finds out whether the
// database answers.
func (s *Switchboard) renew(ctx context.Context) error {
	held := s.held()
	if len(held) == 0 {
		return s.DB.Ping(ctx)
	}
	lost, err := s.Calls.Renew(ctx, s.DB, s.Node, lease, held)
	if err != nil {
		s.Log.Error("leases not renewed", "error", err)
		return err
	}
	s.stopHere(calls.ServerRestart, lost)
	return nil
}

// Drain takes no new calls and waits for the running ones; when ctx ends they are ended.
func (s *Switchboard) Drain(ctx context.Context) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	done := make(chan struct{})
	safe.Go("drain", func() { s.wg.Wait(); close(done) })
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	s.stop(voice.ServerShutdown)
	<-done
}
