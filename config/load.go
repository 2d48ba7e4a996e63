package config

import (
	"fmt"
	"io"
	"os"
	"parley/value"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
)

// Source is where settings come from.
type Source struct {
	File  string            // path of a YAML file; empty = none
	Env   []string          // as os.Environ gives it
	Flags map[string]string // key → value, only the flags that were given

	Sections []Section // beside what Config declares itself
}

// setting is one key with its place in the Config.
type setting struct {
	key    string
	value  reflect.Value
	tag    reflect.StructTag
	origin string
}

// Loaded is a configuration and the origin of each of its values.
type Loaded struct {
	*Config
	settings []*setting
}

// Load works out the effective configuration. Its error is one line that names what is wrong.
func Load(src Source) (*Loaded, error) {
	l := &Loaded{Config: Default()}
	l.walk(reflect.ValueOf(l.Config).Elem(), "")
	l.Sections = map[string]any{}
	for _, s := range src.Sections {
		l.Sections[s.Key] = s.Into
		l.walk(reflect.ValueOf(s.Into).Elem(), s.Key+".")
	}
	if err := l.readFile(src.File); err != nil {
		return nil, err
	}
	if err := l.readEnv(src.Env); err != nil {
		return nil, err
	}
	for key, text := range src.Flags {
		s := l.find(key)
		if s == nil {
			return nil, fmt.Errorf("unknown flag --%s", key)
		}
		if err := s.set(text, "flag --"+key); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// walk lists the settings in the order of the struct.
func (l *Loaded) walk(v reflect.Value, prefix string) {
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		if sf.Tag.Get("key") == "-" {
			continue
		}
		key := prefix + sf.Tag.Get("key")
		if sf.Type.Kind() == reflect.Struct {
			l.walk(v.Field(i), key+".")
			continue
		}
		l.settings = append(l.settings, &setting{key, v.Field(i), sf.Tag, "default"})
	}
}

func (l *Loaded) find(key string) *setting {
	i := slices.IndexFunc(l.settings, func(s *setting) bool { return s.key == key })
	if i < 0 {
		return nil
	}
	return l.settings[i]
}

func (l *Loaded) readFile(path string) error {
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	k := koanf.New(".")
	if err := k.Load(rawbytes.Provider(raw), yaml.Parser()); err != nil {
		return fmt.Errorf("%s: %s", path, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	done := map[string]bool{}
	for _, key := range k.Keys() {
		s := l.find(key)
		if s == nil { // an entry of a map setting
			if s = l.owner(key); s == nil {
				return fmt.Errorf("unknown key %q in %s", key, path)
			}
		}
		if done[s.key] {
			continue
		}
		done[s.key] = true
		if err := s.set(k.Get(s.key), "file "+path); err != nil {
			return err
		}
	}
	return nil
}

// owner finds the map setting that key belongs to.
func (l *Loaded) owner(key string) *setting {
	for _, s := range l.settings {
		if s.value.Kind() == reflect.Map && strings.HasPrefix(key, s.key+".") {
			return s
		}
	}
	return nil
}

// Variable is the environment variable of a key.
func Variable(key string) string {
	return "PARLEY_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

func (l *Loaded) readEnv(env []string) error {
	given := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		given[name] = value
	}
	known := map[string]bool{"PARLEY_CONFIG": true}
	for _, s := range l.settings {
		known[Variable(s.key)] = true
		for _, name := range []string{s.tag.Get("also"), Variable(s.key)} {
			value, ok := given[name]
			if !ok || name == "" {
				continue
			}
			if err := s.set(value, "environment "+name); err != nil {
				return err
			}
		}
	}
	for name := range given {
		if strings.HasPrefix(name, "PARLEY_") && !strings.HasPrefix(name, "PARLEY_TEST_") && !known[name] {
			return fmt.Errorf("unknown variable %s", name)
		}
	}
	return nil
}

// set gives the setting a value from a file (any YAML type) or from text.
func (s *setting) set(raw any, origin string) error {
	err := assign(s.value, raw)
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return fmt.Errorf("%s: %w (%s)", s.key, err, origin)
	}
	s.origin = origin
	return nil
}

func assign(v reflect.Value, raw any) error {
	text, isText := raw.(string)
	if isText {
		text = strings.TrimSpace(text)
	}
	switch v.Interface().(type) {
	case time.Duration:
		return assignDuration(v, raw)
	case value.Money:
		m, err := value.ParseMoney(plain(raw))
		if err != nil || m < 0 {
			return fmt.Errorf("must be an amount, not %q", plain(raw))
		}
		v.SetInt(int64(m))
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if raw == nil || isText && (text == "" || text == "none") {
			v.SetZero()
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return assign(v.Elem(), raw)
	case reflect.String:
		return assignString(v, raw)
	case reflect.Bool:
		b, err := strconv.ParseBool(plain(raw))
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", plain(raw))
		}
		v.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(plain(raw))
		if err != nil {
			return fmt.Errorf("must be a whole number, not %q", plain(raw))
		}
		v.SetInt(int64(n))
	case reflect.Float64:
		f, err := strconv.ParseFloat(plain(raw), 64)
		if err != nil || f != f {
			return fmt.Errorf("must be a number, not %q", plain(raw))
		}
		v.SetFloat(f)
	case reflect.Slice:
		return assignList(v, raw)
	case reflect.Map:
		return assignMap(v, raw)
	}
	return nil
}

// plain is a scalar as text.
func plain(raw any) string {
	switch raw := raw.(type) {
	case float64:
		return strconv.FormatFloat(raw, 'f', -1, 64)
	case nil:
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(raw))
}

func assignString(v reflect.Value, raw any) error {
	switch raw := raw.(type) {
	case string:
		v.SetString(strings.TrimSpace(raw))
	case nil:
		v.SetString("")
	case bool: // simulator.enabled: true
		v.SetString(strconv.FormatBool(raw))
	default:
		return fmt.Errorf("must be a text; put %v in quotes", raw)
	}
	return nil
}

// assignDuration takes 2s, 500ms, or a number of seconds.
func assignDuration(v reflect.Value, raw any) error {
	text := plain(raw)
	if n, err := strconv.ParseFloat(text, 64); err == nil && n < 1e9 {
		v.SetInt(int64(n * float64(time.Second)))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("must be a time such as 2s, not %q", text)
	}
	v.SetInt(int64(d))
	return nil
}

func assignList(v reflect.Value, raw any) error {
	list := []string{}
	switch raw := raw.(type) {
	case nil:
	case string:
		for part := range strings.SplitSeq(raw, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
	case []any:
		for _, item := range raw {
			list = append(list, plain(item))
		}
	default:
		return fmt.Errorf("must be a list, not %q", plain(raw))
	}
	v.Set(reflect.ValueOf(list))
	return nil
}

// assignMap takes a map, or text of the form a=b,c=d.
func assignMap(v reflect.Value, raw any) error {
	m := map[string]string{}
	switch raw := raw.(type) {
	case nil:
	case string:
		for part := range strings.SplitSeq(raw, ",") {
			from, to, ok := strings.Cut(part, "=")
			if strings.TrimSpace(part) != "" && !ok {
				return fmt.Errorf("must be a list of name=value, not %q", part)
			}
			if ok {
				m[strings.TrimSpace(from)] = strings.TrimSpace(to)
			}
		}
	case map[string]any:
		for from, to := range raw {
			m[from] = plain(to)
		}
	default:
		return fmt.Errorf("must be a map, not %q", plain(raw))
	}
	v.Set(reflect.ValueOf(m))
	return nil
}

// Print writes every setting with its origin as YAML; secrets are masked.
func (l *Loaded) Print(w io.Writer) {
	for _, s := range l.settings {
		fmt.Fprintf(w, "%-60s # %s\n", s.key+": "+s.shown(), s.origin)
	}
}

// DataPath is a path inside the data folder.
func (c *Config) DataPath(parts ...string) string {
	return filepath.Join(append([]string{c.Data}, parts...)...)
}
