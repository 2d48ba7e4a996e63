package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/agent"
	"parley/placeholders"
)

var calendarIntegration = kind{name: "calendar_integration", blank: func() Spec { return new(CalendarIntegration) }}

// CalendarIntegration looks for and books appointments. The key is sealed in the stored document.
type CalendarIntegration struct {
	APIKey         string         `json:"calendar_api_key" rule:"required max=255"`
	EventSlug      string         `json:"calendar_event_slug" rule:"required max=255"`
	TeamSlug       *string        `json:"calendar_team_slug" rule:"null max=255"`
	Endpoint       string         `json:"calendar_endpoint" rule:"null=default oneof=us|eu|custom" default:"us"`
	CustomEndpoint *string        `json:"calendar_custom_endpoint" rule:"null required_if=calendar_endpoint:custom url public"`
	BookingFields  []BookingField `json:"calendar_booking_fields" rule:"null=default max=20" default:"[]"`
	Description    string         `json:"description" rule:"null=default max=1000" default:"Use when an appointment is wanted."`
}

// BookingField is a question of a calendar's booking form.
type BookingField struct {
	Slug     string   `json:"slug" rule:"required max=64"`
	Type     string   `json:"type" rule:"required max=64"`
	Label    string   `json:"label" rule:"required max=255"`
	Required bool     `json:"required" rule:"null=default" default:"false"`
	Options  []string `json:"options" rule:"null=default" default:"[]"`
}

func (t *CalendarIntegration) clone() Spec {
	own := *t
	return &own
}

// Secret is the key of the calendar.
func (t *CalendarIntegration) Secret() *string { return &t.APIKey }

func (t *CalendarIntegration) same(other Spec) bool {
	o, ok := other.(*CalendarIntegration)
	return ok && o.EventSlug == t.EventSlug
}

// Unused is an address that the endpoint does not use.
func (t *CalendarIntegration) Unused() map[string]string {
	if t.CustomEndpoint == nil || t.Endpoint == "custom" {
		return nil
	}
	return map[string]string{"calendar_custom_endpoint": "Stored, but used only when calendar_endpoint is custom."}
}

// About is what the model is told.
func (t *CalendarIntegration) About() string { return t.Description }

// Functions are check_availability and book_appointment. What is known of the person already need not be asked.
func (t *CalendarIntegration) Functions(s Scene) []agent.Function {
	if s.Calendar == nil {
		return nil
	}
	known := map[string]string{"name": s.Values["customer_name"], "email": s.Values["email"]}
	check := []agent.Param{
		{Name: "date_from", Kind: "string", Description: "First day to look at, YYYY-MM-DD.", Required: true},
		{Name: "date_to", Kind: "string", Description: "Last day to look at, YYYY-MM-DD.", Required: true},
	}
	book := t.questions(known)
	about := s.tell(t.Description)
	return []agent.Function{
		{Tool: agent.Tool{Name: "check_availability", Description: about + " Lists free appointment slots.", Parameters: agent.Object(check...)},
			Run: t.run(s, "check_availability", check, known)},
		{Tool: agent.Tool{Name: "book_appointment", Description: about + " Books a slot that is free.", Parameters: agent.Object(book...)},
			Run: t.run(s, "book_appointment", book, known)},
	}
}

// questions are the parameters of a booking.
func (t *CalendarIntegration) questions(known map[string]string) []agent.Param {
	book := []agent.Param{
		{Name: "start", Kind: "string", Description: "Start of a free slot, as check_availability gave it.", Required: true},
		{Name: "name", Kind: "string", Description: "Full name of the person the appointment is for." + unless(known["name"]),
			Required: known["name"] == ""},
		{Name: "email", Kind: "string", Description: "E-mail address for the confirmation." + unless(known["email"]),
			Required: known["email"] == ""},
		{Name: "phone", Kind: "string", Description: "Phone number of that person."},
	}
	for _, f := range t.BookingFields {
		i := slices.IndexFunc(book, func(p agent.Param) bool { return p.Name == f.Slug })
		if i < 0 {
			book = append(book, agent.Param{Name: f.Slug, Kind: bookingType(f.Type), Description: f.Label, Options: f.Options, Required: f.Required})
		} else if known[f.Slug] == "" {
			book[i].Required = book[i].Required || f.Required
		}
	}
	return book
}

func (t *CalendarIntegration) run(s Scene, name string, params []agent.Param, known map[string]string) func(context.Context,
	json.RawMessage) agent.Result {
	return func(ctx context.Context, raw json.RawMessage) agent.Result {
		args := map[string]any{}
		if err := json.Unmarshal(raw, &args); err != nil && len(raw) > 0 {
			return agent.Failed("arguments must be a JSON object")
		}
		for key, fact := range known {
			if said, _ := args[key].(string); said == "" && fact != "" {
				args[key] = fact
			}
		}
		if err := complete(params, args); err != nil {
			return agent.Failed("%s", err)
		}
		found, err := s.Calendar(ctx, t, name, args)
		if err != nil {
			return agent.Failed("%s", err)
		}
		return agent.Result{Value: found}
	}
}

func unless(known string) string {
	if known == "" {
		return ""
	}
	return " Left out: " + known + "."
}

// complete says which arguments are missing, or have a value that is not offered.
func complete(params []agent.Param, args map[string]any) error {
	var missing []string
	for _, p := range params {
		given := strings.TrimSpace(placeholders.Text(args[p.Name]))
		switch {
		case given == "" && p.Required:
			missing = append(missing, p.Name)
		case given != "" && len(p.Options) > 0 && !slices.Contains(p.Options, given):
			return fmt.Errorf("%s must be one of: %s", p.Name, strings.Join(p.Options, ", "))
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("missing argument: %s", missing[0])
	}
	return fmt.Errorf("missing arguments: %s", strings.Join(missing, ", "))
}

func bookingType(t string) string {
	switch t {
	case "number", "boolean":
		return t
	}
	return "string"
}
