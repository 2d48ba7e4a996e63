package chats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/value"
	"parley/wire"
)

// TestChat chats on a widget.
//
// Contract: 4.8 13.2 13.4
func TestChat(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant(`"variables":{"name":"Mia"}`)
		c, history, err := l.room.Begin(t.Context(), Start{Assistant: value.Ref{UUID: a.UUID}, Type: Widget, Variables: value.Scalars{{Name: "name", Value: "Tom"}}})
		if err != nil || len(history) != 1 || history[0].Text != "Hello Tom, this is Desk." {
			t.Fatal(history, err)
		}
		r, err := l.room.Answer(t.Context(), Message{UUID: c.UUID, Text: "When do you open?"})
		if err != nil || r.Text != "You said: When do you open?" {
			t.Fatal(r, err)
		}
		ask := l.model.requests()[0]
		if !strings.HasPrefix(ask.System, "Be kind to Tom.") || ask.Temperature != 0.1 || ask.Language != "en" || len(ask.Messages) != 2 {
			t.Errorf("%+v", ask)
		}
		if now, err := l.room.Get(t.Context(), l.d, 1, value.Ref{ID: int64(c.ID)}); err != nil || now.Messages != 3 || now.Cost != value.MoneyUnit/100 || now.AssistantName != "Desk" {
			t.Errorf("%+v %v", now, err)
		}
		if woken, err := l.people.ByID(t.Context(), l.d, a.ID); err != nil || woken.Status != assistants.Active {
			t.Error("the widget did not wake the assistant:", err)
		}
	})
}

// TestWhoMayDoWhat opens and reads with and without keys.
//
// Contract: 13.1 13.3
func TestWhoMayDoWhat(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant("")
		begin := func(s Start) error { _, _, err := l.room.Begin(t.Context(), s); return err }
		for _, c := range []struct {
			what string
			in   Start
			want error
		}{
			{"widget by uuid", Start{0, value.Ref{UUID: a.UUID}, Widget, nil}, nil},
			{"widget by id without a key", Start{0, value.Ref{ID: int64(a.ID)}, Widget, nil}, ErrNoAssistant},
			{"widget by id with the key", Start{1, value.Ref{ID: int64(a.ID)}, Widget, nil}, nil},
			{"test without a key", Start{0, value.Ref{UUID: a.UUID}, Test, nil}, fault.ErrUnauthenticated},
			{"test with a stranger's key", Start{2, value.Ref{UUID: a.UUID}, Test, nil}, ErrNoAssistant},
			{"test with the key", Start{1, value.Ref{UUID: a.UUID}, Test, nil}, nil},
		} {
			if err := begin(c.in); err != c.want && !errors.Is(err, assistants.ErrNotFound) {
				t.Errorf("%s: %v", c.what, err)
			} else if (err == nil) != (c.want == nil) {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		widget, test := l.begin(a, Widget), l.begin(a, Test)
		api, err := l.room.External(t.Context(), a, "crm-7", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			caller  int64
			of      Conversation
			public  string
			visible bool
		}{
			{0, widget, PublicWidget, true}, {0, test, PublicWidget, true}, {0, api, PublicWidget, false}, {0, api, PublicAll, true},
			{0, widget, PublicNone, false}, {1, api, PublicNone, true}, {2, widget, PublicAll, false},
		} {
			ref := value.Ref{UUID: c.of.UUID}
			_, err := l.room.Readable(t.Context(), ownerID(c.caller), ref, c.public)
			if (err == nil) != c.visible || err != nil && err != ErrNotFound {
				t.Errorf("%d reads %s with %s: %v", c.caller, c.of.Type, c.public, err)
			}
		}
		if _, err := l.room.Answer(t.Context(), Message{UUID: api.UUID, Text: "x"}); err != ErrNotFound {
			t.Error("keyless on api:", err)
		}
	})
}

// TestPausedOrHiddenAssistant chats with assistants that refuse.
//
// Contract: 4.2 13.2 14.6
func TestPausedOrHiddenAssistant(t *testing.T) {
	l := newLab(t, openSQLite(t))
	a := l.assistant("")
	c := l.begin(a, Widget)
	change := func(body string) {
		t.Helper()
		var ch assistants.Change
		if err := wire.ReadJSON([]byte(body), &ch.Patch); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.people.Update(t.Context(), 1, value.Ref{ID: int64(a.ID)}, ch); err != nil {
			t.Fatal(err)
		}
	}
	for _, off := range []string{`{"status":"inactive"}`, `{"status":"active","widget_settings":{"enabled":false}}`} {
		change(off)
		if _, _, err := l.room.Begin(t.Context(), Start{Assistant: value.Ref{UUID: a.UUID}, Type: Widget}); err != ErrNoAssistant {
			t.Error(off, err)
		}
		if _, err := l.room.Answer(t.Context(), Message{UUID: c.UUID, Text: "x"}); err != ErrNotFound {
			t.Error(off, err)
		}
		if _, err := l.say(l.begin(a, Test), "x"); err != nil {
			t.Error(off, "test chats always work:", err)
		}
	}
	if err := l.people.Delete(t.Context(), 1, value.Ref{ID: int64(a.ID)}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.say(c, "x"); err != ErrNotFound {
		t.Error(err)
	}
	if got, err := l.room.Get(t.Context(), l.d, 1, value.Ref{UUID: c.UUID}); err != nil || got.AssistantName != "Desk" {
		t.Error(got.AssistantName, err)
	}
}

// TestMessagesAreAnsweredInOrder sends more messages than may wait.
//
// Contract: 1.12 13.4
func TestMessagesAreAnsweredInOrder(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant("")
		c := l.begin(a, Widget)
		entered, release := make(chan string, 8), make(chan struct{})
		l.model.reply = func(ctx context.Context, r agent.Request) ([]agent.Chunk, error) {
			text := r.Messages[len(r.Messages)-1].Text
			entered <- text
			select {
			case <-release:
			case <-ctx.Done():
			}
			return echo(ctx, r)
		}
		var wg sync.WaitGroup
		<-l.heard // the greeting
		for i := range queue {
			wg.Go(func() {
				if _, err := l.say(c, fmt.Sprint("m", i)); err != nil {
					t.Error(err)
				}
			})
			<-l.heard
		}
		if first := <-entered; first != "m0" {
			t.Error(first)
		}
		if _, err := l.say(c, "one too many"); !fault.Is(err, fault.TooMany) {
			t.Error(err)
		}
		if len(entered) != 0 {
			t.Error("two messages in work at once")
		}
		close(release)
		wg.Wait()
		want := "assistant: Hello , this is Desk.\nuser: m0\nuser: m1\nuser: m2\nuser: m3\n" +
			"assistant: You said: m0\nassistant: You said: m1\nassistant: You said: m2\nassistant: You said: m3\n"
		if got := l.script(c); got != want {
			t.Error(got)
		}
	})
}

// TestUnansweredMessageStaysAndCostsNothing has the model fail.
//
// Contract: 13.4 16.2
func TestUnansweredMessageStaysAndCostsNothing(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		c := l.begin(l.assistant(""), Widget)
		for reason, why := range map[string]error{"the model failed": errors.New("secret detail"),
			"the language model refused the API key": &fault.Fault{Kind: fault.Unavailable, Message: "the language model refused the API key", Cause: errors.New("HTTP 401")}} {
			l.model.reply = func(context.Context, agent.Request) ([]agent.Chunk, error) { return nil, why }
			_, err := l.say(c, "hello?")
			if !fault.Is(err, fault.Malformed) || fault.Of(err).Message != "The message could not be answered: "+reason {
				t.Error(err)
			}
		}
		if got := l.script(c); !strings.HasSuffix(got, "user: hello?\n") || l.funds != 1000 {
			t.Error(got, l.funds)
		}
		l.model.reply = echo
		if r := l.must(c, "again"); r.Text != "You said: again" {
			t.Error(r)
		}
	})
}

// TestBalance runs out of money.
//
// Contract: 13.2 13.4 16.4
func TestBalance(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant("")
		c := l.begin(a, Widget)
		l.funds = 0
		if _, err := l.say(c, "x"); err != ErrBalance || strings.Contains(l.script(c), "user") {
			t.Error(err, l.script(c))
		}
		if _, _, err := l.room.Begin(t.Context(), Start{Assistant: value.Ref{UUID: a.UUID}, Type: Widget}); err != ErrBalance {
			t.Error(err)
		}
		if r := l.must(l.begin(a, Test), "free"); r.Text == "" {
			t.Error(r)
		}
	})
}

// TestAIOff takes over, also while an answer is made.
//
// Contract: 13.6
func TestAIOff(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		c := l.begin(l.assistant(""), Widget)
		off := func(on bool) {
			t.Helper()
			for range 2 { // twice is the same as once
				if err := l.room.SetAI(t.Context(), 1, value.Ref{UUID: c.UUID}, on); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := l.room.SetAI(t.Context(), 2, value.Ref{UUID: c.UUID}, false); err != ErrNotFound {
			t.Error(err)
		}
		off(false)
		if r := l.must(c, "anybody?"); !r.AIOff || r.Text != "" || len(l.model.requests()) != 0 {
			t.Error(r)
		}
		if err := l.room.Say(t.Context(), 1, value.Ref{UUID: c.UUID}, "A person here."); err != nil {
			t.Fatal(err)
		}
		off(true)
		l.model.reply = func(ctx context.Context, r agent.Request) ([]agent.Chunk, error) {
			off(false) // somebody takes over while the model thinks
			return echo(ctx, r)
		}
		if r := l.must(c, "and now?"); !r.AIOff {
			t.Error(r)
		}
		want := "assistant: Hello , this is Desk.\nsystem: A person took over.\nuser: anybody?\nassistant: A person here.\nsystem: The assistant answers again.\nuser: and now?\nsystem: A person took over.\n"
		if got := l.script(c); got != want || l.funds != 1000 {
			t.Errorf("%s%d", got, l.funds)
		}
	})
}

// TestInactivity lets a chat go quiet.
//
// Contract: 14.9 15.4
func TestInactivity(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant(`"conversation_inactivity_timeout":10`)
		c := l.begin(a, Widget)
		l.must(c, "one")
		l.advance(9 * time.Minute)
		l.must(c, "two")
		l.advance(9 * time.Minute)
		if s := l.state(c); s != "open" {
			t.Fatal(s)
		}
		at := l.d.Now().Add(time.Minute)
		l.advance(time.Minute)
		if s := l.state(c); s != "ended inactivity" {
			t.Fatal(s)
		}
		got := l.reported()
		if len(got) != 1 || got[0].Reason != Inactivity || !got[0].EndedAt.Equal(at) || len(got[0].Entries) != 5 ||
			fmt.Sprint(got[0].Extracted) != `{"status":true,"summary":"Settled."}` || got[0].URL != "https://x.example/ended" {
			t.Errorf("%+v", got)
		}
		if _, err := l.say(c, "late"); err != ErrEnded {
			t.Error(err)
		}
		l.advance(time.Hour)
		if n := len(l.reported()); n != 1 {
			t.Error(n, "reports")
		}
	})
}

// TestRetrigger wakes a chat that ended by inactivity.
//
// Contract: 14.9 15.4
func TestRetrigger(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		c := l.begin(l.assistant(`"conversation_inactivity_timeout":1,"conversation_ended_retrigger":true`), Widget)
		l.must(c, "one")
		for n := range 3 {
			l.advance(time.Minute)
			if s := l.state(c); s != "ended inactivity" || len(l.reported()) != n+1 {
				t.Fatal(s, len(l.reported()))
			}
			l.must(c, "again")
		}
		if got := l.reported()[2].Entries; len(got) != 7 {
			t.Error(len(got), "entries in the last report: the history is whole")
		}
	})
}

// TestApiConversationAfterItsEnd writes to ended conversations.
//
// Contract: 13.7 14.9
func TestApiConversationAfterItsEnd(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant(`"conversation_inactivity_timeout":1`)
		c, err := l.room.External(t.Context(), a, "crm-7", value.Scalars{{Name: "name", Value: "Mia"}, {Name: "age", Value: 41.0}})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := l.room.External(t.Context(), a, "crm-7", value.Scalars{{Name: "city", Value: "Bern"}, {Name: "name", Value: "Ada"}}); err != nil || again.ID != c.ID || fmt.Sprint(again.Variables) != `{"name":"Ada","age":41,"city":"Bern"}` {
			t.Error(again, err)
		}
		l.must(c, "one")
		l.advance(time.Minute)
		l.must(c, "two") // answered, but it stays ended
		l.advance(time.Hour)
		if s := l.state(c); s != "ended inactivity" || len(l.reported()) != 1 {
			t.Error(s, len(l.reported()))
		}
		d, err := l.room.External(t.Context(), a, "crm-8", nil)
		if err != nil {
			t.Fatal(err)
		}
		l.must(d, "one")
		if err := l.room.End(t.Context(), 1, value.Ref{UUID: d.UUID}, PublicWidget); err != nil {
			t.Fatal(err)
		}
		if s := l.state(d); s != "ended closed" {
			t.Error(s)
		}
		l.must(d, "two")
		if s := l.state(d); s != "open closed" {
			t.Error("a closed api conversation opens again:", s)
		}
		l.advance(time.Minute)
		if n := len(l.reported()); n != 3 {
			t.Error(n, "reports")
		}
	})
}

// TestWhatEndsSilently ends what is not reported.
//
// Contract: 14.9 15.4 18.1
func TestWhatEndsSilently(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant(`"conversation_inactivity_timeout":1`)
		quiet, test, never := l.begin(a, Widget), l.begin(a, Test), l.begin(l.assistant(`"conversation_inactivity_timeout":null`), Widget)
		l.must(test, "x")
		l.advance(24 * time.Hour)
		for c, want := range map[string]string{l.state(quiet): "ended inactivity", l.state(test): "ended inactivity", l.state(never): "open"} {
			if c != want {
				t.Error(c, want)
			}
		}
		if r := l.reported(); len(r) != 0 {
			t.Errorf("%+v", r)
		}
		if err := l.room.End(t.Context(), 0, value.Ref{UUID: never.UUID}, PublicWidget); err != nil || l.state(never) != "ended closed" {
			t.Error(err)
		}
		if _, err := l.say(never, "x"); err != ErrEnded {
			t.Error(err)
		}
	})
}

// TestFunctions searches, and hands over to another assistant.
//
// Contract: 4.4 13.3
func TestFunctions(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		sales := l.assistant(`"name":"Sales","initial_message":"Sales here.","system_prompt":"Sell."`)
		a := l.assistant(fmt.Sprintf(`"knowledgebase_id":5,"tools":[{"type":"end_call"},{"type":"dtmf_input"},{"type":"assistant_transfer","assistant_id":%d,"message_before_transfer":"One moment, {name}."}]`, sales.ID))
		c := l.begin(a, Widget)
		steps := [][]agent.Chunk{
			{call("search_knowledgebase", `{"query":"hours"}`)}, {{Text: "We open at nine."}},
			{call("transfer_to_assistant", `{}`)},
			{{Text: "Sales answer."}},
			{call("end_call", `{}`), {Text: "Goodbye."}},
		}
		l.model.reply = func(_ context.Context, r agent.Request) ([]agent.Chunk, error) {
			if r.Purpose == agent.PurposeEvaluation {
				return echo(t.Context(), r)
			}
			next := steps[0]
			steps = steps[1:]
			return next, nil
		}
		r := l.must(c, "When do you open?")
		if r.Text != "We open at nine." || len(r.Uses) != 1 || r.Uses[0].Name != "search_knowledgebase" || !strings.Contains(string(r.Uses[0].Result), "Open at nine.") {
			t.Errorf("%+v", r)
		}
		var offered []string
		for _, f := range l.model.requests()[0].Tools {
			offered = append(offered, f.Name)
		}
		if !slices.Equal(offered, []string{"end_call", "transfer_to_assistant", "search_knowledgebase"}) {
			t.Error(offered)
		}
		if r := l.must(c, "Sales please"); r.Text != "One moment, .\nSales here." {
			t.Errorf("%q", r.Text)
		}
		if r := l.must(c, "How much?"); r.Text != "Sales answer." {
			t.Errorf("%q", r.Text)
		}
		last := l.model.requests()
		if ask := last[len(last)-1]; !strings.HasPrefix(ask.System, "Sell.") || len(ask.Messages) < 8 {
			t.Errorf("%q with %d messages", ask.System, len(ask.Messages))
		}
		if now, err := l.room.ByID(t.Context(), l.d, c.ID); err != nil || now.Assistant != a.ID || now.Speaker != sales.ID {
			t.Error(now.Assistant, now.Speaker, err)
		}
	})
}

// TestEndCallEndsTheChat has the assistant say goodbye.
//
// Contract: 4.4 14.9
func TestEndCallEndsTheChat(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		c := l.begin(l.assistant(`"tools":[{"type":"end_call"}]`), Widget)
		l.model.reply = func(ctx context.Context, r agent.Request) ([]agent.Chunk, error) {
			if r.Purpose == agent.PurposeEvaluation {
				return echo(ctx, r)
			}
			return []agent.Chunk{{Text: "Goodbye."}, call("end_call", `{}`)}, nil
		}
		if r := l.must(c, "bye"); r.Text != "Goodbye." {
			t.Error(r.Text)
		}
		l.advance(0)
		if s := l.state(c); s != "ended closed" || len(l.reported()) != 1 || l.reported()[0].Reason != Closed {
			t.Error(s, l.reported())
		}
		if _, err := l.say(c, "wait"); err != ErrEnded {
			t.Error(err)
		}
	})
}

// TestKnowledgeInThePrompt puts passages into the prompt.
//
// Contract: 4.2
func TestKnowledgeInThePrompt(t *testing.T) {
	l := newLab(t, openSQLite(t))
	c := l.begin(l.assistant(`"knowledgebase_id":5,"knowledgebase_mode":"prompt"`), Widget)
	l.must(c, "hours?")
	if ask := l.model.requests()[0]; !strings.Contains(ask.System, "Open at nine.") || len(ask.Tools) != 0 {
		t.Errorf("%+v", ask)
	}
}

// TestListPages pages through conversations while new ones come.
//
// Contract: 1.13 13.5
func TestListPages(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant("")
		var want []ID
		for range 5 {
			want = append([]ID{l.begin(a, Widget).ID}, want...)
			l.advance(time.Second)
		}
		var got []ID
		at := Place{}
		for {
			list, more, err := l.room.List(t.Context(), 1, Filter{Type: Widget, Assistant: value.Ref{ID: int64(a.ID)}}, at, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range list {
				got = append(got, c.ID)
			}
			l.begin(a, Widget) // created while reading: neither shifts nor repeats anything
			l.advance(time.Second)
			if !more {
				break
			}
			at = PlaceOf(list[len(list)-1])
		}
		if !slices.Equal(got, want) {
			t.Error(got, want)
		}
		newer := at
		newer.Newer = true
		if list, _, err := l.room.List(t.Context(), 1, Filter{}, newer, 2); err != nil || len(list) != 2 || list[1].ID != want[2] {
			t.Error(list, err)
		}
		if list, _, err := l.room.List(t.Context(), 2, Filter{}, Place{}, 10); err != nil || len(list) != 0 {
			t.Error("a stranger sees", list, err)
		}
		if list, _, err := l.room.List(t.Context(), 1, Filter{External: "nobody"}, Place{}, 10); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
	})
}

// wa is a channel that stores what it is given, as messaging does.
type wa struct {
	l    *lab
	sent []string
}

func (w *wa) Send(ctx context.Context, c Conversation, o Outgoing) error {
	w.sent = append(w.sent, o.Text)
	return w.l.d.Do(ctx, func(tx *db.Tx) error {
		_, err := w.l.room.Said(ctx, tx, c.ID, o, 5)
		return err
	})
}

// TestChannel answers over a channel.
//
// Contract: 11.7 14.9
func TestChannel(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		w := &wa{l: l}
		l.room.beside.Channels = map[string]Channel{WhatsApp: w}
		a := l.assistant(`"conversation_inactivity_timeout":1`)
		var c Conversation
		in := func(f func(tx *db.Tx) error) {
			t.Helper()
			if err := l.d.Do(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		in(func(tx *db.Tx) (err error) {
			if c, err = l.room.OverWhatsApp(t.Context(), tx, a.Owner, a, Sender{2, "+14155550123", "Shop"}, Customer{"+491701234567", "Mia"}); err != nil {
				return err
			}
			if _, err = l.room.Heard(t.Context(), tx, c.ID, "Hi", nil); err != nil {
				return err
			}
			_, err = l.room.Heard(t.Context(), tx, c.ID, "", []Attachment{{"image", "https://p.example/1.jpg", "door.jpg"}})
			return err
		})
		if r, err := l.room.Continue(t.Context(), c.ID); err != nil || r.Text != "You said: [Image]" {
			t.Error(r, err)
		}
		if r, err := l.room.Continue(t.Context(), c.ID); err != nil || r.Text != "" || len(w.sent) != 1 {
			t.Error("answered twice:", w.sent, err)
		}
		if _, err := l.say(c, "x"); err != ErrNotFound {
			t.Error("a WhatsApp conversation was written to over the chat route:", err)
		}
		if err := l.room.Say(t.Context(), 1, value.Ref{UUID: c.UUID}, "A person."); err != nil || !slices.Equal(w.sent, []string{"You said: [Image]", "A person."}) {
			t.Error(w.sent, err)
		}
		l.advance(time.Minute)
		in(func(tx *db.Tx) error { _, err := l.room.TemplateSent(t.Context(), tx, c.ID, "Offer", 7); return err })
		if s := l.state(c); s != "open inactivity" {
			t.Error(s)
		}
		l.advance(time.Minute)
		if n := len(l.reported()); n != 2 {
			t.Error(n, "reports")
		}
		if now, err := l.room.ByID(t.Context(), l.d, c.ID); err != nil || now.Cost != 17 || now.Sender.Phone != "+14155550123" {
			t.Error(now, err)
		}
	})
}
