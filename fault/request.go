package fault

import "context"

type requestKey struct{}

// RequestID is the id under which a request, and what it caused, appear in answers and in the log; empty outside both.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// WithRequestID gives work that a request caused the request's id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}
