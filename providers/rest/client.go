// Package rest asks vendors over HTTP: with limits of time, with second tries where they can help, and with errors that
// say in words a customer may hear which part failed. It is shared by the adapters of vendors.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Client is one vendor's server. It is safe for concurrent use.
type Client struct {
	Base     string              // address without a slash at its end
	Sign     func(h http.Header) // adds the credentials to a request; nil = there are none
	Patience Patience            // not to be changed once something was asked

	http *http.Client
}

// Patience are the time limits and tries of one request.
type Patience struct {
	Header time.Duration // until the answer begins
	Idle   time.Duration // between two pieces of an answer
	Tries  int
	Pause  time.Duration // before the second try; doubles
}

// New makes a client. Nothing is sent yet. Redirects are not followed: they would carry the credentials along.
func New(base string, sign func(h http.Header)) *Client {
	return &Client{
		Base: strings.TrimRight(base, "/"), Sign: sign,
		http: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy:       http.ProxyFromEnvironment,
				DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, TLSHandshakeTimeout: 5 * time.Second,
				MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
			}},
		Patience: Patience{Header: 30 * time.Second, Idle: 20 * time.Second, Tries: 3, Pause: 200 * time.Millisecond},
	}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do asks and returns the answer once it has begun with a 2xx; the caller closes it. Refusals that may pass and failed
// connections are tried again, so the request must be one that may come twice.
func (c *Client) Do(ctx context.Context, method, path, contentType string, body []byte) (*Answer, error) {
	for try := 1; ; try++ {
		a, err := c.once(ctx, method, path, contentType, body)
		if err == nil || ctx.Err() != nil || try >= c.Patience.Tries {
			return a, err
		}
		wait := c.Patience.Pause << (try - 1)
		if r, ok := errors.AsType[*Refusal](err); ok {
			if !r.Passing() || r.After > 2*time.Second {
				return nil, err
			}
			wait = max(wait, r.After)
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

// Post sends v as JSON.
func (c *Client) Post(ctx context.Context, path string, v any) (*Answer, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return c.Do(ctx, http.MethodPost, path, "application/json", body.Bytes())
}

// With is the client with one more header on what it sends.
func (c *Client) With(name, value string) *Client {
	more := *c
	more.Sign = func(h http.Header) {
		if c.Sign != nil {
			c.Sign(h)
		}
		h.Set(name, value)
	}
	return &more
}

// Get reads an answer of JSON into v.
func (c *Client) Get(ctx context.Context, path string, v any) error {
	a, err := c.Do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	defer a.Close()
	return json.NewDecoder(io.LimitReader(a, most)).Decode(v)
}

// most is how much of a whole answer is read.
const most = 16 << 20

// Alive asks once for a path that costs nothing. A server that knows no such path but answers is well.
func (c *Client) Alive(ctx context.Context, path string) error {
	a, err := c.once(ctx, http.MethodGet, path, "", nil)
	if err == nil {
		return a.Close()
	}
	r, ok := errors.AsType[*Refusal](err)
	if ok && r.Status != http.StatusUnauthorized && r.Status != http.StatusForbidden && r.Status < 500 {
		return nil
	}
	return Explain("server", err)
}

func (c *Client) once(ctx context.Context, method, path, contentType string, body []byte) (*Answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	slow := time.AfterFunc(c.Patience.Header, func() { stop(errSlow) })
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		stop(nil)
		return nil, err
	}
	req.Header.Set("User-Agent", "parley/1")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.Sign != nil {
		c.Sign(req.Header)
	}
	res, err := c.http.Do(req)
	slow.Stop()
	if err != nil {
		err = cause(ctx, err)
		stop(nil)
		return nil, err
	}
	a := &Answer{res: res, ctx: ctx, stop: stop, limit: c.Patience.Idle}
	a.idle = time.AfterFunc(a.limit, func() { stop(errStalled) })
	if res.StatusCode/100 != 2 {
		defer a.Close()
		return nil, refused(a)
	}
	return a, nil
}

// Bearer signs with a key as most vendors want it; an empty key signs nothing.
func Bearer(key string) func(http.Header) {
	return func(h http.Header) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	}
}

// Header signs with a key in a header of the vendor's own.
func Header(name, key string) func(http.Header) {
	return func(h http.Header) {
		if key != "" {
			h.Set(name, key)
		}
	}
}

// Versioned is a vendor's address with its version segment, whether or not the operator wrote it: both forms are in use.
func Versioned(base, version string) string {
	base = strings.TrimRight(base, "/")
	if strings.HasSuffix(base, version) {
		return base
	}
	return base + version
}

// Plain is a vendor's address without a version segment, for one that has several versions in use at once.
func Plain(base string, versions ...string) string {
	base = strings.TrimRight(base, "/")
	for _, v := range versions {
		base = strings.TrimSuffix(base, v)
	}
	return base
}
