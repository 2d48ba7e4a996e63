package switchboard

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/audio"
	"parley/calls"
	"parley/db/dbtest"
	"parley/lines"
	"parley/lines/linetest"
	"parley/toolbox"
	"parley/value"
	"parley/voice"
)

var warmly = agent.ToolCall{ID: "1", Name: "warm_transfer_call", Arguments: json.RawMessage(`{}`)}

// presses waits until somebody was spoken to, and presses a key.
func (c *connecting) presses(leg *linetest.Leg, key byte) {
	c.t.Helper()
	c.spokenTo(leg, 1)
	leg.Line().Notice(lines.Event{Kind: lines.Digit, Digit: key, At: time.Now()})
}

// spokenTo waits until so many sentences were heard on a leg.
func (c *connecting) spokenTo(leg *linetest.Leg, sentences int) {
	c.t.Helper()
	ctx, stop := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer stop()
	if err := leg.Line().SentAll(ctx, sentences*480); err != nil {
		c.t.Fatalf("%d samples were heard: %v", len(leg.Line().Sent()), err)
	}
}

// A warm transfer: the caller holds with music, the supervisor is briefed and agrees, both are connected. The briefing is
// neither in the transcript nor on the recording.
//
// Contract: 4.4 4.9 5.2 14.5
func TestWarmTransfer(t *testing.T) {
	each(t, func(l *lab) {
		c := newConnecting(l, warmTool, warmly)
		c.begin()
		other := c.party()
		if d := <-c.dialed; d.To != supervisor || d.From != deskNumber {
			t.Errorf("dialled %+v", d)
		}
		say2 := func() { // the supervisor says something and is told what it is about
			c.spokenTo(other, 1)
			say(other.Line())
		}
		say2()
		c.spokenTo(other, 3) // greeting, summary, question
		c.presses(other, '1')
		c.joinedWith(other)
		c.caller.FarHangup()
		call := c.ended(calls.WarmTransferred)
		<-other.Done()
		if *call.EndedBy != calls.BySystem {
			t.Errorf("ended by %s", *call.EndedBy)
		}
		if got := l.stored(call.ID).Transcript(); got != "Assistant: Hi Mia.\nCustomer: hello there\nAssistant: Hold on.\nAssistant: Here they are." {
			t.Errorf("transcript %q", got)
		}
		log := l.log(call.ID)
		for _, want := range []string{`"phase":"dialling"`, `"phase":"briefing"`, `transfer {"kind":"warm_call_transfer","phase":"connected","target":"+4930999001","result":"connected"}`,
			`"purpose":"briefing"`, `"text":"A caller."`} {
			if !strings.Contains(log, want) {
				t.Errorf("no %s in\n%s", want, log)
			}
		}
		c.model.mu.Lock()
		defer c.model.mu.Unlock()
		var briefing *agent.Request
		for _, r := range c.model.asks {
			if r.Purpose == agent.PurposeBriefing {
				briefing = &r
			}
		}
		if briefing == nil || !strings.Contains(briefing.Instruction, "Sum it up.") ||
			briefing.Messages[len(briefing.Messages)-1].Text != "hello there" {
			t.Errorf("briefed with %+v", briefing)
		}
	})
}

// Whatever keeps a supervisor from taking a call brings the assistant back, and leaves nobody on a line.
//
// Contract: 4.4
func TestWarmTransferFails(t *testing.T) {
	for name, x := range map[string]struct {
		refuse error
		do     func(*connecting, *linetest.Leg)
		want   string
	}{
		"declines":        {do: func(c *connecting, other *linetest.Leg) { c.presses(other, '2') }, want: "declined"},
		"hangs up":        {do: func(c *connecting, other *linetest.Leg) { c.spokenTo(other, 1); other.FarHangup() }, want: "declined"},
		"is a machine":    {do: func(c *connecting, other *linetest.Leg) { c.spokenTo(other, 1); beeps(other) }, want: "voicemail"},
		"is busy":         {refuse: &lines.DialError{Code: 486, Err: errors.New("busy")}, want: "busy"},
		"does not answer": {refuse: &lines.DialError{Code: 408, Timeout: true, Err: errors.New("late")}, want: "no_answer"},
		"is lost":         {do: func(c *connecting, other *linetest.Leg) { c.spokenTo(other, 1); other.Lose(lines.ErrMediaTimeout) }, want: "declined"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, dbtest.SQLite(t))
			c := newConnecting(l, warmTool, warmly)
			c.refuse = x.refuse
			c.begin()
			watched, _, stop, _ := l.watch(c.call.ID)
			defer stop()
			if x.refuse == nil {
				other := c.party()
				x.do(c, other)
				<-other.Done()
			}
			for {
				if e := l.heard(watched, "turn.assistant"); strings.Contains(e.Data.(voice.AssistantTurn).Text, "Result") {
					break
				}
			}
			say(c.caller.Line()) // the caller is heard again
			l.heard(watched, "turn.user")
			c.caller.FarHangup()
			c.ended(calls.CustomerHangup)
			if got := l.stored(c.call.ID).Transcript(); !strings.Contains(got, `Result {"status":"`+x.want+`"}.`) {
				t.Errorf("transcript %q", got)
			}
		})
	}
}

// beeps is a machine's greeting and tone.
func beeps(leg *linetest.Leg) {
	now := time.Now()
	leg.Line().Notice(lines.Event{Kind: lines.SpeechStart, At: now.Add(-4 * time.Second)})
	leg.Line().Notice(lines.Event{Kind: lines.SpeechEnd, At: now})
	tone := make([]int16, 4000)
	audio.GenSignal(tone, 8000, 0, audio.Tone{Hz: 1000, Level: 0.3})
	leg.Line().Utter(tone)
}

// A caller who leaves while holding releases the supervisor.
//
// Contract: 4.4
func TestCallerLeavesWhileHolding(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t))
	c := newConnecting(l, warmTool, warmly)
	c.begin()
	other := c.party()
	c.spokenTo(other, 1)
	c.caller.FarHangup()
	<-other.Done()
	c.ended(calls.CustomerHangup)
}

// The identity that a supervisor sees, and what may be dialled as one.
//
// Contract: 4.4 15.7
func TestSupervisors(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t))
	a := l.assistant("inbound", nil)
	x := func(custom string) *transfer {
		call, err := l.Calls.Create(t.Context(), l.DB, calls.NewCall{Owner: l.owner, Type: calls.Inbound, AssistantName: "Desk", Currency: "USD",
			ClientPhone: "+491701234567", AssistantPhone: deskNumber})
		l.must(err)
		m, err := l.thinker(a, &live{call: call}, nil, agent.Engine{})
		l.must(err)
		return &transfer{thinker: m, asked: voice.Thinking{Language: custom}}
	}
	for _, c := range []struct {
		tool toolbox.WarmCallTransfer
		want string // shown, or the error
	}{
		{toolbox.WarmCallTransfer{SupervisorPhone: supervisor, OutboundPhoneID: numberID, CallerIDMode: "outbound_number"}, deskNumber},
		{toolbox.WarmCallTransfer{SupervisorPhone: supervisor, OutboundPhoneID: numberID, CallerIDMode: "customer_number"}, "+491701234567"},
		{toolbox.WarmCallTransfer{SupervisorPhone: supervisor, OutboundPhoneID: numberID, CallerIDMode: "custom", CustomCallerID: value.Ptr("+4930777")}, "+4930777"},
		{toolbox.WarmCallTransfer{SupervisorPhone: "200", OutboundPhoneID: numberID, CustomSIP: true}, "this number may not be called"},
		{toolbox.WarmCallTransfer{SupervisorPhone: "sip:200@pbx.example", OutboundPhoneID: numberID, CustomSIP: true}, deskNumber},
		{toolbox.WarmCallTransfer{SupervisorPhone: "sip:+499001234567@pbx.example", OutboundPhoneID: numberID, CustomSIP: true}, "this number may not be called"},
		{toolbox.WarmCallTransfer{SupervisorPhone: "+88213123456", OutboundPhoneID: numberID}, "this number may not be called"},
	} {
		d, err := x("en").warmTo(t.Context(), &c.tool)
		got := d.From
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %s", c.tool, got)
		}
	}
	if !l.mayDial("200", 9) || l.mayDial("0088213123456", 9) || l.mayDial("sip:0088213123456@x.example", 0) {
		t.Error("extensions of an own line")
	}
	standard := toolbox.WarmCallTransfer{HoldMessage: "Please hold while I connect you with a supervisor."}
	if got := x("de").spoken(standard.HoldMessage); !strings.HasPrefix(got, "Bitte warten") {
		t.Errorf("in German %q", got)
	}
	if got := x("de").spoken("My own."); got != "My own." {
		t.Errorf("own text %q", got)
	}
}
