package wire

import (
	"parley/fault"
	"parley/value"
	"reflect"
	"strconv"
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
func (b *binding) set(t *typ, v value.Value, key string, dst reflect.Value, f *field) bool {
	if t.kind >= kAny && !f.keep {
		v = v.Trimmed()
	}
	if at, bad := v.NulAt(); bad && t.kind != kStruct && t.kind != kSlice {
		b.fail(fault.Failure{Key: value.Join(key, at), Rule: "string"})
		return false
	}
	dst = inside(t, dst)
	ok := true
	switch t.kind {
	case kString:
		if ok = v.Kind == value.KindString; ok {
			dst.SetString(v.Digits)
		}
	case kInt:
		n, isInt := v.Integer()
		if ok = isInt && !dst.OverflowInt(n); ok {
			dst.SetInt(n)
		}
	case kNumber:
		n, isNumber := v.Number()
		if ok = isNumber; ok {
			dst.SetFloat(n)
		}
	case kMoney:
		m, err := value.ParseMoney(v.Digits)
		if ok = err == nil && (v.Kind == value.KindNumber || v.Kind == value.KindString); ok {
			dst.SetInt(int64(m))
		}
	case kBool:
		yes, isBool := v.Boolean()
		if ok = isBool; ok {
			dst.SetBool(yes)
		}
	case kRef:
		ref, isRef := v.Ref()
		if ok = isRef; ok {
			dst.Set(reflect.ValueOf(ref))
		}
	case kFile:
		if ok = v.Kind == value.KindFile; ok {
			dst.Set(reflect.ValueOf(*v.File))
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
		dst.Addr().Interface().(value.Binding).Bind(binder{b, key}, v)
		return len(b.fields) == before
	default:
		return b.setMany(t, v, key, dst, f)
	}
	if !ok {
		b.failOwn(f, fault.Failure{Key: key, Rule: t.typeRule()})
	}
	return ok
}

// setMany fills slices, maps and structs.
func (b *binding) setMany(t *typ, v value.Value, key string, dst reflect.Value, f *field) bool {
	if t.kind == kSlice && v.Kind != value.KindArray || t.kind != kSlice && !v.IsObject() {
		b.failOwn(f, fault.Failure{Key: key, Rule: t.typeRule()})
		return false
	}
	before := len(b.fields)
	switch t.kind {
	case kStruct:
		b.object(t.plan, v, key, dst, fromBody)
	case kMap:
		dst.Set(reflect.MakeMapWithSize(dst.Type(), len(v.Members)))
		for _, m := range v.Members {
			item := reflect.New(t.elem.t).Elem()
			b.element(t.elem, m.Value, value.Join(key, m.Key), item, f)
			dst.SetMapIndex(reflect.ValueOf(m.Key), item)
		}
	case kSlice:
		most := f.mostItems()
		if len(v.Items) > most {
			b.failOwn(f, fault.Failure{Key: key, Rule: "max.items", A: strconv.Itoa(most)}) // before reading a million elements
			return false
		}
		dst.Set(reflect.MakeSlice(dst.Type(), len(v.Items), len(v.Items)))
		for i, item := range v.Items {
			b.element(t.elem, item, value.Join(key, strconv.Itoa(i)), dst.Index(i), f)
		}
		if _, ok := f.rules.find("distinct"); ok {
			b.distinct(f, key, dst)
		}
		b.distinctInside(t, key, dst)
	}
	return len(b.fields) == before
}

// mostItems bounds an array, also one for which nothing is said.
func (f *field) mostItems() int {
	if r, limited := f.rules.find("max"); limited {
		return int(r.num)
	}
	return value.MostFields
}

// element reads one element of an array or map and checks the each rules on it.
func (b *binding) element(t *typ, v value.Value, key string, dst reflect.Value, f *field) {
	v = v.Trim(f.keep)
	if v.IsNull() && (t.kind == kAny || t.kind == kRaw || t.kind == kValue) {
		return
	}
	inner := &field{say: f.say, keep: f.keep}
	if b.set(t, v, key, dst, inner) {
		b.obey(inner, f.each, t, key, dst, value.Value{})
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
				b.failOwn(f, fault.Failure{Key: value.Join(value.Join(key, strconv.Itoa(i)), f.name), Rule: "distinct"})
			}
			seen[v.Interface()] = true
		}
	}
}
