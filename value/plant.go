package value

import (
	"strconv"
	"strings"
)

// Plant sets the value that a bracketed name points to; of a repeated plain name the last value counts.
func (v *Value) Plant(name string, item Value) {
	head, rest, bracketed := strings.Cut(name, "[")
	if !bracketed || head == "" || !strings.HasSuffix(rest, "]") {
		v.put(name, item, nil)
		return
	}
	at := v.below(head)
	for part := range strings.SplitSeq(strings.TrimSuffix(rest, "]"), "][") {
		if part == "" {
			part = strconv.Itoa(len(at.Members) + len(at.Items))
		}
		at = at.below(part)
	}
	*at = item
	v.settle(head)
}

// below finds or makes the value under key, turning v into an object of its elements when it is an array.
func (v *Value) below(key string) *Value {
	if v.Kind == KindArray {
		members := make([]Member, len(v.Items))
		for i, item := range v.Items {
			members[i] = Member{strconv.Itoa(i), item}
		}
		*v = Value{Members: members}
	}
	v.Kind = KindObject
	if _, ok := v.Get(key); !ok {
		v.Members = append(v.Members, Member{Key: key})
	}
	for i := range v.Members {
		if v.Members[i].Key == key {
			return &v.Members[i].Value
		}
	}
	return nil
}

// settle turns objects with the keys 0, 1, 2 … below key back into arrays.
func (v *Value) settle(key string) {
	for i := range v.Members {
		if v.Members[i].Key == key {
			v.Members[i].Value = v.Members[i].Value.listed()
		}
	}
}

// listed is an array when the keys are 0, 1, 2 …, in whatever order the fields came.
func (v Value) listed() Value {
	if v.Kind != KindObject {
		return v
	}
	items := make([]Value, len(v.Members))
	isList := len(items) > 0
	for i := range v.Members {
		m := &v.Members[i]
		m.Value = m.Value.listed()
		at, err := strconv.Atoi(m.Key)
		if err != nil || at < 0 || at >= len(items) || strconv.Itoa(at) != m.Key {
			isList = false
			continue
		}
		items[at] = m.Value
	}
	if isList {
		return Value{Kind: KindArray, Items: items}
	}
	return v
}
