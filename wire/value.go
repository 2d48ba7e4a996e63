package wire

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
	kind    valueKind
	text    string // of a string or a number
	items   []Value
	members []Member
	file    *File
}

// Member is one key of an object.
type Member struct {
	Key   string
	Value Value
}

type valueKind byte

const (
	isNull valueKind = iota
	isFalse
	isTrue
	isNumber
	isString
	isArray
	isObject
	isFile
)

const maxDepth = 32

var (
	errNotJSON   = errors.New("not valid JSON")
	errNotObject = errors.New("not a JSON object")
)

// parseObject reads one JSON object. Of a repeated key the last value counts.
func parseObject(b []byte) (Value, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return Value{kind: isObject}, nil
	}
	v, err := parseJSON(b)
	switch {
	case err != nil:
		return Value{}, err
	case v.kind != isObject:
		return Value{}, errNotObject
	}
	return v, nil
}

func parseJSON(b []byte) (Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true))
	v, err := readValue(d)
	if err != nil {
		return Value{}, errNotJSON
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return Value{}, errNotJSON
	}
	return v, nil
}

func readValue(d *jsontext.Decoder) (Value, error) {
	t, err := d.ReadToken()
	if err != nil {
		return Value{}, err
	}
	if d.StackDepth() > maxDepth {
		return Value{}, errNotJSON
	}
	switch t.Kind() {
	case 'n':
		return Value{}, nil
	case 't':
		return Value{kind: isTrue}, nil
	case 'f':
		return Value{kind: isFalse}, nil
	case '"':
		return Value{kind: isString, text: t.String()}, nil
	case '0':
		return Value{kind: isNumber, text: t.String()}, nil
	case '[':
		return readArray(d)
	default:
		return readObject(d)
	}
}

func readArray(d *jsontext.Decoder) (Value, error) {
	v := Value{kind: isArray}
	for d.PeekKind() != ']' {
		item, err := readValue(d)
		if err != nil {
			return Value{}, err
		}
		v.items = append(v.items, item)
	}
	_, err := d.ReadToken()
	return v, err
}

func readObject(d *jsontext.Decoder) (Value, error) {
	v := Value{kind: isObject}
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
		if at == nil && len(v.members) >= 16 {
			at = make(map[string]int, 64)
			for i, m := range v.members {
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
		for n := range v.members {
			if v.members[n].Key == key {
				i = n
			}
		}
	}
	if i >= 0 {
		v.members[i].Value = item
		return
	}
	if at != nil {
		at[key] = len(v.members)
	}
	v.members = append(v.members, Member{key, item})
}

// Text is a string value for use where no request stands behind it, such as defaults.
func Text(s string) Value { return Value{kind: isString, text: s} }

// Object is an object value of the given members.
func Object(m ...Member) Value { return Value{kind: isObject, members: m} }

// IsNull reports null, which an absent value also is.
func (v Value) IsNull() bool { return v.kind == isNull }

// IsObject reports a JSON object; an empty array counts as one.
func (v Value) IsObject() bool {
	return v.kind == isObject || v.kind == isArray && len(v.items) == 0
}

// IsArray reports a JSON array.
func (v Value) IsArray() bool { return v.kind == isArray }

// IsScalar reports a string, number or boolean.
func (v Value) IsScalar() bool { return v.kind >= isFalse && v.kind <= isString }

// IsString reports a JSON string.
func (v Value) IsString() bool { return v.kind == isString }

// Text is the string, the number's digits, or true and false; empty for anything else.
func (v Value) Text() string {
	switch v.kind {
	case isTrue:
		return "true"
	case isFalse:
		return "false"
	}
	return v.text
}

// Items are the elements of an array.
func (v Value) Items() []Value { return v.items }

// Members are the keys of an object in the order they were sent.
func (v Value) Members() []Member { return v.members }

// Get finds a key of an object.
func (v Value) Get(key string) (Value, bool) {
	for _, m := range v.members {
		if m.Key == key {
			return m.Value, true
		}
	}
	return Value{}, false
}

// trim treats one string: white space around it goes unless keep, and an empty one is null.
func (v Value) trim(keep bool) Value {
	if v.kind != isString {
		return v
	}
	if !keep {
		v.text = strings.TrimSpace(v.text)
	}
	if v.text == "" {
		return Value{}
	}
	return v
}

// trimmed removes the white space around every string inside; one that becomes empty is null.
func (v Value) trimmed() Value {
	switch v.kind {
	case isString:
		return v.trim(false)
	case isArray:
		items := make([]Value, len(v.items))
		for i, item := range v.items {
			items[i] = item.trimmed()
		}
		v.items = items
	case isObject:
		members := make([]Member, len(v.members))
		for i, m := range v.members {
			members[i] = Member{m.Key, m.Value.trimmed()}
		}
		v.members = members
	}
	return v
}

// nulAt finds the first string holding U+0000 and gives its dotted key below v.
func (v Value) nulAt() (string, bool) {
	switch v.kind {
	case isString:
		return "", strings.ContainsRune(v.text, 0)
	case isArray:
		for i, item := range v.items {
			if key, bad := item.nulAt(); bad {
				return join(strconv.Itoa(i), key), true
			}
		}
	case isObject:
		for _, m := range v.members {
			if strings.ContainsRune(m.Key, 0) {
				return "", true
			}
			if key, bad := m.Value.nulAt(); bad {
				return join(m.Key, key), true
			}
		}
	}
	return "", false
}

// Any is the value as encoding/json would give it, except that a number which float64 cannot hold exactly
// stays a json.Number.
func (v Value) Any() any {
	switch v.kind {
	case isFalse:
		return false
	case isTrue:
		return true
	case isNumber:
		return exactNumber(v.text)
	case isString:
		return v.text
	case isArray:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.Any()
		}
		return out
	case isObject:
		out := make(map[string]any, len(v.members))
		for _, m := range v.members {
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
func (v Value) JSON() json.RawMessage { return v.appendJSON(nil, false) }

func (v Value) appendJSON(b []byte, sorted bool) []byte {
	switch v.kind {
	case isFalse:
		return append(b, "false"...)
	case isTrue:
		return append(b, "true"...)
	case isNumber:
		return append(b, v.text...)
	case isString:
		b, _ = jsontext.AppendQuote(b, v.text)
		return b
	case isArray:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b, sorted)
		}
		return append(b, ']')
	case isObject:
		b = append(b, '{')
		for i, m := range ordered(v.members, sorted) {
			if i > 0 {
				b = append(b, ',')
			}
			b, _ = jsontext.AppendQuote(b, m.Key)
			b = append(b, ':')
			b = m.Value.appendJSON(b, sorted)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func ordered(members []Member, sorted bool) []Member {
	if sorted {
		members = slices.Clone(members)
		slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	}
	return members
}

// join makes a dotted key.
func join(prefix, key string) string {
	switch {
	case prefix == "":
		return key
	case key == "":
		return prefix
	}
	return prefix + "." + key
}
