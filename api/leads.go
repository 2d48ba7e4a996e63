package api

import (
	"context"
	"strings"
	"time"

	"parley/campaigns"
	"parley/fault"
	"parley/value"
	"parley/wire"
)

type leadOut struct {
	ID        campaigns.LeadID     `json:"id"`
	Campaign  campaigns.ID         `json:"campaign_id"`
	Phone     string               `json:"phone_number"`
	Variables value.Scalars        `json:"variables"`
	Status    campaigns.LeadStatus `json:"status"`
	CreatedAt value.Time           `json:"created_at"`
	UpdatedAt value.Time           `json:"updated_at"`
	In        leadCampaign         `json:"campaign"`
	Contacts  []contactOut         `json:"secondary_contacts"`
	Attempts  int                  `json:"attempts"`
	Next      *value.Time          `json:"next_attempt_at"`
	LastCall  *int64               `json:"last_call_id"`
}

type leadCampaign struct {
	ID   campaigns.ID `json:"id"`
	Name string       `json:"name"`
}

type contactOut struct {
	ID        campaigns.LeadID     `json:"id"`
	Phone     string               `json:"phone_number"`
	Variables value.Scalars        `json:"variables"`
	Status    campaigns.LeadStatus `json:"status"`
	CreatedAt value.Time           `json:"created_at"`
	UpdatedAt value.Time           `json:"updated_at"`
}

func leadOf(l campaigns.Lead) leadOut {
	out := leadOut{
		ID: l.ID, Campaign: l.CampaignID, Phone: l.Phone, Variables: l.Variables.V, Status: l.Status,
		CreatedAt: value.At(l.CreatedAt.Time()), UpdatedAt: value.At(l.UpdatedAt.Time()), In: leadCampaign{l.CampaignID, l.CampaignName},
		Contacts: []contactOut{}, Attempts: l.Attempts, LastCall: (*int64)(l.LastCallID),
	}
	if !l.DueAt.IsZero() {
		out.Next = timeOrNull(l.DueAt.Time())
	}
	for _, k := range l.Contacts {
		out.Contacts = append(out.Contacts,
			contactOut{k.ID, k.Phone, k.Variables.V, k.Status, value.At(k.CreatedAt.Time()), value.At(k.UpdatedAt.Time())})
	}
	return out
}

type leadSaved struct {
	Message string  `json:"message"`
	Data    leadOut `json:"data"`
}

// leadVariables takes an object, or an array of objects that are merged in order.
type leadVariables value.Scalars

// Bind reads either form; values must be scalars.
func (v *leadVariables) Bind(b value.Binder, in value.Value) {
	var all value.Scalars
	read := func(at value.Binder, object value.Value) {
		var s value.Scalars
		s.Bind(at, object)
		all = append(all, s...)
	}
	if in.IsArray() {
		for i, object := range in.Items {
			read(b.At(itoa(int64(i))), object)
		}
	} else {
		read(b, in)
	}
	*v = leadVariables(value.Scalars{}.With(all...))
	if len(*v) > campaigns.MostVariables {
		b.Fail("max.items", itoa(campaigns.MostVariables))
	}
}

type contactIn struct {
	Phone     string        `json:"phone_number" rule:"required phone distinct"`
	Variables leadVariables `json:"variables"`
}

type leadIn struct {
	Phone      string        `json:"phone_number" rule:"required phone"`
	Campaign   int64         `json:"campaign_id" rule:"required"`
	Variables  leadVariables `json:"variables"`
	Duplicates bool          `json:"allow_dupplicate" also:"allow_duplicate"`
	Contacts   []contactIn   `json:"secondary_contacts" rule:"max=10"`
}

// checkLead keeps a lead's contacts apart from the lead.
func checkLead(_ context.Context, in *leadIn) error {
	var bad []fault.Field
	for i, k := range in.Contacts {
		if k.Phone != "" && k.Phone == in.Phone {
			bad = append(bad, fault.Bad("secondary_contacts."+itoa(int64(i))+".phone_number", "different", "phone number"))
		}
	}
	return fault.Input(bad...)
}

func (a *API) createLead(ctx context.Context, in *leadIn) (leadSaved, error) {
	n := campaigns.NewLead{Contact: campaigns.Contact{Phone: in.Phone, Variables: value.Scalars(in.Variables)},
		Campaign: campaigns.ID(in.Campaign), Duplicates: in.Duplicates}
	for _, k := range in.Contacts {
		n.Contacts = append(n.Contacts, campaigns.Contact{Phone: k.Phone, Variables: value.Scalars(k.Variables)})
	}
	l, err := a.Campaigns.AddLead(ctx, owner(ctx), n)
	return leadSaved{"The lead was added.", leadOf(l)}, err
}

type leadsIn struct {
	wire.Paging
	Status   string `query:"status" rule:"oneof=created|scheduled|rescheduled|processing|completed|reached-max-retries|blacklisted"`
	Campaign int64  `query:"campaign_id"`
	Phone    string `query:"phone_number"`
	From     string `query:"date_from" rule:"date"`
	To       string `query:"date_to" rule:"date"`
}

func (a *API) listLeads(ctx context.Context, in *leadsIn) (wire.Page[leadOut], error) {
	f := campaigns.LeadFilter{Status: campaigns.LeadStatus(in.Status), Campaign: campaigns.ID(in.Campaign), Phone: digits(in.Phone)}
	f.From, f.To = days(in.From, in.To)
	all, total, err := a.Campaigns.Leads(ctx, a.DB, owner(ctx), f, int(in.PerPage), in.Offset())
	if err != nil {
		return wire.Page[leadOut]{}, err
	}
	out := make([]leadOut, len(all))
	for i, l := range all {
		out[i] = leadOf(l)
	}
	return wire.NewPage(ctx, in.Paging, total, out), nil
}

// digits keeps what a "contains these digits" filter means.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// days turns inclusive UTC days into the half-open span they cover; empty ones stay open.
func days(from, to string) (time.Time, time.Time) {
	f, _ := time.Parse(time.DateOnly, from)
	t, err := time.Parse(time.DateOnly, to)
	if err == nil {
		t = t.AddDate(0, 0, 1)
	}
	return f, t
}

type leadRef struct {
	ID int64 `path:"id"`
}

func (a *API) getLead(ctx context.Context, in *leadRef) (data[leadOut], error) {
	l, err := a.Campaigns.Lead(ctx, a.DB, owner(ctx), campaigns.LeadID(in.ID))
	return data[leadOut]{leadOf(l)}, err
}

type leadChangeIn struct {
	ID        int64                    `path:"id"`
	Campaign  value.Opt[int64]         `json:"campaign_id"`
	Phone     value.Opt[string]        `json:"phone_number" rule:"phone"`
	Status    value.Opt[string]        `json:"status" rule:"oneof=created|completed|reached-max-retries"`
	Variables value.Opt[leadVariables] `json:"variables"`
}

func (a *API) findLead(ctx context.Context, in *leadChangeIn) error {
	_, err := a.Campaigns.Lead(ctx, a.DB, owner(ctx), campaigns.LeadID(in.ID))
	return err
}

func (a *API) updateLead(ctx context.Context, in *leadChangeIn) (leadSaved, error) {
	ch := campaigns.LeadChange{Phone: in.Phone.Ptr(), Variables: value.Scalars(in.Variables.V)}
	if in.Campaign.Has() {
		id := campaigns.ID(in.Campaign.V)
		ch.Campaign = &id
	}
	if in.Status.Has() {
		s := campaigns.LeadStatus(in.Status.V)
		ch.Status = &s
	}
	l, err := a.Campaigns.UpdateLead(ctx, owner(ctx), campaigns.LeadID(in.ID), ch)
	return leadSaved{"The changes to the lead were saved.", leadOf(l)}, err
}

func (a *API) deleteLead(ctx context.Context, in *leadRef) (wire.Message, error) {
	return wire.Message{Message: "The lead was removed."}, a.Campaigns.DeleteLead(ctx, owner(ctx), campaigns.LeadID(in.ID))
}

type importIn struct {
	File       value.File `json:"file" rule:"required max=10240"`
	Campaign   int64      `json:"campaign_id" rule:"required"`
	Phone      string     `json:"phone_column" rule:"required"`
	Secondary  []string   `json:"secondary_columns" rule:"max=10"`
	Duplicates bool       `json:"allow_dupplicate" also:"allow_duplicate"`
	Preview    bool       `json:"preview"` // nothing is stored
}

type imported struct {
	Message string     `json:"message"`
	Data    importData `json:"data"`
}

type importData campaigns.Imported

// importLeads reads a CSV file with a header row.
func (a *API) importLeads(ctx context.Context, in *importIn) (imported, error) {
	f, err := in.File.Open()
	if err != nil {
		return imported{}, err
	}
	defer f.Close()
	sheet := campaigns.Sheet{Campaign: campaigns.ID(in.Campaign), Phone: in.Phone, Secondary: in.Secondary, Duplicates: in.Duplicates}
	if in.Preview {
		out, err := a.Campaigns.Preview(ctx, owner(ctx), f, sheet)
		return imported{"Import preview", importData(out)}, err
	}
	out, err := a.Campaigns.Import(ctx, owner(ctx), f, sheet)
	return imported{"Import finished", importData(out)}, err
}
