package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"parley/fault"
	"parley/value"

	"github.com/go-json-experiment/json/jsontext"
)

// Area is a family of routes that words its failures alike.
type Area struct {
	Name   string
	Shape  func(*fault.Fault) any     // the body of a failure; a struct, so that its keys keep their order
	Fields bool                       // validation answers {message, errors}; otherwise Shape with the first sentence
	Says   string                     // message of validation answers; empty = the first sentence and the count of the others
	Phrase func(fault.Failure) string // words of failed rules; nil = fault.Sentence
}

// Saying is the area with another message for validation answers.
func (a Area) Saying(message string) Area {
	a.Says = message
	return a
}

// Message is the plain shape {"message":…}, which every area uses for the failures that any route can give.
type Message struct {
	Message string `json:"message"`
}

var statusOf = map[fault.Kind]int{
	fault.Internal: 500, fault.Malformed: 400, fault.Unauthorized: 401, fault.NeedsPayment: 402, fault.Forbidden: 403,
	fault.NotFound: 404, fault.Conflict: 409, fault.Gone: 410, fault.TooLarge: 413, fault.Unsupported: 415,
	fault.Invalid: 422, fault.TooMany: 429, fault.Unavailable: 503, fault.NotAllowed: 405,
}

var (
	errTooLarge    = fault.General(fault.TooLarge, "The request body is too large.")
	errContentType = fault.General(fault.Unsupported, "Unsupported content type. Send application/json.")
	errUnavailable = &fault.Fault{Kind: fault.Unavailable, Message: "Service Unavailable", RetryAfter: 5}
)

// bodyFault turns a reading error into its answer.
func bodyFault(v value.Value, err error) (value.Value, error) {
	if _, worded := errors.AsType[*fault.Fault](err); err == nil || worded {
		return v, err
	}
	if ours, ok := errors.AsType[errSpool](err); ok {
		return value.Value{}, ours.error
	}
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return value.Value{}, errTooLarge
	}
	return value.Value{}, fault.General(fault.Malformed, "%s", bodySentence(err))
}

// answer is a failure as it goes out.
type answer struct {
	status int
	body   any
	extra  map[string]any
	header http.Header
	fault  *fault.Fault
}

// answerTo words err for the area.
func (a Area) answerTo(err error, sorted func([]fault.Field) []fault.Field) answer {
	f := fault.Of(err)
	_, known := errors.AsType[*fault.Fault](err)
	out := answer{status: statusOf[f.Kind], extra: f.Extra, header: http.Header{}, fault: f}
	if f.RetryAfter > 0 {
		out.header.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	switch {
	case f.Kind == fault.Unauthorized:
		out.header.Set("WWW-Authenticate", "Bearer")
		out.body, out.extra = Message{"Unauthenticated."}, nil
	case f.Kind == fault.Unavailable:
		out.header.Set("Retry-After", "5")
		out.body = Message{"Service Unavailable"}
	case len(f.Fields) > 0:
		out.body = a.invalid(f, sorted(f.Fields))
	case f.General || !known || a.Shape == nil:
		out.body = Message{f.Message}
	default:
		out.body = a.Shape(f)
	}
	if f.Kind == fault.TooMany {
		out.tooMany(f)
	}
	return out
}

// tooMany says how long to wait and how many are allowed, whatever limit it was.
func (a *answer) tooMany(f *fault.Fault) {
	wait := max(1, f.RetryAfter)
	used := Quota{Limit: f.Limit, Reset: f.Reset}
	if used.Reset.IsZero() {
		used.Reset = time.Now().Add(time.Duration(wait) * time.Second)
	}
	used.head(a.header)
	a.header.Set("Retry-After", strconv.Itoa(wait))
	a.extra = maps.Clone(f.Extra)
	if a.extra == nil {
		a.extra = map[string]any{}
	}
	a.extra["retry_after"] = wait
}

// fieldErrors is the validation answer; Errors keeps the order of the field table.
type fieldErrors struct {
	Message string       `json:"message"`
	Errors  errorsByName `json:"errors"`
}

type errorsByName []fault.Field

// MarshalJSON writes {"field":["sentence"]} in order.
func (fields errorsByName) MarshalJSON() ([]byte, error) {
	var v value.Value
	v.Kind = value.KindObject
	for _, f := range fields {
		list := value.Value{Kind: value.KindArray, Items: []value.Value{value.Text(f.Sentence)}}
		if i := slices.IndexFunc(v.Members, func(m value.Member) bool { return m.Key == f.Name }); i >= 0 {
			continue // one sentence per field
		}
		v.Members = append(v.Members, value.Member{Key: f.Name, Value: list})
	}
	return v.JSON(), nil
}

func (a Area) invalid(f *fault.Fault, fields []fault.Field) any {
	first := fields[0].Sentence
	if !a.Fields {
		return a.Shape(&fault.Fault{Kind: f.Kind, Code: f.Code, Message: first})
	}
	message := first
	switch {
	case f.Message != "":
		message = f.Message
	case a.Says != "":
		message = a.Says
	case len(fields) == 2:
		message += " (and 1 more error)"
	case len(fields) > 2:
		message += fmt.Sprintf(" (and %d more errors)", len(fields)-1)
	}
	return fieldErrors{message, fields}
}

// bytes is the answer's body with the extra keys at its end.
func (a answer) bytes() []byte {
	b, err := value.Marshal(a.body)
	if err != nil {
		panic(err) // the shapes of failures are fixed structs
	}
	for _, key := range slices.Sorted(maps.Keys(a.extra)) {
		v, err := value.Marshal(a.extra[key])
		if err != nil {
			continue
		}
		b = bytes.TrimSuffix(b, []byte("}"))
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, key)
		b = append(append(append(b, ':'), v...), '}')
	}
	return b
}

// IsOutage reports whether err is a failure of ours that deserves a line in the log.
func IsOutage(err error) bool {
	return fault.Of(err).Kind == fault.Internal && !errors.Is(err, context.Canceled)
}
