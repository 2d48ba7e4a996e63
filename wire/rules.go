package wire

import (
	"net/mail"
	"net/netip"
	"net/url"
	"parley/value"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// rule is one word of a rule tag, for example max=255.
type rule struct {
	name, arg, arg2 string
	num, num2       float64
	re              *regexp.Regexp
	set             []string
}

type rules []rule

var (
	e164      = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	hostPart  = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)
	clockTime = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)
	day       = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
)

// newRule checks a rule's spelling when the route is registered; a wrong one panics.
func newRule(name, arg string) rule {
	if name == "oneof" {
		name = "in"
	}
	r := rule{name: name, arg: arg}
	switch name {
	case "max", "min":
		n, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			panic("rule " + name + " needs a number")
		}
		r.num = n
	case "in":
		r.set = strings.Split(arg, "|")
	case "pattern":
		r.re = regexp.MustCompile(arg)
	case "different":
	case "url", "public", "email", "uuid", "ip", "e164", "phone", "distinct", "date", "clock", "timezone", "upper", "lower":
		if arg != "" {
			panic("rule " + name + " takes no argument")
		}
	default:
		panic("unknown rule " + name)
	}
	return r
}

// joined turns min and max into one between rule, which stands where the first of them stood.
// Arrays keep both: their sentences are one-sided.
func (rs rules) joined() rules {
	lo := slices.IndexFunc(rs, func(r rule) bool { return r.name == "min" })
	hi := slices.IndexFunc(rs, func(r rule) bool { return r.name == "max" })
	if lo < 0 || hi < 0 {
		return rs
	}
	both := rule{name: "between", arg: rs[lo].arg, arg2: rs[hi].arg, num: rs[lo].num, num2: rs[hi].num}
	out := slices.Clone(rs)
	out[min(lo, hi)] = both
	return slices.Delete(out, max(lo, hi), max(lo, hi)+1)
}

func (rs rules) find(name string) (rule, bool) {
	i := slices.IndexFunc(rs, func(r rule) bool { return r.name == name })
	if i < 0 {
		return rule{}, false
	}
	return rs[i], true
}

// size says how a value is measured and the word that picks the sentence.
func size(v any) (float64, string) {
	switch v := v.(type) {
	case string:
		return float64(utf8.RuneCountInString(v)), ".string"
	case int64:
		return float64(v), ".number"
	case float64:
		return v, ".number"
	case value.Money:
		return float64(v) / float64(value.MoneyUnit), ".number"
	case count:
		return float64(v), ".items"
	case *value.File:
		return float64(v.Size) / 1024, ".file"
	}
	return 0, ""
}

// count is the number of elements of an array or keys of an object.
type count int

// check tests v, which has its final type, and names the sentence of a failure. It may rewrite a string.
func (r rule) check(v *any, public func(string) bool) (sentence string, ok bool) {
	switch r.name {
	case "max", "min", "between":
		return r.checkSize(*v)
	}
	s, isText := (*v).(string)
	switch r.name {
	case "in":
		text := s
		if n, isInt := (*v).(int64); isInt {
			text, isText = strconv.FormatInt(n, 10), true
		}
		return "in", isText && slices.Contains(r.set, text)
	case "upper":
		*v = strings.ToUpper(s)
	case "lower":
		*v = strings.ToLower(s)
	case "pattern":
		return "pattern", r.re.MatchString(s)
	case "url":
		return "url", isURL(s)
	case "public":
		return "private", public == nil || public(s)
	case "email":
		return "email", isEmail(s)
	case "uuid":
		id, err := uuid.Parse(s)
		*v = id.String()
		return "uuid", err == nil && len(s) == 36
	case "ip":
		_, err := netip.ParseAddr(s)
		return "ip", err == nil
	case "e164":
		return "e164", e164.MatchString(s)
	case "phone":
		s = strings.NewReplacer(" ", "", ".", "", "-", "", "(", "", ")", "", "[", "", "]", "", "{", "", "}", "", "/", "").Replace(s)
		*v = s
		return "e164", e164.MatchString(s)
	case "date":
		_, err := time.Parse(time.DateOnly, s)
		return "date", err == nil && day.MatchString(s)
	case "clock":
		return "clock", clockTime.MatchString(s)
	case "timezone":
		return "timezone", isTimezone(s)
	}
	return "", true
}

func (r rule) checkSize(v any) (string, bool) {
	n, word := size(v)
	switch {
	case r.name == "max" || r.name == "between" && word == ".items" && n > r.num2:
		limit := r.num
		if r.name == "between" {
			limit = r.num2
		}
		return "max" + word, n <= limit
	case r.name == "min" || word == ".items":
		return "min" + word, n >= r.num
	}
	return "between" + word, n >= r.num && n <= r.num2
}

// args are what fills :a and :b of the rule's sentence.
func (r rule) args(sentence string) (a, b string) {
	switch {
	case r.name == "between" && strings.HasPrefix(sentence, "max"):
		return r.arg2, ""
	case r.name == "in":
		return strings.Join(r.set, ", "), ""
	}
	return r.arg, r.arg2
}

func isURL(s string) bool {
	if len(s) > 2048 {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return false
		}
	}
	return isHost(u.Hostname())
}

func isHost(h string) bool {
	if _, err := netip.ParseAddr(h); err == nil {
		return true
	}
	if h == "" || len(h) > 253 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(h, "."), ".") {
		if !hostPart.MatchString(label) && (label == "" || isASCII(label)) {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > 254 {
		return false
	}
	_, host, _ := strings.Cut(s, "@")
	return isHost(host)
}

// isTimezone accepts IANA identifiers; "Local" and the empty name are Go's own.
func isTimezone(s string) bool {
	if s == "" || s == "Local" {
		return false
	}
	_, err := time.LoadLocation(s)
	return err == nil
}
