package wire

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"parley/fault"
)

// Ref names a resource by its id or its uuid. The zero Ref names nothing.
type Ref struct {
	ID   int64
	UUID string
}

// MarshalJSON writes the id, or without one the uuid; the zero Ref is null.
func (r Ref) MarshalJSON() ([]byte, error) {
	switch {
	case r.ID != 0:
		return strconv.AppendInt(nil, r.ID, 10), nil
	case r.UUID != "":
		return []byte(`"` + r.UUID + `"`), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Ref) UnmarshalJSON(b []byte) error {
	v, err := parseJSON(b)
	if err != nil {
		return err
	}
	*r, _ = v.ref()
	return nil
}

// binding is the reading of one request: it collects every field's first failure.
type binding struct {
	alias   map[string][]string // field name → vendor spellings
	public  func(rawURL string) bool
	phrase  func(Failure) string
	body    Value
	require []string // top-level fields that this route demands
	failed  map[string]bool
	fields  []fault.Field
}

func newBinding(alias map[string][]string, public func(string) bool, phrase func(Failure) string) *binding {
	if phrase == nil {
		phrase = Sentence
	}
	return &binding{alias: alias, public: public, phrase: phrase, failed: map[string]bool{}}
}

func (b *binding) fail(f Failure) {
	if b.failed[f.Key] {
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

// Binder reports on, and reads below, one place of the input.
type Binder struct {
	b   *binding
	key string
}

// Key is the dotted key of this place.
func (b Binder) Key() string { return b.key }

// At is the place one key or index below.
func (b Binder) At(key string) Binder { return Binder{b.b, join(b.key, key)} }

// Fail reports a failed rule of the table of sentences at this place.
func (b Binder) Fail(rule string, args ...string) {
	f := Failure{Key: b.key, Rule: rule}
	if len(args) > 0 {
		f.A = args[0]
	}
	if len(args) > 1 {
		f.B = args[1]
	}
	b.b.fail(f)
}

// Say reports a sentence of the room's own at this place.
func (b Binder) Say(sentence string) {
	b.b.fail(Failure{Key: b.key, Own: strings.ReplaceAll(sentence, ":f", spoken(b.key))})
}

// Failed reports whether an error stands at this place or below it.
func (b Binder) Failed() bool {
	for key := range b.b.failed {
		if key == b.key || strings.HasPrefix(key, b.key+".") {
			return true
		}
	}
	return false
}

// Read fills dst, a pointer to a struct with wire tags, from the object v.
func (b Binder) Read(v Value, dst any) {
	d := reflect.ValueOf(dst).Elem()
	b.b.object(planOf(d.Type()), v, b.key, d, fromBody)
}

// Lookup finds a key of v under its own or a vendor's spelling, with white space trimmed.
func (b Binder) Lookup(v Value, key string) (Value, bool) {
	got, ok := b.b.lookup(v, &field{name: key})
	return got.trimmed(), ok
}

// object fills the fields of one source from the members of v.
func (b *binding) object(p *plan, v Value, key string, dst reflect.Value, from source) {
	for _, f := range p.fields {
		if f.from == from {
			b.field(f, v, join(key, f.name), dst.FieldByIndex(f.index))
		}
	}
}

func (b *binding) lookup(v Value, f *field) (Value, bool) {
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
	return Value{}, false
}

// field reads one field: presence, then type, then its rules, and stops at the first failure.
func (b *binding) field(f *field, parent Value, key string, dst reflect.Value) {
	v, present := b.lookup(parent, f)
	v = v.trim(f.keep)
	if v.IsNull() {
		rule, a, value := f.demanded(b, parent)
		if slices.Contains(b.require, key) {
			rule = "required"
		}
		if rule != "" {
			b.failOwn(f, Failure{Key: key, Rule: rule, A: a, B: value})
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
		return
	case v.IsNull() && f.typ.kind != kAny && f.typ.kind != kRaw && f.typ.kind != kValue:
		b.failOwn(f, Failure{Key: key, Rule: f.typ.typeRule()})
		return
	}
	if !b.set(f.typ, v, key, dst, f) || !b.obey(f, f.rules, f.typ, key, dst, parent) {
		dst.SetZero()
	}
}

// demanded says which required rule an absent or null field breaks.
func (f *field) demanded(b *binding, parent Value) (rule, a, value string) {
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
		if other = other.trimmed(); other.IsNull() || other.kind == isArray && len(other.items) == 0 {
			return "required_without", f.requiredWithout, ""
		}
	}
	return "", "", ""
}

// holds says whether the other field has the value.
func (c condition) holds(b *binding, parent Value) bool {
	other, _ := b.lookup(parent, &field{name: c.field})
	got := other.trimmed().Text()
	return got == c.value || c.value == "true" && got == "1"
}

func (b *binding) failOwn(f *field, bad Failure) {
	name, _, _ := strings.Cut(bad.Rule, ".")
	if own, ok := f.say[name]; ok {
		bad.Own = strings.ReplaceAll(own, ":f", spoken(bad.Key))
	}
	b.fail(bad)
}

// obey checks rules on a value that has its type.
func (b *binding) obey(f *field, rs rules, t *typ, key string, dst reflect.Value, parent Value) bool {
	target := inside(t, dst)
	for _, r := range rs {
		switch r.name {
		case "distinct": // seen to when the elements were read
			continue
		case "different":
			other, _ := b.lookup(parent, &field{name: r.arg})
			if other.trimmed().Text() == target.String() {
				b.failOwn(f, Failure{Key: key, Rule: "different", A: r.arg})
				return false
			}
			continue
		}
		v := measure(t, target)
		before := v
		sentence, ok := r.check(&v, b.public)
		if !ok {
			a, value := r.args(sentence)
			b.failOwn(f, Failure{Key: key, Rule: sentence, A: a, B: value})
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
			b.failOwn(f, Failure{Key: join(key, strconv.Itoa(i)), Rule: "distinct"})
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
		return Money(v.Int())
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

// inside reaches through Opt and pointer to the value itself.
func inside(t *typ, dst reflect.Value) reflect.Value {
	switch {
	case t.opt:
		dst.Field(0).SetBool(true)
		return dst.Field(2)
	case t.ptr:
		if dst.IsNil() {
			dst.Set(reflect.New(dst.Type().Elem()))
		}
		return dst.Elem()
	}
	return dst
}

func setNull(t *typ, dst reflect.Value) {
	dst.SetZero()
	if t.opt {
		dst.Field(0).SetBool(true)
		dst.Field(1).SetBool(true)
	}
}

// set gives dst the value v in the field's type; f carries the rules of elements.
func (b *binding) set(t *typ, v Value, key string, dst reflect.Value, f *field) bool {
	if t.kind >= kAny && !f.keep {
		v = v.trimmed()
	}
	if at, bad := v.nulAt(); bad && t.kind != kStruct && t.kind != kSlice {
		b.fail(Failure{Key: join(key, at), Rule: "string"})
		return false
	}
	dst = inside(t, dst)
	ok := true
	switch t.kind {
	case kString:
		if ok = v.kind == isString; ok {
			dst.SetString(v.text)
		}
	case kInt:
		n, isInt := v.integer()
		if ok = isInt && !dst.OverflowInt(n); ok {
			dst.SetInt(n)
		}
	case kNumber:
		n, isNumber := v.number()
		if ok = isNumber; ok {
			dst.SetFloat(n)
		}
	case kMoney:
		m, err := ParseMoney(v.text)
		if ok = err == nil && (v.kind == isNumber || v.kind == isString); ok {
			dst.SetInt(int64(m))
		}
	case kBool:
		yes, isBool := v.boolean()
		if ok = isBool; ok {
			dst.SetBool(yes)
		}
	case kRef:
		ref, isRef := v.ref()
		if ok = isRef; ok {
			dst.Set(reflect.ValueOf(ref))
		}
	case kFile:
		if ok = v.kind == isFile; ok {
			dst.Set(reflect.ValueOf(*v.file))
		}
	case kAny:
		if a := v.Any(); a != nil {
			dst.Set(reflect.ValueOf(a))
		}
	case kRaw:
		dst.Set(reflect.ValueOf(v.JSON()))
	case kValue:
		dst.Set(reflect.ValueOf(v))
	case kCustom:
		before := len(b.fields)
		dst.Addr().Interface().(Binding).BindWire(Binder{b, key}, v)
		return len(b.fields) == before
	default:
		return b.setMany(t, v, key, dst, f)
	}
	if !ok {
		b.failOwn(f, Failure{Key: key, Rule: t.typeRule()})
	}
	return ok
}

// setMany fills slices, maps and structs.
func (b *binding) setMany(t *typ, v Value, key string, dst reflect.Value, f *field) bool {
	if t.kind == kSlice && v.kind != isArray || t.kind != kSlice && !v.IsObject() {
		b.failOwn(f, Failure{Key: key, Rule: t.typeRule()})
		return false
	}
	before := len(b.fields)
	switch t.kind {
	case kStruct:
		b.object(t.plan, v, key, dst, fromBody)
	case kMap:
		dst.Set(reflect.MakeMapWithSize(dst.Type(), len(v.members)))
		for _, m := range v.members {
			item := reflect.New(t.elem.t).Elem()
			b.element(t.elem, m.Value, join(key, m.Key), item, f)
			dst.SetMapIndex(reflect.ValueOf(m.Key), item)
		}
	case kSlice:
		if r, limited := f.rules.find("max"); limited && float64(len(v.items)) > r.num {
			b.failOwn(f, Failure{Key: key, Rule: "max.items", A: r.arg}) // before reading a million elements
			return false
		}
		dst.Set(reflect.MakeSlice(dst.Type(), len(v.items), len(v.items)))
		for i, item := range v.items {
			b.element(t.elem, item, join(key, strconv.Itoa(i)), dst.Index(i), f)
		}
		if _, ok := f.rules.find("distinct"); ok {
			b.distinct(f, key, dst)
		}
		b.distinctInside(t, key, dst)
	}
	return len(b.fields) == before
}

// element reads one element of an array or map and checks the each rules on it.
func (b *binding) element(t *typ, v Value, key string, dst reflect.Value, f *field) {
	v = v.trim(f.keep)
	if v.IsNull() && (t.kind == kAny || t.kind == kRaw || t.kind == kValue) {
		return
	}
	inner := &field{say: f.say, keep: f.keep}
	if b.set(t, v, key, dst, inner) {
		b.obey(inner, f.each, t, key, dst, Value{})
	}
}

// distinctInside checks nested fields that must differ between the elements of an array.
func (b *binding) distinctInside(t *typ, key string, list reflect.Value) {
	if t.elem.kind != kStruct {
		return
	}
	for _, f := range t.elem.plan.fields {
		if _, ok := f.rules.find("distinct"); !ok {
			continue
		}
		seen := map[any]bool{}
		for i := range list.Len() {
			v := list.Index(i).FieldByIndex(f.index)
			if v.IsZero() {
				continue
			}
			if seen[v.Interface()] {
				b.failOwn(f, Failure{Key: join(join(key, strconv.Itoa(i)), f.name), Rule: "distinct"})
			}
			seen[v.Interface()] = true
		}
	}
}

// integer accepts JSON integers, numbers without a fraction and decimal strings.
func (v Value) integer() (int64, bool) {
	if v.kind != isNumber && v.kind != isString {
		return 0, false
	}
	if integer.MatchString(v.text) {
		n, err := strconv.ParseInt(v.text, 10, 64)
		return n, err == nil
	}
	if v.kind == isString {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// number accepts JSON numbers and numeric strings.
func (v Value) number() (float64, bool) {
	if v.kind != isNumber && (v.kind != isString || !numeric.MatchString(v.text)) {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil
}

func (v Value) boolean() (yes, ok bool) {
	switch {
	case v.kind == isTrue || v.text == "1" && v.IsScalar():
		return true, true
	case v.kind == isFalse || v.text == "0" && v.IsScalar():
		return false, true
	}
	return false, false
}

func (v Value) ref() (Ref, bool) {
	if n, ok := v.integer(); ok {
		return Ref{ID: n}, true
	}
	if v.kind != isString {
		return Ref{}, false
	}
	return parseRef(v.text)
}

func parseRef(s string) (Ref, bool) {
	if id, err := uuid.Parse(s); err == nil && len(s) == 36 {
		return Ref{UUID: id.String()}, true
	}
	return Ref{}, false
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
			ref, ok := parseRef(s)
			if !ok {
				ref.ID = pathID(s)
			}
			at.Set(reflect.ValueOf(ref))
		case kString:
			if _, isUUID := f.rules.find("uuid"); isUUID {
				ref, _ := parseRef(s)
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
func (b *binding) readUnknown(p *plan, body Value, dst reflect.Value) {
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
	var found Unknown
	for _, m := range body.members {
		if !known[m.Key] {
			found = append(found, m)
		}
	}
	dst.FieldByIndex(p.unknown).Set(reflect.ValueOf(found))
}

// ReadJSON fills dst, a pointer to a struct with wire tags, from a JSON object by the same rules as a request.
// The error is a fault with the failed fields.
func ReadJSON(raw []byte, dst any) error {
	v, err := parseObject(raw)
	if err != nil {
		return fault.New(fault.Malformed, "", "%s", bodySentence(err))
	}
	b := newBinding(nil, nil, nil)
	Binder{b: b}.Read(v, dst)
	return Invalid(b.sorted(planOf(reflect.TypeOf(dst).Elem()))...)
}

func bodySentence(err error) string {
	if errors.Is(err, errNotObject) {
		return "The request body must be a JSON object."
	}
	return "The request body is not valid JSON."
}
