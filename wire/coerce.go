package wire

import (
	"math"
	"reflect"
	"strconv"

	"github.com/google/uuid"
)

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
