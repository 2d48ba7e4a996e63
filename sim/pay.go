package sim

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"parley/accounts"
	"parley/db"
	"parley/payments"
	"parley/value"
)

var _ payments.Platform = Till{}

// Till is where customers of the pretend payment platform pay: its pages are ours.
type Till struct{ Payments }

// Customer is the account itself: the platform knows everybody.
func (t Till) Customer(_ context.Context, a accounts.Account) (string, error) {
	return fmt.Sprintf("cus_%d", a.ID), nil
}

// Method is a pretend card, unless the account is set to have none.
func (t Till) Method(ctx context.Context, owner accounts.ID, _ string) (*payments.Method, error) {
	ready, err := t.Ready(ctx, owner)
	if !ready || err != nil {
		return nil, err
	}
	return &payments.Method{Ready: true, Label: "Visa ending 4242", Expires: "2034-12"}, nil
}

// page is a page of the pretend platform.
type page struct {
	ID     string      `db:"id"`
	Owner  accounts.ID `db:"account_id"`
	Amount value.Money `db:"amount"`
	Back   string      `db:"back"`
	Done   bool        `db:"done"`
}

// Open makes a page; its name is the key, so that the same key has the same page.
func (t Till) Open(ctx context.Context, p payments.Page) (payments.Session, error) {
	id := "cs_" + strings.ReplaceAll(p.Key, "-", "")
	_, err := t.db.Exec(ctx, `INSERT INTO sim_pages (id, account_id, amount, back, done) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING`,
		id, p.Owner, p.Amount, p.Back+"?session_id="+url.QueryEscape(id), false)
	own, _, _ := strings.Cut(p.Back, "/return")
	return payments.Session{ID: id, URL: own + "/pay?session_id=" + url.QueryEscape(id)}, err
}

func (t Till) page(ctx context.Context, q db.Q, id string) (p page, err error) {
	err = q.Get(ctx, &p, `SELECT id, account_id, amount, back, done FROM sim_pages WHERE id = $1`, id)
	return p, err
}

// Session says whether a page was used.
func (t Till) Session(ctx context.Context, id string) (payments.Session, error) {
	p, err := t.page(ctx, t.db, id)
	s := payments.Session{ID: p.ID, Done: p.Done}
	if p.Amount > 0 {
		s.Ref = "pi_" + strings.TrimPrefix(p.ID, "cs_")
	}
	return s, err
}

// Charge takes money unless the account is set to refuse.
func (t Till) Charge(ctx context.Context, c payments.Charge) (string, error) {
	ref := "pi_" + c.Key
	return ref, t.db.Do(ctx, func(tx *db.Tx) error { return t.take(ctx, tx, c.Owner, ref, c.Amount) })
}

// take books a charge once.
func (t Till) take(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, amount value.Money) error {
	var there int
	if err := tx.Get(ctx, &there, `SELECT count(*) FROM sim_charges WHERE ref = $1`, ref); err != nil || there > 0 {
		return err
	}
	m, err := t.method(ctx, tx, owner)
	if err != nil {
		return err
	}
	if m != accounts.PaymentOK {
		return payments.ErrRefused
	}
	return charge(ctx, tx, owner, ref, amount)
}

// Refund gives a charge back.
func (t Till) Refund(ctx context.Context, _, ref string) error {
	_, err := t.db.Exec(ctx, `UPDATE sim_charges SET status = 'refunded' WHERE ref = $1 AND status = 'succeeded'`, ref)
	return err
}

// Hooks are the page of the platform, and the address it sends the browser back to.
func (t Till) Hooks(p *payments.Payments) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /hooks/"+CarrierName+"/pay", t.show)
	m.HandleFunc("POST /hooks/"+CarrierName+"/pay", t.pay)
	m.HandleFunc("GET /hooks/"+CarrierName+"/return", p.Return)
	return m
}

func (t Till) show(w http.ResponseWriter, r *http.Request) {
	p, err := t.page(r.Context(), t.db, r.URL.Query().Get("session_id"))
	t.draw(w, p, err, "")
}

// pay is the button of the page: it pays, or puts the pretend card on file.
func (t Till) pay(w http.ResponseWriter, r *http.Request) {
	p, err := t.page(r.Context(), t.db, r.URL.Query().Get("session_id"))
	if err == nil && !p.Done {
		err = t.finish(r.Context(), p)
	}
	if errors.Is(err, payments.ErrRefused) {
		t.draw(w, p, nil, "The pretend card was refused.")
		return
	}
	if err != nil {
		t.draw(w, p, err, "")
		return
	}
	http.Redirect(w, r, p.Back, http.StatusSeeOther)
}

func (t Till) finish(ctx context.Context, p page) error {
	return t.db.Do(ctx, func(tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE sim_pages SET done = $2 WHERE id = $1 AND NOT done`, p.ID, true)
		if n == 0 || err != nil {
			return err
		}
		if p.Amount == 0 {
			ok := accounts.PaymentOK
			_, err := t.Accounts.SetTerms(ctx, tx, p.Owner, accounts.Terms{PaymentMethod: &ok})
			return err
		}
		return t.take(ctx, tx, p.Owner, "pi_"+strings.TrimPrefix(p.ID, "cs_"), p.Amount)
	})
}

func (t Till) draw(w http.ResponseWriter, p page, err error, sorry string) {
	if errors.Is(err, db.ErrNone) {
		http.Error(w, "There is no such page.", http.StatusNotFound)
		return
	}
	if err != nil {
		http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
	_ = payPage.Execute(w, map[string]any{"Amount": p.Amount.String(), "Pays": p.Amount > 0, "Done": p.Done, "Back": p.Back, "Sorry": sorry})
}

var payPage = template.Must(template.New("pay").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Pretend payment</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:24rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.6rem 1.2rem}
@media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#9cf}}</style>
<h1>Pretend payment</h1>
<p>This page stands for the payment vendor's. No money moves.</p>
{{if .Sorry}}<p role="alert">{{.Sorry}}</p>{{end}}
{{if .Done}}<p>This is done.</p><p><a href="{{.Back}}">Back</a></p>
{{else}}<form method="post"><button>{{if .Pays}}Pay {{.Amount}}{{else}}Put a pretend card on file{{end}}</button></form>{{end}}
</html>`))
