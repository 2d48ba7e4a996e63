// Package providers says what a vendor is: a value that holds what it does here and nil for what it does not. Each vendor
// has a folder of its own below; cmd/parley has the list of them.
package providers

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"parley/agent"
	"parley/catalog"
	"parley/knowledge"
	"parley/messaging"
	"parley/numbers"
	"parley/payments"
	"parley/voice"
)

// Vendor is one vendor of this installation. The roles are owned by the rooms that use them.
type Vendor struct {
	Code  string        // names it in lists, in events and beside what is stored; never empty
	About string        // for the operator: where it is and what of it is in use
	Offer catalog.Offer // what it adds to the catalog; codes of providers and models' providers are Code

	Transcriber voice.OpenTranscriber
	Warm        func(ctx context.Context, t voice.Transcription) error // makes ready what Transcriber will be opened with
	Synthesizer voice.Synthesizer
	Realtime    voice.OpenRealtime
	Voices      ReadVoices // of Offer's synthesizer, where the vendor has a list; read again every hour
	Model       func(name string) agent.Model
	Embedder    knowledge.Embedder

	Carrier   numbers.Carrier
	CallerIDs numbers.CallerIDs
	Payments  numbers.Payments
	Till      payments.Platform // customers pay in; without Payments it charges numbers month by month

	Gateway messaging.Gateway
	Joiner  messaging.Joiner // customers bring their own senders
	Texter  messaging.Texter
	// Files opens a file of a sender's message by the vendor's name for it, with its content type.
	Files func(ctx context.Context, s messaging.Sender, ref string) (io.ReadCloser, string, error)
	// Hooks answer the vendor's callbacks, by the first part of what follows /hooks/.
	Hooks func(on Rooms) map[string]http.Handler

	// Check asks the vendor something that costs nothing; nil = it is in this process.
	Check func(ctx context.Context) error
	Limit int          // conversations of this process at once; 0 = no limit
	Close func() error // may be nil

	health *health
}

// Rooms are told what vendors call back with.
type Rooms struct {
	Messaging *messaging.Messaging
	Payments  *payments.Payments
}

// Roles are the names of what the vendor does.
func (v Vendor) Roles() (names []string) {
	for _, r := range []struct {
		name string
		on   bool
	}{
		{"llm", v.Model != nil}, {"stt", v.Transcriber != nil}, {"tts", v.Synthesizer != nil}, {"realtime", v.Realtime != nil},
		{"embedding", v.Embedder != nil},
		{"numbers", v.Carrier != nil}, {"sms", v.Texter != nil}, {"whatsapp", v.Gateway != nil}, {"payments", v.Payments != nil || v.Till != nil},
	} {
		if r.on {
			names = append(names, r.name)
		}
	}
	return names
}

// Vendors are those of an installation. Where a role needs one of them and nothing names it, it is the first that has it.
type Vendors []Vendor

// By finds a vendor by its code; the zero Vendor, which does nothing, when there is none.
func (vs Vendors) By(code string) Vendor {
	return vs.First(func(v Vendor) bool { return v.Code == code })
}

// First is the first vendor that is as asked for; the zero Vendor when none is.
func (vs Vendors) First(is func(Vendor) bool) Vendor {
	if i := slices.IndexFunc(vs, is); i >= 0 {
		return vs[i]
	}
	return Vendor{}
}

// Offer is what all vendors offer together, each entry with its vendor's health.
func (vs Vendors) Offer() (o catalog.Offer) {
	for _, v := range vs {
		for _, s := range v.Offer.Synthesizers {
			s.Healthy = v.healthy(synthesizing)
			o.Synthesizers = append(o.Synthesizers, s)
		}
		for _, t := range v.Offer.Transcribers {
			t.Healthy = v.healthy(transcribing)
			o.Transcribers = append(o.Transcribers, t)
		}
		for _, m := range v.Offer.Models {
			m.Healthy = v.healthy(m.Code)
			o.Models = append(o.Models, m)
		}
	}
	return o
}

// Ground is what a vendor may stand on.
type Ground struct {
	Cache string // folder for what can be made again
	Box   Box    // nil = no secrets are kept
}

// Box seals credentials at rest.
type Box interface {
	Seal([]byte) (string, error)
	Open(string) ([]byte, error)
}

// Maker makes a vendor out of its section of the configuration.
type Maker struct {
	Code, Name string
	Roles      []string // what it can be, of those that Vendor.Roles names
	// Settings is a new struct with the defaults, in the form that package config fills; nil = nothing can be set.
	Settings func() any
	// Open makes what the settings say: nothing when the vendor is not configured.
	Open func(ctx context.Context, settings any, on Ground) ([]Vendor, error)
	// Found says, one line each, with which settings something on this machine could be used; nil = nothing ever.
	Found func(ctx context.Context) []string
}

// Make is a Maker whose settings are an S; roles are separated by spaces.
func Make[S any](code, name, roles string, defaults S, open func(context.Context, S, Ground) ([]Vendor, error)) Maker {
	return Maker{Code: code, Name: name, Roles: strings.Fields(roles), Settings: func() any { s := defaults; return &s },
		Open: func(ctx context.Context, settings any, on Ground) ([]Vendor, error) {
			s := defaults
			if given, ok := settings.(*S); ok {
				s = *given
			}
			return open(ctx, s, on)
		}}
}
