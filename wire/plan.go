package wire

import (
	"encoding/json"
	"fmt"
	"parley/value"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// source says which part of the request fills a field.
type source byte

const (
	fromBody source = iota
	fromQuery
	fromPath
)

// plan is what the tags of one struct say, worked out once.
type plan struct {
	fields  []*field
	patch   []int // index of the value.Patch whose fields these are; nil when there is none
	unknown []int // index of the value.Unknown field, nil when there is none
}

// field is one input field: where it comes from, what it must be, and where it goes.
type field struct {
	name  string
	from  source
	index []int
	typ   *typ
	rules rules // of the value
	each  rules // of every element of an array

	required        bool
	requiredIf      []condition
	requiredWithout string
	when            *condition        // limits requiredWithout
	null            bool              // null is a value here
	nullDefault     bool              // null stands for the default
	keep            bool              // white space stays, "" stays a string
	also            []string          // other accepted keys
	def             *value.Value      // taken when the field is absent
	say             map[string]string // rule → sentence of this field's own
	doc             string
	modes           []string // for the document: where the field has an effect
}

type condition struct{ field, value string }

// kind of a Go type as the wire sees it.
type kind byte

const (
	kString kind = iota
	kInt
	kNumber
	kMoney
	kBool
	kSlice
	kMap
	kStruct
	kAny   // any, map values included: free-form JSON
	kRaw   // json.RawMessage
	kValue // value.Value
	kRef
	kFile
	kCustom // implements value.Binding
)

type typ struct {
	kind kind
	t    reflect.Type // without value.Opt and pointer
	elem *typ
	plan *plan
	opt  bool
	ptr  bool
}

// optional marks Opt[T].
type optional interface{ Inner() reflect.Type }

var (
	bindingType  = reflect.TypeFor[value.Binding]()
	optionalType = reflect.TypeFor[optional]()
	plans        sync.Map // reflect.Type → *plan
)

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{}
	if isPatch(t) {
		p.patch = []int{}
		p.add(t.Field(0).Type, []int{0})
	} else {
		p.add(t, nil)
	}
	plans.Store(t, p)
	return p
}

// patch is value.Patch of any type.
type patch interface {
	Note(value.Sent)
	Kind() reflect.Type
}

func isPatch(t reflect.Type) bool {
	p, ok := reflect.New(t).Interface().(patch)
	return ok && p.Kind() == t
}

func (p *plan) add(t reflect.Type, index []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int{}, index...), i)
		if sf.Type == reflect.TypeFor[value.Unknown]() {
			p.unknown = at
			continue
		}
		if isPatch(sf.Type) {
			p.patch = at
			p.add(sf.Type.Field(0).Type, append(slices.Clone(at), 0))
			continue
		}
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct && sf.Tag == "" {
			p.add(sf.Type, at)
			continue
		}
		f := &field{index: at, doc: sf.Tag.Get("doc"), modes: strings.Fields(sf.Tag.Get("modes"))}
		switch tag := sf.Tag; {
		case tag.Get("path") != "":
			f.name, f.from = tag.Get("path"), fromPath
		case tag.Get("query") != "":
			f.name, f.from = tag.Get("query"), fromQuery
		default:
			f.name, _, _ = strings.Cut(tag.Get("json"), ",")
		}
		if f.name == "" || f.name == "-" || !sf.IsExported() {
			continue
		}
		f.typ = typeOf(sf.Type)
		f.read(sf.Tag, t.Name()+"."+sf.Name)
		p.fields = append(p.fields, f)
	}
}

// read takes the rule, each, also, trim, default and say tags.
func (f *field) read(tag reflect.StructTag, where string) {
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("wire: %s: %v", where, r))
		}
	}()
	for _, word := range strings.Fields(tag.Get("rule")) {
		name, arg, _ := strings.Cut(word, "=")
		switch name {
		case "required":
			f.required = true
		case "required_if":
			other, value, _ := strings.Cut(arg, ":")
			f.requiredIf = append(f.requiredIf, condition{other, value})
		case "required_without":
			f.requiredWithout = arg
		case "when":
			other, value, _ := strings.Cut(arg, ":")
			f.when = &condition{other, value}
		case "null":
			f.null, f.nullDefault = true, arg == "default"
		default:
			f.rules = append(f.rules, newRule(name, arg))
		}
	}
	f.rules = f.rules.joined()
	for _, word := range strings.Fields(tag.Get("each")) {
		name, arg, _ := strings.Cut(word, "=")
		f.each = append(f.each, newRule(name, arg))
	}
	f.each = f.each.joined()
	f.also = strings.FieldsFunc(tag.Get("also"), func(r rune) bool { return r == ',' })
	f.keep = tag.Get("trim") == "no"
	if def, ok := tag.Lookup("default"); ok {
		v, err := value.Parse([]byte(def))
		if err != nil {
			v = value.Text(def)
		}
		f.def = &v
	}
	for part := range strings.SplitSeq(tag.Get("say"), "|") {
		if rule, sentence, ok := strings.Cut(part, ":"); ok {
			if f.say == nil {
				f.say = map[string]string{}
			}
			f.say[strings.TrimSpace(rule)] = strings.TrimSpace(sentence)
		}
	}
}

func typeOf(t reflect.Type) *typ {
	if t.Implements(optionalType) && t.Kind() == reflect.Struct {
		inner := *typeOf(reflect.Zero(t).Interface().(optional).Inner())
		inner.opt = true
		return &inner
	}
	if t.Kind() == reflect.Pointer && !t.Implements(bindingType) {
		inner := *typeOf(t.Elem())
		inner.ptr = true
		return &inner
	}
	ty := &typ{t: t}
	switch {
	case reflect.PointerTo(t).Implements(bindingType):
		ty.kind = kCustom
	case t == reflect.TypeFor[value.Ref]():
		ty.kind = kRef
	case t == reflect.TypeFor[value.File]():
		ty.kind = kFile
	case t == reflect.TypeFor[value.Value]():
		ty.kind = kValue
	case t == reflect.TypeFor[value.Money]():
		ty.kind = kMoney
	case t == reflect.TypeFor[json.RawMessage]():
		ty.kind = kRaw
	default:
		ty.byKind(t)
	}
	return ty
}

func (ty *typ) byKind(t reflect.Type) {
	switch t.Kind() {
	case reflect.String:
		ty.kind = kString
	case reflect.Int, reflect.Int64, reflect.Int32:
		ty.kind = kInt
	case reflect.Float64:
		ty.kind = kNumber
	case reflect.Bool:
		ty.kind = kBool
	case reflect.Slice:
		ty.kind, ty.elem = kSlice, typeOf(t.Elem())
	case reflect.Map:
		ty.kind, ty.elem = kMap, typeOf(t.Elem())
	case reflect.Struct:
		ty.kind, ty.plan = kStruct, planOf(t)
	case reflect.Interface:
		ty.kind = kAny
	default:
		panic("no input can be read into " + t.String())
	}
}

// typeRule is the rule whose sentence says that a value has the wrong type.
func (ty *typ) typeRule() string {
	switch ty.kind {
	case kString:
		return "string"
	case kInt, kRef:
		return "integer"
	case kNumber, kMoney:
		return "number"
	case kBool:
		return "boolean"
	case kFile:
		return "file"
	}
	return "array"
}

// rank places an error key among the fields: by field table, then array index, then nested field.
func (p *plan) rank(key string) []int {
	head, rest, _ := strings.Cut(key, ".")
	for i, f := range p.fields {
		if f.name == head {
			return append([]int{i}, f.typ.rank(rest)...)
		}
	}
	return []int{len(p.fields)}
}

func (ty *typ) rank(key string) []int {
	if key == "" {
		return nil
	}
	if ty.kind == kStruct {
		return ty.plan.rank(key)
	}
	head, rest, _ := strings.Cut(key, ".")
	n := 0
	if _, err := fmt.Sscanf(head, "%d", &n); err != nil || ty.elem == nil {
		return []int{n}
	}
	return append([]int{n}, ty.elem.rank(rest)...)
}
