// Package openai talks to any server that speaks the OpenAI HTTP API: the vendor itself, Ollama, llama.cpp, LM Studio, vLLM and
// many more. It fills the roles of a language model, a transcriber, a voice and an embedder.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/fault"
)

// Config says where a server is and what to ask of it.
type Config struct {
	BaseURL string // ends in /v1 with most servers; empty = https://api.openai.com/v1
	Key     string // empty for servers that need none
}

// Client is one server. It is safe for concurrent use.
type Client struct {
	base, key string
	http      *http.Client
	patience  patience
}

// patience are the time limits and tries of one request.
type patience struct {
	header time.Duration // until the answer begins
	idle   time.Duration // between two pieces of a streamed answer
	tries  int
	pause  time.Duration // before the second try; doubles
}

// New makes a client. Nothing is sent yet.
func New(c Config) *Client {
	if c.BaseURL == "" {
		c.BaseURL = "https://api.openai.com/v1"
	}
	return &Client{
		base: strings.TrimRight(c.BaseURL, "/"), key: c.Key,
		http: &http.Client{Transport: &http.Transport{
			Proxy:       http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, TLSHandshakeTimeout: 5 * time.Second,
			MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
		}},
		patience: patience{header: 30 * time.Second, idle: 20 * time.Second, tries: 3, pause: 200 * time.Millisecond},
	}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

var (
	errSlow    = errors.New("no answer in time")
	errStalled = errors.New("the answer stopped halfway")
)

// refusal is an answer other than 2xx.
type refusal struct {
	status  int
	param   string
	message string
	after   time.Duration // Retry-After
}

func (r *refusal) Error() string { return fmt.Sprintf("HTTP %d: %s", r.status, r.message) }

func (r *refusal) again() bool { return r.status == 429 || r.status == 408 || r.status >= 500 }

// post sends a body and returns the answer once it has begun with a 2xx; the caller closes it. Refusals that may pass and
// failed connections are tried again.
func (c *Client) post(ctx context.Context, path, contentType string, body []byte) (*answer, error) {
	for try := 1; ; try++ {
		a, err := c.once(ctx, path, contentType, body)
		if err == nil || ctx.Err() != nil || try == c.patience.tries {
			return a, err
		}
		wait := c.patience.pause << (try - 1)
		if r, ok := errors.AsType[*refusal](err); ok {
			if !r.again() || r.after > 2*time.Second {
				return nil, err
			}
			wait = max(wait, r.after)
		} else if errors.Is(err, errSlow) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

func (c *Client) once(ctx context.Context, path, contentType string, body []byte) (*answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	slow := time.AfterFunc(c.patience.header, func() { stop(errSlow) })
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		stop(nil)
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	c.sign(req)
	res, err := c.http.Do(req)
	slow.Stop()
	if err != nil {
		err = cause(ctx, err)
		stop(nil)
		return nil, err
	}
	a := &answer{res: res, ctx: ctx, stop: stop, limit: c.patience.idle}
	a.idle = time.AfterFunc(a.limit, func() { stop(errStalled) })
	if res.StatusCode/100 != 2 {
		defer a.Close()
		return nil, refused(a)
	}
	return a, nil
}

func (c *Client) sign(req *http.Request) {
	req.Header.Set("User-Agent", "parley/1")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
}

// answer is a body that must not stall.
type answer struct {
	res   *http.Response
	ctx   context.Context
	stop  context.CancelCauseFunc
	idle  *time.Timer
	limit time.Duration
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.res.Body.Read(p)
	a.idle.Reset(a.limit)
	if err != nil && err != io.EOF {
		err = cause(a.ctx, err)
	}
	return n, err
}

func (a *answer) Close() error {
	a.idle.Stop()
	err := a.res.Body.Close()
	a.stop(nil)
	return err
}

// cause prefers the reason a context was ended for over the error that it led to.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return err
}

func refused(a *answer) *refusal {
	raw, _ := io.ReadAll(io.LimitReader(a, 64<<10)) // a cut error text is still one
	r := &refusal{status: a.res.StatusCode, message: http.StatusText(a.res.StatusCode)}
	if s, err := strconv.Atoi(a.res.Header.Get("Retry-After")); err == nil && s > 0 {
		r.after = time.Duration(s) * time.Second
	}
	var body struct{ Error json.RawMessage }
	if json.Unmarshal(raw, &body) == nil && len(body.Error) > 0 {
		r.fill(body.Error)
	}
	return r
}

// fill reads the error object, which some servers send as a plain string.
func (r *refusal) fill(raw json.RawMessage) {
	var e struct {
		Message string
		Param   any
	}
	if json.Unmarshal(raw, &e) == nil && e.Message != "" {
		r.message = e.Message
		r.param, _ = e.Param.(string)
		return
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" {
		r.message = s
	}
}

// explain turns a failure into words for the person whose conversation it was; what says which part failed.
func explain(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	message := fmt.Sprintf("the %s could not be reached", what)
	r, isRefusal := errors.AsType[*refusal](err)
	_, isURL := errors.AsType[*url.Error](err)
	switch {
	case errors.Is(err, errSlow), errors.Is(err, context.DeadlineExceeded):
		message = fmt.Sprintf("the %s did not answer in time", what)
	case errors.Is(err, errStalled):
		message = fmt.Sprintf("the %s stopped in the middle of its answer", what)
	case isRefusal && (r.status == 401 || r.status == 403):
		message = fmt.Sprintf("the %s refused the API key", what)
	case isRefusal && r.status == 404:
		message = fmt.Sprintf("the %s does not know this model", what)
	case isRefusal && r.status == 429:
		message = fmt.Sprintf("the %s has too many requests or no quota left", what)
	case isRefusal && r.status < 500:
		message = fmt.Sprintf("the %s refused the request", what)
	case isRefusal:
		message = fmt.Sprintf("the %s failed", what)
	case !isURL && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		message = fmt.Sprintf("the %s gave an answer that cannot be read", what)
	}
	return &fault.Fault{Kind: fault.Unavailable, Message: message, Cause: err}
}
