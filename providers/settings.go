package providers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"parley/db"
	"parley/fault"
)

// Listed is a vendor as operators see it.
type Listed struct {
	Code, Name string
	Roles      []string
	Configured bool
	Source     string // "config", "console", or empty: nobody set anything
	Healthy    bool
	LastError  string
	CheckedAt  time.Time // zero = never
	Fields     []Setting
}

// Setting is one of a vendor's settings.
type Setting struct {
	Name   string
	Secret bool
	Set    bool
}

// What can be wrong with an operator's wish.
var (
	errNoVendor   = fault.New(fault.NotFound, "", "Vendor not found")
	errConfigured = fault.New(fault.Conflict, "", "The configuration of this installation sets this. Change it there.")
)

// List are all vendors that there are, set up or not, in their order.
func (r *Registry) List() []Listed {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Listed
	for i, m := range r.makers {
		out = append(out, r.listed(m, r.made[i]))
	}
	return out
}

// One is the vendor with a code.
func (r *Registry) One(code string) (Listed, error) {
	for _, l := range r.List() {
		if l.Code == code {
			return l, nil
		}
	}
	return Listed{}, errNoVendor
}

func (r *Registry) listed(m Maker, is made) Listed {
	l := Listed{Code: m.Code, Name: m.Name, Roles: m.Roles, Configured: len(is.vendors) > 0, Healthy: len(is.vendors) > 0, Fields: []Setting{}}
	if m.Settings != nil {
		l.Fields, l.Source = m.fields(is.settings), m.source(r.config[m.Code], is.stored)
	}
	if is.err != nil {
		l.LastError = fault.Say(is.err, is.err.Error())
	}
	var roles []string
	for _, v := range is.vendors {
		roles = append(roles, slices.DeleteFunc(v.Roles(), func(r string) bool { return slices.Contains(roles, r) })...)
		if v.health != nil {
			v.health.tell(&l)
		}
	}
	if len(roles) > 0 {
		l.Roles = roles
	}
	return l
}

// Test asks a vendor something that costs nothing, and says what it answered.
func (r *Registry) Test(ctx context.Context, code string) (ok bool, took time.Duration, message string, err error) {
	l, err := r.One(code)
	if err != nil {
		return false, 0, "", err
	}
	if !l.Configured {
		return false, 0, cmp.Or(l.LastError, "It is not set up."), nil
	}
	r.mu.Lock()
	vs := r.made[slices.IndexFunc(r.makers, func(m Maker) bool { return m.Code == code })].vendors
	r.mu.Unlock()
	began := time.Now()
	for _, v := range vs {
		if v.Check == nil {
			return true, 0, "It is part of this program.", nil
		}
		if err := v.check(ctx); err != nil {
			return false, time.Since(began), inWords(err), nil
		}
	}
	return true, time.Since(began), "It works.", nil
}

// Set stores what an operator set of a vendor; nil takes a setting back. It is in force on this process when Set returns, and
// within a second or so on the others.
func (r *Registry) Set(ctx context.Context, code string, change map[string]any) error {
	i := r.maker(code)
	if i < 0 || r.db == nil {
		return errNoVendor
	}
	if err := r.makers[i].judge(r.config[code], change); err != nil {
		return err
	}
	err := r.db.Do(ctx, func(tx *db.Tx) error { return r.store(ctx, tx, code, change) })
	if err != nil {
		return err
	}
	return r.Look(ctx)
}

// store merges a change into what is stored, under its lock.
func (r *Registry) store(ctx context.Context, tx *db.Tx, code string, change map[string]any) error {
	var sealed string
	err := tx.Get(ctx, &sealed, `SELECT settings FROM vendor_settings WHERE code = $1 {{lock}}`, code)
	stored := map[string]any{}
	if err == nil {
		stored, err = r.unseal(sealed)
	}
	if err != nil && !errors.Is(err, db.ErrNone) {
		return err
	}
	for name, v := range change {
		if stored[name] = v; v == nil {
			delete(stored, name)
		}
	}
	plain, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	if sealed, err = r.on.Box.Seal(plain); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO vendor_settings (code, settings, version) VALUES ($1, $2, 1)
		ON CONFLICT (code) DO UPDATE SET settings = excluded.settings, version = vendor_settings.version + 1`, code, sealed)
	return err
}

// field is a field of a struct of settings.
type field struct {
	name   string
	tag    reflect.StructTag
	value  reflect.Value
	preset reflect.Value // its default
}

func (m Maker) each(settings any) (out []field) {
	v, preset := reflect.ValueOf(settings).Elem(), reflect.ValueOf(m.Settings()).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		out = append(out, field{tag.Get("key"), tag, v.Field(i), preset.Field(i)})
	}
	return out
}

// changed reports that the setting is not what it is by default.
func (f field) changed() bool { return !reflect.DeepEqual(f.value.Interface(), f.preset.Interface()) }

func (m Maker) fields(settings any) []Setting {
	out := []Setting{}
	if settings == nil {
		settings = m.Settings()
	}
	for _, f := range m.each(settings) {
		out = append(out, Setting{Name: f.name, Secret: f.tag.Get("secret") != "", Set: !f.value.IsZero()})
	}
	return out
}

// source says who set the vendor up.
func (m Maker) source(config any, stored map[string]any) string {
	switch {
	case config != nil && slices.ContainsFunc(m.each(config), field.changed):
		return "config"
	case len(stored) > 0:
		return "console"
	}
	return ""
}

// merge are the settings in force: the configuration's, and where it is silent the operators'.
func (m Maker) merge(config any, stored map[string]any) (any, error) {
	if m.Settings == nil {
		return nil, nil
	}
	into := m.Settings()
	for i, f := range m.each(into) {
		if config != nil {
			if c := m.each(config)[i]; c.changed() {
				f.value.Set(c.value)
				continue
			}
		}
		if v, ok := stored[f.name]; ok {
			if err := f.take(v); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", m.Code, f.name, err)
			}
		}
	}
	return into, nil
}

// judge refuses a change before anything of it is stored.
func (m Maker) judge(config any, change map[string]any) error {
	var wrong []fault.Field
	all := m.each(m.Settings())
	for name, v := range change {
		i := slices.IndexFunc(all, func(f field) bool { return f.name == name })
		if i < 0 {
			wrong = append(wrong, fault.Own(name, "The vendor has no such setting."))
			continue
		}
		if config != nil && m.each(config)[i].changed() {
			return errConfigured
		}
		if v != nil {
			if err := all[i].take(v); err != nil {
				wrong = append(wrong, fault.Own(name, "The "+fault.Spoken(name)+" field "+err.Error()+"."))
			}
		}
	}
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b fault.Field) int { return strings.Compare(a.Name, b.Name) })
		return fault.Input(wrong...)
	}
	return nil
}

// longest bounds one setting.
const longest = 4096

// take writes a setting as JSON gives it.
func (f field) take(v any) error {
	text, isText := v.(string)
	switch f.value.Interface().(type) {
	case string:
		if !isText || len(text) > longest {
			return errors.New("must be text")
		}
		if f.tag.Get("check") == "url" && text != "" && !isAddress(text) {
			return errors.New("must be an address that begins with http or ws")
		}
		f.value.SetString(text)
		return nil
	case []string:
		list, err := texts(v)
		if err == nil {
			f.value.Set(reflect.ValueOf(list))
		}
		return err
	}
	return errors.New("cannot be set here")
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && u.User == nil && slices.Contains([]string{"http", "https", "ws", "wss"}, u.Scheme)
}

// texts reads a list; text is one with commas, as in the environment.
func texts(v any) ([]string, error) {
	if s, ok := v.(string); ok {
		v = separated(s)
	}
	items, ok := v.([]any)
	if !ok || len(items) > 100 {
		return nil, errors.New("must be a list of texts")
	}
	out := make([]string, len(items))
	for i, x := range items {
		if out[i], ok = x.(string); !ok || out[i] == "" || len(out[i]) > 255 {
			return nil, errors.New("must be a list of texts")
		}
	}
	return out, nil
}

func separated(s string) (out []any) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
