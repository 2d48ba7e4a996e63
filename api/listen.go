package api

import (
	"context"
	"encoding/json"
	"errors"

	"parley/calls"
	"parley/fault"
	"parley/lines"
	"parley/switchboard"
	"parley/value"
)

type listenIn struct {
	ID  value.Ref `path:"id"`
	SDP string    `json:"sdp" rule:"required max=65536" trim:"no"` // a WebRTC offer that receives audio

	found calls.Call
}

type listenOut struct {
	SDP        string            `json:"sdp"`
	ICEServers []lines.ICEServer `json:"ice_servers"`
}

func (a *API) findListened(ctx context.Context, in *listenIn) (err error) {
	in.found, err = a.ownCall(ctx, in.ID)
	return err
}

// listenToCall lets a browser hear both voices of a running call.
func (a *API) listenToCall(ctx context.Context, in *listenIn) (listenOut, error) {
	if in.found.Status != calls.InProgress {
		return listenOut{}, calls.ErrOver
	}
	if !a.Switchboard.Holds(in.found.ID) {
		var out listenOut
		return out, a.Switchboard.AskHolder(ctx, in.found, askListen, in.SDP, &out)
	}
	return a.listenHere(ctx, in.found.ID, in.SDP)
}

const askListen = "call.listen"

// listenAsked answers the offer of a listener that another process was given.
func (a *API) listenAsked(ctx context.Context, body json.RawMessage) (any, error) {
	var about switchboard.AboutCall
	if err := json.Unmarshal(body, &about); err != nil {
		return nil, err
	}
	return a.listenHere(ctx, about.Call, about.Text)
}

func (a *API) listenHere(ctx context.Context, id calls.ID, sdp string) (listenOut, error) {
	if a.Browsers == nil {
		return listenOut{}, fault.New(fault.Unavailable, "", "Service Unavailable")
	}
	leg, answer, err := a.Browsers.Accept(ctx, sdp)
	if errors.Is(err, ErrBadOffer) {
		return listenOut{}, fault.Input(fault.Field{Name: "sdp", Sentence: "The sdp field must be a WebRTC offer of a codec spoken here."})
	}
	if err != nil {
		return listenOut{}, err
	}
	return listenOut{answer, a.Browsers.ICEServers()}, a.Switchboard.Listen(id, leg)
}

type callMessage struct {
	At     value.Time `json:"at"`
	MS     int64      `json:"ms"` // from the answer; negative before
	Sent   bool       `json:"sent"`
	Remote string     `json:"remote"`
	Title  string     `json:"title"`
	Text   string     `json:"text"`
}

// callSignalling is what the lines of a call said to each other: the SIP messages, without secrets.
func (a *API) callSignalling(ctx context.Context, in *callRef) (data[[]callMessage], error) {
	c, err := a.Calls.Get(ctx, a.DB, owner(ctx), in.ID)
	if err != nil {
		return data[[]callMessage]{}, err
	}
	list, err := a.Switchboard.Signalling(ctx, c)
	if err != nil {
		return data[[]callMessage]{}, err
	}
	return data[[]callMessage]{each(list, func(m calls.Message) callMessage {
		at, ms := moment(c, m.At)
		return callMessage{at, ms, m.Sent, m.Remote, m.Title, m.Text}
	})}, nil
}
