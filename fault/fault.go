// Package fault holds the one error type that may reach a customer.
package fault

import (
	"errors"
	"fmt"
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
