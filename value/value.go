package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Value is one input value as it was sent: objects keep the order of their keys, numbers their digits.
// The zero Value is null.
type Value struct {
	Kind    Kind
	Digits  string   // text of a string, digits of a number, name of a file
	Items   []Value  // elements of an array
	Members []Member // keys of an object in the order they were sent
	File    *File
}

// Member is one key of an object.
type Member struct {
	Key   string
	Value Value
}

// Kind is what a Value is.
type Kind byte

// The kinds of JSON, and the file of a form.
const (
	KindNull Kind = iota
	KindFalse
	KindTrue
	KindNumber
	KindString
	KindArray
	KindObject
	KindFile
)

const maxDepth = 32

// Errors of reading JSON.
var (
	ErrNotJSON   = errors.New("not valid JSON")
	ErrNotObject = errors.New("not a JSON object")
)

// ParseObject reads one JSON object. Of a repeated key the last value counts.
func ParseObject(b []byte) (Value, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return Value{Kind: KindObject}, nil
	}
	v, err := Parse(b)
	switch {
	case err != nil:
		return Value{}, err
	case v.Kind != KindObject:
		return Value{}, ErrNotObject
	}
	return v, nil
}

// Parse reads one JSON value of at most 32 levels.
func Parse(b []byte) (Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true))
	v, err := readValue(d)
	if err != nil {
		return Value{}, ErrNotJSON
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return Value{}, ErrNotJSON
	}
	return v, nil
}

func readValue(d *jsontext.Decoder) (Value, error) {
	t, err := d.ReadToken()
	if err != nil {
		return Value{}, err
	}
	if d.StackDepth() > maxDepth {
		return Value{}, ErrNotJSON
	}
	switch t.Kind() {
	case 'n':
		return Value{}, nil
	case 't':
		return Value{Kind: KindTrue}, nil
	case 'f':
		return Value{Kind: KindFalse}, nil
	case '"':
		return Value{Kind: KindString, Digits: t.String()}, nil
	case '0':
		return Value{Kind: KindNumber, Digits: t.String()}, nil
	case '[':
		return readArray(d)
	default:
		return readObject(d)
	}
}

func readArray(d *jsontext.Decoder) (Value, error) {
	v := Value{Kind: KindArray}
	for d.PeekKind() != ']' {
		item, err := readValue(d)
		if err != nil {
			return Value{}, err
		}
		v.Items = append(v.Items, item)
	}
	_, err := d.ReadToken()
	return v, err
}

func readObject(d *jsontext.Decoder) (Value, error) {
	v := Value{Kind: KindObject}
	var at map[string]int // only for large objects: finds repeated keys
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return Value{}, err
		}
		key := t.String()
		item, err := readValue(d)
		if err != nil {
			return Value{}, err
		}
		if at == nil && len(v.Members) >= 16 {
			at = make(map[string]int, 64)
			for i, m := range v.Members {
				at[m.Key] = i
			}
		}
		v.put(key, item, at)
	}
	_, err := d.ReadToken()
	return v, err
}

// put sets a key; a repeated one keeps its place and takes the last value.
func (v *Value) put(key string, item Value, at map[string]int) {
	i := -1
	if at != nil {
		if n, ok := at[key]; ok {
			i = n
		}
	} else {
		for n := range v.Members {
			if v.Members[n].Key == key {
				i = n
			}
		}
	}
	if i >= 0 {
		v.Members[i].Value = item
		return
	}
	if at != nil {
		at[key] = len(v.Members)
	}
	v.Members = append(v.Members, Member{key, item})
}

// Text is a string value for use where no request stands behind it, such as defaults.
func Text(s string) Value { return Value{Kind: KindString, Digits: s} }

// Object is an object value of the given members.
func Object(m ...Member) Value { return Value{Kind: KindObject, Members: m} }

// IsNull reports null, which an absent value also is.
func (v Value) IsNull() bool { return v.Kind == KindNull }

// IsObject reports a JSON object; an empty array counts as one.
func (v Value) IsObject() bool {
	return v.Kind == KindObject || v.Kind == KindArray && len(v.Items) == 0
}

// IsArray reports a JSON array.
func (v Value) IsArray() bool { return v.Kind == KindArray }

// IsScalar reports a string, number or boolean.
func (v Value) IsScalar() bool { return v.Kind >= KindFalse && v.Kind <= KindString }

// IsString reports a JSON string.
func (v Value) IsString() bool { return v.Kind == KindString }

// Text is the string, the number's digits, or true and false; empty for anything else.
func (v Value) Text() string {
	switch v.Kind {
	case KindTrue:
		return "true"
	case KindFalse:
		return "false"
	}
	return v.Digits
}

// Get finds a key of an object.
func (v Value) Get(key string) (Value, bool) {
	for _, m := range v.Members {
		if m.Key == key {
			return m.Value, true
		}
	}
	return Value{}, false
}

// Trim treats one string: white space around it goes unless keep, and an empty one is null.
func (v Value) Trim(keep bool) Value {
	if v.Kind != KindString {
		return v
	}
	if !keep {
		v.Digits = strings.TrimSpace(v.Digits)
	}
	if v.Digits == "" {
		return Value{}
	}
	return v
}

// Trimmed removes the white space around every string inside; one that becomes empty is null.
func (v Value) Trimmed() Value {
	switch v.Kind {
	case KindString:
		return v.Trim(false)
	case KindArray:
		items := make([]Value, len(v.Items))
		for i, item := range v.Items {
			items[i] = item.Trimmed()
		}
		v.Items = items
	case KindObject:
		members := make([]Member, len(v.Members))
		for i, m := range v.Members {
			members[i] = Member{m.Key, m.Value.Trimmed()}
		}
		v.Members = members
	}
	return v
}

// NulAt finds the first string holding U+0000 and gives its dotted key below v.
func (v Value) NulAt() (string, bool) {
	switch v.Kind {
	case KindString:
		return "", strings.ContainsRune(v.Digits, 0)
	case KindArray:
		for i, item := range v.Items {
			if key, bad := item.NulAt(); bad {
				return Join(strconv.Itoa(i), key), true
			}
		}
	case KindObject:
		for _, m := range v.Members {
			if strings.ContainsRune(m.Key, 0) {
				return "", true
			}
			if key, bad := m.Value.NulAt(); bad {
				return Join(m.Key, key), true
			}
		}
	}
	return "", false
}

// Any is the value as encoding/json would give it, except that a number which float64 cannot hold exactly
// stays a json.Number.
func (v Value) Any() any {
	switch v.Kind {
	case KindFalse:
		return false
	case KindTrue:
		return true
	case KindNumber:
		return exactNumber(v.Digits)
	case KindString:
		return v.Digits
	case KindArray:
		out := make([]any, len(v.Items))
		for i, item := range v.Items {
			out[i] = item.Any()
		}
		return out
	case KindObject:
		out := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			out[m.Key] = m.Value.Any()
		}
		return out
	}
	return nil
}

func exactNumber(s string) any {
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && (strconv.FormatFloat(f, 'f', -1, 64) == s || strings.ContainsAny(s, ".eE")) {
		return f
	}
	return json.Number(s)
}

// JSON is the value in compact form, keys in the order they were sent.
func (v Value) JSON() json.RawMessage { return v.AppendJSON(nil, false) }

// AppendJSON appends the value in compact form, its keys sorted when asked.
func (v Value) AppendJSON(b []byte, sorted bool) []byte {
	switch v.Kind {
	case KindFalse:
		return append(b, "false"...)
	case KindTrue:
		return append(b, "true"...)
	case KindNumber:
		return append(b, v.Digits...)
	case KindString:
		b, _ = jsontext.AppendQuote(b, v.Digits)
		return b
	case KindArray:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendJSON(b, sorted)
		}
		return append(b, ']')
	case KindObject:
		b = append(b, '{')
		for i, m := range Ordered(v.Members, sorted) {
			if i > 0 {
				b = append(b, ',')
			}
			b, _ = jsontext.AppendQuote(b, m.Key)
			b = append(b, ':')
			b = m.Value.AppendJSON(b, sorted)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// Ordered are the members, by key when sorted.
func Ordered(members []Member, sorted bool) []Member {
	if sorted {
		members = slices.Clone(members)
		slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	}
	return members
}

// Join makes a dotted key.
func Join(prefix, key string) string {
	switch {
	case prefix == "":
		return key
	case key == "":
		return prefix
	}
	return prefix + "." + key
}
