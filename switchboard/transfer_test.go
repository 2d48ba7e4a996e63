package switchboard

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/assistants"
	"parley/audio"
	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/lines"
	"parley/lines/linetest"
)

const (
	supervisor = "+4930999001"
	callTool   = `[{"type":"call_transfer","phone_number":"+4930999001","custom":true}]`
	warmTool   = `[{"type":"warm_call_transfer","supervisor_phone":"+4930999001","outbound_phone_id":7,"description":"a person is asked for","hold_message":"Hold on.","briefing_initial_message":"A caller.","connected_message":"Here they are.","summary_instructions":"Sum it up.","hold_music":"hold_music","hold_music_volume":80}]`
)

// operator is a model that transfers at the first thing it hears, and repeats what a tool answers.
type operator struct {
	call agent.ToolCall

	mu   sync.Mutex
	asks []agent.Request
}

func (m *operator) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	m.mu.Lock()
	m.asks = append(m.asks, r)
	m.mu.Unlock()
	last := r.Messages[len(r.Messages)-1]
	return func(yield func(agent.Chunk, error) bool) {
		switch {
		case r.Purpose == agent.PurposeEvaluation:
			yield(agent.Chunk{Text: `{}`}, nil)
		case r.Instruction != "":
			yield(agent.Chunk{Text: "Told."}, nil)
		case last.Role == agent.RoleTool:
			yield(agent.Chunk{Text: "Result " + last.Text + "."}, nil)
		default:
			call := m.call
			yield(agent.Chunk{Call: &call}, nil)
		}
	}
}

// connecting is a lab whose assistant transfers, and the leg of whoever is dialled.
type connecting struct {
	*lab
	model  *operator
	caller *linetest.Leg
	call   calls.Call
	other  chan *linetest.Leg
	dialed chan lines.Destination
	refuse error
}

func newConnecting(l *lab, tool string, call agent.ToolCall) *connecting {
	c := &connecting{lab: l, model: &operator{call: call}, other: make(chan *linetest.Leg, 4), dialed: make(chan lines.Destination, 4)}
	l.Engines().Models = map[string]func(string) agent.Model{"fake": func(string) agent.Model { return c.model }}
	l.assistant("inbound", func(f *assistants.Settings) { l.must(json.Unmarshal([]byte(tool), &f.Tools)) })
	l.dial = func(ctx context.Context, d lines.Destination, _ func(int)) (lines.Leg, error) {
		c.dialed <- d
		if c.refuse != nil {
			return nil, c.refuse
		}
		leg := linetest.NewLeg(lines.Info{ID: "2", SignalID: "sig2", Kind: "sip", From: d.From, To: d.To})
		l.must(leg.Answer(ctx))
		c.other <- leg
		return leg, nil
	}
	return c
}

// begin calls the assistant, which hears something and transfers.
func (c *connecting) begin() {
	c.t.Helper()
	c.caller = c.lab.call(deskNumber)
	<-c.caller.Answered()
	c.call = c.until(status(calls.InProgress))
	watched, _, stop, _ := c.watch(c.call.ID)
	c.heard(watched, "turn.assistant")
	stop()
	say(c.caller.Line())
}

func (c *connecting) party() *linetest.Leg {
	c.t.Helper()
	select {
	case leg := <-c.other:
		return leg
	case <-time.After(10 * time.Second):
		c.t.Fatal("nobody was dialled")
		return nil
	}
}

// joinedWith waits until the two hear each other.
func (c *connecting) joinedWith(other *linetest.Leg) {
	c.t.Helper()
	ctx, stop := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer stop()
	tone := make([]int16, 10*8000)
	audio.GenSignal(tone, 8000, 0, audio.Tone{Hz: 700, Level: 0.5})
	c.caller.Line().Utter(tone)
	for n := len(other.Line().Sent()) + 800; ; n += 800 {
		if err := other.Line().SentAll(ctx, n); err != nil {
			c.t.Fatal("the two do not hear each other: ", err)
		}
		if audio.FindSignal(other.Line().Sent()[n-800:n], 8000, 700)[0].Level > 0.2 {
			return
		}
	}
}

func (c *connecting) ended(reason calls.Reason) calls.Call {
	c.t.Helper()
	call := c.until(status(calls.Completed))
	if *call.Reason != reason {
		c.t.Errorf("ended %s, want %s\n%s", *call.Reason, reason, c.log(call.ID))
	}
	return call
}

func (c *connecting) legs() []calls.Leg {
	c.t.Helper()
	legs, err := calls.Legs(c.t.Context(), c.DB, c.call.ID)
	c.must(err)
	return legs
}

var blindly = agent.ToolCall{ID: "1", Name: "transfer_call", Arguments: json.RawMessage(`{}`)}

// A blind transfer: both parties hear each other, the assistant is silent and paid until then, the recording goes on.
//
// Contract: 4.4 4.9 5.2 14.5 16.2
func TestTransfer(t *testing.T) {
	each(t, func(l *lab) {
		c := newConnecting(l, callTool, blindly)
		c.begin()
		other := c.party()
		if d := <-c.dialed; d.To != supervisor || d.From != deskNumber || d.RingFor == 0 {
			t.Errorf("dialled %+v", d)
		}
		c.joinedWith(other)
		if _, rec := l.talking(c.call.ID); rec == nil {
			t.Error("nothing to watch any more")
		}
		if err := l.Whisper(t.Context(), c.call, "psst"); err != calls.ErrOver {
			t.Errorf("a hint: %v", err)
		}
		other.FarHangup()
		<-c.caller.Done()
		call := c.ended(calls.Transferred)
		if *call.EndedBy != calls.BySystem {
			t.Errorf("ended by %s", *call.EndedBy)
		}
		legs := c.legs()
		if len(legs) != 1 || legs[0].Target != supervisor || legs[0].Shown != deskNumber || !legs[0].Answered() || legs[0].EndedReal.IsZero() ||
			legs[0].JoinedReal.IsZero() {
			t.Errorf("legs %+v", legs)
		}
		log := l.log(call.ID)
		for _, want := range []string{`transfer {"kind":"call_transfer","phase":"dialling","target":"+4930999001","result":null}`,
			`transfer {"kind":"call_transfer","phase":"connected","target":"+4930999001","result":"connected"}`,
			`tool.result {"name":"transfer_call","result":{"status":"connected"}`} {
			if !strings.Contains(log, want) {
				t.Errorf("no %s in\n%s", want, log)
			}
		}
		if len(l.stored(call.ID).Entries.V) != 2 {
			t.Errorf("transcript %q", l.stored(call.ID).Transcript())
		}
	})
}

// Whoever ends a connection, and whenever: the reason is the contract's, and nobody is left on a line.
//
// Contract: 4.4 14.5
func TestTransferEnds(t *testing.T) {
	for name, end := range map[string]struct {
		do   func(*connecting, *linetest.Leg)
		want calls.Reason
	}{
		"the caller hangs up": {func(c *connecting, _ *linetest.Leg) { c.caller.FarHangup() }, calls.Transferred},
		"both at once": {func(c *connecting, other *linetest.Leg) {
			go other.FarHangup()
			c.caller.FarHangup()
		}, calls.Transferred},
		"over the API": {func(c *connecting, _ *linetest.Leg) {
			c.must(c.HangUp(c.t.Context(), calls.APIHangup, c.call.ID))
		}, calls.APIHangup},
		"the caller's sound is lost": {func(c *connecting, _ *linetest.Leg) { c.caller.Lose(lines.ErrMediaTimeout) }, calls.MediaTimeout},
		"the money is used up":       {func(*connecting, *linetest.Leg) {}, calls.BalanceExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, dbtest.SQLite(t))
			if end.want == calls.BalanceExhausted {
				l.paidLeg = time.Second
			}
			c := newConnecting(l, callTool, blindly)
			c.begin()
			other := c.party()
			c.joinedWith(other)
			end.do(c, other)
			c.ended(end.want)
			<-c.caller.Done()
			<-other.Done()
			if legs := c.legs(); len(legs) != 1 || legs[0].EndedReal.IsZero() {
				t.Errorf("legs %+v", legs)
			}
		})
	}
}

// What brings the assistant back: it reads why, and the conversation goes on.
//
// Contract: 4.4 16.4
func TestTransferFails(t *testing.T) {
	code := func(code int, timeout bool) error {
		return &lines.DialError{Code: code, Timeout: timeout, Err: errors.New("no")}
	}
	for name, c := range map[string]struct {
		refuse error
		world  func(*lab)
		args   string
		want   string
		dials  int
	}{
		"busy":              {refuse: code(486, false), want: `{"status":"busy"}`, dials: 1},
		"busy everywhere":   {refuse: code(600, false), want: `{"status":"busy"}`, dials: 1},
		"declined":          {refuse: code(603, false), want: `{"status":"busy"}`, dials: 1},
		"nobody answers":    {refuse: code(408, true), want: `{"status":"no_answer"}`, dials: 1},
		"no such number":    {refuse: code(404, false), want: `{"status":"failed"}`, dials: 1},
		"no money":          {world: func(l *lab) { l.poorLegs = true }, want: `{"status":"failed"}`},
		"too many a minute": {world: func(l *lab) { l.CallsPerMinute = 1; l.placed() }, want: `{"status":"failed"}`},
		"forbidden":         {world: func(l *lab) { l.Phones.Countries = []string{"FR"} }, want: `{"status":"failed"}`},
		"asked for forbidden": {world: func(l *lab) { l.Phones.Countries = []string{"DE"} }, args: `{"phone_number":"+33144556677"}`,
			want: `{"error":"this number may not be called"}`},
		"asked for no number": {args: `{"phone_number":"0301234"}`, want: `{"error":"phone_number must be in E.164 form, for example +1234567890"}`},
		"asked for premium":   {args: `{"phone_number":"+499001234567"}`, want: `{"error":"this number may not be called"}`},
		"do not call":         {world: func(l *lab) { l.block(supervisor) }, want: `{"status":"failed"}`},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, dbtest.SQLite(t))
			call := blindly
			if c.args != "" {
				call.Arguments = json.RawMessage(c.args)
			}
			x := newConnecting(l, callTool, call)
			x.refuse = c.refuse
			if c.world != nil {
				c.world(l)
			}
			x.begin()
			watched, _, stop, _ := l.watch(x.call.ID)
			defer stop()
			l.heard(watched, "turn.assistant")
			x.caller.FarHangup()
			x.ended(calls.CustomerHangup)
			if got := l.stored(x.call.ID).Transcript(); !strings.HasSuffix(got, "Assistant: Result "+c.want+".") {
				t.Errorf("transcript %q\n%s", got, l.log(x.call.ID))
			}
			if len(x.dialed) != c.dials {
				t.Errorf("%d INVITEs left", len(x.dialed))
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			want := []string{supervisor, "-" + supervisor}
			if c.dials == 1 && !slices.Equal(l.legHolds, want) {
				t.Errorf("holds %v", l.legHolds)
			}
		})
	}
}

// placed notes a call of the last minute.
func (l *lab) placed() {
	l.t.Helper()
	l.must(l.DB.Do(l.t.Context(), func(tx *db.Tx) error { return l.Calls.Placed(l.t.Context(), tx, l.owner, true) }))
}

func (l *lab) block(phone string) {
	l.t.Helper()
	_, err := l.DB.Exec(l.t.Context(), `INSERT INTO do_not_call (account_id, phone, created_at) VALUES ($1, $2, 1)`, l.owner, phone)
	l.must(err)
}

// A caller who leaves while it rings has hung up, and nothing rings on.
//
// Contract: 4.4 14.5
func TestCallerLeavesWhileItRings(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t))
	c := newConnecting(l, callTool, blindly)
	cancelled := make(chan struct{})
	ringing := make(chan struct{})
	l.dial = func(ctx context.Context, _ lines.Destination, _ func(int)) (lines.Leg, error) {
		close(ringing)
		<-ctx.Done()
		close(cancelled)
		return nil, &lines.DialError{Code: 487, Err: ctx.Err()}
	}
	c.begin()
	<-ringing
	c.caller.FarHangup()
	<-cancelled
	c.ended(calls.CustomerHangup)
	if legs := c.legs(); len(legs) != 1 || legs[0].Answered() || legs[0].EndedReal.IsZero() {
		t.Errorf("legs %+v", legs)
	}
}

// A far end that plays its own ringing is heard instead of ours; when it then refuses the assistant is back.
//
// Contract: 4.4
func TestEarlyRinging(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t))
	c := newConnecting(l, callTool, blindly)
	ours := make(chan []int16, 1)
	far := linetest.NewMedia(8000)
	t.Cleanup(far.Close)
	l.dial = func(ctx context.Context, d lines.Destination, _ func(int)) (lines.Leg, error) {
		d.Early(far)
		tone := make([]int16, 8000)
		audio.GenSignal(tone, 8000, 0, audio.Tone{Hz: 1700, Level: 0.5})
		far.Utter(tone)
		line := c.caller.Line()
		n := len(line.Sent())
		l.must(line.SentAll(ctx, n+4000))
		ours <- line.Sent()[n:]
		return nil, &lines.DialError{Code: 486, Err: errors.New("busy")}
	}
	c.begin()
	watched, _, stop, _ := l.watch(c.call.ID)
	defer stop()
	heard := <-ours
	if audio.FindSignal(heard[len(heard)-1600:], 8000, 1700)[0].Level < 0.3 {
		t.Error("the far end's ringing is not heard")
	}
	l.heard(watched, "turn.assistant")
	c.caller.FarHangup()
	c.ended(calls.CustomerHangup)
}

// A caller who is passed around this installation is passed on three times at most.
func TestNoLoop(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t))
	one := func(from string) calls.Call {
		call, err := l.Calls.Create(t.Context(), l.DB, calls.NewCall{Owner: l.owner, Type: calls.Inbound, AssistantName: "Desk", Currency: "USD",
			ClientPhone: from, AssistantPhone: deskNumber})
		l.must(err)
		return call
	}
	depth := func(call calls.Call) int {
		n, err := l.Calls.Passed(t.Context(), l.DB, call, mostPassed)
		l.must(err)
		return n
	}
	call := one("+491701234567")
	if depth(call) != 0 {
		t.Error("nobody passed the first caller on")
	}
	for range mostPassed + 1 {
		l.must(l.DB.Do(t.Context(), func(tx *db.Tx) error {
			_, err := l.Calls.AddLeg(t.Context(), tx, calls.Leg{CallID: call.ID, Target: deskNumber, Shown: *call.ClientPhone})
			return err
		}))
		call = one(*call.ClientPhone)
	}
	if depth(call) != mostPassed {
		t.Errorf("passed on %d times", depth(call))
	}
}
