package main

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/db"
	"parley/db/dbtest"
	"parley/webhooks"
)

// TestListen forwards webhooks with their signatures, those too that came while the connection was lost.
//
// Contract: 15.1 15.6 18.3
func TestListen(t *testing.T) {
	s := apitest.New(t, dbtest.SQLite(t, db.Manual()))
	web := httptest.NewServer(s.API)
	defer web.Close()
	type received struct {
		http.Header
		body string
	}
	arrived := make(chan received, 4)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		arrived <- received{r.Header, string(b)}
	}))
	defer receiver.Close()
	said, out := io.Pipe()
	lines := bufio.NewReader(said)
	line := func(want string) {
		t.Helper()
		if got, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(got, want) {
			t.Fatalf("said %q (%v), want %q", got, err, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	l := listener{to: receiver.URL, key: s.Token, server: web.URL + "/", again: time.Millisecond, client: receiver.Client(), out: out}
	done := make(chan error, 1)
	go func() { done <- l.run(ctx) }()
	line("listening, forwarding to " + receiver.URL)

	secret := s.Send("GET /user/webhook-secret", "").Want(200).Text("secret")
	queue := func(text string) (body string) {
		t.Helper()
		e := webhooks.Event{Owner: 1, Name: webhooks.CallCompleted, URL: "https://unreachable.example/", CallID: 912, Payload: webhooks.Call{ID: 912, Transcript: text, Event: webhooks.CallCompleted}}
		if err := s.App.Webhooks.Add(t.Context(), s.DB, e); err != nil {
			t.Fatal(err)
		}
		if err := s.DB.Get(t.Context(), &body, `SELECT body FROM webhook_deliveries ORDER BY id DESC LIMIT 1`); err != nil {
			t.Fatal(err)
		}
		return body
	}
	check := func(body string) {
		t.Helper()
		got := <-arrived
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		signed := base64.StdEncoding.EncodeToString(mac(raw, got.Get("webhook-id")+"."+got.Get("webhook-timestamp")+"."+got.body))
		if got.body != body || got.Get("webhook-signature") != "v1,"+signed || got.Get("X-Signature-256") != "sha256="+hex.EncodeToString(mac([]byte(secret), body)) ||
			got.Get("X-Webhook-Event") != webhooks.CallCompleted || got.Get("User-Agent") != "parley-webhooks/1" {
			t.Errorf("got  %s %v\nwant %s", got.body, got.Header, body)
		}
		line("call.completed msg_")
	}
	check(queue("Assistant: <Ä>\u2028&"))
	web.CloseClientConnections()
	missed := queue("Customer: while nobody listened")
	line("connection lost")
	line("listening, forwarding to " + receiver.URL)
	check(missed)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	l.key = "1|wrong"
	if err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), "refused the key") {
		t.Error(err)
	}
}

func mac(key []byte, data string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(data))
	return m.Sum(nil)
}
