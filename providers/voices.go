package providers

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"parley/catalog"
)

const (
	voicesEvery = time.Hour       // that a vendor's own list is read
	voicesTime  = 2 * time.Second // that reading it may keep a start waiting
)

// ReadVoices reads a vendor's list of voices.
type ReadVoices func(ctx context.Context) ([]catalog.NewVoice, error)

// Voices reads a vendor's list, and keeps it; the one that was kept last when the vendor is away.
func (g Ground) Voices(code string, read ReadVoices) ReadVoices {
	file := ""
	if g.Cache != "" {
		file = filepath.Join(g.Cache, "voices-"+code+".json")
	}
	return func(ctx context.Context) ([]catalog.NewVoice, error) {
		limited, stop := context.WithTimeout(ctx, voicesTime)
		defer stop()
		voices, err := read(limited)
		if err != nil {
			slog.Warn("voices cannot be read", "vendor", code, "error", err)
			return kept(file), err
		}
		keep(file, voices)
		return voices, nil
	}
}

func kept(file string) (voices []catalog.NewVoice) {
	if raw, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(raw, &voices)
	}
	return voices
}

func keep(file string, voices []catalog.NewVoice) {
	raw, err := json.Marshal(voices)
	if err == nil && file != "" {
		_ = os.MkdirAll(filepath.Dir(file), 0o755) // without it the list is read again
		err = os.WriteFile(file+".new", raw, 0o644)
	}
	if err == nil && file != "" {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		slog.Warn("voices cannot be kept", "error", err)
	}
}

// renew reads the voices of vendors that have a list of their own, each once an hour, and again when that failed.
func (r *Registry) renew(ctx context.Context) {
	news := false
	for _, v := range r.Now() {
		if v.Voices == nil || v.health == nil || len(v.Offer.Synthesizers) == 0 || !v.health.due() {
			continue
		}
		if voices, err := v.Voices(ctx); err == nil {
			v.health.read()
			news = r.offer(v, voices) || news
		}
	}
	if !news {
		return
	}
	if err := r.tell(ctx); err != nil {
		slog.Warn("voices cannot be offered", "error", err)
	}
}

// offer puts voices in the place of those of a vendor that is still there, and reports whether they are others.
func (r *Registry) offer(v Vendor, voices []catalog.NewVoice) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.made {
		for j := range m.vendors {
			if o := &m.vendors[j]; o.health == v.health {
				same, _ := json.Marshal(o.Offer.Synthesizers[0].Voices)
				now, _ := json.Marshal(voices)
				o.Offer.Synthesizers = slices.Clone(o.Offer.Synthesizers)
				o.Offer.Synthesizers[0].Voices = voices
				r.publish()
				return string(same) != string(now)
			}
		}
	}
	return false
}

// due reports that the vendor's voices were not read for an hour.
func (h *health) due() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.voices) >= voicesEvery
}

func (h *health) read() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.voices = time.Now()
}
