package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"parley/fault"
	"parley/value"
)

// Records remembers idempotent requests. name is unique per sender, route and key; hash stands for the input.
type Records interface {
	// Begin claims name. A nil Record and no error mean that the caller holds it now.
	Begin(ctx context.Context, account int64, name, hash string) (*Record, error)
	// Done stores the answer of a claimed name.
	Done(ctx context.Context, account int64, name string, status int, body []byte) error
	// Drop forgets a claimed name.
	Drop(ctx context.Context, account int64, name string) error
}

// Record is a request that was made before under the same name.
type Record struct {
	Hash    string
	Running bool
	Status  int
	Body    []byte
}

var (
	errKeyReused  = fault.General(fault.Conflict, "Idempotency key already used with a different request.")
	errKeyRunning = &fault.Fault{Kind: fault.Conflict, General: true, RetryAfter: 1,
		Message: "A request with this idempotency key is still in progress."}
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
	ctx, records := x.r.Context(), x.s.cfg.Records
	name := x.route.Method + " " + x.place() + " " + key
	old, err := records.Begin(ctx, x.who.Account, name, hash)
	switch {
	case err != nil:
		return err
	case old == nil:
	case old.Hash != hash:
		return errKeyReused
	case old.Running:
		return errKeyRunning
	default:
		x.w.Header().Set("Idempotency-Replayed", "true")
		return x.respond(old.Status, old.Body)
	}
	return x.claimed(name)
}

// claimed runs the route while holding name, and stores or forgets it.
func (x *exchange) claimed(name string) (err error) {
	ctx, records := context.WithoutCancel(x.r.Context()), x.s.cfg.Records
	kept := false
	defer func() {
		if !kept {
			err = errors.Join(err, records.Drop(ctx, x.who.Account, name))
		}
	}()
	store := func(status int, body []byte) error {
		kept = true
		return records.Done(ctx, x.who.Account, name, status, body)
	}
	err = x.effect(func(status int, body []byte) error {
		if err := store(status, body); err != nil {
			return err
		}
		return x.respond(status, body)
	})
	if fault.IsFinal(err) {
		a := x.route.Area.answerTo(err, func(f []fault.Field) []fault.Field { return f })
		err = errors.Join(err, store(a.status, a.bytes()))
	}
	return err
}

// place is the route's canonical path with the values of this request.
func (x *exchange) place() string {
	path := x.route.Path
	for name, value := range x.path {
		path = strings.Replace(path, "{"+name+"}", value, 1)
	}
	return path
}

// hash stands for the parsed fields and files: the order of keys and white space do not change it.
func (x *exchange) hash() (string, error) {
	h := sha256.New()
	h.Write(canonical(x.bound.body).AppendJSON(nil, true))
	err := eachFile(x.bound.body, func(f *value.File) error {
		src, err := f.Open()
		if err != nil {
			return err
		}
		defer src.Close()
		fmt.Fprintf(h, "\n%d\n", f.Size)
		_, err = io.Copy(h, src)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// canonical trims strings and writes every number one way.
func canonical(v value.Value) value.Value {
	v = v.Trimmed()
	switch v.Kind {
	case value.KindNumber:
		if n, ok := v.Integer(); ok {
			v.Digits = fmt.Sprint(n)
		}
	case value.KindFile:
		v.Kind = value.KindString
	case value.KindArray:
		for i := range v.Items {
			v.Items[i] = canonical(v.Items[i])
		}
	case value.KindObject:
		for i := range v.Members {
			v.Members[i].Value = canonical(v.Members[i].Value)
		}
	}
	return v
}

func eachFile(v value.Value, do func(*value.File) error) error {
	if v.Kind == value.KindFile {
		return do(v.File)
	}
	for _, m := range value.Ordered(v.Members, true) {
		if err := eachFile(m.Value, do); err != nil {
			return err
		}
	}
	return nil
}

func printable(s string) bool {
	return len(s) <= 255 && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
