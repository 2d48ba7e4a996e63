package recordings

import (
	"context"
	"time"
)

// Expire removes the recordings of calls made before a moment, and their signalling; the calls stay.
func (r *Recordings) Expire(ctx context.Context, before time.Time) error {
	for {
		old, err := r.calls.Recordings(ctx, r.db, before, 100)
		if err != nil {
			return err
		}
		forgotten, err := r.calls.ForgetSignalling(ctx, r.db, before, 100)
		if err != nil || len(old)+forgotten == 0 {
			return err
		}
		for _, c := range old {
			if err := r.files.Delete(ctx, *c.Recording); err != nil {
				return err
			}
			if err := r.calls.SetRecording(ctx, r.db, c.ID, ""); err != nil {
				return err
			}
		}
	}
}
