package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/accounts"
	"parley/payments"
	"parley/providers/rest"
	"parley/value"
)

var _ payments.Platform = (*Client)(nil)

// post sends a form under a key: the same key is done once, and answered the same for a day.
func (c *Client) post(ctx context.Context, path, key string, form url.Values, into any) error {
	a, err := c.rest.With("Idempotency-Key", key).Do(ctx, http.MethodPost, path, "application/x-www-form-urlencoded", []byte(form.Encode()))
	if err != nil {
		return rest.Explain("payment platform", refusal(err))
	}
	defer a.Close()
	return json.NewDecoder(io.LimitReader(a, 1<<20)).Decode(into)
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	return rest.Explain("payment platform", c.rest.Get(ctx, path, into))
}

// refusal tells a card that does not pay from a platform that does not work.
func refusal(err error) error {
	if r, ok := errors.AsType[*rest.Refusal](err); ok && r.Status == http.StatusPaymentRequired {
		return errors.Join(payments.ErrRefused, err)
	}
	return err
}

type named struct {
	ID string `json:"id"`
}

// Customer makes an account known; its key makes two at once the same one.
func (c *Client) Customer(ctx context.Context, a accounts.Account) (string, error) {
	var made named
	err := c.post(ctx, "/customers", fmt.Sprintf("account:%d", a.ID), url.Values{
		"email": {a.Email}, "name": {a.Name}, "metadata[account]": {fmt.Sprint(a.ID)}}, &made)
	return made.ID, err
}

type method struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Card *struct {
		Brand    string `json:"brand"`
		Last4    string `json:"last4"`
		ExpMonth int    `json:"exp_month"`
		ExpYear  int    `json:"exp_year"`
	} `json:"card"`
}

// onFile is the customer's default method, nil when there is none.
func (c *Client) onFile(ctx context.Context, customer string) (*method, error) {
	var who struct {
		Deleted bool `json:"deleted"`
		Invoice struct {
			Method *method `json:"default_payment_method"`
		} `json:"invoice_settings"`
	}
	err := c.get(ctx, "/customers/"+url.PathEscape(customer)+"?expand[]=invoice_settings.default_payment_method", &who)
	if err != nil || who.Deleted {
		return nil, err
	}
	return who.Invoice.Method, nil
}

// Method is what a customer pays with.
func (c *Client) Method(ctx context.Context, _ accounts.ID, customer string) (*payments.Method, error) {
	if customer == "" {
		return nil, nil
	}
	m, err := c.onFile(ctx, customer)
	if m == nil || err != nil {
		return nil, err
	}
	if m.Card == nil {
		return &payments.Method{Ready: true, Label: strings.ReplaceAll(m.Type, "_", " ")}, nil
	}
	ends := time.Date(m.Card.ExpYear, time.Month(m.Card.ExpMonth)+1, 1, 0, 0, 0, 0, time.UTC)
	return &payments.Method{Ready: time.Now().Before(ends), Label: brand(m.Card.Brand) + " ending " + m.Card.Last4,
		Expires: fmt.Sprintf("%04d-%02d", m.Card.ExpYear, m.Card.ExpMonth)}, nil
}

// brand is a card's brand as people write it.
func brand(s string) string {
	if s == "" {
		return "Card"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// session is a page of Stripe Checkout.
type session struct {
	ID            string `json:"id"`
	URL           string `json:"url"`
	Customer      string `json:"customer"`
	Status        string `json:"status"`
	PaymentStatus string `json:"payment_status"`
	Setup         *struct {
		Method string `json:"payment_method"`
	} `json:"setup_intent"`
	Payment *struct {
		ID     string `json:"id"`
		Method string `json:"payment_method"`
	} `json:"payment_intent"`
}

// Open makes a page of Stripe Checkout.
func (c *Client) Open(ctx context.Context, p payments.Page) (payments.Session, error) {
	form := url.Values{"customer": {p.Customer}, "client_reference_id": {p.Key}, "cancel_url": {p.Cancel},
		"success_url": {p.Back + "?session_id={CHECKOUT_SESSION_ID}"}}
	if p.Amount == 0 {
		form.Set("mode", "setup")
		form.Set("currency", strings.ToLower(p.Currency))
	} else {
		form.Set("mode", "payment")
		form.Set("line_items[0][quantity]", "1")
		form.Set("line_items[0][price_data][currency]", strings.ToLower(p.Currency))
		form.Set("line_items[0][price_data][unit_amount]", strconv.FormatInt(minor(p.Amount, p.Currency), 10))
		form.Set("line_items[0][price_data][product_data][name]", "Balance")
		form.Set("payment_intent_data[setup_future_usage]", "off_session")
		form.Set("payment_intent_data[metadata][account]", fmt.Sprint(p.Owner))
	}
	var made session
	err := c.post(ctx, "/checkout/sessions", p.Key, form, &made)
	return payments.Session{ID: made.ID, URL: made.URL}, err
}

// Session reads how far a page has come. The method that was used there becomes the customer's default.
func (c *Client) Session(ctx context.Context, id string) (payments.Session, error) {
	var s session
	if err := c.get(ctx, "/checkout/sessions/"+url.PathEscape(id)+"?expand[]=setup_intent&expand[]=payment_intent", &s); err != nil {
		return payments.Session{}, err
	}
	out := payments.Session{ID: s.ID, URL: s.URL, Over: s.Status == "expired"}
	var used string
	switch {
	case s.Payment != nil && s.PaymentStatus == "paid":
		out.Done, out.Ref, used = true, s.Payment.ID, s.Payment.Method
	case s.Setup != nil && s.Status == "complete":
		out.Done, used = true, s.Setup.Method
	}
	if used == "" || s.Customer == "" {
		return out, nil
	}
	return out, c.post(ctx, "/customers/"+url.PathEscape(s.Customer), "default:"+id,
		url.Values{"invoice_settings[default_payment_method]": {used}}, &named{})
}

type intent struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

// errPending says that a bank has not answered yet.
var errPending = errors.New("stripe: the payment is being processed")

// Charge takes money by the default method. The answer under a key is repeated as it was, so how it stands is read anew.
func (c *Client) Charge(ctx context.Context, p payments.Charge) (string, error) {
	m, err := c.onFile(ctx, p.Customer)
	if err != nil {
		return "", err
	}
	if m == nil {
		return "", payments.ErrRefused
	}
	var made intent
	err = c.post(ctx, "/payment_intents", p.Key, url.Values{
		"amount": {strconv.FormatInt(minor(p.Amount, p.Currency), 10)}, "currency": {strings.ToLower(p.Currency)},
		"customer": {p.Customer}, "payment_method": {m.ID}, "off_session": {"true"}, "confirm": {"true"},
		"description": {p.For}, "metadata[ref]": {p.Key}, "metadata[account]": {fmt.Sprint(p.Owner)}}, &made)
	if err != nil {
		return "", err
	}
	if made.Status != "succeeded" {
		if err := c.get(ctx, "/payment_intents/"+url.PathEscape(made.ID), &made); err != nil {
			return "", err
		}
	}
	switch made.Status {
	case "succeeded":
		return made.ID, nil
	case "processing":
		return "", errPending
	}
	return "", payments.ErrRefused
}

// Refund gives a payment back; one that was given back already is no error.
func (c *Client) Refund(ctx context.Context, key, ref string) error {
	err := c.post(ctx, "/refunds", key, url.Values{"payment_intent": {ref}}, &named{})
	if r, ok := errors.AsType[*rest.Refusal](err); ok && r.Code == "charge_already_refunded" {
		return nil
	}
	return err
}

// What currencies count in, where it is not hundredths.
var (
	whole      = " BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF "
	thousandth = " BHD JOD KWD OMR TND "
)

// unitOf is the smallest unit of a currency that Stripe charges.
func unitOf(currency string) value.Money {
	switch c := " " + strings.ToUpper(currency) + " "; {
	case strings.Contains(whole, c):
		return value.MoneyUnit
	case strings.Contains(thousandth, c):
		return value.MoneyUnit / 1000
	}
	return value.MoneyUnit / 100
}

// minor is an amount in the currency's smallest unit, rounded to the nearest.
func minor(m value.Money, currency string) int64 {
	unit := unitOf(currency)
	return int64((m + unit/2) / unit)
}
