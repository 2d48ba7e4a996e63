package providers_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/audio"
	"parley/catalog"
	"parley/db/dbtest"
	"parley/fault"
	"parley/providers"
	"parley/providers/builtin"
	"parley/providers/openai"
	"parley/voice"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, settings map[string]any, makers ...providers.Maker) providers.Vendors {
	t.Helper()
	r := providers.Start(t.Context(), makers, settings, providers.Ground{Cache: t.TempDir()})
	vs := r.Now()
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, v := range vs {
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return vs
}

func catalogOf(t *testing.T, vs providers.Vendors) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), dbtest.SQLite(t), vs.Offer())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOffers opens what the binary holds, and a server beside it.
//
// Contract: 4.3 4.7
func TestOffers(t *testing.T) {
	vs := open(t, map[string]any{openai.Code: &openai.Settings{BaseURL: "http://127.0.0.1:1/v1", Model: "gpt", TTSModel: "tts", STTModel: "stt"}},
		builtin.Vendor(), openai.Vendor())
	c := catalogOf(t, vs)
	for _, m := range []catalog.Mode{catalog.Pipeline, catalog.Multimodal, catalog.Dualplex} {
		if v, ok := c.DefaultVoice(1, m); !ok || v.Code != "slt" || !c.Supports(1, m) {
			t.Error(m, v)
		}
	}
	if !c.Supports(5, catalog.Pipeline) || c.Supports(5, catalog.Multimodal) {
		t.Error("German is spoken by the server, and only in pipeline mode")
	}
	if m, ok := c.Model(c.DefaultModel(catalog.LLM)); !ok || m.Code != "builtin-responder" || !m.Healthy() {
		t.Error(m)
	}
	if ps := c.Synthesizers(catalog.Filter{}); len(ps) != 2 || ps[1].Code != openai.Code {
		t.Error(ps)
	}
	for _, m := range []catalog.Mode{catalog.Multimodal, catalog.Dualplex} {
		if offered := c.Models(string(m)); len(offered) != 1 || offered[0].Code != "builtin-realtime" {
			t.Error(m, "offers", offered)
		}
		if chosen, ok := c.Model(c.DefaultModel(string(m))); !ok || chosen.Code != "builtin-realtime" {
			t.Error(m, "has", chosen)
		}
	}
	if got := vs.By(openai.Code).Roles(); !slices.Equal(got, []string{"llm", "stt", "tts"}) {
		t.Error(got)
	}
	if got := vs.By("nobody"); got.Code != "" || len(got.Roles()) > 0 {
		t.Error(got)
	}
}

// A vendor that is not configured is none, and one that cannot be used says which setting is wrong.
func TestUnconfigured(t *testing.T) {
	if vs := open(t, nil, openai.Vendor()); len(vs) != 0 {
		t.Error(vs)
	}
	r := providers.Start(t.Context(), []providers.Maker{openai.Vendor()},
		map[string]any{openai.Code: &openai.Settings{BaseURL: "http://127.0.0.1:1/v1"}}, providers.Ground{})
	if r.Err() == nil {
		t.Error("a server without models is taken")
	}
}

// moody is a vendor whose every role fails as told.
type moody struct{ err atomic.Pointer[error] }

func (m *moody) say(err error) { m.err.Store(&err) }

func (m *moody) answer() error {
	if err := m.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (m *moody) Reply(context.Context, agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) { yield(agent.Chunk{Text: "Hm."}, m.answer()) }
}

func (m *moody) Speak(context.Context, voice.Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		if yield(audio.Frame{Rate: 8000, PCM: make([]int16, 160)}, nil); m.answer() != nil {
			yield(audio.Frame{}, m.answer())
		}
	}
}

// flow speaks text as it comes.
type flow struct{ *moody }

func (f flow) Open(ctx context.Context, s voice.Speech) voice.Utterance {
	return voice.Open(ctx, struct{ voice.Synthesizer }{f.moody}, s)
}

func utter(t *testing.T, m voice.Synthesizer) {
	u := voice.Open(t.Context(), m, voice.Speech{})
	defer u.Close()
	u.Write("Hm.")
	u.End()
	for {
		if _, err := u.Recv(); err != nil {
			return
		}
	}
}

func (m *moody) Write([]int16) error { return nil }
func (m *moody) EndTurn() error      { return nil }
func (m *moody) Close() error        { return nil }
func (m *moody) Recv() (voice.Transcript, error) {
	return voice.Transcript{Text: "hm", Final: true}, m.answer()
}
func (m *moody) Embed(context.Context, []string) ([][]float32, error) { return nil, m.answer() }

func (m *moody) vendor(check func(context.Context) error) providers.Maker {
	return providers.Make("moody", "Moody", "llm", struct{}{}, func(context.Context, struct{}, providers.Ground) ([]providers.Vendor, error) {
		return []providers.Vendor{{Code: "moody", Model: func(string) agent.Model { return m }, Synthesizer: m,
			Transcriber: func(context.Context, voice.Transcription) (voice.Transcriber, error) { return m, nil },
			Offer: catalog.Offer{Synthesizers: []catalog.NewSynthesizer{{Code: "moody"}}, Transcribers: []catalog.NewTranscriber{{Code: "moody"}},
				Models: []catalog.NewModel{{Provider: "moody", Code: "one"}, {Provider: "moody", Code: "two"}}},
			Check: check, Close: func() error { return nil }}}, nil
	})
}

// An engine is not well after three failures in a row, and is after one success; what was asked wrongly, and who hangs up,
// say nothing of it. The other engines of the vendor are as they were.
//
// Contract: 4.7
func TestHealthByRequests(t *testing.T) {
	m := &moody{}
	vs := open(t, nil, m.vendor(nil))
	v, offer := vs.By("moody"), vs.Offer()
	made := open(t, nil, providers.Make("flowing", "Flowing", "tts", struct{}{}, func(context.Context, struct{}, providers.Ground) ([]providers.Vendor, error) {
		return []providers.Vendor{{Code: "flowing", Synthesizer: flow{m}, Close: func() error { return nil }, Offer: catalog.Offer{Synthesizers: []catalog.NewSynthesizer{{Code: "flowing"}}}}}, nil
	}))
	flowing, fluent := made.By("flowing"), made.Offer().Synthesizers[0]
	listener, err := v.Transcriber(t.Context(), voice.Transcription{})
	if err != nil {
		t.Fatal(err)
	}
	for name, engine := range map[string]struct {
		healthy func() bool
		use     func()
	}{
		"model": {offer.Models[0].Healthy, func() {
			for range v.Model("one").Reply(t.Context(), agent.Request{}) {
			}
		}},
		"synthesizer": {offer.Synthesizers[0].Healthy, func() {
			for range v.Synthesizer.Speak(t.Context(), voice.Speech{}) {
			}
		}},
		"utterance of sentences": {offer.Synthesizers[0].Healthy, func() { utter(t, v.Synthesizer) }},
		"utterance":              {fluent.Healthy, func() { utter(t, flowing.Synthesizer) }},
		"transcriber":            {offer.Transcribers[0].Healthy, func() { _, _ = listener.Recv() }},
	} {
		times := func(n int, err error) {
			m.say(err)
			for range n {
				engine.use()
			}
		}
		times(9, fault.New(fault.Invalid, "", "That language is not spoken here."))
		times(9, context.Canceled)
		times(1, nil)
		times(2, io.ErrUnexpectedEOF)
		times(1, nil)
		times(2, io.ErrUnexpectedEOF)
		if !engine.healthy() {
			t.Error(name, "is not well after two failures")
		}
		times(1, fault.New(fault.Unavailable, "", "It is away."))
		if engine.healthy() {
			t.Error(name, "is well after three failures")
		}
		times(1, nil)
		if !engine.healthy() || !offer.Models[1].Healthy() {
			t.Error(name, "is not well after a success")
		}
	}
}

// An engine that is not well is left out where there is another one, but for one try every half minute; a success ends that.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moody{}
		v := open(t, nil, m.vendor(nil)).By("moody")
		breaker := v.Synthesizer.(voice.Breaker)
		want := func(broken ...bool) {
			t.Helper()
			for i, b := range broken {
				if got := breaker.Broken(); got != b {
					t.Errorf("asked %d times: broken %v", i+1, got)
				}
			}
		}
		m.say(io.ErrUnexpectedEOF)
		for range 3 {
			want(false)
			utter(t, v.Synthesizer)
		}
		want(false, true, true)
		time.Sleep(30 * time.Second)
		want(false, true)
		if v.Model("one").(voice.Breaker).Broken() {
			t.Error("its models are broken, too")
		}
		m.say(nil)
		utter(t, v.Synthesizer)
		want(false, false)
	})
}

// A vendor that is gone is not well although nobody asks for it, and is again when it is back.
//
// Contract: 4.7
func TestHealthByChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moody{}
		r := providers.Start(t.Context(), []providers.Maker{m.vendor(func(context.Context) error { return m.answer() })}, nil, providers.Ground{})
		healthy := r.Now().Offer().Synthesizers[0].Healthy
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		for _, answer := range []error{nil, errors.New("gone"), nil} {
			m.say(answer)
			time.Sleep(time.Minute)
			synctest.Wait()
			if healthy() != (answer == nil) {
				t.Errorf("healthy %v while it answers %v", healthy(), answer)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A compatible server need not have a list of models; it has to answer and to take the key.
func TestOpenAICheck(t *testing.T) {
	var status atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("asked %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	v := open(t, map[string]any{openai.Code: &openai.Settings{BaseURL: server.URL + "/v1", APIKey: "k", Model: "m"}}, openai.Vendor()).By(openai.Code)
	for code, well := range map[int64]bool{200: true, 404: true, 401: false, 503: false} {
		status.Store(code)
		if err := v.Check(t.Context()); (err == nil) != well {
			t.Errorf("%d: %v", code, err)
		}
	}
	server.Close()
	if v.Check(t.Context()) == nil {
		t.Error("a server that is gone is well")
	}
}
