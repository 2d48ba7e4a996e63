package messaging_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/accounts"
	"parley/chats"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/messaging"
	"parley/value"
)

const minute = value.MoneyUnit // of a direct account

// TestRateAcrossProcesses sends from two processes at once: no second ever holds more than five.
//
// Contract: 1.12 11.5
func TestRateAcrossProcesses(t *testing.T) {
	url := dbtest.PostgresURL(t)
	nodes := []*db.DB{dbtest.Open(t, url), dbtest.Open(t, url)}
	var owner accounts.ID
	if err := nodes[0].Get(t.Context(), &owner, `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
		VALUES ('Ada', 'ada@p.example', 'direct', 'UTC', '{}', 'ok', 0, 0) RETURNING id`); err != nil {
		t.Fatal(err)
	}
	var accepted atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for _, d := range append(nodes, nodes...) {
		rate := messaging.Rate{DB: d, Kind: "template"}
		all.Go(func() {
			for time.Since(began) < 1500*time.Millisecond {
				switch err := rate.Take(t.Context(), d, owner); {
				case err == nil:
					accepted.Add(1)
				case !fault.Is(err, fault.TooMany):
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n, most := accepted.Load(), 5*(int64(time.Since(began)/time.Second)+1); n < 5 || n > most {
		t.Errorf("%d sends, want at most %d", n, most)
	}
}

// TestRefusedSendsAreNotCounted: what the balance stops leaves the rate alone.
//
// Contract: 1.12 16.4
func TestRefusedSendsAreNotCounted(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.must(l.d.Do(t.Context(), func(tx *db.Tx) error {
			return l.billing.SetBalance(t.Context(), tx, 1, "poor", 0, "")
		}))
		for range 7 {
			if _, err := l.send("+491701234567"); !fault.Is(err, fault.NeedsPayment) {
				t.Fatal(err)
			}
		}
		if q, err := (messaging.Rate{DB: l.d, Kind: "template"}).Peek(t.Context(), 1); err != nil || q.Remaining != 5 {
			t.Errorf("%+v %v", q, err)
		}
		l.wantMoney(0, 0)
	})
}

// TestUniqueRecipients counts distinct recipients of the last 24 hours, also of sends at the same moment.
//
// Contract: 11.5 17
func TestUniqueRecipients(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		_, err := l.d.Exec(t.Context(), `UPDATE wa_senders SET messaging_limit = 2`)
		l.must(err)
		var all sync.WaitGroup
		results := make(chan error, 5)
		for i := range 5 {
			all.Go(func() {
				_, err := l.send(fmt.Sprintf("+49170123456%d", i))
				results <- err
			})
		}
		all.Wait()
		close(results)
		accepted := 0
		for err := range results {
			if err == nil {
				accepted++
			} else if fault.Of(err).Code != "MESSAGING_LIMIT_UNAVAILABLE" {
				t.Error(err)
			}
		}
		if accepted != 2 {
			t.Errorf("%d new recipients of 2", accepted)
		}
		to := l.platform.all()[0].To
		l.must(l.d.AdvanceTo(t.Context(), l.d.Now().Add(24*time.Hour)))
		if _, err := l.send("+4930999999"); err != nil {
			t.Error("after a day:", err)
		}
		if _, err := l.send(to); err != nil {
			t.Error("the second of the new day:", err)
		}
		if _, err := l.send("+4930999998"); fault.Of(err).Code != "MESSAGING_LIMIT_UNAVAILABLE" {
			t.Error("the third of the new day:", err)
		}
	})
}

// killed is a process that dies while the platform has the message: nothing after this point happens.
var errKilled = errors.New("killed")

// die makes the platform accept a message and the process end before it knows. It returns what the platform was given.
func (l *lab) die(send func()) messaging.Outgoing {
	l.t.Helper()
	l.platform.step = func(messaging.Outgoing) error { panic(errKilled) }
	defer func() { l.platform.step = nil }()
	func() {
		defer func() {
			if recover() != errKilled {
				l.t.Fatal("the platform was not asked")
			}
		}()
		send()
	}()
	all := l.platform.all()
	return all[len(all)-1]
}

// TestKilledWhileSending ends the process between the platform and the database: the callback completes the message, and
// without one its price is given back, once.
//
// Contract: 11.5 14.10 16.2
func TestKilledWhileSending(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		template := func() { _, _ = l.send("+491701234567") }
		told := l.die(template)
		l.wantMoney(100*minute, minute*3/10)
		step := func(ref, sid string, status messaging.DeliveryStatus) error {
			return l.room.Delivery(t.Context(), l.sender.ID, messaging.Update{SID: sid, Ref: ref, Status: status})
		}
		l.must(step(told.Ref, "SM1", messaging.Sent))
		l.must(step(told.Ref, "SM1", messaging.Sent))
		l.must(step(told.Ref, "SM1", messaging.Delivered))
		l.wantMoney(100*minute-minute*3/10, 0)
		s, err := l.room.Session(t.Context(), 1, l.sender.ID, "+491701234567")
		if err != nil || !s.Open() || len(l.receipts) != 2 {
			t.Errorf("%+v, %d receipts, %v", s, len(l.receipts), err)
		}
		history, err := l.chats.History(t.Context(), l.d, s.Talk)
		if err != nil || len(history) != 1 || history[0].Text != "It is ready." {
			t.Errorf("%+v %v", history, err)
		}

		l.die(template) // nobody calls back
		late := l.die(template)
		sms := l.die(func() {
			_, _ = l.room.SendSMS(t.Context(), 1, messaging.Number{Phone: "+14155550123", SMSCapable: true, Active: true}, true, "+491701234567", "x")
		})
		if sms.Ref == "" {
			t.Error("the text has no name")
		}
		l.wantMoney(100*minute-minute*3/10, minute*11/10)
		l.work()
		if _, err := l.runner.Settle(t.Context(), l.d.Now().Add(10*time.Minute)); err != nil {
			t.Fatal(err)
		}
		l.wantMoney(100*minute-minute*3/10, 0)
		if got := strings.Join(append(l.states("wa_messages"), l.states("sms")...), " "); got != "delivered lost lost lost" {
			t.Errorf("messages %s", got)
		}
		l.must(step(late.Ref, "SM3", messaging.Read)) // it had arrived after all
		l.wantMoney(100*minute-minute*6/10, 0)
		l.must(step(late.Ref, "SM3", messaging.Read))
		if err := step("unknown", "SM9", messaging.Read); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
		l.wantMoney(100*minute-minute*6/10, 0)
	})
}

// TestKilledWhileAnswering ends the process between the platform and the database, in the middle of an answer of the
// assistant: the job that answers is done again, and the customer gets no second answer before the first counts as lost.
// A callback that completes the answer does what came with it: here the conversation ends.
//
// Contract: 11.7 14.9 16.2
func TestKilledWhileAnswering(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		pass := func(d time.Duration) {
			t.Helper()
			if _, err := l.runner.Settle(t.Context(), l.d.Now().Add(d)); err != nil {
				t.Fatal(err)
			}
		}
		ask := func(id, text string) {
			t.Helper()
			var once sync.Once
			l.platform.step = func(messaging.Outgoing) error { once.Do(func() { panic(errKilled) }); return nil }
			_, err := l.room.Receive(t.Context(), messaging.Incoming{SenderID: l.sender.ID, From: messaging.Peer{Phone: "+491701234567"}, ID: id, Text: text})
			l.must(err)
			pass(time.Minute)
		}
		l.work()
		ask("m1", "Bye")
		all := l.platform.all()
		if len(all) != 1 {
			t.Fatalf("%d answers", len(all))
		}
		l.must(l.room.Delivery(t.Context(), l.sender.ID, messaging.Update{SID: "SM1", Ref: all[0].Ref, Status: messaging.Sent}))
		pass(time.Minute)
		if got := strings.Join(l.states("wa_messages"), " "); got != "received sent" || len(l.platform.all()) != 1 {
			t.Errorf("%s, %d answers", got, len(l.platform.all()))
		}
		var state string
		l.must(l.d.Get(t.Context(), &state, `SELECT state || ' ' || end_reason FROM conversations`))
		if state != "ended closed" {
			t.Errorf("after the goodbye: %s", state)
		}
		ask("m2", "Hello") // nobody calls back: it did not arrive
		pass(10 * time.Minute)
		if got := strings.Join(l.states("wa_messages"), " "); got != "received sent received lost queued" || len(l.platform.all()) != 3 {
			t.Errorf("%s, %d answers", got, len(l.platform.all()))
		}
	})
}

// TestCallbackBeforeAnswer has the platform call back before it answers the sending.
//
// Contract: 11.5 14.10
func TestCallbackBeforeAnswer(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.platform.step = func(o messaging.Outgoing) error {
			return l.room.Delivery(t.Context(), l.sender.ID, messaging.Update{SID: "SM1", Ref: o.Ref, Status: messaging.Delivered})
		}
		r, err := l.send("+491701234567")
		if err != nil || r.Message.Status != messaging.Queued || *r.Message.SID != "SM1" || r.Entry == 0 || !r.Window.Open() {
			t.Errorf("%+v %v", r, err)
		}
		l.wantMoney(100*minute-minute*3/10, 0)
		if got := strings.Join(l.states("wa_messages"), " "); got != "delivered" {
			t.Error(got)
		}
	})
}

// TestCallbacksAtOnce has the platform call back several times at once, before it answers the sending: a failed message
// stays failed, is reported so once and given back once.
//
// Contract: 11.5 14.10 16.2
func TestCallbacksAtOnce(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.platform.step = func(o messaging.Outgoing) error {
			var all sync.WaitGroup
			for i := range 12 {
				all.Go(func() {
					u := messaging.Update{SID: "SM1", Ref: o.Ref, Status: []messaging.DeliveryStatus{messaging.Sent, messaging.Failed}[i%2]}
					if err := l.room.Delivery(t.Context(), l.sender.ID, u); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			return nil
		}
		if r, err := l.send("+491701234567"); err != nil || r.Message.Status != messaging.Queued {
			t.Errorf("%+v %v", r, err)
		}
		l.wantMoney(100*minute, 0)
		close(l.receipts)
		failed := 0
		for status := range l.receipts {
			if status == messaging.Failed {
				failed++
			} else if failed > 0 {
				t.Errorf("%s after it failed", status)
			}
		}
		if got := strings.Join(l.states("wa_messages"), " "); got != "failed" || failed != 1 {
			t.Errorf("%s, reported %d times", got, failed)
		}
	})
}

// TestRefusedAfterTimeout: what was answered as failed stays failed, whatever the platform says later.
//
// Contract: 11.5 16.2
func TestRefusedAfterTimeout(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		if _, err := l.send("+491701234567"); err != nil {
			t.Fatal(err)
		}
		l.platform.step = func(messaging.Outgoing) error { return errors.New("no answer") }
		if _, err := l.send("+491701234567"); fault.Of(err).Code != "UNKNOWN_ERROR" || fault.Of(err).Message != "Failed to send message." {
			t.Error(err)
		}
		all := l.platform.all()
		if err := l.room.Delivery(t.Context(), l.sender.ID, messaging.Update{SID: "SM2", Ref: all[1].Ref, Status: messaging.Sent}); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
		l.wantMoney(100*minute-minute*3/10, 0)
		if got := strings.Join(l.states("wa_messages"), " "); got != "queued failed" {
			t.Error(got)
		}
	})
}

// TestHiddenNumbers talks with customers whose number the platform hides, until it shows it.
//
// Contract: 11.7 14.8
func TestHiddenNumbers(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.work()
		receive := func(p messaging.Peer, id, text string) {
			t.Helper()
			if fresh, err := l.room.Receive(t.Context(), messaging.Incoming{SenderID: l.sender.ID, From: p, ID: id, Text: text}); err != nil || !fresh {
				t.Fatal(fresh, err)
			}
		}
		receive(messaging.Peer{ID: "US.1"}, "m1", "one")
		receive(messaging.Peer{ID: "US.2"}, "m2", "two")
		if _, err := l.runner.Settle(t.Context(), l.d.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		answers := map[string]string{}
		for _, o := range l.platform.all() {
			answers[o.To+o.ToID] = o.Text
		}
		if len(answers) != 2 || answers["US.1"] != "You said: one" || answers["US.2"] != "You said: two" {
			t.Errorf("answers %q", answers)
		}
		receive(messaging.Peer{ID: "US.1", Phone: "+491701234567"}, "m3", "this is my number")
		one, err := l.room.Session(t.Context(), 1, l.sender.ID, "+491701234567")
		if err != nil || !one.Known || !one.Open() {
			t.Errorf("%+v %v", one, err)
		}
		history, err := l.chats.History(t.Context(), l.d, one.Talk)
		if err != nil || len(history) < 3 || history[0].Text != "one" {
			t.Errorf("%+v %v", history, err)
		}
		// The number changes hands: who has it now is somebody else.
		receive(messaging.Peer{ID: "US.3", Phone: "+491701234567"}, "m4", "three")
		other, err := l.room.Session(t.Context(), 1, l.sender.ID, "+491701234567")
		if err != nil || other.Talk == one.Talk {
			t.Errorf("%+v %v", other, err)
		}
	})
}

// TestFilesAndVoiceNotes fetches what came along, and recognises what was spoken, before it is answered.
//
// Contract: 11.7
func TestFilesAndVoiceNotes(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.work()
		for id, f := range map[string]messaging.File{"m1": {Type: "audio", Ref: "note"}, "m2": {Type: "image", Ref: "picture"}} {
			if _, err := l.room.Receive(t.Context(), messaging.Incoming{SenderID: l.sender.ID, From: messaging.Peer{Phone: "+4917012345" + id[1:] + "0"}, ID: id, Files: []messaging.File{f}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.runner.Settle(t.Context(), l.d.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		for phone, want := range map[string]chats.Entry{
			"+49170123451" + "0": {Text: "spoken in note", Attachments: []chats.Attachment{{Type: "audio", URL: "https://p.example/media/chat/note"}}},
			"+49170123452" + "0": {Attachments: []chats.Attachment{{Type: "image", URL: "https://p.example/media/chat/picture"}}},
		} {
			s, err := l.room.Session(t.Context(), 1, l.sender.ID, phone)
			l.must(err)
			history, err := l.chats.History(t.Context(), l.d, s.Talk)
			if err != nil || len(history) != 2 || history[0].Text != want.Text || fmt.Sprint(history[0].Attachments) != fmt.Sprint(want.Attachments) {
				t.Errorf("%s: %+v %v", phone, history, err)
			}
		}
	})
}

// TestTriesKeepAFileOnce has a second file fail: when the message is tried again, the first file has the name it had, so
// that nothing is left in the store that nobody links to. Names are not told to two messages.
//
// Contract: 11.7 18.2
func TestTriesKeepAFileOnce(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		var names []string
		fails := 1
		l.opens = func(f messaging.File) error {
			if f.Ref == "second" && fails > 0 {
				fails--
				return errors.New("the platform is away")
			}
			names = append(names, f.Ref+" "+f.Keep)
			return nil
		}
		l.work()
		for _, id := range []string{"m1", "m2"} {
			_, err := l.room.Receive(t.Context(), messaging.Incoming{SenderID: l.sender.ID, From: messaging.Peer{Phone: "+491701234567"}, ID: id,
				Files: []messaging.File{{Type: "image", Ref: "first"}, {Type: "image", Ref: "second"}}})
			l.must(err)
			_, err = l.runner.Settle(t.Context(), l.d.Now().Add(time.Minute))
			l.must(err)
		}
		if len(names) != 5 || names[0] != names[1] || len(names[0]) != len("first ")+26 {
			t.Fatalf("kept as %q", names)
		}
		slices.Sort(names)
		if kept := slices.Compact(names); len(kept) != 4 {
			t.Errorf("kept as %q", kept)
		}
	})
}

// TestRepeatedCallbacks takes a customer's message once, however often and at once it comes.
//
// Contract: 11.7
func TestRepeatedCallbacks(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		var all sync.WaitGroup
		fresh := make(chan bool, 8)
		for range 8 {
			all.Go(func() {
				ok, err := l.room.Receive(t.Context(), messaging.Incoming{SenderID: l.sender.ID, From: messaging.Peer{Phone: "+491701234567"}, ID: "wamid.1", Text: "Hello"})
				if err != nil {
					t.Error(err)
				}
				fresh <- ok
			})
		}
		all.Wait()
		close(fresh)
		n := 0
		for ok := range fresh {
			if ok {
				n++
			}
		}
		s, err := l.room.Session(t.Context(), 1, l.sender.ID, "+491701234567")
		l.must(err)
		if history, err := l.chats.History(t.Context(), l.d, s.Talk); err != nil || len(history) != 1 || n != 1 {
			t.Errorf("%d times fresh, %+v %v", n, history, err)
		}
	})
}
