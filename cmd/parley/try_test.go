package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"parley/config"
)

// A newcomer types a question to the demo assistant and reads its answer, with nothing else running.
func TestTry(t *testing.T) {
	cfg := config.Default()
	cfg.Data = t.TempDir()
	s := &server{cfg: cfg, metrics: prometheus.NewRegistry()}
	var out bytes.Buffer
	if err := s.try(t.Context(), nil, strings.NewReader("When are you open?\n\n"), &out); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, "Hello, this is Harbour Bikes") || !strings.Contains(got, "open") {
		t.Errorf("the conversation was %q", got)
	}
}
