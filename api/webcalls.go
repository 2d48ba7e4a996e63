package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/assistants"
	"parley/chats"
	"parley/fault"
	"parley/lines"
	"parley/value"
	"parley/wire"
)

// BrowserLine answers the SDP offer of a browser. ErrOffer of its own kind is told by IsBadOffer.
type BrowserLine interface {
	Accept(ctx context.Context, offer string) (lines.Leg, string, error)
	// ICEServers are what browsers are told of the way through firewalls.
	ICEServers() []lines.ICEServer
}

// ErrBadOffer is an offer that a BrowserLine cannot answer.
var ErrBadOffer = errors.New("the offer cannot be answered")

type webCallIn struct {
	AssistantID value.Opt[value.Ref] `json:"assistant_id" rule:"required"`
	SDP         string               `json:"sdp" rule:"required max=65536" trim:"no"`
	Variables   value.Scalars        `json:"variables" rule:"max=100"`
	Type        string               `json:"type" rule:"oneof=widget|test" default:"widget"`
}

type webCallOut struct {
	Status     bool              `json:"status"`
	CallID     string            `json:"call_id"`
	Token      string            `json:"token"`
	SDP        string            `json:"sdp"`
	ICEServers []lines.ICEServer `json:"ice_servers"`
}

type endWebCallIn struct {
	UUID  value.Ref `path:"uuid"`
	Token string    `query:"token"`
}

func (a *API) webCallRoutes() []wire.Route {
	return []wire.Route{
		wire.On(conversations, "POST /web-calls", 201, a.webCall, wire.Keyless(), wire.OpenToOrigins(a.webCallOrigins),
			wire.Limited(wire.PerAddress(6, time.Minute))),
		wire.On(conversations, "DELETE /web-calls/{uuid}", 200, a.endWebCall, wire.Keyless(), wire.OpenToOrigins[endWebCallIn](nil)),
	}
}

// callable finds the assistant of a web call. One that is paused or has voice switched off does not exist for browsers.
func (a *API) callable(ctx context.Context, ref value.Ref) (assistants.Assistant, error) {
	if ref.UUID == "" {
		return assistants.Assistant{}, assistants.ErrNotFound
	}
	x, err := a.Assistants.ByUUID(ctx, a.DB, ref.UUID)
	if err != nil {
		return x, err
	}
	acc, err := a.Accounts.Get(ctx, a.DB, x.Owner)
	if err != nil {
		return x, err
	}
	if x.Paused || !x.WidgetSettings.VoiceEnabled || acc.Suspended() {
		return x, assistants.ErrNotFound
	}
	return x, nil
}

func (a *API) webCallOrigins(ctx context.Context, in *webCallIn) ([]string, error) {
	x, err := a.callable(ctx, in.AssistantID.V)
	return chats.AllowedOrigins(x), err
}

func (a *API) webCall(ctx context.Context, in *webCallIn) (webCallOut, error) {
	x, err := a.callable(ctx, in.AssistantID.V)
	if err != nil {
		return webCallOut{}, err
	}
	o := offered{in.AssistantID.V.UUID, in.SDP, in.Variables, fault.RequestID(ctx)}
	if a.Browsers != nil {
		return a.take(ctx, x, o)
	}
	var out webCallOut
	return out, a.Asks.Ask(ctx, "", askWebCall, o, &out)
}

// offered is a browser's offer on its way to a process that holds calls.
type offered struct {
	Assistant string        `json:"assistant"`
	SDP       string        `json:"sdp"`
	Variables value.Scalars `json:"variables"`
	Request   string        `json:"request"`
}

const askWebCall = "web.call"

// takeAsked takes the offer that another process was given.
func (a *API) takeAsked(ctx context.Context, body json.RawMessage) (any, error) {
	var o offered
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, err
	}
	if a.Browsers == nil {
		return nil, fault.New(fault.Unavailable, "", "Service Unavailable")
	}
	x, err := a.callable(ctx, value.Ref{UUID: o.Assistant})
	if err != nil {
		return nil, err
	}
	return a.take(ctx, x, o)
}

// take answers an offer here.
func (a *API) take(ctx context.Context, x assistants.Assistant, o offered) (webCallOut, error) {
	leg, answer, err := a.Browsers.Accept(ctx, o.SDP)
	if errors.Is(err, ErrBadOffer) {
		return webCallOut{}, fault.Input(fault.Field{Name: "sdp", Sentence: "sdp is no offer of a codec spoken here"})
	}
	if err != nil {
		return webCallOut{}, err
	}
	w, err := a.Switchboard.Web(ctx, x, leg, o.Variables, o.Request)
	return webCallOut{true, w.Call.UUID, w.Token, answer, a.Browsers.ICEServers()}, err
}

func (a *API) endWebCall(ctx context.Context, in *endWebCallIn) (statusOut, error) {
	return statusOut{true}, a.Switchboard.EndWeb(ctx, in.UUID.UUID, in.Token)
}
