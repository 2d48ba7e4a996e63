package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/numbers"
	"parley/value"
)

var (
	_ numbers.Carrier   = Carrier{}
	_ numbers.CallerIDs = Carrier{}
	_ numbers.Payments  = Payments{}
)

// country is what the pretend carrier offers in one country.
type country struct {
	code, prefix, priceID string
	digits                int // after the prefix
	price                 string
	regions               []string
	address               string
	sms                   bool
}

// The prefixes are ranges that may look real but are documented for fiction or unused where such exist.
var countries = []country{
	{"US", "+1415555", "price_us_local", 4, "1.15", []string{"San Francisco"}, "none", true},
	{"CA", "+1604555", "price_ca_local", 4, "1.25", []string{"Vancouver"}, "none", true},
	{"GB", "+44207946", "price_gb_local", 4, "1.50", []string{"London"}, "none", true},
	{"AU", "+6125550", "price_au_local", 4, "3.00", []string{"Sydney"}, "local", true},
	{"IL", "+97235550", "price_il_local", 3, "4.25", []string{"Tel Aviv"}, "foreign", false},
	{"PL", "+4822555", "price_pl_local", 4, "2.50", []string{"Warsaw"}, "none", true},
	{"FI", "+3589555", "price_fi_local", 4, "3.50", []string{"Helsinki"}, "none", true},
	{"NL", "+3120555", "price_nl_local", 4, "2.25", []string{"Amsterdam"}, "inventory", false},
	{"DK", "+453255", "price_dk_local", 4, "2.75", []string{"Copenhagen"}, "none", true},
	{"IT", "+3906555", "price_it_local", 4, "2.00", []string{"Rome"}, "none", false},
}

// stock is how many numbers each country has at first.
const stock = 40

// Item is a number in the carrier's inventory.
type Item struct {
	Phone   string  `db:"phone_number"`
	Country string  `db:"country_code"`
	Region  string  `db:"region"`
	Price   int64   `db:"price"`
	PriceID string  `db:"price_id"`
	Address string  `db:"address"`
	SMS     bool    `db:"sms"`
	Sold    *string `db:"order_key"` // the order that took it; nil = on offer
}

func (i Item) offer() numbers.Offer {
	return numbers.Offer{Number: i.Phone, Country: i.Country, Region: i.Region, Price: value.Money(i.Price), PriceID: i.PriceID,
		Address: i.Address, SMS: i.SMS}
}

const itemColumns = `phone_number, country_code, region, price, price_id, address, sms, order_key`

// Stock fills an empty inventory: the same numbers in every installation.
func (s *Sim) Stock(ctx context.Context) error {
	return s.db.Do(ctx, func(tx *db.Tx) error {
		var n int
		if err := tx.Get(ctx, &n, `SELECT count(*) FROM sim_inventory`); err != nil || n > 0 {
			return err
		}
		for _, c := range countries {
			price, err := value.ParseMoney(c.price)
			if err != nil {
				return err
			}
			for k := range stock {
				number := fmt.Sprintf("%s%0*d", c.prefix, c.digits, 100+k)
				if err := addItem(ctx, tx,
					Item{number, c.code, c.regions[k%len(c.regions)], int64(price), c.priceID, c.address, c.sms, nil}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func addItem(ctx context.Context, q db.Q, i Item) error {
	_, err := q.Exec(ctx, `INSERT INTO sim_inventory (`+itemColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, NULL)
		ON CONFLICT (phone_number) DO UPDATE SET price = excluded.price, address = excluded.address, sms = excluded.sms`,
		i.Phone, i.Country, i.Region, i.Price, i.PriceID, i.Address, i.SMS)
	return err
}

// Inventory lists what search can find.
func (s *Sim) Inventory(ctx context.Context) ([]Item, error) {
	all := []Item{}
	err := s.db.Select(ctx, &all, `SELECT `+itemColumns+` FROM sim_inventory WHERE order_key IS NULL ORDER BY country_code, phone_number`)
	return all, err
}

// AddNumber puts a number on offer.
func (s *Sim) AddNumber(ctx context.Context, i Item) error { return addItem(ctx, s.db, i) }

// RemoveNumber takes a number off the market: somebody else bought it.
func (s *Sim) RemoveNumber(ctx context.Context, phone string) error {
	n, err := s.db.Exec(ctx, `DELETE FROM sim_inventory WHERE phone_number = $1 AND order_key IS NULL`, phone)
	if err == nil && n == 0 {
		return NotFound()
	}
	return err
}

// Carrier supplies the numbers of the inventory.
type Carrier struct{ *Sim }

func oneOf(values ...string) func(string) bool {
	return func(v string) bool {
		for _, x := range values {
			if x == v {
				return true
			}
		}
		return false
	}
}

// Search lists what is on offer.
func (c Carrier) Search(ctx context.Context, owner accounts.ID, country, contains string) ([]numbers.Offer, error) {
	if fault, err := c.TakeFault(ctx, owner, CarrierFault, oneOf("search_fails")); fault != "" || err != nil {
		return nil, errors.Join(errors.New("the simulated carrier does not answer"), err)
	}
	var all []Item
	err := c.db.Select(ctx, &all,
		`SELECT `+itemColumns+` FROM sim_inventory WHERE order_key IS NULL AND country_code = $1 AND phone_number LIKE $2 ORDER BY phone_number LIMIT 20`, country, "%"+contains+"%")
	out := make([]numbers.Offer, len(all))
	for i, item := range all {
		out[i] = item.offer()
	}
	return out, err
}

// Offer finds one number on offer.
func (c Carrier) Offer(ctx context.Context, _ accounts.ID, number string) (numbers.Offer, error) {
	var item Item
	err := c.db.Get(ctx, &item, `SELECT `+itemColumns+` FROM sim_inventory WHERE order_key IS NULL AND phone_number = $1`, number)
	if errors.Is(err, db.ErrNone) {
		return numbers.Offer{}, numbers.ErrNotOffered
	}
	return item.offer(), err
}

// Order sells a number. The crash faults end the process here.
func (c Carrier) Order(ctx context.Context, o numbers.Order) (string, error) {
	fault, err := c.TakeFault(ctx, o.Owner, CarrierFault, oneOf("order_fails", "crash_before_order", "crash_after_order"))
	if err != nil {
		return "", err
	}
	switch fault {
	case "order_fails":
		return "", errors.New("the simulated carrier could not supply the number")
	case "crash_before_order":
		os.Exit(137)
	}
	n, err := c.db.Exec(ctx, `UPDATE sim_inventory SET order_key = $1 WHERE phone_number = $2 AND (order_key IS NULL OR order_key = $1)`,
		o.Key, o.Number)
	if err != nil {
		return "", err
	}
	if fault == "crash_after_order" {
		os.Exit(137)
	}
	if n == 0 {
		return "", numbers.ErrNotOffered
	}
	return "PN" + strings.ReplaceAll(o.Key, "-", ""), nil
}

// Release puts a number back on offer.
func (c Carrier) Release(ctx context.Context, l numbers.Leaving) error {
	if fault, err := c.TakeFault(ctx, l.Owner, CarrierFault, oneOf("release_fails")); fault != "" || err != nil {
		return errors.Join(errors.New("the simulated carrier did not release the number"), err)
	}
	if l.Type != numbers.Dedicated {
		return nil
	}
	_, err := c.db.Exec(ctx, `UPDATE sim_inventory SET order_key = NULL WHERE order_key = $1`, l.Key)
	return err
}

// SendCode texts the code of a Caller ID verification to the handset.
func (c Carrier) SendCode(ctx context.Context, _ accounts.ID, number, code string) error {
	_, err := c.db.Exec(ctx, `INSERT INTO sim_sms (phone_number, from_number, body, sid, at) VALUES ($1, 'parley', $2, $3, $4)`,
		number, "Your verification code is "+code+".", "SM"+code, db.At(c.db.Now()))
	return err
}

// Allow lets the account show a number.
func (c Carrier) Allow(context.Context, accounts.ID, string) error { return nil }

// Payments is the pretend payment platform.
type Payments struct {
	*Sim
	Accounts *accounts.Accounts
}

// Charged is money taken from a payment method, or given back.
type Charged struct {
	Ref    string      `db:"ref" json:"ref"`
	Amount value.Money `db:"amount" json:"amount"`
	Status string      `db:"status" json:"status"`
}

// Subscribed is a monthly charge.
type Subscribed struct {
	Ref    string  `db:"ref" json:"ref"`
	Number string  `db:"phone_number" json:"phone_number"`
	Status string  `db:"status" json:"status"`
	Until  db.Time `db:"period_end" json:"-"`
}

func (p Payments) method(ctx context.Context, q db.Q, owner accounts.ID) (accounts.Payment, error) {
	acc, err := p.Accounts.Get(ctx, q, owner)
	return acc.PaymentMethod, err
}

// Ready reports whether the account has a payment method.
func (p Payments) Ready(ctx context.Context, owner accounts.ID) (bool, error) {
	m, err := p.method(ctx, p.db, owner)
	return m != accounts.PaymentNone, err
}

// Subscribe charges the first month.
func (p Payments) Subscribe(ctx context.Context, s numbers.Subscription) (paid numbers.Paid, err error) {
	err = p.db.Do(ctx, func(tx *db.Tx) error {
		var there Subscribed
		err := tx.Get(ctx, &there, `SELECT ref, phone_number, status, period_end FROM sim_subscriptions WHERE key_ = $1`, s.Key)
		if err == nil {
			paid = numbers.Paid{Ref: there.Ref, Until: there.Until.Time()}
			return nil
		}
		if !errors.Is(err, db.ErrNone) {
			return err
		}
		m, err := p.method(ctx, tx, s.Owner)
		if err != nil {
			return err
		}
		if m != accounts.PaymentOK {
			return numbers.ErrRefused
		}
		paid = numbers.Paid{Ref: "sub_" + strings.ReplaceAll(s.Key, "-", ""), Until: tx.Now().AddDate(0, 1, 0)}
		_, err = tx.Exec(ctx, `INSERT INTO sim_subscriptions (key_, ref, account_id, phone_number, price, status, months, period_end) VALUES ($1, $2, $3, $4, $5, 'active', 0, $6)`,
			s.Key, paid.Ref, s.Owner, s.Number, s.Price, db.At(paid.Until))
		if err != nil {
			return err
		}
		return charge(ctx, tx, s.Owner, paid.Ref+"_0", s.Price)
	})
	return paid, err
}

func charge(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, amount value.Money) error {
	_, err := tx.Exec(ctx, `INSERT INTO sim_charges (ref, account_id, amount, status, at) VALUES ($1, $2, $3, 'succeeded', $4)`,
		ref, owner, amount, db.At(tx.Now()))
	return err
}

// Renew charges one further month, once. A subscription is past due from a refusal until a later charge succeeds.
func (p Payments) Renew(ctx context.Context, owner accounts.ID, key string, month int) (paid numbers.Paid, err error) {
	refused := false
	err = p.db.Do(ctx, func(tx *db.Tx) error {
		refused = false
		var s struct {
			Subscribed
			Months int         `db:"months"`
			Price  value.Money `db:"price"`
		}
		if err := tx.Get(ctx, &s, `SELECT ref, phone_number, status, period_end, months, price FROM sim_subscriptions WHERE key_ = $1 AND status <> 'cancelled' {{lock}}`, key); err != nil {
			return err
		}
		paid = numbers.Paid{Ref: s.Ref, Until: s.Until.Time()}
		if s.Months >= month {
			return nil
		}
		m, err := p.method(ctx, tx, owner)
		if err != nil {
			return err
		}
		if refused = m != accounts.PaymentOK; refused {
			_, err := tx.Exec(ctx, `UPDATE sim_subscriptions SET status = 'past_due' WHERE key_ = $1`, key)
			return err
		}
		paid.Until = later(s.Until.Time(), tx.Now()).AddDate(0, 1, 0)
		if _, err := tx.Exec(ctx, `UPDATE sim_subscriptions SET status = 'active', months = $1, period_end = $2 WHERE key_ = $3`,
			month, db.At(paid.Until), key); err != nil {
			return err
		}
		return charge(ctx, tx, owner, fmt.Sprintf("%s_%d", s.Ref, month), s.Price)
	})
	if err == nil && refused {
		err = numbers.ErrRefused
	}
	return paid, err
}

// later is the end of the paid period, or now when the renewal comes a whole month late.
func later(end, now time.Time) time.Time {
	if end.AddDate(0, 1, 0).Before(now) {
		return now
	}
	return end
}

// Cancel ends a subscription; refund returns its first charge.
func (p Payments) Cancel(ctx context.Context, owner accounts.ID, key string, refund bool) error {
	return p.db.Do(ctx, func(tx *db.Tx) error {
		var s Subscribed
		err := tx.Get(ctx, &s, `UPDATE sim_subscriptions SET status = 'cancelled' WHERE key_ = $1 RETURNING ref, phone_number, status, period_end`, key)
		if errors.Is(err, db.ErrNone) {
			return nil
		}
		if err != nil || !refund {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE sim_charges SET status = 'refunded' WHERE ref = $1 AND account_id = $2`, s.Ref+"_0", owner)
		return err
	})
}

// Held is everything the payment platform holds of an account.
type Held struct {
	Charges       []Charged
	Subscriptions []Subscribed
	Refunds       []Charged
}

// Payments lists what the payment platform holds, oldest first.
func (s *Sim) Payments(ctx context.Context, account accounts.ID) (h Held, err error) {
	h = Held{[]Charged{}, []Subscribed{}, []Charged{}}
	if err := s.db.Select(ctx, &h.Charges, `SELECT ref, amount, status FROM sim_charges WHERE account_id = $1 ORDER BY id`,
		account); err != nil {
		return h, err
	}
	for _, c := range h.Charges {
		if c.Status == "refunded" {
			h.Refunds = append(h.Refunds, c)
		}
	}
	err = s.db.Select(ctx, &h.Subscriptions, `SELECT ref, phone_number, status, period_end FROM sim_subscriptions s WHERE account_id = $1
		ORDER BY (SELECT c.id FROM sim_charges c WHERE c.ref = s.ref || '_0')`, account)
	return h, err
}
