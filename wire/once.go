package wire

import (
	"context"
	"errors"
	"strings"

	"parley/fault"
	"parley/once"
)

// once runs an idempotent route, or replays what it answered before.
func (x *exchange) once() error {
	key := x.r.Header.Get("Idempotency-Key")
	if !printable(key) {
		return fault.General(fault.Malformed, "The Idempotency-Key header must be 1 to 255 printable ASCII characters.")
	}
	hash, err := x.hash()
	if err != nil {
		return err
	}
	claim, err := x.s.cfg.Once.Claim(x.r.Context(), x.who.Account, x.route.Method+" "+x.place()+" "+key, hash)
	switch {
	case err != nil:
		return err
	case claim.Old != nil:
		x.w.Header().Set("Idempotency-Replayed", "true")
		return x.respond(claim.Old.Status, claim.Old.Body)
	}
	return x.claimed(claim)
}

// claimed runs the route while holding the claim. A refusal forgets it; what has no outcome leaves it to another try.
func (x *exchange) claimed(claim *once.Claim) (err error) {
	ctx, ended := x.r.Context(), false
	defer func() {
		if !ended {
			err = errors.Join(err, claim.Leave(ctx))
		}
	}()
	if err := x.prepare(claim.In(ctx)); err != nil {
		return err
	}
	var answer once.Answer
	var final error
	err = claim.Settle(ctx, !x.route.outside, func(ctx context.Context) (once.Answer, error) {
		body, err := x.produce(ctx)
		answer, final = once.Answer{Status: x.route.Status, Body: body}, nil
		if fault.IsFinal(err) {
			a := x.route.Area.answerTo(err, func(f []fault.Field) []fault.Field { return f })
			answer, final, err = once.Answer{Status: a.status, Body: a.bytes()}, err, nil
		}
		return answer, err
	})
	switch kind := fault.Of(err).Kind; {
	case err == nil && final != nil:
		ended = true
		return final
	case err == nil:
		ended = true
		return x.respond(answer.Status, answer.Body)
	case errors.Is(err, once.ErrRunning), kind == fault.Internal, kind == fault.Unavailable:
		return err
	}
	ended = true
	return errors.Join(err, claim.Refused(ctx))
}

// place is the route's canonical path with the values of this request.
func (x *exchange) place() string {
	path := x.route.Path
	for name, value := range x.path {
		path = strings.Replace(path, "{"+name+"}", value, 1)
	}
	return path
}

func printable(s string) bool {
	return len(s) <= 255 && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
