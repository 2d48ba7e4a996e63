package switchboard

import (
	"context"
	"errors"

	"parley/lines"
	"parley/numbers"
	"parley/placeholders"
	"parley/toolbox"
	"parley/voice"
)

// warm connects the caller with a supervisor who was told what it is about and agreed. Meanwhile the caller holds.
func (x *transfer) warm(ctx context.Context, t *toolbox.WarmCallTransfer) (string, error) {
	x.kind, x.target = "warm_call_transfer", t.SupervisorPhone
	d, err := x.warmTo(ctx, t)
	if err != nil {
		x.board.Log.Warn("transfer refused", "call", x.live.call.ID, "error", err)
		return x.settled(isFailed)
	}
	hold := &voice.Parking{}
	if t.HoldMusic == "hold_music" {
		hold.Sound = holdMusic(x.rate(), t.HoldMusicVolume)
	}
	if !x.send(voice.Thought{Text: x.spoken(t.HoldMessage), Park: hold}) {
		return "", voice.ErrOver
	}
	x.note("dialling", "")
	p, err := x.board.reach(ctx, x.live, d)
	if err != nil {
		return x.back(statusOf(err))
	}
	x.note("briefing", "")
	status := x.brief(ctx, t, p)
	if status == isConnected && !x.introduce(t, p) {
		status = isFailed // the supervisor left at the last moment
	}
	if status != isConnected {
		x.board.endParty(x.live, p)
		return x.back(status)
	}
	x.then = voice.WarmTransferred
	return x.settled(isConnected)
}

// introduce tells the caller who is there and connects the two.
func (x *transfer) introduce(t *toolbox.WarmCallTransfer, p *party) bool {
	return x.send(voice.Thought{Text: x.spoken(t.ConnectedMessage), Park: &voice.Parking{}}) && x.live.join(p, voice.WarmTransferred)
}

// warmTo is where the supervisor is reached, through which line and shown as whom.
func (x *transfer) warmTo(ctx context.Context, t *toolbox.WarmCallTransfer) (d lines.Destination, err error) {
	through, ok, err := x.board.Numbers.Caller(ctx, x.board.DB, x.live.call.Owner, numbers.ID(t.OutboundPhoneID))
	if err == nil && (!ok || through.ID != numbers.ID(t.OutboundPhoneID)) {
		err = errors.New("the number to call the supervisor from is gone")
	}
	if err != nil {
		return d, err
	}
	shown := through.Phone
	switch c := x.live.call; {
	case t.CallerIDMode == "custom" && t.CustomCallerID != nil:
		shown = *t.CustomCallerID
	case t.CallerIDMode == "customer_number" && c.ClientPhone != nil:
		shown = *c.ClientPhone
	}
	return x.destination(ctx, t.SupervisorPhone, through, shown)
}

// spoken is a text that is said word for word: a default one in the conversation's language.
func (x *transfer) spoken(text string) string {
	if own, ok := defaultTexts[text][x.asked.Language]; ok {
		return own
	}
	return placeholders.Fill(text, x.speaker.Values, placeholders.Spoken)
}
