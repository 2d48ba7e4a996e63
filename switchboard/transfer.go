package switchboard

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/agent"
	"parley/assistants"
	"parley/lines"
	"parley/mind"
	"parley/numbers"
	"parley/placeholders"
	"parley/toolbox"
	"parley/value"
	"parley/voice"
)

// transfer is what a turn of thought does about who talks to whom. It runs on the thinker's goroutine.
type transfer struct {
	*thinker
	asked     voice.Thinking
	send      func(voice.Thought) bool // false when the turn is over
	then      voice.Reason             // ends the conversation with the turn
	successor *voice.Successor         // takes it over with the turn

	kind, target string // of the transfer that goes on
}

// Transfer is the data of the event transfer. Phase is dialling, briefing, connected, failed or ended.
type Transfer struct {
	Kind   string  `json:"kind"` // the tool
	Phase  string  `json:"phase"`
	Target string  `json:"target"`
	Result *string `json:"result"` // what the model is told, once that is known
}

// What a model is told of a transfer.
const (
	isConnected = "connected"
	isBusy      = "busy"
	noAnswer    = "no_answer"
	isDeclined  = "declined"
	isVoicemail = "voicemail"
	isFailed    = "failed"
)

// mostPassed is how many transfers in a row may lead a caller around this installation; mostSwitches how many assistants
// may take over in a call.
const (
	mostPassed   = 3
	mostSwitches = 5
)

// channel is what tools can do in a call.
func (x *transfer) channel() toolbox.Channel {
	return toolbox.Channel{
		EndCall:      func(context.Context) error { x.then = voice.AssistantHangup; return nil },
		SendDigits:   x.live.sendDigits,
		Calendar:     x.calendar,
		Transfer:     x.blind,
		WarmTransfer: x.warm,
		SwitchTo:     x.switchTo,
	}
}

// note puts a step into the log of the call.
func (x *transfer) note(phase, result string) {
	data := Transfer{Kind: x.kind, Phase: phase, Target: x.target, Result: &result}
	if result == "" {
		data.Result = nil
	}
	x.live.observe(voice.Event{At: time.Now(), Type: "transfer", Data: data})
}

// observe puts an event into the log of the call while that is open.
func (l *live) observe(e voice.Event) {
	l.mu.Lock()
	record := l.record
	l.mu.Unlock()
	if record != nil {
		record.Observe(e)
	}
}

var errForbidden = errors.New("this number may not be called")

// blind connects the caller with a number: announced if the tool says so, and without asking whoever answers.
func (x *transfer) blind(ctx context.Context, t *toolbox.CallTransfer, number string) (string, error) {
	x.kind, x.target = "call_transfer", number
	if number != t.PhoneNumber && !x.board.reachable(number) {
		return "", errForbidden
	}
	d, err := x.blindTo(ctx, number)
	if err != nil {
		x.board.Log.Warn("transfer refused", "call", x.live.call.ID, "error", err)
		return x.settled(isFailed)
	}
	if t.WarmTransfer {
		x.announce(ctx, t.WarmTransferMessage)
	}
	if leg, ok := x.refers(ctx); ok {
		return x.refer(ctx, leg, d)
	}
	if !x.send(voice.Thought{Park: &voice.Parking{Sound: ringback(x.rate())}}) {
		return "", voice.ErrOver
	}
	x.note("dialling", "")
	part := func() {}
	d.Early = func(m lines.Media) { part = x.early(m) }
	p, err := x.board.reach(ctx, x.live, d)
	if err != nil {
		part()
		return x.back(statusOf(err))
	}
	if !x.send(voice.Thought{Park: &voice.Parking{}}) || !x.live.join(p, voice.Transferred) { // the ringing stops first
		x.board.endParty(x.live, p)
		return x.back(isFailed)
	}
	x.then = voice.Transferred
	return x.settled(isConnected)
}

// early lets the caller hear what the other side plays before it answers, instead of our ringing.
func (x *transfer) early(m lines.Media) (part func()) {
	if !x.send(voice.Thought{Park: &voice.Parking{}}) {
		return func() {}
	}
	part, err := x.live.leg.Media().Join(m)
	if err != nil {
		return func() {}
	}
	return part
}

// settled notes how a transfer came out.
func (x *transfer) settled(status string) (string, error) {
	phase := "failed"
	if status == isConnected {
		phase = "connected"
	}
	x.note(phase, status)
	return status, nil
}

// back returns to the caller, who waited in vain.
func (x *transfer) back(status string) (string, error) {
	if !x.send(voice.Thought{Resume: true}) {
		x.note("ended", "")
		return "", voice.ErrOver // the caller is gone
	}
	return x.settled(status)
}

// statusOf is what becomes of a transfer whose leg was not answered.
func statusOf(err error) string {
	d, ok := errors.AsType[*lines.DialError](err)
	switch {
	case !ok:
		return isFailed
	case d.Timeout:
		return noAnswer
	case d.Code == 486 || d.Code == 600 || d.Code == 603:
		return isBusy
	}
	return isFailed
}

// rate is that of the caller's line in Hz.
func (x *transfer) rate() int { return x.live.leg.Media().Rate() }

// blindTo is where a blind transfer goes: through the line of the assistant's own number, which it shows.
func (x *transfer) blindTo(ctx context.Context, number string) (d lines.Destination, err error) {
	a := x.speaker.Assistant
	own := value.Or(a.PhoneNumberID, 0)
	if own == 0 && x.live.call.NumberID != nil {
		own = *x.live.call.NumberID
	}
	from, ok, err := x.board.Numbers.Caller(ctx, x.board.DB, x.live.call.Owner, numbers.ID(own))
	if err == nil && !ok {
		err = ErrNoNumber
	}
	if err != nil {
		return d, err
	}
	return x.destination(ctx, number, from, from.Phone)
}

// destination is a leg to somebody else, if the rules against toll fraud allow it.
func (x *transfer) destination(ctx context.Context, to string, through Number, shown string) (d lines.Destination, err error) {
	d = lines.Destination{To: to, From: shown, TrunkID: through.TrunkID, RingFor: seconds(x.speaker.Assistant.RingingTime)}
	if !x.board.mayDial(to, through.TrunkID) {
		return d, errForbidden
	}
	blocked, err := x.board.Calls.IsBlocked(ctx, x.board.DB, x.live.call.Owner, to)
	if err != nil {
		return d, err
	}
	if blocked[to] {
		return d, ErrDoNotCall
	}
	passed, err := x.board.Calls.Passed(ctx, x.board.DB, x.live.call, mostPassed)
	if err == nil && passed == mostPassed {
		err = errors.New("the caller was passed on too often")
	}
	return d, err
}

// mayDial applies the rules for numbers to whatever a transfer goes to. An extension is one of a customer's own line; the
// addresses behind sip: URIs are looked at where they are resolved.
func (s *Switchboard) mayDial(to string, trunk numbers.ID) bool {
	user := to
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(to, "sips:"), "sip:"); ok || rest != to {
		user, _, ok = strings.Cut(rest, "@")
		if !ok {
			return true
		}
	} else if !strings.HasPrefix(to, "+") && trunk == 0 {
		return false
	}
	return s.Phones.AllowsDialled(user)
}

// refers is the caller's line when its own side is to be asked to call the other one.
func (x *transfer) refers(ctx context.Context) (lines.Referrer, bool) {
	leg, can := x.live.leg.(lines.Referrer)
	if !can || x.board.Refers == nil {
		return nil, false
	}
	asks, err := x.board.Refers(ctx, numbers.ID(x.live.leg.Info().TrunkID))
	if err != nil {
		x.board.Log.Error("method of transfers not read", "call", x.live.call.ID, "error", err)
	}
	return leg, asks && err == nil
}

// referGrace is how long the caller's side may take beyond the ringing time to say what became of a transfer.
const referGrace = 5 * time.Second

// refer has the caller's own side call somebody else. Once that is answered the caller is not ours any more.
func (x *transfer) refer(ctx context.Context, leg lines.Referrer, d lines.Destination) (string, error) {
	if !x.send(voice.Thought{Park: &voice.Parking{}}) {
		return "", voice.ErrOver
	}
	x.note("dialling", "")
	ringing, stop := context.WithTimeout(ctx, d.RingFor+referGrace)
	defer stop()
	err := leg.Refer(ringing, d.To)
	switch {
	case err == nil:
		x.then = voice.Transferred
		return x.settled(isConnected)
	case ctx.Err() == nil && ringing.Err() != nil:
		return x.back(noAnswer)
	}
	return x.back(statusOf(err))
}

// announce has the assistant tell the caller what comes.
func (x *transfer) announce(ctx context.Context, instruction string) {
	turn := x.speaker.Turn(mind.Occasion{Engine: x.engine, History: x.asked.History, Language: x.asked.Language, Spoken: true,
		Notes: x.asked.Notes, Instruction: placeholders.Fill(instruction, x.speaker.Values, placeholders.Written)})
	turn.Functions = nil
	turn.Observe = func(e agent.Event) { x.send(voice.Thought{Event: &e}) }
	for text, err := range turn.Sentences(ctx) {
		if err != nil {
			x.board.Log.Warn("transfer not announced", "call", x.live.call.ID, "error", err)
			return
		}
		if !x.send(voice.Thought{Text: text}) {
			return
		}
	}
}

// switchTo lets another assistant of the account take the call over once what was said has been heard.
func (x *transfer) switchTo(ctx context.Context, t *toolbox.AssistantTransfer) error {
	s, l := x.board, x.live
	if l.switches >= mostSwitches {
		return errors.New("this call was handed over too often")
	}
	a, err := s.Assistants.Get(ctx, s.DB, l.call.Owner, value.Ref{ID: t.AssistantID.ID, UUID: t.AssistantID.UUID})
	if err != nil {
		return errors.New("the other assistant does not exist any more")
	}
	x.kind, x.target = "assistant_transfer", a.UUID
	next, err := s.successor(l, a)
	if err != nil {
		x.note("failed", isFailed)
		return err
	}
	if t.MessageBeforeTransfer != nil {
		x.send(voice.Thought{Text: placeholders.Fill(*t.MessageBeforeTransfer, x.speaker.Values, placeholders.Spoken), Pause: true})
	}
	next.Greet = t.SpeakTransferGreeting
	x.successor = next
	l.switches++
	x.note("connected", "transferred")
	return nil
}

// successor makes an assistant ready to take a call over.
func (s *Switchboard) successor(l *live, a assistants.Assistant) (*voice.Successor, error) {
	if a.Paused || !s.Catalog.Supports(a.LanguageID, a.ModeOf()) {
		return nil, errors.New("the other assistant is not available")
	}
	cfg, parts, err := s.conversation(a, l, s.cast(a))
	if err != nil {
		s.Log.Error("successor not prepared", "call", l.call.ID, "error", err)
		return nil, errors.New("the other assistant is not available")
	}
	if !l.seat.change(s.providers(a)) {
		return nil, errors.New("the other assistant is busy")
	}
	return &voice.Successor{Config: cfg, Parts: parts}, nil
}
