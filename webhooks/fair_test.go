package webhooks

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
)

// TestDeadReceiverDelaysNobody: A receiver that never answers keeps four requests at once and delays nobody else.
//
// Contract: 15.1
func TestDeadReceiverDelaysNobody(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t, db.Manual()))
	release, arrived := make(chan struct{}), make(chan struct{}, 40)
	var now, most atomic.Int32
	dead := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		arrived <- struct{}{}
		<-release
	}))
	defer dead.Close()
	for i := range 40 {
		l.add(Event{Name: CallCompleted, CallID: calls.ID(i + 1), URL: dead.URL, Payload: 1})
	}
	var wg sync.WaitGroup
	wg.Add(10)
	l.answer = func(int, *http.Request) (int, string) { wg.Done(); return 200, "" }
	for i := range 10 {
		l.add(Event{Name: CallCompleted, CallID: calls.ID(100 + i), Payload: 1})
	}
	wg.Wait() // all of the living receiver, while the dead one holds its requests
	for range perHost {
		<-arrived
	}
	close(release)
	l.advance(0)
	if m := most.Load(); m != perHost {
		t.Error(m, "requests at once at the dead receiver")
	}
	if n := len(l.requests()); n != 10 {
		t.Error(n)
	}
	for _, d := range l.log() {
		if strings.HasPrefix(d.URL, dead.URL) && d.Status != "succeeded" {
			t.Errorf("%+v", d)
		}
	}
}

// TestHungHostsOfOneAccount: However many hosts of one account hang, other accounts' deliveries go out; and when they hang
// no more, all of its own do.
//
// Contract: 15.1
func TestHungHostsOfOneAccount(t *testing.T) {
	const hosts = perAccount + 16
	l := newLab(t, dbtest.SQLite(t, db.Manual()))
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	release, arrived := make(chan struct{}), make(chan string, hosts)
	hung := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- r.Host
		<-release
	}))
	hung.Listener.Close()
	hung.Listener = listener
	hung.Start()
	defer hung.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for i := range hosts {
		l.add(Event{Name: CallCompleted, CallID: calls.ID(i + 1), URL: fmt.Sprintf("http://127.0.1.%d:%s/", i+1, port), Payload: 1})
	}
	seen := map[string]bool{}
	for range perAccount {
		seen[<-arrived] = true
	}
	heard := make(chan struct{})
	l.answer = func(int, *http.Request) (int, string) { close(heard); return 200, "" }
	if _, err := l.d.Exec(t.Context(), `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
		VALUES ('Bea', 'bea@p.example', 'direct', 'UTC', '{}', 'ok', 0, 0)`); err != nil {
		t.Fatal(err)
	}
	if err := l.room.Add(t.Context(), l.d, Event{Name: CallCompleted, Owner: 2, CallID: 1000, URL: l.srv.URL + "/hook", Payload: 1}); err != nil {
		t.Fatal(err)
	}
	<-heard
	if n := len(arrived); n > 0 {
		t.Error(n, "requests more than one account has at once")
	}
	close(release)
	l.advance(0)
	for len(arrived) > 0 {
		seen[<-arrived] = true
	}
	if len(seen) != hosts {
		t.Error("only", len(seen), "hosts heard of their events")
	}
}

// TestTwoNodesSendOnce: Two processes on one database send every event once.
//
// Contract: 15.1
func TestTwoNodesSendOnce(t *testing.T) {
	url := dbtest.PostgresURL(t)
	a := newLab(t, dbtest.Open(t, url, db.Manual()))
	b := newNode(t, a, dbtest.Open(t, url, db.Manual()))
	for i := range 100 {
		from := a
		if i%2 == 1 {
			from = b
		}
		from.add(Event{Name: CallCompleted, CallID: calls.ID(i + 1), Payload: i, URL: a.srv.URL + "/hook"})
	}
	a.advance(0)
	ids := map[string]int{}
	for _, r := range a.requests() {
		ids[r.Header.Get("webhook-id")]++
	}
	if len(ids) != 100 || len(a.requests()) != 100 {
		t.Error(len(ids), "events in", len(a.requests()), "requests")
	}
}
