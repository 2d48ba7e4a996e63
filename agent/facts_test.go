package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	"parley/agent"
	"parley/placeholders"
	"parley/value"
)

// Which source of a placeholder is stronger.
//
// Contract: 4.8
func TestLayer(t *testing.T) {
	now := time.Date(2027, 3, 1, 14, 30, 0, 0, time.UTC)
	facts := agent.Facts{AssistantName: "Desk", CallID: "912", Now: now}
	v := placeholders.Layer(facts.Values(),
		value.Scalars{{Name: "city", Value: "Bonn"}, {Name: "assistant_name", Value: "Fake"}, {Name: "customer_phone", Value: "+491"}},
		value.Scalars{{Name: "city", Value: "Rome"}, {Name: "age", Value: 41.5}, {Name: "big", Value: float64(12345678901)}, {Name: "vip", Value: true}, {Name: "gone", Value: nil}, {Name: "id", Value: json.Number("7")}})
	for name, want := range map[string]string{
		"city": "Bonn", "assistant_name": "Desk", "customer_phone": "", "age": "41.5", "big": "12345678901", "vip": "true",
		"gone": "", "id": "7", "current_date": "2027-03-01", "current_time": "14:30", "call_id": "912",
	} {
		if got, ok := v[name]; !ok || got != want {
			t.Errorf("%s: got %q %v, want %q", name, got, ok, want)
		}
	}
}
