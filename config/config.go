// Package config is every setting of the program, typed, with its default, and where its value came from:
// flag, environment, file or default, in this order of strength.
package config

import (
	"parley/value"
	"time"
)

// Config holds the effective settings. A field's key is the path of its tags: Clock.Mode is clock.mode and
// PARLEY_CLOCK_MODE. A nil pointer means none.
type Config struct {
	Data   string `key:"data" doc:"folder of everything that is stored"`
	Listen string `key:"listen" check:"address" doc:"HTTP address, HOST:PORT"`
	Dev    bool   `key:"dev" doc:"allow loopback destinations for webhooks, tools, documents and calendars"`

	PublicURL string   `key:"public_url" check:"url" doc:"scheme and host that customers use; empty = those of the request"`
	Roles     []string `key:"roles" oneof:"all api voice work" doc:"what this process does"`

	Database struct {
		URL         string `key:"url" check:"database" secret:"url" doc:"postgres://… or empty = SQLite in the data folder"`
		Synchronous string `key:"synchronous" oneof:"full normal" doc:"SQLite only: full = no acknowledged write is ever lost, normal = a power cut may lose the last ones"`
	} `key:"database"`
	Blobs struct {
		URL string `key:"url" check:"blobs" secret:"url" doc:"s3://bucket?endpoint=… or empty = files in the data folder"`
	} `key:"blobs"`
	Secrets struct {
		Key string `key:"key" check:"key" secret:"true" doc:"base64 of 32 bytes, the same on all machines of an installation; empty = the file secrets.key in the data folder"`
	} `key:"secrets"`
	Log struct {
		Level  string `key:"level" oneof:"debug info warn error"`
		Format string `key:"format" oneof:"text json"`
	} `key:"log"`

	HTTP struct {
		CORSOrigins    []string `key:"cors_origins" doc:"pages of these origins may call every route"`
		TrustedProxies []string `key:"trusted_proxies" check:"cidrs" doc:"networks of proxies in front, whose X-Forwarded-For is believed"`
	} `key:"http"`
	SIP struct {
		Listen   []string `key:"listen" check:"sip" doc:"udp://, tcp:// and tls:// addresses"`
		PublicIP string   `key:"public_ip" check:"ip" doc:"address in signalling and media when it differs from the local one"`
		TLSCert  string   `key:"tls_cert" doc:"PEM file with the certificate of tls:// addresses and its chain; read again when it changes"`
		TLSKey   string   `key:"tls_key" doc:"PEM file with its private key"`
	} `key:"sip"`
	RTP struct {
		Ports string `key:"ports" check:"ports" doc:"range of UDP ports for media"`
	} `key:"rtp"`
	WebRTC struct {
		Listen     []string `key:"listen" check:"webrtc" doc:"a udp:// address for all browser calls, and tcp:// for those whose network lets no UDP through"`
		PublicIP   string   `key:"public_ip" check:"ip"`
		ICEServers []string `key:"ice_servers" check:"ice" secret:"true" doc:"stun:HOST:PORT, turn:HOST:PORT?transport=udp or turn:USER:PASSWORD@HOST:PORT that browsers are told of"`
		TURNSecret string   `key:"turn_secret" secret:"true" doc:"shared with the TURN servers, for passwords that last 12 hours"`
	} `key:"webrtc"`
	Telephony Telephony `key:"telephony"`
	Numbers   struct {
		Countries []string `key:"countries" check:"countries" doc:"where phone numbers can be bought"`
	} `key:"numbers"`

	Clock struct {
		Mode string `key:"mode" oneof:"real manual" doc:"manual: durable time stands still until the simulator advances it"`
	} `key:"clock"`
	Simulator struct {
		Enabled string `key:"enabled" oneof:"auto true false" doc:"auto: on while there is no real carrier and the server listens on loopback only"`
	} `key:"simulator"`
	Compat struct {
		FieldAliases map[string]string `key:"field_aliases" doc:"other spellings of incoming fields"`
	} `key:"compat"`
	Limits struct {
		PerKeyPerMinute int  `key:"per_key_per_minute" min:"0" doc:"requests per minute and key; 0 = no limit"`
		DailyOutbound   *int `key:"daily_outbound" min:"0" doc:"outbound calls per account and rolling day through carriers of the installation"`
		CallsPerMinute  int  `key:"calls_per_minute" min:"0" doc:"outbound calls per account and minute, those of campaigns included; 0 = no limit"`
	} `key:"limits"`

	Payments struct {
		Vendor string `key:"vendor" doc:"who takes customers' money: stripe or simulator; empty = the first that is configured"`
	} `key:"payments"`
	Billing Billing `key:"billing"`
	Plan    struct {
		Default Plan `key:"default"`
	} `key:"plan"`
	Prices Prices `key:"prices"`
	Rates  struct {
		File     string      `key:"file" doc:"prices by destination prefix; empty = the shipped table"`
		OwnTrunk value.Money `key:"own_trunk" doc:"per started minute over an own trunk"`
	} `key:"rates"`

	Models        Models `key:"models"`
	Speech        Speech `key:"speech"`
	Conversations struct {
		PublicHistory string `key:"public_history" oneof:"widget all none" doc:"which conversations a uuid alone may read"`
	} `key:"conversations"`
	Calendar struct {
		USURL string `key:"us_url" check:"url"`
		EUURL string `key:"eu_url" check:"url"`
	} `key:"calendar"`
	Webhooks struct {
		LongTail bool `key:"long_tail" doc:"go on trying after 2 minutes: 15 min, 1 h, 6 h"`
	} `key:"webhooks"`
	WhatsApp struct {
		ResponseDelay     time.Duration `key:"response_delay" min:"0" max:"300" doc:"messages within this time are answered together"`
		VoiceCallMinLimit int           `key:"voice_call_min_limit" min:"0"`
	} `key:"whatsapp"`
	Outbound struct {
		AllowCIDRs []string `key:"allow_cidrs" check:"cidrs" doc:"private networks that webhooks, tools and documents may reach"`
	} `key:"outbound"`
	Retention struct {
		RecordingsDays *int `key:"recordings_days" min:"1" doc:"days that recordings and the signalling of calls are kept; empty = until the call is deleted"`
		AuditDays      *int `key:"audit_days" min:"1" doc:"days that the audit is kept; empty = for ever"`
	} `key:"retention"`
	Shutdown struct {
		Grace time.Duration `key:"grace" min:"0" max:"300" doc:"seconds that running calls and requests may go on after SIGTERM"`
	} `key:"shutdown"`

	// Sections are what others declared, by the first part of their keys.
	Sections map[string]any `key:"-"`
}

// Section is a part of the configuration that somebody else declares: a vendor its own settings.
type Section struct {
	Key  string // first part of its keys
	Into any    // pointer to a struct with tags like those of Config, holding the defaults
}

// Telephony is what calls may do.
type Telephony struct {
	DefaultNumber    string   `key:"default_number" doc:"caller number of accounts without one; empty = the simulator's line"`
	AllowedCountries []string `key:"allowed_countries" check:"countries" doc:"empty = all"`
	BlockedPrefixes  []string `key:"blocked_prefixes" check:"prefixes" doc:"numbers that start so are never called or texted, such as +88213"`
	AllowPremium     bool     `key:"allow_premium" doc:"call and text premium-rate, shared-cost and satellite numbers too"`
	InboundReserve   float64  `key:"inbound_reserve" min:"0" max:"1" doc:"share of lines kept for inbound calls"`
	TransferMethod   string   `key:"transfer_method" oneof:"bridge refer"`
	ProxyAddress     string   `key:"proxy_address" doc:"outbound proxy of trunks that ask for it"`
	AllowCIDRs       []string `key:"allow_cidrs" check:"cidrs" doc:"private networks that trunks and transfers may reach, such as that of a PBX"`
}

// Billing is how accounts pay.
type Billing struct {
	Enforce         bool        `key:"enforce" doc:"false: costs are booked, nothing is refused for balance"`
	StartingBalance value.Money `key:"starting_balance" doc:"of the installation's first account, in its unit"`
	Currency        string      `key:"currency" check:"currency"`
}

// Plan is what an account may have.
type Plan struct {
	MaxCampaigns        *int        `key:"max_campaigns" min:"0"`
	MaxAssistants       *int        `key:"max_assistants" min:"0"`
	MaxTools            *int        `key:"max_tools" min:"0"`
	ParallelPerCampaign int         `key:"parallel_per_campaign" min:"1" max:"10"`
	ParallelPerAccount  int         `key:"parallel_per_account" min:"1"`
	MinutePrice         value.Money `key:"minute_price"`
}

// Prices are per message.
type Prices struct {
	ChatMessage            value.Money `key:"chat_message"`
	WhatsAppMarketing      value.Money `key:"whatsapp_marketing"`
	WhatsAppUtility        value.Money `key:"whatsapp_utility"`
	WhatsAppAuthentication value.Money `key:"whatsapp_authentication"`
	WhatsAppFreeform       value.Money `key:"whatsapp_freeform"`
	SMS                    value.Money `key:"sms"`
}

// Models name the models of new settings; empty = the built-in engines.
type Models struct {
	DefaultLLM        string `key:"default_llm"`
	DefaultMultimodal string `key:"default_multimodal"`
	DefaultDualplex   string `key:"default_dualplex"`
	DefaultChat       string `key:"default_chat"`
}

// Speech says what becomes of what is said.
type Speech struct {
	// FallbackVendors may get the words of a call whose own vendor fails or is slow, besides the vendors that its assistant names.
	FallbackVendors []string `key:"fallback_vendors"`
}

// Default is the configuration of a start without flags, environment and file.
func Default() *Config {
	c := &Config{Data: "./data", Listen: "127.0.0.1:8080", Roles: []string{"all"}}
	c.Database.Synchronous = "full"
	c.Log.Level, c.Log.Format = "info", "text"
	c.SIP.Listen = []string{"udp://127.0.0.1:5060", "tcp://127.0.0.1:5060"}
	c.RTP.Ports = "20000-29999"
	c.WebRTC.Listen = []string{"udp://127.0.0.1:7882"}
	c.Telephony = Telephony{InboundReserve: 0.3, TransferMethod: "bridge"}
	c.Numbers.Countries = []string{"US", "CA", "GB", "AU", "IL", "PL", "FI", "NL", "DK", "IT"}
	c.Clock.Mode = "real"
	c.Simulator.Enabled = "auto"
	c.Compat.FieldAliases = calendarSpellings()
	c.Limits.PerKeyPerMinute, c.Limits.CallsPerMinute = 600, 600
	c.Billing = Billing{Enforce: true, StartingBalance: 10000 * value.MoneyUnit, Currency: "USD"}
	c.Plan.Default = Plan{ParallelPerCampaign: 10, ParallelPerAccount: 100, MinutePrice: value.MoneyUnit / 10}
	c.Prices = Prices{ChatMessage: cents(1), WhatsAppMarketing: cents(8), WhatsAppUtility: cents(3),
		WhatsAppAuthentication: cents(3), WhatsAppFreeform: cents(1) / 2, SMS: cents(5)}
	c.Conversations.PublicHistory = "widget"
	c.Calendar.USURL, c.Calendar.EUURL = "https://api.cal.com", "https://api.cal.eu"
	c.Webhooks.LongTail = true
	c.Shutdown.Grace = 30 * time.Second
	c.WhatsApp.ResponseDelay, c.WhatsApp.VoiceCallMinLimit = 2*time.Second, 1000
	return c
}

func cents(n value.Money) value.Money { return n * value.MoneyUnit / 100 }

// calendarSpellings maps the calendar vendor's spellings to the calendar_* fields.
func calendarSpellings() map[string]string {
	out := map[string]string{}
	for _, prefix := range []string{"cal_", "calcom_", "cal_com_"} {
		for _, field := range []string{"api_key", "event_slug", "team_slug", "endpoint", "custom_endpoint", "booking_fields"} {
			out[prefix+field] = "calendar_" + field
		}
	}
	return out
}

// Has reports whether this process has a role.
func (c *Config) Has(role string) bool {
	for _, r := range c.Roles {
		if r == role || r == "all" {
			return true
		}
	}
	return false
}
