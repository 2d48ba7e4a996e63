package value

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parley/fault"
)

// Bounds of the fields of a form or a query string.
const (
	MostFields  = 1000 // of one request, repeated and nameless ones included
	LongestName = 200  // bytes
	DeepestName = 8    // levels below a field: links[0][link] has two
)

// Form makes an object of fields as they come. Names such as links[0][link] and columns[] make arrays and objects; of
// what is named twice the last value counts. It takes time and memory in proportion to what was sent.
type Form struct {
	top    Place
	fields int
}

// Place is where the value of a field goes.
type Place struct {
	item  Value
	below []child
	at    map[string]*Place // of below, by key; nil = the place holds item
}

type child struct {
	key string
	*Place
}

// At is the place that a name points to. The error is a fault that names the field beyond a bound.
func (f *Form) At(name string) (*Place, error) {
	head, rest, bracketed := strings.Cut(name, "[")
	switch f.fields++; {
	case f.fields > MostFields:
		return nil, refuse(head, fmt.Sprintf("The request must not have more than %d fields.", MostFields))
	case len(name) > LongestName:
		return nil, refuse(head, fmt.Sprintf("The name of a field must not be longer than %d bytes.", LongestName))
	case !bracketed || head == "" || !strings.HasSuffix(rest, "]"):
		return f.top.child(name), nil
	}
	path := strings.Split(strings.TrimSuffix(rest, "]"), "][")
	if len(path) > DeepestName {
		return nil, refuse(head, fmt.Sprintf("The :f field must not be nested deeper than %d levels.", DeepestName))
	}
	at := f.top.child(head)
	for _, key := range path {
		if key == "" {
			key = strconv.Itoa(len(at.below))
		}
		at = at.child(key)
	}
	return at, nil
}

// refuse names the field, as much of it as a name may have.
func refuse(field, sentence string) error {
	field = field[:min(len(field), LongestName)]
	return fault.Input(fault.Own(strings.ToValidUTF8(field, "\uFFFD"), sentence))
}

// Put sets the value of the field; what stood there goes.
func (p *Place) Put(item Value) { *p = Place{item: item} }

// child finds or makes the place under key.
func (p *Place) child(key string) *Place {
	if p.at == nil {
		*p = Place{at: map[string]*Place{}}
	}
	if found := p.at[key]; found != nil {
		return found
	}
	made := &Place{}
	p.at[key], p.below = made, append(p.below, child{key, made})
	return made
}

// Object is everything that was put into the form.
func (f *Form) Object() Value { return Value{Kind: KindObject, Members: f.top.members()} }

func (p *Place) members() (all []Member) {
	for _, c := range p.below {
		all = append(all, Member{c.key, c.value()})
	}
	return all
}

// value is an array when the keys below are 0, 1, 2 …, in whatever order the fields came.
func (p *Place) value() Value {
	if p.at == nil {
		return p.item
	}
	members := p.members()
	items := make([]Value, len(members))
	for _, m := range members {
		i, err := strconv.Atoi(m.Key)
		if err != nil || i < 0 || i >= len(items) || strconv.Itoa(i) != m.Key {
			return Value{Kind: KindObject, Members: slices.Clip(members)}
		}
		items[i] = m.Value
	}
	return Value{Kind: KindArray, Items: items}
}
