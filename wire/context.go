package wire

import (
	"context"
	"net/http"
)

// info is what handlers may know about the request that called them.
type info struct {
	header http.Header
	origin string // scheme and host for links
	path   string // of the request, escaped, with the base
	query  string
	client string // address, as limits count it
	sent   http.Header
}

type infoKey struct{}

func infoOf(ctx context.Context) *info {
	if i, ok := ctx.Value(infoKey{}).(*info); ok {
		return i
	}
	return &info{header: http.Header{}}
}

// Origin is scheme and host for links in answers, without a slash at the end; empty outside a request.
func Origin(ctx context.Context) string { return infoOf(ctx).origin }

// Header is the header of the answer being prepared.
func Header(ctx context.Context) http.Header { return infoOf(ctx).header }

// RequestHeader is a header of the request; empty outside one.
func RequestHeader(ctx context.Context, name string) string { return infoOf(ctx).sent.Get(name) }

// Client is the address that the request came from, of IPv6 its /64; empty outside a request.
func Client(ctx context.Context) string { return infoOf(ctx).client }
