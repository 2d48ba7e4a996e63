package api

import (
	"context"

	"parley/accounts"
	"parley/fault"
	"parley/providers"
	"parley/value"
	"parley/wire"
)

type vendorList struct {
	Data []vendorOut `json:"data"`
}

type vendorSaved struct {
	Data vendorOut `json:"data"`
}

type vendorOut struct {
	Code       string           `json:"code"`
	Name       string           `json:"name"`
	Roles      []string         `json:"roles" doc:"Of llm, stt, tts, realtime, embedding, numbers, sms, whatsapp, payments, calendar."`
	Configured bool             `json:"configured" doc:"It can be used."`
	Source     *string          `json:"source" doc:"config or console; null: nobody has set anything."`
	Healthy    bool             `json:"healthy" doc:"What its last check and the last requests said."`
	LastError  *string          `json:"last_error"`
	CheckedAt  value.Time       `json:"checked_at" rule:"null"`
	Fields     []vendorFieldOut `json:"fields"`
}

type vendorFieldOut struct {
	Name   string `json:"name"`
	Secret bool   `json:"secret" doc:"Its value is never shown."`
	Set    bool   `json:"set" doc:"It has a value."`
}

type vendorRef struct {
	Code string `path:"code"`
}

type vendorIn struct {
	Code     string `path:"code"`
	Settings value.Unknown
}

type vendorTest struct {
	OK      bool   `json:"ok"`
	MS      int64  `json:"ms"`
	Message string `json:"message" doc:"What the vendor said, in words."`
}

func (a *API) vendorRoutes() []wire.Route {
	return []wire.Route{
		wire.On(messages, "GET /user/providers", 200, a.vendors),
		wire.On(messages, "PUT /user/providers/{code}", 200, a.setVendor, wire.Find(a.findVendor)),
		wire.On(messages, "POST /user/providers/{code}/test", 200, a.testVendor),
	}
}

// operator refuses everybody but the operators of the installation and keys that an owner of the first account made, as if
// there were nothing here.
func (a *API) operator(ctx context.Context) error {
	who := callerOf(ctx)
	if who.Operator {
		return nil
	}
	first, err := a.Accounts.First(ctx, a.DB)
	if err == nil && (first.ID != who.Account || who.Key == 0 || who.Role != accounts.Owner) {
		err = fault.New(fault.NotFound, "", "Not found")
	}
	return err
}

func showVendor(l providers.Listed) vendorOut {
	out := vendorOut{Code: l.Code, Name: l.Name, Roles: l.Roles, Configured: l.Configured, Source: text(l.Source), Healthy: l.Healthy,
		LastError: text(l.LastError), CheckedAt: value.At(l.CheckedAt)}
	out.Fields = each(l.Fields, func(f providers.Setting) vendorFieldOut { return vendorFieldOut{f.Name, f.Secret, f.Set} })
	return out
}

func (a *API) vendors(ctx context.Context, _ *struct{}) (vendorList, error) {
	if err := a.operator(ctx); err != nil {
		return vendorList{}, err
	}
	return vendorList{each(a.Vendors.List(), showVendor)}, nil
}

func (a *API) findVendor(ctx context.Context, in *vendorIn) error {
	if err := a.operator(ctx); err != nil {
		return err
	}
	_, err := a.Vendors.One(in.Code)
	return err
}

func (a *API) setVendor(ctx context.Context, in *vendorIn) (vendorSaved, error) {
	change := map[string]any{}
	for _, m := range in.Settings {
		change[m.Key] = m.Value.Any()
	}
	if err := a.Vendors.Set(ctx, in.Code, change); err != nil {
		return vendorSaved{}, err
	}
	l, err := a.Vendors.One(in.Code)
	return vendorSaved{showVendor(l)}, err
}

func (a *API) testVendor(ctx context.Context, in *vendorRef) (vendorTest, error) {
	if err := a.operator(ctx); err != nil {
		return vendorTest{}, err
	}
	ok, took, message, err := a.Vendors.Test(ctx, in.Code)
	return vendorTest{ok, took.Milliseconds(), message}, err
}
