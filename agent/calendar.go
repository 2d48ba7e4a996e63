package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/placeholders"
)

// calendar are the two functions of a calendar_integration tool. What is known of the person already need not be asked.
func calendar(t BuiltIn, do func(context.Context, BuiltIn, string, map[string]any) (any, error), v placeholders.Values) []Function {
	known := map[string]string{"name": v["customer_name"], "email": v["email"]}
	check := []param{
		{"date_from", "string", "First day to look at, YYYY-MM-DD.", nil, true},
		{"date_to", "string", "Last day to look at, YYYY-MM-DD.", nil, true},
	}
	book := []param{
		{"start", "string", "Start of a free slot, as check_availability gave it.", nil, true},
		{"name", "string", "Full name of the person the appointment is for." + unless(known["name"]), nil, known["name"] == ""},
		{"email", "string", "E-mail address for the confirmation." + unless(known["email"]), nil, known["email"] == ""},
		{"phone", "string", "Phone number of that person.", nil, false},
	}
	for _, f := range t.Booking {
		i := slices.IndexFunc(book, func(p param) bool { return p.name == f.Slug })
		if i < 0 {
			book = append(book, param{f.Slug, bookingType(f.Type), f.Label, f.Options, f.Required})
		} else if known[f.Slug] == "" {
			book[i].required = book[i].required || f.Required
		}
	}
	run := func(name string, params []param) func(context.Context, json.RawMessage) Result {
		return func(ctx context.Context, raw json.RawMessage) Result {
			args := map[string]any{}
			if err := json.Unmarshal(raw, &args); err != nil && len(raw) > 0 {
				return Failed("arguments must be a JSON object")
			}
			for key, value := range known {
				if s, _ := args[key].(string); s == "" && value != "" {
					args[key] = value
				}
			}
			if err := complete(params, args); err != nil {
				return Failed("%s", err)
			}
			value, err := do(ctx, t, name, args)
			if err != nil {
				return Failed("%s", err)
			}
			return Result{Value: value}
		}
	}
	return []Function{
		{Tool{"check_availability", t.Description + " Lists free appointment slots.", object(check...)}, run("check_availability", check)},
		{Tool{"book_appointment", t.Description + " Books a slot that is free.", object(book...)}, run("book_appointment", book)},
	}
}

func unless(known string) string {
	if known == "" {
		return ""
	}
	return " Left out: " + known + "."
}

// complete says which arguments are missing, or have a value that is not offered.
func complete(params []param, args map[string]any) error {
	var missing []string
	for _, p := range params {
		value := strings.TrimSpace(placeholders.Text(args[p.name]))
		switch {
		case value == "" && p.required:
			missing = append(missing, p.name)
		case value != "" && len(p.options) > 0 && !slices.Contains(p.options, value):
			return fmt.Errorf("%s must be one of: %s", p.name, strings.Join(p.options, ", "))
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
