package config

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"parley/value"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var prefix = regexp.MustCompile(`^\+[1-9][0-9]{0,13}$`)

// check tests a value against the tags of its field.
func (s *setting) check() error {
	v := s.value
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if set := strings.Fields(s.tag.Get("oneof")); len(set) > 0 {
		for _, text := range texts(v) {
			if !slices.Contains(set, text) {
				return fmt.Errorf("must be %s, not %q", strings.Join(set, " or "), text)
			}
		}
		if v.Kind() == reflect.Slice && v.Len() == 0 {
			return fmt.Errorf("must be %s", strings.Join(set, " or "))
		}
	}
	if err := s.inRange(v); err != nil {
		return err
	}
	if test := checks[s.tag.Get("check")]; test != nil {
		for _, text := range texts(v) {
			if text == "" {
				continue
			}
			if err := test(text); err != nil {
				return err
			}
		}
	}
	return nil
}

func texts(v reflect.Value) []string {
	if list, ok := v.Interface().([]string); ok {
		return list
	}
	return []string{v.String()}
}

func (s *setting) inRange(v reflect.Value) error {
	n := 0.0
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		n = time.Duration(v.Int()).Seconds()
	case v.CanInt():
		n = float64(v.Int())
	case v.CanFloat():
		n = v.Float()
	default:
		return nil
	}
	lo, hi := s.tag.Get("min"), s.tag.Get("max")
	if lo != "" && n < limit(lo) || hi != "" && n > limit(hi) {
		switch {
		case hi == "":
			return fmt.Errorf("must be at least %s", lo)
		default:
			return fmt.Errorf("must be between %s and %s", lo, hi)
		}
	}
	return nil
}

func limit(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64) // written in Config
	return f
}

var (
	currency = regexp.MustCompile(`^[A-Z]{3}$`)
	country  = regexp.MustCompile(`^[A-Z]{2}$`)
)

var checks = map[string]func(string) error{
	"address": func(s string) error { return address(s) },
	"sip":     func(s string) error { return listener(s, "udp", "tcp", "tls") },
	"webrtc":  func(s string) error { return listener(s, "udp", "tcp") },
	"ice":     iceServer,
	"ip": func(s string) error {
		if _, err := netip.ParseAddr(s); err != nil {
			return fmt.Errorf("must be an IP address, not %q", s)
		}
		return nil
	},
	"url": func(s string) error {
		if u, err := url.Parse(s); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("must be an http or https address, not %q", s)
		}
		return nil
	},
	"socket": func(s string) error {
		if u, err := url.Parse(s); err != nil || u.Host == "" {
			return fmt.Errorf("must be an address, not %q", s)
		}
		return scheme(s, "ws", "wss", "http", "https")
	},
	"database": func(s string) error { return scheme(s, "postgres", "postgresql", "sqlite") },
	"blobs":    func(s string) error { return scheme(s, "s3") },
	"ports":    ports,
	"key": func(s string) error {
		if raw, err := base64.StdEncoding.DecodeString(s); err != nil || len(raw) != 32 {
			return errors.New("must be base64 of 32 bytes")
		}
		return nil
	},
	"cidrs": func(s string) error {
		if _, err := netip.ParsePrefix(s); err != nil {
			return fmt.Errorf("%q is not a network in CIDR form", s)
		}
		return nil
	},
	"prefixes": func(s string) error {
		if !prefix.MatchString(s) {
			return fmt.Errorf("must be the beginning of a number, such as +88213, not %q", s)
		}
		return nil
	},
	"countries": func(s string) error {
		if !country.MatchString(s) {
			return fmt.Errorf("%q is not a country code of two capital letters", s)
		}
		return nil
	},
	"currency": func(s string) error {
		if !currency.MatchString(s) {
			return fmt.Errorf("must be three capital letters, not %q", s)
		}
		return nil
	},
}

func address(s string) error {
	_, port, err := net.SplitHostPort(s)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
		return fmt.Errorf("must be HOST:PORT, not %q", s)
	}
	return nil
}

func listener(s string, schemes ...string) error {
	kind, rest, ok := strings.Cut(s, "://")
	if !ok || !slices.Contains(schemes, kind) || address(rest) != nil {
		return fmt.Errorf("must be %s://HOST:PORT, not %q", strings.Join(schemes, ":// or "), s)
	}
	return nil
}

func iceServer(s string) error {
	kind, rest, ok := strings.Cut(s, ":")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	host, _, _ := strings.Cut(rest, "?")
	if !ok || !slices.Contains([]string{"stun", "stuns", "turn", "turns"}, kind) || host == "" || strings.ContainsAny(host, "/ ") {
		return errors.New("must be stun: or turn:HOST:PORT")
	}
	return nil
}

func scheme(s string, schemes ...string) error {
	kind, rest, ok := strings.Cut(s, "://")
	if !ok || rest == "" || !slices.Contains(schemes, kind) {
		return fmt.Errorf("must start with %s://", strings.Join(schemes, ":// or "))
	}
	return nil
}

func ports(s string) error {
	if _, _, err := PortRange(s); err != nil {
		return err
	}
	return nil
}

// PortRange reads FROM-TO.
func PortRange(s string) (from, to int, err error) {
	a, b, ok := strings.Cut(s, "-")
	from, err1 := strconv.Atoi(strings.TrimSpace(a))
	to, err2 := strconv.Atoi(strings.TrimSpace(b))
	if !ok || err1 != nil || err2 != nil || from < 1 || to > 65535 || to-from < 1 {
		return 0, 0, fmt.Errorf("must be a range of ports FROM-TO, not %q", s)
	}
	return from, to, nil
}

// shown is the value as YAML with secrets masked.
func (s *setting) shown() string {
	v := s.value
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "none"
		}
		v = v.Elem()
	}
	switch secret := s.tag.Get("secret"); {
	case secret != "" && v.Len() == 0:
		if v.Kind() == reflect.Slice {
			return "[]"
		}
		return `""`
	case secret == "url":
		u, err := url.Parse(v.String())
		if err != nil {
			return "****"
		}
		return strconv.Quote(mask(u))
	case secret != "":
		return "****"
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return x.String()
	case value.Money:
		return x.String()
	}
	b, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Sprint(v.Interface())
	}
	return string(b)
}

// mask hides the password and every value in the query of a URL, where S3 keys stand.
func mask(u *url.URL) string {
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), "****")
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(name, "key") || strings.Contains(name, "secret") || strings.Contains(name, "password") {
			q.Set(name, "****")
		}
	}
	u.RawQuery = q.Encode()
	text, err := url.PathUnescape(u.String())
	if err != nil {
		return u.String()
	}
	return text
}
