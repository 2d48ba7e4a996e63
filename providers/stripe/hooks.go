package stripe

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/db"
	"parley/payments"
	"parley/value"
)

// tolerance is how old or how far ahead a signed callback may be.
const tolerance = 300 * time.Second

// Hooks are the callbacks and the address that the browser comes back to.
func (c *Client) Hooks(p *payments.Payments) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /hooks/stripe/return", p.Return)
	m.HandleFunc("POST /hooks/stripe", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "Too large.", http.StatusRequestEntityTooLarge)
			return
		}
		if !c.signed(r.Header.Get("Stripe-Signature"), body, time.Now()) {
			http.Error(w, "Forbidden.", http.StatusForbidden)
			return
		}
		if err := c.told(r.Context(), p, body); err != nil {
			http.Error(w, "Please try again.", http.StatusServiceUnavailable) // it comes again for three days
		}
	})
	m.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "Forbidden.", http.StatusForbidden) })
	return m
}

// signed checks a signature: while the secret is being changed there are several, and any may be right.
func (c *Client) signed(header string, body []byte, now time.Time) bool {
	var at string
	var given []string
	for part := range strings.SplitSeq(header, ",") {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			at = v
		case "v1":
			given = append(given, v)
		}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	age := now.Truncate(time.Second).Sub(time.Unix(seconds, 0))
	if err != nil || c.secret == "" || age > tolerance || age < -tolerance {
		return false
	}
	mac := hmac.New(sha256.New, []byte(c.secret))
	mac.Write([]byte(at + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	for _, v := range given {
		if got, err := hex.DecodeString(v); err == nil && hmac.Equal(got, want) {
			return true
		}
	}
	return false
}

// told takes an event. It comes more than once and in any order, so it only says where to look.
func (c *Client) told(ctx context.Context, p *payments.Payments, body []byte) error {
	var e struct {
		Type string `json:"type"`
		Data struct {
			Object struct {
				ID       string `json:"id"`
				Metadata struct {
					Ref string `json:"ref"`
				} `json:"metadata"`
			} `json:"object"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &e) != nil {
		return nil // signed, and not for us
	}
	object := e.Data.Object
	switch {
	case strings.HasPrefix(e.Type, "checkout.session."):
		_, err := p.Settled(ctx, object.ID)
		if errors.Is(err, db.ErrNone) {
			err = nil // another installation's
		}
		return err
	case e.Type == "payment_intent.succeeded":
		return p.Paid(ctx, object.Metadata.Ref, object.ID)
	case e.Type == "charge.refunded":
		return c.refunded(ctx, p, object.ID)
	case strings.HasPrefix(e.Type, "charge.dispute."):
		return c.disputed(ctx, p, object.ID)
	}
	return nil
}

func (c *Client) refunded(ctx context.Context, p *payments.Payments, charge string) error {
	var now struct {
		Intent   string `json:"payment_intent"`
		Currency string `json:"currency"`
		Refunded int64  `json:"amount_refunded"`
	}
	if err := c.get(ctx, "/charges/"+url.PathEscape(charge), &now); err != nil {
		return err
	}
	return p.Refunded(ctx, now.Intent, value.Money(now.Refunded)*unitOf(now.Currency))
}

// disputed books what a bank took back, and what it returned. A mere inquiry takes nothing.
func (c *Client) disputed(ctx context.Context, p *payments.Payments, dispute string) error {
	var now struct {
		Intent   string `json:"payment_intent"`
		Currency string `json:"currency"`
		Amount   int64  `json:"amount"`
		Status   string `json:"status"`
	}
	err := c.get(ctx, "/disputes/"+url.PathEscape(dispute), &now)
	if err != nil || strings.HasPrefix(now.Status, "warning_") {
		return err
	}
	amount := value.Money(now.Amount) * unitOf(now.Currency)
	if err := p.Disputed(ctx, now.Intent, dispute, amount, false); err != nil || now.Status != "won" {
		return err
	}
	return p.Disputed(ctx, now.Intent, dispute, amount, true)
}
