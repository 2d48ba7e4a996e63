package tools

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// argument is one parameter with the value it is sent with.
type argument struct {
	name  string
	value any // string, float64, json.Number, int64 or bool
}

// coerce reads the model's arguments by the definition's types, in its order. What the definition does not know is dropped;
// the error is the sentence for the model.
func (d Definition) coerce(raw json.RawMessage) ([]argument, error) {
	given := map[string]any{}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if len(raw) > 0 && dec.Decode(&given) != nil {
		given = map[string]any{}
	}
	var out []argument
	for _, p := range d.Params {
		v, ok := given[p.Name]
		if !ok || v == nil || v == "" {
			if p.Required {
				return nil, fmt.Errorf("missing argument: %s", p.Name)
			}
			continue
		}
		value, ok := p.coerce(v)
		if !ok {
			return nil, fmt.Errorf("invalid argument: %s must be of type %s", p.Name, p.Type)
		}
		out = append(out, argument{p.Name, value})
	}
	return out, nil
}

func (p Param) coerce(v any) (any, bool) {
	switch p.Type {
	case "string":
		return asString(v)
	case "boolean":
		return asBool(v)
	case "integer":
		n, ok := asNumber(v)
		f, err := n.Float64()
		if !ok || err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
			return nil, false
		}
		if i, err := n.Int64(); err == nil {
			return i, true
		}
		return int64(f), true
	}
	n, ok := asNumber(v)
	return n, ok
}

func asString(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	b, err := json.Marshal(v)
	return string(b), err == nil
}

func asNumber(v any) (json.Number, bool) {
	s := ""
	switch v := v.(type) {
	case json.Number:
		return v, true
	case string:
		s = strings.TrimSpace(v)
	}
	var n json.Number
	if s == "" || s[0] == '"' || json.Unmarshal([]byte(s), &n) != nil {
		return "", false
	}
	return n, true
}

func asBool(v any) (any, bool) {
	s := ""
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		s = strings.ToLower(strings.TrimSpace(v))
	case json.Number:
		s = v.String()
	}
	switch s {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0":
		return false, true
	}
	return nil, false
}

// plain writes a value for a URL or a form.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case json.Number:
		return v.String()
	}
	return scalarText(v)
}
