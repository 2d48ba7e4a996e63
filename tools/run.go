package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"parley/ssrf"
)

const (
	mostRead   = 256 << 10 // bytes of an answer that are read at all
	mostTold   = 16 << 10  // bytes a model is told of a success
	mostShown  = 64 << 10  // bytes the test route shows
	mostRefuse = 500       // characters a model is told of a failure
)

// Run calls the tool and returns what the model is told. It never fails: a conversation goes on whatever an endpoint does.
func (t *Tools) Run(ctx context.Context, d Definition, raw json.RawMessage, c Conversation) json.RawMessage {
	args, err := d.coerce(raw)
	if err != nil {
		return told("error", err.Error())
	}
	a := t.exchange(ctx, d.request(args, c), time.Duration(d.Timeout)*time.Second)
	switch {
	case a.problem != "":
		return told("error", a.problem)
	case a.status/100 != 2:
		return told("error", fmt.Sprintf("HTTP %d", a.status), "body", first(string(a.body), mostRefuse))
	case isJSON(a.contentType, a.body) && len(a.body) <= mostTold:
		return bytes.ToValidUTF8(a.body, []byte("\uFFFD"))
	}
	return told("result", cut(a.body, mostTold))
}

// told is an object of strings.
func told(pairs ...string) json.RawMessage {
	var out []argument
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, argument{pairs[i], pairs[i+1]})
	}
	return object(out)
}

// reply is the outcome of one exchange.
type reply struct {
	status      int
	contentType string
	body        []byte
	problem     string // why there is no answer; empty when there is one
	took        time.Duration
}

// exchange sends the request, once more when a GET could not connect.
func (t *Tools) exchange(ctx context.Context, s shot, timeout time.Duration) reply {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	client := t.guard.Client(ssrf.Options{Connect: timeout})
	defer client.CloseIdleConnections()
	began := time.Now()
	if errors.Is(t.guard.CheckURL(s.url), ssrf.ErrRefused) {
		return reply{problem: ssrf.ErrRefused.Error()}
	}
	a, err := send(ctx, client, s)
	if err != nil && s.method == http.MethodGet && ctx.Err() == nil && !errors.Is(err, ssrf.ErrRefused) {
		a, err = send(ctx, client, s)
	}
	a.took = time.Since(began)
	switch {
	case err == nil:
	case errors.Is(err, ssrf.ErrRefused):
		a.problem = ssrf.ErrRefused.Error()
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || isTimeout(err):
		a.problem = "timeout"
	default:
		a.problem = "connection failed"
	}
	return a
}

func isTimeout(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && t.Timeout()
}

func send(ctx context.Context, client *http.Client, s shot) (reply, error) {
	r, err := s.build(ctx)
	if err != nil {
		return reply{}, err
	}
	res, err := client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostRead))
	return reply{status: res.StatusCode, contentType: res.Header.Get("Content-Type"), body: body}, err
}

// isJSON: any valid JSON that says it is, and objects and arrays whatever they are called.
func isJSON(contentType string, body []byte) bool {
	if !json.Valid(body) {
		return false
	}
	media, _, _ := mime.ParseMediaType(contentType)
	named := media == "application/json" || strings.HasSuffix(media, "+json")
	return named || bytes.IndexAny(bytes.TrimSpace(body), "{[") == 0
}

// cut is the valid text in the first n bytes.
func cut(b []byte, n int) string {
	if len(b) > n {
		b = b[:n]
		for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.Valid(b[max(0, len(b)-utf8.UTFMax):]); i++ {
			b = b[:len(b)-1]
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// first is the first n characters.
func first(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Trial is the report of the test routes.
type Trial struct {
	Success    bool         `json:"success"`
	StatusCode *int         `json:"status_code"` // null when nothing answered
	DurationMS int64        `json:"duration_ms"`
	Request    TrialRequest `json:"request"`
	Body       string       `json:"body"`
	Error      *string      `json:"error"`
}

// TrialRequest is what was sent.
type TrialRequest struct {
	Method string  `json:"method"`
	URL    string  `json:"url"`
	Body   *string `json:"body"`
}

// Try calls a tool the way a conversation would and reports the exchange. Arguments that are missing become "test", 1 or true.
func (t *Tools) Try(ctx context.Context, d Definition, given map[string]any, c Conversation) Trial {
	args := map[string]any{}
	for _, p := range d.Params {
		args[p.Name] = map[string]any{"string": "test", "boolean": true}[p.Type]
		if args[p.Name] == nil {
			args[p.Name] = 1
		}
		if v, ok := given[p.Name]; ok && v != nil {
			args[p.Name] = v
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		raw = nil
	}
	ready, err := d.coerce(raw)
	s := d.request(ready, c)
	out := Trial{Request: TrialRequest{Method: s.method, URL: s.url}}
	if s.body != nil {
		body := string(s.body)
		out.Request.Body = &body
	}
	if err != nil {
		problem := err.Error()
		out.Error = &problem
		return out
	}
	a := t.exchange(ctx, s, time.Duration(d.Timeout)*time.Second)
	out.DurationMS, out.Body = a.took.Milliseconds(), cut(a.body, mostShown)
	if a.status > 0 {
		out.StatusCode = &a.status
	}
	switch out.Success = a.problem == "" && a.status/100 == 2; {
	case a.problem != "":
		out.Error = &a.problem
	case !out.Success:
		problem := fmt.Sprintf("HTTP %d", a.status)
		out.Error = &problem
	}
	return out
}
