package main

import (
	"context"
	"errors"

	"parley/app"
	"parley/config"
	"parley/providers"
	"parley/providers/anthropic"
	"parley/providers/builtin"
	"parley/providers/cartesia"
	"parley/providers/deepgram"
	"parley/providers/elevenlabs"
	"parley/providers/gemini"
	"parley/providers/openai"
	"parley/providers/stripe"
	"parley/providers/whatsapp"
	"parley/voice"
)

// makers are all vendors there are. The first one that can hold a conversation stands in where an assistant's own cannot;
// the simulator joins them at the end, where it is on.
var makers = []providers.Maker{
	builtin.Vendor(),
	openai.Vendor(),
	anthropic.Vendor(),
	gemini.Vendor(),
	deepgram.Vendor(),
	elevenlabs.Vendor(),
	cartesia.Vendor(),
	stripe.Vendor(),
	whatsapp.Vendor(),
}

// sections are the settings of vendors.
func sections() (out []config.Section) {
	for _, m := range makers {
		if m.Settings != nil {
			out = append(out, config.Section{Key: m.Code, Into: m.Settings()})
		}
	}
	return out
}

// openVendors makes those that are configured; box may be nil when nothing is sent. One that cannot be used is left out.
func openVendors(ctx context.Context, cfg *config.Config, box providers.Box) (*providers.Registry, error) {
	if s, ok := cfg.Sections[stripe.Code].(*stripe.Settings); ok && s.Live() && app.Simulates(cfg) {
		return nil, misuse{errors.New("stripe.secret_key is a live key, and the simulator is on: use a test key, or set simulator.enabled to false")}
	}
	return providers.Start(ctx, makers, cfg.Sections, providers.Ground{Cache: cfg.DataPath("engines"), Box: box}), nil
}

// found says with which settings what runs on this machine could be used, as far as its vendor is not configured.
func found(ctx context.Context, vs providers.Vendors) (lines []string) {
	for _, m := range makers {
		if m.Found != nil && vs.By(m.Code).Code == "" {
			lines = append(lines, m.Found(ctx)...)
		}
	}
	return lines
}

// phones are what simulated phones speak and hear with; tests put something quicker in their place.
var phones = func(vs providers.Vendors) (voice.Synthesizer, voice.OpenTranscriber) {
	v := vs.By(builtin.Code)
	return v.Synthesizer, v.Transcriber
}
