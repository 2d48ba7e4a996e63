package switchboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/audio"
	"parley/calllog"
	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/lines"
	"parley/lines/linetest"
	"parley/recordings"
	"parley/value"
)

// An answered inbound call: its record, transcript, evaluation, costs, recording and log.
//
// Contract: 4.9 5.2 14.5
func TestInboundCall(t *testing.T) {
	each(t, func(l *lab) {
		l.assistant("inbound", nil)
		leg := l.call(deskNumber)
		<-leg.Answered()
		c := l.until(status(calls.InProgress))
		watched, _, stop, ok := l.watch(c.ID)
		if !ok {
			l.t.Fatal("nothing to watch")
		}
		defer stop()
		l.heard(watched, "turn.assistant")
		say(leg.Line())
		l.heard(watched, "turn.assistant")
		leg.FarHangup()
		c = l.until(status(calls.Completed))
		for range watched { // closed at the end
		}
		c = l.stored(c.ID)
		if got := c.Transcript(); got != "Assistant: Hi Mia.\nCustomer: hello there\nAssistant: You said hello there." {
			l.t.Errorf("transcript %q", got)
		}
		if *c.Reason != calls.CustomerHangup || *c.EndedBy != calls.ByCustomer || !c.Spoke || c.AnsweredBy != calls.Human || *c.ClientPhone != "+491701234567" {
			l.t.Errorf("%+v", c)
		}
		if c.Evaluation.V.String() != `{"status":true,"summary":"A <talk>."}` || c.Variables.V.String() != c.Evaluation.V.String() {
			l.t.Errorf("evaluation %s, variables %s", c.Evaluation.V, c.Variables.V)
		}
		if c.AICost == 0 || c.CarrierCost != 7 {
			l.t.Errorf("costs %v %v", c.AICost, c.CarrierCost)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if done := <-l.settled; done.ID != c.ID || done.Status != calls.Completed || len(l.settled) != 0 {
			l.t.Errorf("settled %+v", done)
		}
		rate, channels, pcm := wav(l.t, l.files[*c.Recording])
		loud := 0
		for i := 1; i < len(pcm); i += 2 {
			if pcm[i] != 0 {
				loud++
			}
		}
		if rate != 8000 || channels != 2 || loud < 800 || loud > 960 { // two sentences of 480 samples; a sine has zeros
			l.t.Errorf("recording: %d Hz, %d channels, %d samples of speech", rate, channels, loud)
		}
		log := l.log(c.ID)
		for _, want := range []string{`call.state {"status":"ringing","reason":null}`, `audio.denoise {"enabled":true}`, `stt.request {"provider":"fake","language":"en","denoise":false}`, `tts.request {"provider":"fake","voice":"v"`,
			`turn.user {"text":"hello there","language":"en","source":"speech"}`, `llm.request {"provider":"fake","model":"m"`, `"purpose":"evaluation"`,
			`call.state {"status":"completed","reason":"customer_hangup"}`} {
			if !strings.Contains(log, want) {
				l.t.Errorf("no %s in\n%s", want, log)
			}
		}
	})
}

// watch waits until the conversation can be watched.
func (l *lab) watch(id calls.ID) (<-chan calllog.Watched, int64, func(), bool) {
	for range 1000 {
		if events, seq, stop, ok := l.Watch(id); ok {
			return events, seq, stop, ok
		}
		time.Sleep(time.Millisecond)
	}
	return nil, 0, nil, false
}

// heard waits for an event of a type.
func (l *lab) heard(events <-chan calllog.Watched, kind string) calllog.Watched {
	l.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case e := <-events:
			if e.Type == kind {
				return e
			}
		case <-limit:
			l.t.Fatalf("no %s", kind)
		}
	}
}

// Inbound calls that nobody can take are refused with the status of their reason, and leave a failed record.
//
// Contract: 4.7 14.5 16.4
func TestRefusals(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		to     string
		code   int
		reason calls.Reason // empty = no record
		world  func(*lab)
	}{
		"nobody's number":   {to: "+1555", code: 404},
		"no assistant":      {to: freeNumber, code: 480, reason: calls.NoRoute},
		"paused":            {to: deskNumber, code: 480, reason: calls.AssistantInactive, world: pause},
		"suspended":         {to: deskNumber, code: 480, reason: calls.AccountSuspended, world: func(l *lab) { l.terms(accounts.Terms{Suspended: &yes}) }},
		"no money":          {to: deskNumber, code: 480, reason: calls.InsufficientBalance, world: func(l *lab) { l.poor = true }},
		"account's ceiling": {to: deskNumber, code: 486, reason: calls.ConcurrencyLimit, world: func(l *lab) { l.terms(parallel(1)); l.busyCall() }},
		"engines busy":      {to: deskNumber, code: 486, reason: calls.ConcurrencyLimit, world: func(l *lab) { l.Engines().Most["fake"] = 0 }},
		"language":          {to: deskNumber, code: 480, reason: calls.NoRoute, world: func(l *lab) { l.speak(5) }},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, dbtest.SQLite(t))
			l.assistant("inbound", nil)
			if c.world != nil {
				c.world(l)
			}
			leg := l.call(c.to)
			if code := <-leg.Rejected(); code != c.code {
				t.Errorf("refused with %d, want %d", code, c.code)
			}
			if c.reason == "" {
				return
			}
			got := l.until(func(one calls.Call) bool { return one.Status == calls.Failed })
			if *got.Reason != c.reason || got.Answered() {
				t.Errorf("%+v", got)
			}
		})
	}
}

func pause(l *lab) {
	a, err := l.Assistants.ForNumber(l.t.Context(), l.DB, numberID)
	l.must(err)
	_, _, err = l.Assistants.Update(l.t.Context(), l.owner, value.Ref{ID: int64(a.ID)}, assistants.Change{Patch: value.Filled(assistants.Settings{Status: "inactive"})})
	l.must(err)
}

func (l *lab) speak(language int64) {
	a, err := l.Assistants.ForNumber(l.t.Context(), l.DB, numberID)
	l.must(err)
	_, _, err = l.Assistants.Update(l.t.Context(), l.owner, value.Ref{ID: int64(a.ID)}, assistants.Change{Patch: value.Filled(assistants.Settings{LanguageID: language})})
	l.must(err)
}

// busyCall is a call that another process holds.
func (l *lab) busyCall() calls.Call {
	c, err := l.Calls.Create(l.t.Context(), l.DB, calls.NewCall{Owner: l.owner, Type: calls.Web, AssistantName: "D", Currency: "USD", Node: "n2", Lease: time.Minute})
	l.must(err)
	return c
}

// What is wrong with an order to call, in the order of the checks.
//
// Contract: 5.1 16.4
func TestMakeCallChecks(t *testing.T) {
	each(t, func(l *lab) {
		out := l.assistant("outbound", nil)
		in := l.assistant("inbound", nil)
		mute := l.assistant("outbound", func(f *assistants.Settings) { f.PhoneNumberID = nil })
		paused := l.assistant("outbound", func(f *assistants.Settings) { f.PhoneNumberID = nil })
		for _, s := range []string{"active", "inactive"} {
			_, _, err := l.Assistants.Update(t.Context(), l.owner, value.Ref{ID: int64(paused.ID)}, assistants.Change{Patch: value.Filled(assistants.Settings{Status: s})})
			l.must(err)
		}
		_, err := l.Calls.Block(t.Context(), l.owner, "+491700000000", "")
		l.must(err)
		l.Phones.Countries = []string{"DE"}
		for name, c := range map[string]struct {
			a     assistants.Assistant
			phone string
			world func()
			kind  fault.Kind
			says  string
		}{
			"not a number":   {a: out, phone: "0301234", kind: fault.Malformed, says: "This phone number cannot be dialled. Write it in E.164 form, for example +1234567890."},
			"not ours":       {a: assistants.Assistant{ID: 999}, phone: "+491701", kind: fault.Malformed, says: "This phone number cannot be dialled."},
			"no assistant":   {a: assistants.Assistant{ID: 999}, phone: "+4917012345678", kind: fault.NotFound, says: "No assistant with this id exists in your account."},
			"inbound":        {a: in, phone: "+4917012345678", kind: fault.Invalid, says: "Assistant is not an outbound assistant."},
			"paused":         {a: paused, phone: "+4917012345678", kind: fault.Invalid, says: "Assistant is inactive."},
			"no number":      {a: mute, phone: "+4917012345678", kind: fault.Invalid, says: "Assistant has no phone number to call from."},
			"do not call":    {a: out, phone: "+491700000000", kind: fault.Invalid, says: "This phone number is on the do-not-call list."},
			"destination":    {a: out, phone: "+14155550123", kind: fault.Invalid, says: "Calls to this destination are not allowed."},
			"premium":        {a: out, phone: "+499001234567", kind: fault.Invalid, says: "Calls to this destination are not allowed."},
			"poor, and full": {a: out, phone: "+4917012345678", world: func() { l.poor = true; l.terms(parallel(0)) }, kind: fault.Invalid, says: "Your balance does not cover this call. Add funds, then try again."},
			"full":           {a: out, phone: "+4917012345678", world: func() { l.terms(parallel(0)) }, kind: fault.TooMany, says: "Too many calls in progress."},
		} {
			l.poor = false
			l.terms(parallel(100))
			if c.world != nil {
				c.world()
			}
			_, err := l.Place(t.Context(), l.DB, Order{Owner: l.owner, Assistant: value.Ref{ID: int64(c.a.ID)}, Phone: c.phone})
			if f := fault.Of(err); f.Kind != c.kind || !strings.HasPrefix(f.Message, c.says) {
				l.t.Errorf("%s: %v %q, want %v %q", name, f.Kind, f.Message, c.kind, c.says)
			}
		}
		if n, err := l.Calls.Live(t.Context(), l.DB, l.owner, ""); err != nil || n != 0 {
			l.t.Errorf("refused orders left %d calls, %v", n, err)
		}
	})
}

// place orders a call to somebody who answers or not as dial says.
func (l *lab) place(dial func(ctx context.Context, d lines.Destination, progress func(int)) (lines.Leg, error)) calls.Call {
	l.t.Helper()
	a := l.assistant("outbound", func(f *assistants.Settings) { f.RingingTime = 12 })
	l.dial = dial
	c, err := l.Place(l.t.Context(), l.DB, Order{Owner: l.owner, Assistant: value.Ref{ID: int64(a.ID)}, Phone: "+491701234567", Variables: value.Scalars{{Name: "name", Value: "Tom"}}})
	l.must(err)
	return c
}

// An outbound call that is answered.
//
// Contract: 5.1 5.2 14.5
func TestOutboundCall(t *testing.T) {
	each(t, func(l *lab) {
		leg := linetest.NewLeg(lines.Info{SignalID: "out-1"})
		asked := make(chan lines.Destination, 1)
		l.place(func(ctx context.Context, d lines.Destination, progress func(int)) (lines.Leg, error) {
			asked <- d
			progress(100)
			progress(180)
			progress(183)
			return leg, leg.Answer(ctx)
		})
		d := <-asked
		if d.To != "+491701234567" || d.From != deskNumber || d.RingFor != 12*time.Second {
			l.t.Errorf("dialled %+v", d)
		}
		c := l.until(status(calls.InProgress))
		watched, _, stop, _ := l.watch(c.ID)
		defer stop()
		said := l.heard(watched, "turn.assistant")
		if b, _ := json.Marshal(said.Data); !strings.Contains(string(b), "Hi Tom.") {
			l.t.Errorf("greeting %s", b)
		}
		if c.AnsweredBy != calls.Unknown {
			l.t.Errorf("answered by %s before anybody spoke", c.AnsweredBy)
		}
		l.must(l.HangUp(t.Context(), calls.APIHangup, c.ID))
		c = l.until(status(calls.Completed))
		c = l.stored(c.ID)
		if *c.Reason != calls.APIHangup || *c.EndedBy != calls.BySystem || *c.SignalID != "out-1" {
			l.t.Errorf("%+v", c)
		}
		if log := l.log(c.ID); !strings.Contains(log, `"status":"ringing"`) || !strings.Contains(log, `"status":"ended","reason":"api_hangup"`) {
			l.t.Errorf("log\n%s", log)
		}
		<-leg.Done()
	})
}

// Outbound calls that are not answered, and what their records say of it.
//
// Contract: 14.5
func TestNobodyAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status calls.Status
		reason calls.Reason
	}{
		"busy":     {&lines.DialError{Code: 486}, calls.Busy, calls.BusyReason},
		"time out": {&lines.DialError{Code: 408, Timeout: true}, calls.NoAnswer, calls.NoAnswerReason},
		"wrong":    {&lines.DialError{Code: 404}, calls.Failed, calls.InvalidNumber},
		"silent":   {&lines.DialError{}, calls.Failed, calls.CarrierError},
		"ours":     {errors.New("no such trunk"), calls.Failed, calls.CarrierError},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, dbtest.SQLite(t))
			l.place(func(context.Context, lines.Destination, func(int)) (lines.Leg, error) { return nil, c.err })
			got := l.until(func(one calls.Call) bool { return one.Status.Final() })
			if got.Status != c.status || *got.Reason != c.reason || got.Seconds != 0 || got.Evaluation.V.String() != `{}` {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A call is hung up before it was answered.
//
// Contract: 14.5 18.1
func TestHangUpWhileItRings(t *testing.T) {
	each(t, func(l *lab) {
		l.place(func(ctx context.Context, _ lines.Destination, progress func(int)) (lines.Leg, error) {
			progress(180)
			<-ctx.Done()
			return nil, &lines.DialError{Code: 487, Err: ctx.Err()}
		})
		c := l.until(status(calls.Ringing))
		l.must(l.HangUp(t.Context(), calls.CampaignStopped, c.ID))
		c = l.until(status(calls.Failed))
		if *c.Reason != calls.CampaignStopped {
			l.t.Errorf("%+v", c)
		}
	})
}

// A process that was killed left calls behind: one that rang, one that was answered. The record of the second says how long
// it was known to go on, and keeps what was recorded (contract 14.5).
//
// Contract: 14.5
func TestCrash(t *testing.T) {
	each(t, func(l *lab) {
		life := &Switchboard{Deps: l.Deps, live: map[calls.ID]*live{}} // the next one of the process n9
		life.Node = "n9"
		scratch := t.TempDir()
		add := func() calls.Call {
			c, err := l.Calls.Create(t.Context(), l.DB, calls.NewCall{Owner: l.owner, Type: calls.Inbound, AssistantName: "D", Currency: "USD", Node: "n9", Lease: lease})
			l.must(err)
			return c
		}
		rang, talked := add(), add()
		_, err := l.Calls.Answers(t.Context(), l.DB, talked.ID)
		l.must(err)
		now := time.Now()
		event, err := calls.MakeEvent(now.Add(-26*time.Second), "speech.end", struct{}{})
		l.must(err)
		l.must(l.DB.Do(t.Context(), func(tx *db.Tx) error { return l.Calls.Log(t.Context(), tx, talked.ID, []calls.Event{event}) }))
		answered := now.Add(-30 * time.Second)
		_, err = l.DB.Exec(t.Context(), `UPDATE calls SET answered_real = $1, created_real = $1, lease_real = $2 WHERE id = $3`,
			db.At(answered), db.At(answered.Add(lease+time.Second)), talked.ID)
		l.must(err)
		_, err = l.DB.Exec(t.Context(), `UPDATE call_events SET at_real = $1 WHERE call_id = $2 AND type = 'call.state'`, db.At(answered), talked.ID)
		l.must(err)
		tape := cutOff(t, scratch, talked.ID, now.Add(-25*time.Second))
		life.began, life.Recordings = time.Now(), recordings.New(l.DB, l.Calls, l, scratch, l.Log)
		l.must(life.Recover(t.Context()))
		l.until(func(c calls.Call) bool { return c.ID == talked.ID && c.Status == calls.Completed })
		for id, want := range map[calls.ID]calls.Status{rang.ID: calls.Failed, talked.ID: calls.Completed} {
			if c := l.stored(id); c.Status != want || *c.Reason != calls.ServerRestart {
				l.t.Errorf("%+v", c)
			}
		}
		c := l.stored(talked.ID)
		if c.Seconds != 5 || c.AISeconds != 5 && c.AISeconds != 6 || c.AICost == 0 || c.Recording == nil {
			l.t.Fatalf("%d s, %d s of talk for %v, recording %v", c.Seconds, c.AISeconds, c.AICost, c.Recording)
		}
		if _, channels, pcm := wav(t, l.files[*c.Recording]); channels != 2 || len(pcm) != 800 {
			l.t.Errorf("recording: %d channels, %d samples", channels, len(pcm))
		}
		if _, err := os.Stat(tape); !os.IsNotExist(err) {
			l.t.Errorf("the scratch file stays: %v", err)
		}
		l.must(life.Recover(t.Context()))
	})
}

// Without a recording the log says how long a lost call was known to go on.
func TestLastSign(t *testing.T) {
	each(t, func(l *lab) {
		c, err := l.Calls.Create(t.Context(), l.DB, calls.NewCall{Owner: l.owner, Type: calls.Inbound, AssistantName: "D", Currency: "USD", Node: "n9", Lease: lease})
		l.must(err)
		at := time.Now().Truncate(time.Second)
		for _, want := range []time.Time{at.Add(-time.Second), at.Add(time.Hour)} {
			event, err := calls.MakeEvent(want, "speech.end", struct{}{})
			l.must(err)
			c.CreatedReal, c.LeaseReal = db.At(at.Add(-time.Minute)), db.At(at.Add(lease-30*time.Second))
			_, err = l.DB.Exec(t.Context(), `DELETE FROM call_events`)
			l.must(err)
			l.must(l.DB.Do(t.Context(), func(tx *db.Tx) error { return l.Calls.Log(t.Context(), tx, c.ID, []calls.Event{event}) }))
			got, err := l.lastSign(t.Context(), c)
			l.must(err)
			if want.Before(at) && !got.Equal(want) || got.After(time.Now()) {
				l.t.Errorf("%v, want %v", got, want)
			}
		}
	})
}

// cutOff leaves a recording behind as a killed process does, written last at a moment.
func cutOff(t *testing.T, folder string, id calls.ID, at time.Time) string {
	t.Helper()
	f, err := os.Create(filepath.Join(folder, fmt.Sprintf("call-%d-1.wav", id)))
	if err != nil {
		t.Fatal(err)
	}
	w, err := audio.NewWAVWriter(f, 8000, 2)
	if err == nil {
		err = w.WriteSamples(make([]int16, 800))
	}
	if err = errors.Join(err, f.Close(), os.Chtimes(f.Name(), at, at)); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// A call whose process went silent is ended by any other.
//
// Contract: 14.5
func TestOrphan(t *testing.T) {
	each(t, func(l *lab) {
		c := l.busyCall()
		if _, err := l.DB.Exec(t.Context(), `UPDATE calls SET lease_real = 1 WHERE id = $1`, c.ID); err != nil {
			l.t.Fatal(err)
		}
		l.must(l.reap(t.Context()))
		if got := l.stored(c.ID); got.Status != calls.Failed || *got.Reason != calls.ServerRestart {
			l.t.Errorf("%+v", got)
		}
	})
}

// A browser call, and who may end it.
//
// Contract: 18.1
func TestWebCall(t *testing.T) {
	each(t, func(l *lab) {
		a := l.assistant("inbound", nil)
		leg := linetest.NewLeg(lines.Info{Kind: "web", SignalID: "w"})
		w, err := l.Web(t.Context(), a, leg, nil, "req")
		l.must(err)
		<-leg.Answered()
		c := l.until(status(calls.InProgress))
		if c.Type != calls.Web || c.ClientPhone != nil || c.AssistantPhone != nil || c.AnsweredBy != calls.Human {
			l.t.Errorf("%+v", c)
		}
		if l.EndWeb(t.Context(), c.UUID, "wrong") == nil || l.EndWeb(t.Context(), "nope", w.Token) == nil {
			l.t.Error("ended by a stranger")
		}
		if l.EndWeb(t.Context(), c.UUID, w.Token) != nil {
			l.t.Error("not ended")
		}
		c = l.until(status(calls.Completed))
		if *c.Reason != calls.CustomerHangup {
			l.t.Errorf("%+v", c)
		}
	})
}

// Typed words and hints reach a running call, and no finished one.
//
// Contract: 4.9 18.3
func TestTypedAndWhispered(t *testing.T) {
	each(t, func(l *lab) {
		l.assistant("inbound", nil)
		leg := l.call(deskNumber)
		<-leg.Answered()
		c := l.until(status(calls.InProgress))
		watched, _, stop, _ := l.watch(c.ID)
		defer stop()
		l.heard(watched, "turn.assistant")
		l.must(l.Whisper(t.Context(), c, "be kind"))
		l.must(l.Type(t.Context(), c, "typed words"))
		e := l.heard(watched, "turn.user")
		if b, _ := json.Marshal(e.Data); string(b) != `{"text":"typed words","language":"en","source":"chat"}` {
			l.t.Errorf("%s", b)
		}
		leg.Lose(lines.ErrMediaTimeout)
		c = l.until(status(calls.Completed))
		if *c.Reason != calls.MediaTimeout {
			l.t.Errorf("%+v", c)
		}
		if err := l.Type(t.Context(), c, "too late"); !fault.Is(err, fault.Conflict) {
			l.t.Errorf("typed into a finished call: %v", err)
		}
	})
}

// deaf is a leg whose far end never confirms a hang-up.
type deaf struct{ *linetest.Leg }

func (d deaf) Hangup(ctx context.Context) error {
	<-ctx.Done()
	return errors.Join(ctx.Err(), d.Leg.Hangup(ctx))
}

// A server that stops ends its calls, whether or not their far ends answer, and takes no others.
//
// Contract: 14.5
func TestDrain(t *testing.T) {
	each(t, func(l *lab) {
		l.assistant("inbound", nil)
		leg := linetest.NewLeg(lines.Info{ID: "1", SignalID: "sig", Kind: "sip", From: "+491701234567", To: deskNumber})
		l.Inbound(deaf{leg})
		<-leg.Answered()
		c := l.until(status(calls.InProgress))
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer stop()
		began := time.Now()
		l.Drain(ctx)
		if took := time.Since(began); took >= hangupTime {
			l.t.Errorf("it waited for the far end as if it had time: %v", took)
		}
		if late := l.call(deskNumber); <-late.Rejected() != 503 {
			l.t.Error("a call after the end")
		}
		c = l.stored(c.ID)
		if c.Status != calls.Ended && c.Status != calls.Completed || *c.Reason != calls.ServerShutdown {
			l.t.Errorf("%+v", c)
		}
	})
}

// What follows from a call happens once.
//
// Contract: 14.5 16.2
func TestSettledOnce(t *testing.T) {
	each(t, func(l *lab) {
		c := l.busyCall()
		c, err := l.Calls.End(t.Context(), l.DB, c.ID, calls.Over{Reason: calls.APIHangup})
		l.must(err)
		for i := range 2 {
			err := l.DB.Do(t.Context(), func(tx *db.Tx) error { return l.settle(t.Context(), tx, c, nil, nil) })
			if (i == 0) != (err == nil) {
				l.t.Errorf("time %d: %v", i+1, err)
			}
		}
		if len(l.settled) != 1 {
			l.t.Errorf("settled %d times", len(l.settled))
		}
	})
}
