package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// longestMessage is how much of one message of a socket is read; a longer one breaks the connection.
const longestMessage = 16 << 20

// Dial opens a WebSocket. A refusal that may pass, or a failed connection, is tried once more.
func (c *Client) Dial(ctx context.Context, path string) (*websocket.Conn, error) {
	conn, err := c.dial(ctx, path)
	r, refused := errors.AsType[*Refusal](err)
	if err == nil || ctx.Err() != nil || errors.Is(err, errSlow) || refused && (!r.Passing() || r.After > 2*time.Second) {
		return conn, err
	}
	wait := c.Patience.Pause
	if refused {
		wait = max(wait, r.After)
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(wait):
		return c.dial(ctx, path)
	}
}

func (c *Client) dial(ctx context.Context, path string) (*websocket.Conn, error) {
	ctx, stop := context.WithTimeoutCause(ctx, c.Patience.Header, errSlow)
	defer stop()
	header := http.Header{"User-Agent": {"parley/1"}}
	if c.Sign != nil {
		c.Sign(header)
	}
	conn, res, err := websocket.Dial(ctx, c.Base+path, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if err == nil {
		conn.SetReadLimit(longestMessage)
		return conn, nil
	}
	if res == nil || res.StatusCode/100 == 1 {
		return nil, cause(ctx, err)
	}
	r := &Refusal{Status: res.StatusCode, Message: http.StatusText(res.StatusCode), After: retryAfter(res.Header)}
	raw, _ := io.ReadAll(res.Body) // the library kept the first kilobyte
	r.Read(raw)
	return nil, r
}
