package numbers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/once"

	"github.com/google/uuid"
)

// Search lists what the carrier offers in a country. contains filters by digits; a country nothing is sold in has nothing.
func (n *Numbers) Search(ctx context.Context, owner accounts.ID, country, contains string) ([]Offer, error) {
	if !n.Sells(country) {
		return nil, nil
	}
	list, err := n.cfg.Carrier.Search(ctx, owner, country, contains)
	if err != nil {
		return nil, searchFailed(err)
	}
	return list[:min(len(list), 20)], nil
}

// Sells reports whether numbers of a country may be bought.
func (n *Numbers) Sells(country string) bool { return slices.Contains(n.cfg.Countries, country) }

// A purchase is a row first and money afterwards: the row claims the number and names, by its key, the subscription
// and the order that may exist outside. A job then takes one step at a time; each step can be taken again after a
// crash, because what it does outside is known there by the key. A purchase that fails is taken back in the same way.
const (
	stepSubscribe = "subscribe"
	stepOrder     = "order"
)

// Why a purchase failed.
const (
	failedPayment = "payment"
	failedCarrier = "carrier"
)

// Buy buys a number and waits until it belongs to the account or the money is on its way back.
func (n *Numbers) Buy(ctx context.Context, owner accounts.ID, number string) (Number, error) {
	key, again := once.Ref(ctx)
	if again {
		return n.resume(ctx, owner, key)
	}
	if !strict.MatchString(number) {
		return Number{}, errUnreadable
	}
	offer, err := n.offered(ctx, owner, number)
	if err != nil {
		return Number{}, err
	}
	id, err := n.claim(ctx, owner, offer, key)
	if err != nil {
		return Number{}, err
	}
	return n.await(ctx, owner, id)
}

// resume waits for the purchase that an earlier try of the request began. One that is not there any more had failed or was
// released meanwhile.
func (n *Numbers) resume(ctx context.Context, owner accounts.ID, key string) (Number, error) {
	x, err := n.one(ctx, n.db, `account_id = $1 AND purchase_key = $2`, owner, key)
	switch {
	case errors.Is(err, ErrNotFound):
		return x, fault.Final(orderFailed(errors.New("gone")))
	case err != nil:
		return x, err
	}
	return n.await(ctx, owner, x.ID)
}

// offered makes the checks of the contract in their order.
func (n *Numbers) offered(ctx context.Context, owner accounts.ID, number string) (Offer, error) {
	if yes, err := n.taken(ctx, n.db, number); err != nil {
		return Offer{}, err
	} else if yes {
		return Offer{}, errTaken
	}
	offer, err := n.cfg.Carrier.Offer(ctx, owner, number)
	switch {
	case errors.Is(err, ErrNotOffered):
		return offer, errNotForSale
	case err != nil:
		return offer, orderFailed(err)
	case !n.Sells(offer.Country), offer.Address != "none": // accounts have no address on file
		return offer, errNotForSale
	}
	ready, err := n.cfg.Payments.Ready(ctx, owner)
	if err == nil && !ready {
		err = errNoMethod
	}
	return offer, err
}

// claim takes the number for the account, so that no other buyer can, and starts the purchase.
func (n *Numbers) claim(ctx context.Context, owner accounts.ID, o Offer, key string) (id ID, err error) {
	now := db.At(n.db.Now())
	var region *string
	if o.Region != "" {
		region = &o.Region
	}
	err = n.db.Do(ctx, func(tx *db.Tx) error {
		var row int // whoever makes a trunk of the number waits here, or we do
		if err := tx.Get(ctx, &row, `SELECT id FROM sip_registrar WHERE id = 1 {{lock}}`); err != nil {
			return err
		}
		if yes, err := n.taken(ctx, tx, o.Number); err != nil {
			return err
		} else if yes {
			return errTaken
		}
		if err := tx.Get(ctx, &id, `INSERT INTO phone_numbers (account_id, number, country_code, type, state, sms_capable, region, price,
			price_id, purchase_key, step, created_at, updated_at) VALUES ($1, $2, $3, 'normal', 'buying', $4, $5, $6, $7, $8, 'subscribe', $9, $9) RETURNING id`,
			owner, o.Number, o.Country, o.SMS, region, int64(o.Price), o.PriceID, cmp.Or(key, uuid.NewString()), now); err != nil {
			return err
		}
		if err := once.Begun(ctx, tx); err != nil {
			return err
		}
		return n.cfg.Jobs.Add(ctx, tx, jobs.New{Kind: jobBuy, Args: ref{id}, Unique: unique(jobBuy, id), Priority: jobs.High})
	})
	if db.IsUniqueOf(err, "phone_numbers_owned", "phone_numbers.number") {
		err = errTaken
	} else if db.IsUniqueOf(err, "phone_numbers_purchase_key_key", "phone_numbers.purchase_key") {
		err = once.ErrRunning // the same order, at the same moment
	}
	return id, err
}

// await waits for the job, wherever it runs. A purchase that takes too long is called off, unless it has just come true.
func (n *Numbers) await(ctx context.Context, owner accounts.ID, id ID) (Number, error) {
	pause := 5 * time.Millisecond
	for end := time.Now().Add(n.waiting); ; pause = min(pause*3/2, 200*time.Millisecond) {
		x, err := n.one(ctx, n.db, `id = $1`, id)
		switch {
		case errors.Is(err, ErrNotFound): // bought, and released at once
			return x, orderFailed(errors.New("gone"))
		case err != nil:
			return x, err
		case x.State == Active || x.State == Scheduled:
			return x, nil
		case x.State == Failed:
			return x, n.failure(ctx, x)
		case x.State == Buying && time.Now().After(end):
			if _, err := n.callOff(ctx, x, failedCarrier); err != nil {
				return x, err
			}
		case x.State == Undoing && *x.Failure == failedCarrier && time.Now().After(end):
			return x, fault.Final(orderFailed(errors.New("the purchase took too long")))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return x, ctx.Err() // the purchase goes on without its buyer
		}
	}
}

// failure removes a failed purchase and says why it failed.
func (n *Numbers) failure(ctx context.Context, x Number) error {
	err := once.Ending(ctx, n.db, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM phone_numbers WHERE id = $1 AND state = 'failed'`, x.ID)
		return err
	})
	if err != nil {
		return err
	}
	if *x.Failure == failedPayment {
		return errPayment
	}
	return fault.Final(orderFailed(errors.New("the carrier refused the order")))
}

// callOff turns a purchase round. The guard lets a purchase that has come true meanwhile be.
func (n *Numbers) callOff(ctx context.Context, x Number, why string) (bool, error) {
	count, err := n.db.Exec(ctx, `UPDATE phone_numbers SET state = 'undoing', failure = $2, updated_at = $3 WHERE id = $1 AND state = 'buying'`,
		x.ID, why, db.At(n.db.Now()))
	return count > 0, err
}

// buy is the job of a purchase.
func (n *Numbers) buy(ctx context.Context, job jobs.Job) error {
	for {
		x, done, err := n.purchase(ctx, job)
		if err != nil || done {
			return err
		}
		switch {
		case x.State == Undoing:
			return n.undo(ctx, x)
		case *x.Step == stepSubscribe:
			err = n.subscribe(ctx, x)
		default:
			done, err = n.order(ctx, job, x)
		}
		if err != nil || done {
			return err
		}
	}
}

// purchase loads the purchase of a job; done when nothing is left to do.
func (n *Numbers) purchase(ctx context.Context, job jobs.Job) (x Number, done bool, err error) {
	var r ref
	if err := job.Decode(&r); err != nil {
		return x, false, jobs.Never(err)
	}
	x, err = n.one(ctx, n.db, `id = $1`, r.ID)
	if errors.Is(err, ErrNotFound) {
		return x, true, nil
	}
	return x, x.State != Buying && x.State != Undoing, err
}

// subscribe charges the first month.
func (n *Numbers) subscribe(ctx context.Context, x Number) error {
	paid, err := n.cfg.Payments.Subscribe(ctx, Subscription{Owner: x.Owner, Key: *x.Key, Number: x.Number, PriceID: x.PriceID, Price: x.Price})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrRefused):
		_, err = n.callOff(ctx, x, failedPayment)
	case err != nil: // nobody knows whether it was charged
		_, err = n.callOff(ctx, x, failedCarrier)
	default:
		_, err = n.db.Exec(ctx, `UPDATE phone_numbers SET step = 'order', subscription = $2, paid_until = $3, months = 1, updated_at = $4
			WHERE id = $1 AND state = 'buying' AND step = 'subscribe'`, x.ID, paid.Ref, db.At(paid.Until), db.At(n.db.Now()))
	}
	return err
}

// order takes the number from the carrier and makes it the account's.
func (n *Numbers) order(ctx context.Context, job jobs.Job, x Number) (done bool, err error) {
	carrierRef, err := n.cfg.Carrier.Order(ctx, Order{Owner: x.Owner, Key: *x.Key, Number: x.Number})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		_, err = n.callOff(ctx, x, failedCarrier)
		return false, err
	}
	err = n.db.Do(ctx, func(tx *db.Tx) error {
		done = false
		count, err := tx.Exec(ctx, `UPDATE phone_numbers SET state = 'active', step = 'done', carrier_ref = $2, updated_at = $3
			WHERE id = $1 AND state = 'buying'`, x.ID, carrierRef, db.At(n.db.Now()))
		if err != nil || count == 0 { // called off while the carrier took its time
			return err
		}
		done = true
		if err := n.cfg.Jobs.Add(ctx, tx,
			jobs.New{Kind: jobRenew, Args: ref{x.ID}, Unique: unique(jobRenew, x.ID), RunAt: x.PaidUntil.Time()}); err != nil {
			return err
		}
		return job.Complete(ctx, tx)
	})
	return done, err
}

// undo gives back what a failed purchase may have got: the number, then the money.
func (n *Numbers) undo(ctx context.Context, x Number) error {
	if *x.Step == stepOrder {
		if err := n.cfg.Carrier.Release(ctx, Leaving{Owner: x.Owner, Type: Dedicated, Key: *x.Key, Number: x.Number}); err != nil {
			return err
		}
	}
	if err := n.cfg.Payments.Cancel(ctx, x.Owner, *x.Key, true); err != nil {
		return err
	}
	_, err := n.db.Exec(ctx, `UPDATE phone_numbers SET state = 'failed', updated_at = $2 WHERE id = $1 AND state = 'undoing'`,
		x.ID, db.At(n.db.Now()))
	return err
}
