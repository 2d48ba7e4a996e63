package main

import (
	"errors"
	"testing"

	"parley/config"
	"parley/providers/stripe"
)

// A key that moves real money does not go with pretend phones.
func TestLiveKeyBesideTheSimulator(t *testing.T) {
	for _, c := range []struct {
		key, simulator string
		refused        bool
	}{{"sk_live_1", "auto", true}, {"rk_live_1", "true", true}, {"sk_live_1", "false", false}, {"sk_test_1", "auto", false}} {
		cfg := config.Default()
		cfg.Data, cfg.Simulator.Enabled = t.TempDir(), c.simulator
		cfg.Sections = map[string]any{stripe.Code: &stripe.Settings{SecretKey: c.key}}
		vs, err := openVendors(t.Context(), cfg, nil)
		if _, ok := errors.AsType[misuse](err); ok != c.refused {
			t.Errorf("%s with the simulator %s: %v", c.key, c.simulator, err)
		}
		if vs == nil {
			continue
		}
		if err := vs.Close(); err != nil {
			t.Error(err)
		}
	}
}
