package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// vendor is a section that somebody else declares.
type vendor struct {
	APIKey string   `key:"api_key" secret:"true" also:"OPENAI_API_KEY"`
	URL    string   `key:"base_url" check:"url"`
	Voices []string `key:"voices"`
}

func load(t *testing.T, yaml string, env []string, flags map[string]string) (*Loaded, error) {
	t.Helper()
	src := Source{Env: env, Flags: flags, Sections: []Section{{"openai", &vendor{Voices: []string{"a"}}}}}
	if yaml != "" {
		src.File = filepath.Join(t.TempDir(), "parley.yaml")
		if err := os.WriteFile(src.File, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(src)
}

func TestPrecedence(t *testing.T) {
	yaml := "listen: 127.0.0.1:1\nlimits:\n  per_key_per_minute: 7\nplan.default.max_tools: 5\nsip:\n  listen: [\"udp://127.0.0.1:1\"]\nsimulator:\n  enabled: true\n"
	l, err := load(t, yaml,
		[]string{"PARLEY_LISTEN=127.0.0.1:2", "PARLEY_SIP_LISTEN=udp://[::1]:1, tcp://x:2", "OPENAI_API_KEY=sk-1", "HOME=/", "PARLEY_WHATSAPP_RESPONSE_DELAY=0.5",
			"PARLEY_PRICES_SMS=0.075", "PARLEY_COMPAT_FIELD_ALIASES=a=b"},
		map[string]string{"listen": "127.0.0.1:3"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, value, origin string }{
		{"listen", `"127.0.0.1:3"`, "flag"}, {"limits.per_key_per_minute", "7", "file"}, {"plan.default.max_tools", "5", "file"},
		{"sip.listen", `["udp://[::1]:1","tcp://x:2"]`, "environment PARLEY_SIP_LISTEN"}, {"openai.api_key", "****", "environment OPENAI_API_KEY"},
		{"whatsapp.response_delay", "500ms", "environment"}, {"simulator.enabled", `"true"`, "file"}, {"prices.sms", "0.075", "environment"},
		{"data", `"./data"`, "default"}, {"openai.voices", `["a"]`, "default"}, {"plan.default.max_campaigns", "none", "default"}, {"compat.field_aliases", `{"a":"b"}`, "environment"},
	} {
		s := l.find(c.key)
		if s.shown() != c.value || !strings.HasPrefix(s.origin, c.origin) {
			t.Errorf("%s = %s from %s, want %s from %s", c.key, s.shown(), s.origin, c.value, c.origin)
		}
	}
	if l.Sections["openai"].(*vendor).APIKey != "sk-1" || *l.Plan.Default.MaxTools != 5 {
		t.Errorf("typed values %+v", l.Config)
	}
}

func TestOneLineSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ yaml, env, flag, want string }{
		{yaml: "sipp:\n  listen: x", want: `unknown key "sipp.listen" in `},
		{yaml: "listen: [1", want: "parley.yaml: "},
		{yaml: "- a", want: "parley.yaml: "},
		{env: "PARLEY_SIP_LISTENN=x", want: "unknown variable PARLEY_SIP_LISTENN"},
		{env: "PARLEY_CLOCK_MODE=slow", want: `clock.mode: must be real or manual, not "slow" (environment PARLEY_CLOCK_MODE)`},
		{env: "PARLEY_ROLES=api,dance", want: `roles: must be all or api or voice or work, not "dance"`},
		{env: "PARLEY_ROLES=", want: `roles: must be all`},
		{env: "PARLEY_LIMITS_PER_KEY_PER_MINUTE=-1", want: "limits.per_key_per_minute: must be at least 0"},
		{env: "PARLEY_LIMITS_PER_KEY_PER_MINUTE=many", want: `limits.per_key_per_minute: must be a whole number, not "many"`},
		{env: "PARLEY_TELEPHONY_INBOUND_RESERVE=1.5", want: "telephony.inbound_reserve: must be between 0 and 1"},
		{env: "PARLEY_WHATSAPP_RESPONSE_DELAY=301", want: "whatsapp.response_delay: must be between 0 and 300"},
		{env: "PARLEY_SIP_LISTEN=127.0.0.1:5060", want: "sip.listen: must be udp:// or tcp:// or tls://HOST:PORT"},
		{env: "PARLEY_WEBRTC_ICE_SERVERS=stun:s.example:3478,http://t.example", want: "webrtc.ice_servers: must be stun: or turn:HOST:PORT"},
		{env: "PARLEY_RTP_PORTS=5", want: "rtp.ports: must be a range of ports"},
		{env: "PARLEY_DATABASE_URL=mysql://x", want: "database.url: must start with postgres://"},
		{env: "PARLEY_OUTBOUND_ALLOW_CIDRS=10.0.0.0", want: `outbound.allow_cidrs: "10.0.0.0" is not a network`},
		{env: "PARLEY_BILLING_STARTING_BALANCE=-5", want: "billing.starting_balance: must be an amount"},
		{yaml: "telephony:\n  default_number: +4930123456", want: "telephony.default_number: must be a text; put 4930123456 in quotes"},
		{env: "PARLEY_SECRETS_KEY=short", want: "secrets.key: must be base64 of 32 bytes"},
		{env: "PARLEY_OPENAI_BASE_URL=here", want: "openai.base_url: "},
		{env: "PARLEY_OPENAI_API_KEYS=x", want: "unknown variable PARLEY_OPENAI_API_KEYS"},
		{flag: "here", want: `listen: must be HOST:PORT, not "here" (flag --listen)`},
	} {
		var env []string
		if c.env != "" {
			env = []string{c.env}
		}
		flags := map[string]string{}
		if c.flag != "" {
			flags["listen"] = c.flag
		}
		_, err := load(t, c.yaml, env, flags)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPrintMasksSecretsAndCanBeLoaded(t *testing.T) {
	l, err := load(t, "", []string{"PARLEY_DATABASE_URL=postgres://u:hunter2@h/db?sslmode=disable", "PARLEY_OPENAI_API_KEY=sk-hunter2",
		"PARLEY_BLOBS_URL=s3://b?endpoint=http://h:1&access_key=hunter2&secret_key=hunter2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	l.Print(&out)
	if strings.Contains(out.String(), "hunter2") || !strings.Contains(out.String(), "postgres://u:****@h/db?sslmode=disable") {
		t.Errorf("printed\n%s", out.String())
	}
	plainText := strings.ReplaceAll(out.String(), "****", "x")
	again, err := load(t, plainText, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Plan, l.Plan) || !reflect.DeepEqual(again.SIP, l.SIP) || !reflect.DeepEqual(again.Compat, l.Compat) || again.Prices != l.Prices {
		t.Errorf("printed settings load differently:\n%s", out.String())
	}
}

// TestDefaultsAreValid checks every default like a value that somebody set.
//
// Contract: 20
func TestDefaultsAreValid(t *testing.T) {
	l := &Loaded{Config: Default()}
	l.walk(reflect.ValueOf(l.Config).Elem(), "")
	for _, s := range l.settings {
		if err := s.check(); err != nil {
			t.Errorf("%s: %v", s.key, err)
		}
	}
}
