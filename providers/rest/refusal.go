package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/fault"
)

var (
	errSlow    = errors.New("no answer in time")
	errStalled = errors.New("the answer stopped halfway")
)

// Refusal is an answer other than 2xx, or an error in the middle of a streamed one.
type Refusal struct {
	Status  int    // of HTTP, or the one that says the same
	Code    string // the vendor's own word for what is wrong
	Param   string // what of the request is wrong
	Message string // in the vendor's words, for the operator
	After   time.Duration
	Again   *bool // the vendor says whether another try can help; nil = it does not say
}

func (r *Refusal) Error() string { return fmt.Sprintf("HTTP %d: %s", r.Status, r.Message) }

// InWords says for operators what was refused. What the vendor says may hold a key, so it stays in the log.
func (r *Refusal) InWords() string {
	switch {
	case r.Status == 402 || slices.Contains(spent, r.Code):
		return fmt.Sprintf("The account's quota is used up (%d).", r.Status)
	case r.Status == 401 || r.Status == 403:
		return fmt.Sprintf("The key was refused (%d).", r.Status)
	case r.Status == 429:
		return "The vendor has too many requests (429)."
	case r.Status >= 500:
		return fmt.Sprintf("The vendor failed (%d).", r.Status)
	}
	return fmt.Sprintf("The vendor refused the request (%d).", r.Status)
}

// spent are codes of a quota or budget that is used up, which waiting does not mend.
var spent = []string{"insufficient_quota", "quota_exceeded", "billing_hard_limit_reached", "enforced_spend_limit_reached",
	"contract_spend_limit_reached"}

// Passing reports that the same request may succeed a little later.
func (r *Refusal) Passing() bool {
	if r.Again != nil {
		return *r.Again
	}
	return (r.Status == 429 || r.Status == 408 || r.Status >= 500) && !slices.Contains(spent, r.Code)
}

func refused(a *Answer) *Refusal {
	raw, _ := io.ReadAll(io.LimitReader(a, 64<<10)) // a cut error text is still one
	r := &Refusal{Status: a.res.StatusCode, Message: http.StatusText(a.res.StatusCode), After: retryAfter(a.res.Header)}
	if again, err := strconv.ParseBool(a.Header("X-Should-Retry")); err == nil {
		r.Again = &again
	}
	r.Read(raw)
	return r
}

// retryAfter reads the header of RFC 9110 §10.2.3, and the finer one of some vendors.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// Read takes what the body of an error says: {"error":{…}}, {"error":"…"}, {"detail":…}, or a code and a message at the top, as
// vendors write it.
func (r *Refusal) Read(raw []byte) {
	var body struct {
		Error, Detail  json.RawMessage
		Title, Message string
		Code           string `json:"error_code"`
		ErrCode        string `json:"err_code"`
		ErrMsg         string `json:"err_msg"`
	}
	if err := json.Unmarshal(raw, &body); err != nil && body.Error == nil && body.Detail == nil {
		return
	}
	r.Message = cmp.Or(body.Message, body.ErrMsg, body.Title, r.Message)
	r.Code = cmp.Or(body.Code, body.ErrCode, r.Code)
	for _, part := range []json.RawMessage{body.Error, body.Detail} {
		if len(part) > 0 {
			r.fill(part)
		}
	}
}

// fill reads the error object, which some servers send as a plain string, or as a list of what is wrong with the request.
func (r *Refusal) fill(raw json.RawMessage) {
	var list []struct {
		Msg string
		Loc []any
	}
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		r.Message = list[0].Msg
		if n := len(list[0].Loc); n > 0 {
			r.Param = fmt.Sprint(list[0].Loc[n-1])
		}
		return
	}
	var e struct {
		Message, Type, Status string
		Code, Param           any
		Details               struct {
			Code string `json:"error_code"`
		}
	}
	if err := json.Unmarshal(raw, &e); (err == nil || e.Message != "") && e.Message != "" {
		r.Message = e.Message
		r.Param, _ = e.Param.(string)
		r.Code, _ = e.Code.(string)
		r.Code = cmp.Or(e.Details.Code, r.Code, e.Status, e.Type)
		return
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" {
		r.Message = s
	}
}

// About reports that the refusal names one of these words.
func (r *Refusal) About(words ...string) bool {
	text := strings.ToLower(r.Param + " " + r.Message)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// Explain turns a failure into words for the person whose conversation it was; what says which part failed.
func Explain(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	message := fmt.Sprintf("the %s could not be reached", what)
	r, isRefusal := errors.AsType[*Refusal](err)
	_, isURL := errors.AsType[*url.Error](err)
	switch {
	case errors.Is(err, errSlow), errors.Is(err, context.DeadlineExceeded):
		message = fmt.Sprintf("the %s did not answer in time", what)
	case errors.Is(err, errStalled):
		message = fmt.Sprintf("the %s stopped in the middle of its answer", what)
	case isRefusal && (r.Status == 402 || slices.Contains(spent, r.Code)):
		message = fmt.Sprintf("the %s has no quota left", what)
	case isRefusal && (r.Status == 401 || r.Status == 403):
		message = fmt.Sprintf("the %s refused the API key", what)
	case isRefusal && r.Status == 404 && r.About("voice"):
		message = fmt.Sprintf("the %s does not know this voice", what)
	case isRefusal && r.Status == 404:
		message = fmt.Sprintf("the %s does not know this model", what)
	case isRefusal && r.Status == 429:
		message = fmt.Sprintf("the %s has too many requests or no quota left", what)
	case isRefusal && r.Status < 500:
		message = fmt.Sprintf("the %s refused the request", what)
	case isRefusal:
		message = fmt.Sprintf("the %s failed", what)
	case !isURL && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		message = fmt.Sprintf("the %s gave an answer that cannot be read", what)
	}
	return &fault.Fault{Kind: fault.Unavailable, Message: message, Cause: err}
}
