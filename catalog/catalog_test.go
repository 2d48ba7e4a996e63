package catalog

import (
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"parley/db"
	"parley/db/dbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func offer(speech ...string) Offer {
	o := Offer{
		Transcribers: []NewTranscriber{{Code: "builtin", Name: "Built-in recognition", Languages: []string{"en"}}},
		Models: []NewModel{
			{Provider: "builtin", Code: "builtin-responder", Name: "Built-in assistant model", Types: []string{LLM}},
			{Provider: "builtin", Code: "builtin-realtime", Name: "Built-in realtime", Types: []string{"multimodal", "dualplex"},
				Languages: []string{"en"}, Voices: []NewVoice{{Code: "slt", Name: "SLT"}}},
		},
	}
	for _, code := range speech {
		o.Synthesizers = append(o.Synthesizers, NewSynthesizer{Code: code, Name: code, Languages: []string{"en"}, Voices: []NewVoice{{Code: "slt", Name: "SLT"}, {Code: "rms", Name: "RMS"}}})
	}
	return o
}

// TestIdsStayAcrossRestarts takes engines away and brings them back.
//
// Contract: 4.7
func TestIdsStayAcrossRestarts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open := func(o Offer) *Catalog {
			t.Helper()
			c, err := Open(t.Context(), d, o)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		first := open(offer("builtin", "cloud"))
		want := first.Voices(Filter{})
		if len(want) != 5 || want[0].ID != 1 || want[4].ID != 5 {
			t.Fatal(want)
		}
		without := open(offer("cloud"))
		if _, ok := without.Voice(1); ok {
			t.Error("a voice of an engine that is not configured is on offer")
		}
		back := open(offer("cloud", "builtin", "new"))
		for _, v := range want {
			got, ok := back.Voice(v.ID)
			if !ok || got.Code != v.Code || got.Provider != v.Provider {
				t.Error(v, "became", got)
			}
		}
		if id := back.Synthesizers(Filter{})[2].ID; id != 3 {
			t.Error("the new engine has id", id)
		}
	})
}

func TestProcessesThatStartTogetherAgree(t *testing.T) {
	url := dbtest.PostgresURL(t)
	var all [4]*Catalog
	var wg sync.WaitGroup
	for i := range all {
		d := dbtest.Open(t, url)
		wg.Go(func() {
			c, err := Open(t.Context(), d, offer("builtin", "cloud"))
			if err != nil {
				t.Error(err)
				return
			}
			all[i] = c
		})
	}
	wg.Wait()
	for _, c := range all {
		if c == nil || !slices.EqualFunc(c.Voices(Filter{}), all[0].Voices(Filter{}), func(a, b Voice) bool { return a.ID == b.ID && a.Code == b.Code && a.Provider == b.Provider }) {
			t.Error("catalogs differ")
		}
	}
}

// TestFilters lists by mode and language.
//
// Contract: 4.7
func TestFilters(t *testing.T) {
	o := offer("builtin")
	o.Synthesizers = append(o.Synthesizers, NewSynthesizer{Code: "cloud", Name: "Cloud", Voices: []NewVoice{{Code: "mira", Languages: []string{"de"}}, {Code: "any"}}})
	c, err := Open(t.Context(), dbtest.SQLite(t), o)
	if err != nil {
		t.Fatal(err)
	}
	codes := func(vs []Voice) (out []string) {
		for _, v := range vs {
			out = append(out, v.Provider+"/"+v.Code)
		}
		return out
	}
	for _, x := range []struct {
		f    Filter
		want []string
	}{
		{Filter{}, []string{"builtin/slt", "builtin/rms", "cloud/mira", "cloud/any", "builtin-realtime/slt"}},
		{Filter{Mode: Multimodal}, []string{"builtin-realtime/slt"}},
		{Filter{Mode: Dualplex, LanguageID: 1}, []string{"builtin/slt", "builtin/rms", "cloud/any"}},
		{Filter{LanguageID: 5}, []string{"cloud/mira", "cloud/any"}},
		{Filter{LanguageID: 999}, nil},
	} {
		if got := codes(c.Voices(x.f)); !slices.Equal(got, x.want) {
			t.Error(x.f, got)
		}
	}
	if v, _ := c.DefaultVoice(5, Pipeline); v.Code != "mira" || v.LanguageID != 5 {
		t.Error(v)
	}
	if v, _ := c.DefaultVoice(5, Multimodal); v.Provider != "builtin-realtime" {
		t.Error("no voice speaks German, so any will do:", v)
	}
	for _, x := range []struct {
		language int64
		mode     Mode
		want     bool
	}{{1, Pipeline, true}, {5, Pipeline, false}, {1, Dualplex, true}, {5, Dualplex, false}, {1, Multimodal, true}, {5, Multimodal, false}} {
		if c.Supports(x.language, x.mode) != x.want {
			t.Error(x)
		}
	}
	if c.DefaultModel("chat") != 1 || c.DefaultModel("dualplex") != 2 {
		t.Error(c.now.Load().defaults)
	}
}

// TestDefaultsAreChosenByName names default models.
//
// Contract: 4.3 20
func TestDefaultsAreChosenByName(t *testing.T) {
	o := offer("builtin")
	o.Models = append(o.Models, NewModel{Provider: "openai", Code: "big", Types: []string{LLM}})
	o.Defaults = Defaults{LLM: "openai/big", Chat: "big"}
	c, err := Open(t.Context(), dbtest.SQLite(t), o)
	if err != nil || c.DefaultModel(LLM) != 3 || c.DefaultModel("chat") != 3 || c.DefaultModel("multimodal") != 2 {
		t.Error(c.now.Load().defaults, err)
	}
	o.Defaults.Dualplex = "nobody"
	if _, err := Open(t.Context(), dbtest.SQLite(t), o); err == nil {
		t.Error("a default that does not exist was accepted")
	}
}

// TestLanguageIds holds the ids of the contract.
//
// Contract: 4.7
func TestLanguageIds(t *testing.T) {
	for i, l := range Languages() {
		if l.ID != int64(i+1) || len(l.ISO2) != 2 || LanguageOf(l.ISO2) != l {
			t.Error(l)
		}
	}
	for id, iso := range map[int64]string{1: "en", 2: "ro", 3: "fr", 4: "es", 5: "de", 6: "lt", 7: "it", 8: "ar", 9: "pt", 10: "da"} {
		if l, ok := LanguageByID(id); !ok || l.ISO2 != iso {
			t.Error(id, l)
		}
	}
	if _, ok := LanguageByID(0); ok {
		t.Error("there is no language 0")
	}
}
