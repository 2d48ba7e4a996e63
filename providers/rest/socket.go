package rest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// Socket opens a WebSocket at an address that begins with ws, wss, http or https. A refused handshake is a *Refusal.
func (c *Client) Socket(ctx context.Context, address string) (*websocket.Conn, error) {
	header := http.Header{"User-Agent": {"parley/1"}}
	if c.Sign != nil {
		c.Sign(header)
	}
	conn, res, err := websocket.Dial(ctx, strings.TrimRight(address, "/"), &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if err == nil {
		return conn, nil
	}
	if res == nil || res.StatusCode/100 < 3 {
		return nil, cause(ctx, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	a := &Answer{res: res, ctx: ctx, stop: stop, limit: c.Patience.Idle}
	a.idle = time.AfterFunc(a.limit, func() { stop(errStalled) })
	defer a.Close()
	return nil, refused(a)
}
