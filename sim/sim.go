// Package sim is a pretend world: a carrier, a messaging platform, a payment account and other people's phones. It fills
// the same roles as real vendors do, and nothing outside this folder knows that it is not real.
package sim

import (
	"context"
	"errors"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/messaging"
)

// Sim is the pretend world of one account, the installation's first.
type Sim struct {
	db        *db.DB
	jobs      *jobs.Runner
	messaging func() *messaging.Messaging // who its messaging platform calls back
	network   *Network

	power bool
}

// New opens the world. m is the room that its messaging platform calls back; that room stands on this world. power admits
// what reaches beyond it: the clock, users, the balance, crashes.
func New(d *db.DB, runner *jobs.Runner, m func() *messaging.Messaging, power bool) *Sim {
	s := &Sim{db: d, jobs: runner, messaging: m, power: power}
	runner.Register(kindDelivery, jobs.Options{Queue: "sim"}, s.callBack)
	return s
}

// Power reports whether requests may reach beyond the pretend world.
func (s *Sim) Power() bool { return s.power }

// NotFound is the answer for what is not in this world.
func NotFound() error { return fault.New(fault.NotFound, "", "Not found") }

// Fault kinds, in the words of PUT /sim/faults.
const (
	CarrierFault  = "carrier"
	WhatsAppFault = "whatsapp"
)

// SetFault makes the next n operations of a kind fail in the way value names; "ok" ends it.
func (s *Sim) SetFault(ctx context.Context, account accounts.ID, kind, value string, n int64) error {
	if value == "ok" {
		n = 0
	}
	_, err := s.db.Exec(ctx, `INSERT INTO sim_faults (account_id, kind, value, remaining) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, kind) DO UPDATE SET value = excluded.value, remaining = excluded.remaining`, account, kind, value, n)
	return err
}

// TakeFault uses up one failure of a kind, if its value is among those that concern the caller; empty = none.
func (s *Sim) TakeFault(ctx context.Context, account accounts.ID, kind string, concerns func(value string) bool) (string, error) {
	var value string
	err := s.db.Get(ctx, &value, `SELECT value FROM sim_faults WHERE account_id = $1 AND kind = $2 AND remaining > 0`, account, kind)
	if errors.Is(err, db.ErrNone) || err == nil && !concerns(value) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	n, err := s.db.Exec(ctx, `UPDATE sim_faults SET remaining = remaining - 1 WHERE account_id = $1 AND kind = $2 AND value = $3 AND remaining > 0`, account, kind, value)
	if err != nil || n == 0 {
		return "", err
	}
	return value, nil
}
