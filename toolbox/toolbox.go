// Package toolbox holds what assistants can do besides talking: the built-in tools, one file each, with its fields, their
// rules, what a model is told of it and what it does. A new tool is a file and a line in the table below.
package toolbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parley/agent"
	"parley/value"
)

// kind is a line of the table.
type kind struct {
	name  string
	blank func() Spec // its fields, which have the rules of an input
	once  bool        // an assistant has one at most
}

// table is every built-in tool, in the order of the contract's section 4.4.
var table = []kind{callTransfer, warmCallTransfer, endCall, dtmfInput, collectKeypad, calendarIntegration, assistantTransfer}

// Spec is a pointer to the fields of one tool. What a tool needs besides, it says by further methods: see [Needs],
// [Secret], [Unused] and checked.
type Spec interface {
	// Functions are what a model may call of it in a conversation: none where the channel cannot carry it out.
	Functions(s Scene) []agent.Function
	// About is its description for the model, placeholders unfilled; empty for a tool that no model sees.
	About() string
}

// checked is a tool with rules that depend on two of its fields.
type checked interface{ check(b value.Binder) }

// Tool is one element of an assistant's tools.
type Tool struct {
	Type string
	Spec Spec
}

// Tools are an assistant's built-in tools.
type Tools []Tool

// most is how many tools an assistant has at most.
const most = 20

func kindOf(name string) (kind, bool) {
	i := slices.IndexFunc(table, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return table[i], true
}

// Len is the number of tools.
func (ts Tools) Len() int { return len(ts) }

// Clone copies the tools with their fields.
func (ts Tools) Clone() Tools {
	out := slices.Clone(ts)
	for i, t := range out {
		if c, ok := t.Spec.(interface{ clone() Spec }); ok {
			out[i].Spec = c.clone()
		}
	}
	return out
}

// Bind reads the array. Fields stand flat in the element, or nested under "data"; flat ones win.
func (ts *Tools) Bind(b value.Binder, v value.Value) {
	if !v.IsArray() {
		b.Fail("array")
		return
	}
	if len(v.Items) > most {
		b.Fail("max.items", strconv.Itoa(most))
		return
	}
	seen := map[string]bool{}
	for i, item := range v.Items {
		at := b.At(strconv.Itoa(i))
		if !item.IsObject() {
			at.Fail("array")
			continue
		}
		typ, _ := item.Get("type")
		k, known := kindOf(strings.TrimSpace(typ.Text()))
		switch {
		case !known || !typ.IsString():
			at.At("type").Fail("in")
			continue
		case k.once && seen[k.name]:
			at.At("type").Fail("distinct")
			continue
		}
		seen[k.name] = true
		t := Tool{k.name, k.blank()}
		at.Read(flat(item), t.Spec)
		if c, ok := t.Spec.(checked); ok {
			c.check(at)
		}
		*ts = append(*ts, t)
	}
}

// flat merges the fields under "data" into the element.
func flat(item value.Value) value.Value {
	data, _ := item.Get("data")
	members := item.Members
	for _, m := range data.Members {
		if _, ok := item.Get(m.Key); !ok {
			members = append(members[:len(members):len(members)], m)
		}
	}
	return value.Object(members...)
}

// say reports a broken rule of a field that has no error yet.
func say(b value.Binder, key, rule string, ok bool) {
	if at := b.At(key); !ok && !at.Failed() {
		at.Fail(rule)
	}
}

// MarshalJSON writes the flat form.
func (t Tool) MarshalJSON() ([]byte, error) {
	body, err := value.Marshal(t.Spec)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`{"type":%q`, t.Type)
	if len(body) > 2 {
		head += ","
	}
	return append([]byte(head), body[1:]...), nil
}

// UnmarshalJSON reads the flat form.
func (t *Tool) UnmarshalJSON(raw []byte) error {
	var head struct{ Type string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	k, known := kindOf(head.Type)
	if !known {
		return fmt.Errorf("unknown built-in tool %q", head.Type)
	}
	t.Type, t.Spec = k.name, k.blank()
	return json.NewDecoder(bytes.NewReader(raw)).Decode(t.Spec)
}

// Variants are the forms of an element, by the value of its "type".
func (Tools) Variants() []value.Variant {
	out := make([]value.Variant, len(table))
	for i, k := range table {
		out[i] = value.Variant{Name: k.name, Fields: k.blank()}
	}
	return out
}

// Shown is a tool in an answer: its fields flat, and again under "data", its secret masked.
type Shown struct{ Tool }

// Shown are the tools as answers have them.
func (ts Tools) Shown() []Shown {
	out := make([]Shown, len(ts))
	for i, t := range ts.Clone() {
		if s, ok := t.Spec.(Secret); ok {
			*s.Secret() = Mask(*s.Secret())
		}
		out[i] = Shown{t}
	}
	return out
}

// MarshalJSON writes both forms.
func (t Shown) MarshalJSON() ([]byte, error) {
	data, err := value.Marshal(t.Spec)
	if err != nil {
		return nil, err
	}
	flat, err := t.Tool.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return slices.Concat(flat[:len(flat)-1], []byte(`,"data":`), data, []byte("}")), nil
}

// Variants are the forms of a tool in an answer.
func (Shown) Variants() []value.Variant { return Tools{}.Variants() }
