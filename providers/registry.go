package providers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/db"
	"parley/safe"
)

// Registry holds the vendors of an installation as they are set now: by the configuration, and where that is silent by
// its operators. A vendor that cannot be opened is left out, and tried again; nothing waits for it.
type Registry struct {
	makers []Maker
	config map[string]any // sections of the configuration
	on     Ground

	now atomic.Pointer[Vendors]

	mu    sync.Mutex // of what follows; never held while the database is asked
	first Vendors    // given, before those that are made
	last  Vendors    // and after them
	made  []made     // by maker

	db      *db.DB // where operators' settings are; nil = nowhere. Like changed set by Join, before anybody else is there
	changed func(ctx context.Context) error
}

// made is what became of one maker.
type made struct {
	settings any
	vendors  Vendors
	err      error
	stored   map[string]any // by operators
	version  int64          // of what they stored
}

// Start opens everything that the configuration sets up. own are vendors that stand already; they come first.
func Start(ctx context.Context, makers []Maker, config map[string]any, on Ground, own ...Vendor) *Registry {
	r := &Registry{makers: makers, config: config, on: on, made: make([]made, len(makers)), first: own}
	for i := range makers {
		r.open(ctx, i, nil, 0)
	}
	r.publish()
	return r
}

// Now are the vendors that can be asked.
func (r *Registry) Now() Vendors { return *r.now.Load() }

// Add puts a vendor at the end of the list, for good.
func (r *Registry) Add(v Vendor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = append(r.last, v)
	r.publish()
}

// Err says which vendors cannot be used as they are set.
func (r *Registry) Err() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, m := range r.made {
		if m.err != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", r.makers[i].Code, m.err))
		}
	}
	return err
}

// Close lets go of them all.
func (r *Registry) Close() (err error) {
	for _, v := range r.Now() {
		if v.Close != nil {
			err = errors.Join(err, v.Close())
		}
	}
	return err
}

// open makes the vendors of one maker anew. After an error there are none.
func (r *Registry) open(ctx context.Context, i int, stored map[string]any, version int64) {
	m := &r.made[i]
	m.stored, m.version = stored, version
	if m.settings, m.err = r.makers[i].merge(r.config[r.makers[i].Code], stored); m.err != nil {
		return
	}
	old := m.vendors
	made, err := r.makers[i].Open(ctx, m.settings, r.on)
	m.vendors, m.err = nil, err
	for _, v := range made {
		m.vendors = append(m.vendors, watch(v))
	}
	if err != nil {
		slog.Warn("vendor cannot be used", "vendor", r.makers[i].Code, "error", err)
	}
	for _, v := range old {
		if v.Close != nil { // ends what is idle; calls that go on keep what they have
			if err := v.Close(); err != nil {
				slog.Warn("vendor does not close", "vendor", v.Code, "error", err)
			}
		}
	}
}

func (r *Registry) publish() {
	all := slices.Clone(r.first)
	for _, m := range r.made {
		all = append(all, m.vendors...)
	}
	all = append(all, r.last...)
	r.now.Store(&all)
}

// Join reads what operators have set, and follows it from then on. changed is told of every new set of vendors, before any
// answer that says so.
func (r *Registry) Join(ctx context.Context, d *db.DB, changed func(ctx context.Context) error) error {
	r.db, r.changed = d, changed
	return r.Look(ctx)
}

type storedRow struct {
	Code    string `db:"code"`
	Sealed  string `db:"settings"`
	Version int64  `db:"version"`
}

// Look takes over what is stored, by this process or another.
func (r *Registry) Look(ctx context.Context) error {
	var rows []storedRow
	if err := r.db.Select(ctx, &rows, `SELECT code, settings, version FROM vendor_settings`); err != nil {
		return err
	}
	if !r.adopt(ctx, rows) {
		return nil
	}
	return r.tell(ctx)
}

// adopt makes the vendors anew of which something newer is stored; it reports whether there were any.
func (r *Registry) adopt(ctx context.Context, rows []storedRow) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range rows {
		i := r.maker(row.Code)
		if i < 0 || r.made[i].version >= row.Version {
			continue
		}
		stored, err := r.unseal(row.Sealed)
		if err != nil {
			slog.Error("vendor settings cannot be read", "vendor", row.Code, "error", err)
			continue
		}
		r.open(ctx, i, stored, row.Version)
		news = true
	}
	if news {
		r.publish()
	}
	return news
}

// tell has everybody use the vendors that there are now. Whoever is overtaken tells again, so that the newest ones stay.
func (r *Registry) tell(ctx context.Context) error {
	for {
		told := r.now.Load()
		if r.changed == nil {
			return nil
		}
		if err := r.changed(ctx); err != nil || r.now.Load() == told {
			return err
		}
	}
}

func (r *Registry) maker(code string) int {
	return slices.IndexFunc(r.makers, func(m Maker) bool { return m.Code == code && m.Settings != nil })
}

func (r *Registry) unseal(sealed string) (stored map[string]any, err error) {
	plain, err := r.on.Box.Open(sealed)
	if err == nil {
		err = json.Unmarshal(plain, &stored)
	}
	return stored, err
}

// Run checks all vendors again and again until ctx ends, tries those that could not be opened, and follows what other
// processes store.
func (r *Registry) Run(ctx context.Context) error {
	var work safe.Group
	defer work.Wait()
	work.Loop(ctx, "vendor checks", func(ctx context.Context) { again(ctx, checkEvery, r.round) })
	work.Loop(ctx, "vendor settings", func(ctx context.Context) { again(ctx, time.Second, r.follow) })
	<-ctx.Done()
	return nil
}

func again(ctx context.Context, every time.Duration, fn func(ctx context.Context)) {
	for ctx.Err() == nil {
		fn(ctx)
		select {
		case <-time.After(every):
		case <-ctx.Done():
		}
	}
}

func (r *Registry) follow(ctx context.Context) {
	if r.db == nil {
		return
	}
	if err := r.Look(ctx); err != nil && ctx.Err() == nil {
		slog.Warn("vendor settings cannot be followed", "error", err)
	}
}

// round checks every vendor once, all at the same time, and opens what could not be opened.
func (r *Registry) round(ctx context.Context) {
	r.reopen(ctx)
	var checks safe.Group
	for _, v := range r.Now() {
		if v.Check != nil && v.health != nil {
			checks.Go("vendor check", func() { _ = v.check(ctx) })
		}
	}
	checks.Wait()
	r.renew(ctx)
}

func (r *Registry) reopen(ctx context.Context) {
	if !r.mended(ctx) {
		return
	}
	if err := r.tell(ctx); err != nil {
		slog.Warn("vendors cannot be offered", "error", err)
	}
}

func (r *Registry) mended(ctx context.Context) (yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, m := range r.made {
		if m.err != nil {
			r.open(ctx, i, m.stored, m.version)
			yes = yes || r.made[i].err == nil
		}
	}
	if yes {
		r.publish()
	}
	return yes
}
