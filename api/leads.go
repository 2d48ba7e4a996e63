package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
		Contacts: []contactOut{}, Attempts: l.Attempts, LastCall: l.LastCallID,
	}
	if !l.DueAt.IsZero() {
		out.Next = timeOrNull(l.DueAt.Time())
	}
	for _, k := range l.Contacts {
		out.Contacts = append(out.Contacts, contactOut{k.ID, k.Phone, k.Variables.V, k.Status, value.At(k.CreatedAt.Time()), value.At(k.UpdatedAt.Time())})
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
	n := campaigns.NewLead{Contact: campaigns.Contact{Phone: in.Phone, Variables: value.Scalars(in.Variables)}, Campaign: campaigns.ID(in.Campaign), Duplicates: in.Duplicates}
	for _, k := range in.Contacts {
		n.Contacts = append(n.Contacts, campaigns.Contact{Phone: k.Phone, Variables: value.Scalars(k.Variables)})
	}
	l, err := a.Campaigns.AddLead(ctx, int64(owner(ctx)), n)
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
	all, total, err := a.Campaigns.Leads(ctx, a.DB, int64(owner(ctx)), f, int(in.PerPage), in.Offset())
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
	l, err := a.Campaigns.Lead(ctx, a.DB, int64(owner(ctx)), campaigns.LeadID(in.ID))
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
	_, err := a.Campaigns.Lead(ctx, a.DB, int64(owner(ctx)), campaigns.LeadID(in.ID))
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
	l, err := a.Campaigns.UpdateLead(ctx, int64(owner(ctx)), campaigns.LeadID(in.ID), ch)
	return leadSaved{"The changes to the lead were saved.", leadOf(l)}, err
}

func (a *API) deleteLead(ctx context.Context, in *leadRef) (wire.Message, error) {
	return wire.Message{Message: "The lead was removed."}, a.Campaigns.DeleteLead(ctx, int64(owner(ctx)), campaigns.LeadID(in.ID))
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

type importData struct {
	Created int                     `json:"created"`
	Skipped int                     `json:"skipped"`
	Errors  []campaigns.ImportError `json:"errors"`
}

// importLeads reads a CSV file with a header row; every column that is not a number becomes a variable.
func (a *API) importLeads(ctx context.Context, in *importIn) (imported, error) {
	me := int64(owner(ctx))
	if _, err := a.Campaigns.Get(ctx, a.DB, me, campaigns.ID(in.Campaign)); err != nil {
		return imported{}, err
	}
	f, err := in.File.Open()
	if err != nil {
		return imported{}, err
	}
	defer f.Close()
	rows, bad, err := readLeads(f, in)
	if err != nil {
		return imported{}, err
	}
	if in.Preview {
		created, skipped, err := a.Campaigns.Preview(ctx, rows)
		return imported{"Import preview", importData{created, skipped, bad}}, err
	}
	created, skipped, failed, err := a.Campaigns.Import(ctx, me, rows)
	failed = append(failed, bad...)
	slices.SortFunc(failed, func(x, y campaigns.ImportError) int { return x.Row - y.Row })
	return imported{"Import finished", importData{created, skipped, failed}}, err
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

func readLeads(r io.Reader, in *importIn) (rows []campaigns.ImportRow, bad []campaigns.ImportError, err error) {
	bad = []campaigns.ImportError{}
	text := bufio.NewReader(r)
	file := csv.NewReader(text)
	file.FieldsPerRecord, file.TrimLeadingSpace, file.Comma = -1, true, separator(text)
	head, err := file.Read()
	if err != nil {
		return nil, nil, fault.Input(fault.Bad("file", "file.type", "csv"))
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	if !slices.Contains(head, in.Phone) {
		return nil, nil, fault.Input(fault.Bad("phone_column", "in"))
	}
	for i, c := range in.Secondary {
		if !slices.Contains(head, c) {
			return nil, nil, fault.Input(fault.Bad("secondary_columns."+itoa(int64(i)), "in"))
		}
	}
	for n := 2; ; n++ {
		record, err := file.Read()
		if errors.Is(err, io.EOF) {
			return rows, bad, nil
		}
		if _, malformed := errors.AsType[*csv.ParseError](err); malformed {
			bad = append(bad, campaigns.ImportError{Row: n, Error: "This line cannot be read"})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		row := in.row(n, head, record)
		if wrong := unfit(row); wrong != "" {
			bad = append(bad, campaigns.ImportError{Row: n, Error: wrong})
			continue
		}
		rows = append(rows, row)
	}
}

// unfit says why a line cannot become a lead; empty when it can.
func unfit(row campaigns.ImportRow) string {
	var why fault.Field
	switch {
	case !e164.MatchString(row.Phone):
		return "The phone number is not a valid E.164 phone number"
	case len(row.Variables) > campaigns.MostVariables:
		why = fault.Bad("variables", "max.items", itoa(campaigns.MostVariables))
	}
	for _, v := range row.Variables {
		if text, ok := v.Value.(string); ok && utf8.RuneCountInString(text) > campaigns.MostText {
			why = fault.Bad("variables."+v.Name, "max.string", itoa(campaigns.MostText))
		}
	}
	return strings.TrimSuffix(why.Sentence, ".")
}

// row is the lead of a line: its number, its contacts without repetitions, and variables by the names of the columns.
func (in *importIn) row(n int, head, record []string) campaigns.ImportRow {
	row := campaigns.ImportRow{Row: n}
	row.Campaign, row.Duplicates = campaigns.ID(in.Campaign), in.Duplicates
	var found []value.Scalar
	for i, cell := range record[:min(len(record), len(head))] {
		switch clean := campaigns.CleanNumber(cell); {
		case head[i] == in.Phone:
			row.Phone = clean
		case slices.Contains(in.Secondary, head[i]):
			if e164.MatchString(clean) && !slices.ContainsFunc(row.Contacts, func(k campaigns.Contact) bool { return k.Phone == clean }) {
				row.Contacts = append(row.Contacts, campaigns.Contact{Phone: clean})
			}
		case cell != "":
			found = append(found, value.Scalar{Name: head[i], Value: cell})
		}
	}
	row.Variables = value.Scalars{}.With(found...)
	row.Contacts = slices.DeleteFunc(row.Contacts, func(k campaigns.Contact) bool { return k.Phone == row.Phone })
	return row
}

// separator is what stands between the columns: spreadsheets of some countries write semicolons.
func separator(file *bufio.Reader) rune {
	head, _ := file.Peek(4096)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, ';') >= 0 {
		return ';'
	}
	return ','
}
