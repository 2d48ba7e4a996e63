package wire

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"parley/fault"
	"parley/value"
)

// binding is the reading of one request: it collects every field's first failure.
type binding struct {
	alias   map[string][]string // field name → vendor spellings
	public  func(rawURL string) bool
	phrase  func(fault.Failure) string
	body    value.Value
	require []string // top-level fields that this route demands
	failed  map[string]bool
	sent    value.Sent // for a patch: the keys that were sent and are right; nil when nobody asks
	fields  []fault.Field
}

func newBinding(alias map[string][]string, public func(string) bool, phrase func(fault.Failure) string) *binding {
	if phrase == nil {
		phrase = fault.Sentence
	}
	return &binding{alias: alias, public: public, phrase: phrase, failed: map[string]bool{}}
}

// mostErrors bounds what one answer reports.
const mostErrors = 1000

func (b *binding) fail(f fault.Failure) {
	if b.failed[f.Key] || len(b.fields) >= mostErrors {
		return
	}
	b.failed[f.Key] = true
	b.fields = append(b.fields, fault.Field{Name: f.Key, Sentence: b.phrase(f)})
}

// merge adds a room's own errors; a field that failed before keeps its first sentence.
func (b *binding) merge(fields []fault.Field) {
	for _, f := range fields {
		if !b.failed[f.Name] {
			b.failed[f.Name] = true
			b.fields = append(b.fields, f)
		}
	}
}

// sorted puts the errors in the order of the field table.
func (b *binding) sorted(p *plan) []fault.Field {
	slices.SortStableFunc(b.fields, func(x, y fault.Field) int {
		return slices.Compare(p.rank(x.Name), p.rank(y.Name))
	})
	return b.fields
}

// whole fills a top-level struct from the body; a patch in it learns what was sent.
func (b *binding) whole(p *plan, body value.Value, dst reflect.Value) {
	if p.patch == nil {
		b.object(p, body, "", dst, fromBody)
		return
	}
	b.sent = value.Sent{}
	b.object(p, body, "", dst, fromBody)
	dst.FieldByIndex(p.patch).Addr().Interface().(patch).Note(b.sent)
}

// object fills the fields of one source from the members of v.
func (b *binding) object(p *plan, v value.Value, key string, dst reflect.Value, from source) {
	for _, f := range p.fields {
		if f.from == from {
			b.field(f, v, value.Join(key, f.name), dst.FieldByIndex(f.index))
		}
	}
}

func (b *binding) lookup(v value.Value, f *field) (value.Value, bool) {
	if got, ok := v.Get(f.name); ok {
		return got, true
	}
	for _, name := range f.also {
		if got, ok := v.Get(name); ok {
			return got, true
		}
	}
	for _, name := range b.alias[f.name] {
		if got, ok := v.Get(name); ok {
			return got, true
		}
	}
	return value.Value{}, false
}

// field reads one field: presence, then type, then its rules, and stops at the first failure.
func (b *binding) field(f *field, parent value.Value, key string, dst reflect.Value) {
	v, present := b.lookup(parent, f)
	v = v.Trim(f.keep)
	if v.IsNull() {
		rule, a, arg := f.demanded(b, parent)
		if slices.Contains(b.require, key) {
			rule = "required"
		}
		if rule != "" {
			b.failOwn(f, fault.Failure{Key: key, Rule: rule, A: a, B: arg})
			return
		}
	}
	switch {
	case f.def != nil && (!present || v.IsNull() && f.nullDefault):
		v = *f.def
	case !present:
		return
	case v.IsNull() && f.null:
		setNull(f.typ, dst)
		b.note(key, true)
		return
	case v.IsNull() && f.typ.kind != kAny && f.typ.kind != kRaw && f.typ.kind != kValue:
		b.failOwn(f, fault.Failure{Key: key, Rule: f.typ.typeRule()})
		return
	}
	if !b.set(f.typ, v, key, dst, f) || !b.obey(f, f.rules, f.typ, key, dst, parent) {
		dst.SetZero()
		return
	}
	b.note(key, v.IsNull())
}

// note remembers for a patch that a field was sent and is right.
func (b *binding) note(key string, null bool) {
	if b.sent != nil {
		b.sent[key] = null
	}
}

// demanded says which required rule an absent or null field breaks.
func (f *field) demanded(b *binding, parent value.Value) (rule, a, arg string) {
	if f.required {
		return "required", "", ""
	}
	for _, c := range f.requiredIf {
		if c.holds(b, parent) {
			return "required_if", c.field, c.value
		}
	}
	if f.requiredWithout != "" && (f.when == nil || f.when.holds(b, parent)) {
		other, _ := b.lookup(parent, &field{name: f.requiredWithout})
		if other = other.Trimmed(); other.IsNull() || other.Kind == value.KindArray && len(other.Items) == 0 {
			return "required_without", f.requiredWithout, ""
		}
	}
	return "", "", ""
}

// holds says whether the other field has the value.
func (c condition) holds(b *binding, parent value.Value) bool {
	other, _ := b.lookup(parent, &field{name: c.field})
	got := other.Trimmed().Text()
	return got == c.value || c.value == "true" && got == "1"
}

func (b *binding) failOwn(f *field, bad fault.Failure) {
	name, _, _ := strings.Cut(bad.Rule, ".")
	if own, ok := f.say[name]; ok {
		bad.Own = strings.ReplaceAll(own, ":f", fault.Spoken(bad.Key))
	}
	b.fail(bad)
}

// obey checks rules on a value that has its type.
func (b *binding) obey(f *field, rs rules, t *typ, key string, dst reflect.Value, parent value.Value) bool {
	target := inside(t, dst)
	for _, r := range rs {
		switch r.name {
		case "distinct": // seen to when the elements were read
			continue
		case "different":
			other, _ := b.lookup(parent, &field{name: r.arg})
			if other.Trimmed().Text() == target.String() {
				b.failOwn(f, fault.Failure{Key: key, Rule: "different", A: r.arg})
				return false
			}
			continue
		}
		v := measure(t, target)
		before := v
		sentence, ok := r.check(&v, b.public)
		if !ok {
			a, arg := r.args(sentence)
			b.failOwn(f, fault.Failure{Key: key, Rule: sentence, A: a, B: arg})
			return false
		}
		if s, isText := v.(string); isText && v != before {
			target.SetString(s)
		}
	}
	return true
}

// distinct reports every element that stands twice, unless it failed already.
func (b *binding) distinct(f *field, key string, list reflect.Value) {
	seen := map[any]bool{}
	for i := range list.Len() {
		v := list.Index(i).Interface()
		if seen[v] {
			b.failOwn(f, fault.Failure{Key: value.Join(key, strconv.Itoa(i)), Rule: "distinct"})
		}
		seen[v] = true
	}
}

// measure is what rules look at.
func measure(t *typ, v reflect.Value) any {
	switch t.kind {
	case kString:
		return v.String()
	case kInt:
		return v.Int()
	case kNumber:
		return v.Float()
	case kMoney:
		return value.Money(v.Int())
	case kSlice, kMap:
		return count(v.Len())
	case kFile:
		return v.Addr().Interface()
	case kCustom:
		if c, ok := v.Addr().Interface().(interface{ Len() int }); ok {
			return count(c.Len())
		}
	}
	return nil
}

// readPath fills the path fields. A segment that cannot be an id gives the zero value, which no lookup finds.
func readPath(p *plan, values map[string]string, dst reflect.Value) {
	for _, f := range p.fields {
		if f.from != fromPath {
			continue
		}
		s, at := values[f.name], inside(f.typ, dst.FieldByIndex(f.index))
		switch f.typ.kind {
		case kInt:
			at.SetInt(pathID(s))
		case kRef:
			ref, ok := value.ParseRef(s)
			if !ok {
				ref.ID = pathID(s)
			}
			at.Set(reflect.ValueOf(ref))
		case kString:
			if _, isUUID := f.rules.find("uuid"); isUUID {
				ref, _ := value.ParseRef(s)
				s = ref.UUID
			}
			if !strings.ContainsRune(s, 0) {
				at.SetString(s)
			}
		}
	}
}

func pathID(s string) int64 {
	if strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// readUnknown lists the top-level body keys that the struct does not know.
func (b *binding) readUnknown(p *plan, body value.Value, dst reflect.Value) {
	if p.unknown == nil {
		return
	}
	known := map[string]bool{}
	for _, f := range p.fields {
		if f.from == fromBody {
			known[f.name] = true
			for _, name := range slices.Concat(f.also, b.alias[f.name]) {
				known[name] = true
			}
		}
	}
	var found value.Unknown
	for _, m := range body.Members {
		if !known[m.Key] {
			found = append(found, m)
		}
	}
	dst.FieldByIndex(p.unknown).Set(reflect.ValueOf(found))
}

// ReadJSON fills dst, a pointer to a struct with wire tags, from a JSON object by the same rules as a request.
// The error is a fault with the failed fields.
func ReadJSON(raw []byte, dst any) error {
	v, err := value.ParseObject(raw)
	if err != nil {
		return fault.New(fault.Malformed, "", "%s", bodySentence(err))
	}
	b := newBinding(nil, nil, nil)
	d := reflect.ValueOf(dst).Elem()
	p := planOf(d.Type())
	b.whole(p, v, d)
	return fault.Input(b.sorted(p)...)
}

func bodySentence(err error) string {
	if errors.Is(err, value.ErrNotObject) {
		return "The request body must be a JSON object."
	}
	return "The request body is not valid JSON."
}
