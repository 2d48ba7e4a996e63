// Package fault holds the one error type that may reach a customer.
package fault

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Kind says what went wrong in the customer's terms; the wire layer turns it into an HTTP status.
type Kind int

const (
	Internal     Kind = iota // 500: our outage; the message is never shown
	Malformed                // 400: the request cannot be read, or its moment is wrong
	Unauthorized             // 401
	NeedsPayment             // 402
	Forbidden                // 403
	NotFound                 // 404: missing, or somebody else's
	Conflict                 // 409
	Gone                     // 410
	TooLarge                 // 413
	Unsupported              // 415
	Invalid                  // 422
	TooMany                  // 429
	Unavailable              // 503
	NotAllowed               // 405
)

// Field is the first failed rule of one input field.
type Field struct {
	Name     string // dotted key as the customer wrote it, array elements with their index
	Sentence string
}

// Fault is an answer to a customer, in words meant for them.
type Fault struct {
	Kind       Kind
	Code       string // machine-readable code, where the area has codes
	Message    string
	Fields     []Field        // validation errors in field order; empty for everything else
	Extra      map[string]any // further top-level keys of the answer
	RetryAfter int            // seconds, 0 = none
	Limit      int            // for TooMany: how many are allowed
	Reset      time.Time      // for TooMany: when, where RetryAfter is too coarse
	General    bool           // worded {"message":…} in every area, like the failures that any route can give
	Cause      error          // for the log only
}

// New makes a fault with a formatted message. Code may be empty.
func New(k Kind, code, format string, args ...any) *Fault {
	return &Fault{Kind: k, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Full makes a TooMany fault: limit are allowed, and it is worth trying again after so many seconds, 1 at least.
func Full(limit, retryAfter int, message string) *Fault {
	return &Fault{Kind: TooMany, Message: message, Limit: limit, RetryAfter: max(1, retryAfter)}
}

// Wrap makes an outage fault: the customer reads message, the log reads cause.
func Wrap(cause error, code, message string) *Fault {
	return &Fault{Kind: Internal, Code: code, Message: message, Cause: cause}
}

// ErrUnauthenticated is the answer to a missing or bad credential, the same in every area.
var ErrUnauthenticated error = General(Unauthorized, "Unauthenticated.")

// General makes a fault that is worded alike in every area.
func General(k Kind, format string, args ...any) *Fault {
	return &Fault{Kind: k, Message: fmt.Sprintf(format, args...), General: true}
}

// Exceeded makes the TooMany fault of a rate limit: limit requests are allowed, the next one at reset.
func Exceeded(limit int, reset time.Time) *Fault {
	wait := max(1, int(math.Ceil(time.Until(reset).Seconds())))
	return &Fault{Kind: TooMany, Message: "Too many requests. Wait the stated seconds, then try again.",
		General: true, Limit: limit, RetryAfter: wait, Reset: reset}
}

// Final marks an error as the outcome of an effect that took place: an idempotent route stores its answer.
// Other errors leave nothing behind, so that the request may be repeated under the same key.
func Final(err error) error { return final{err} }

// IsFinal reports an error that [Final] marked.
func IsFinal(err error) bool {
	_, ok := errors.AsType[final](err)
	return ok
}

type final struct{ error }

func (f final) Unwrap() error { return f.error }

func (f *Fault) Error() string {
	if f.Cause != nil {
		return f.Message + ": " + f.Cause.Error()
	}
	return f.Message
}

func (f *Fault) Unwrap() error { return f.Cause }

// With adds a top-level key to the answer.
func (f *Fault) With(key string, value any) *Fault {
	if f.Extra == nil {
		f.Extra = map[string]any{}
	}
	f.Extra[key] = value
	return f
}

// Say is what a customer may read of err: the words of a fault, or instead. The log reads err itself.
func Say(err error, instead string) string {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Message
	}
	return instead
}

// Of finds the fault in err; any other error is an outage that tells the customer nothing.
func Of(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{Kind: Internal, Message: "Server Error", Cause: err}
}

// Is reports whether err carries a fault of kind k.
func Is(err error, k Kind) bool {
	f, ok := errors.AsType[*Fault](err)
	return ok && f.Kind == k
}
