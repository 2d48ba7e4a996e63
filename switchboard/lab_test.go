package switchboard

import (
	"bytes"
	"context"
	"io"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/agent"
	"parley/asks"
	"parley/assistants"
	"parley/audio"
	"parley/calllog"
	"parley/calls"
	"parley/campaigns"
	"parley/catalog"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/ids"
	"parley/jobs"
	"parley/lines"
	"parley/lines/linetest"
	"parley/mind"
	"parley/numbers"
	"parley/recordings"
	"parley/value"
	"parley/voice"
	"parley/webhooks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a switchboard on a real database with engines that answer at once.
type lab struct {
	*Switchboard
	t      testing.TB
	owner  accounts.ID
	people *accounts.Accounts

	mu   sync.Mutex
	poor bool // the hold is refused
	paid time.Duration

	poorLegs bool // that of a further leg is
	paidLeg  time.Duration
	legHolds []string // their targets, with a minus those given back

	dial    func(ctx context.Context, d lines.Destination, progress func(int)) (lines.Leg, error)
	files   map[string][]byte
	scratch string // recordings in the making
	settled chan calls.Call
	states  chan calls.Call
}

const (
	deskNumber = "+493012345"
	freeNumber = "+493055555" // nobody answers it
	numberID   = 7
)

// each runs a test on both databases.
func each(t *testing.T, test func(*lab)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { test(newLab(t, d)) })
}

func newLab(t testing.TB, d *db.DB) *lab {
	l := &lab{t: t, scratch: t.TempDir(), files: map[string][]byte{}, states: make(chan calls.Call, 256), settled: make(chan calls.Call, 16)}
	l.people = accounts.New(d, accounts.Plan{ParallelPerAccount: 100})
	owner, err := l.people.Create(t.Context(), d, accounts.Draft{Name: "A", Email: "a@p.example"})
	l.must(err)
	l.owner = owner.ID
	_, err = d.Exec(t.Context(), `INSERT INTO phone_numbers (id, account_id, number, country_code, type, state, created_at, updated_at)
		VALUES (7, $1, $2, 'DE', 'normal', 'active', 1, 1)`, l.owner, deskNumber)
	l.must(err)
	cat, err := catalog.Open(t.Context(), d, catalog.Offer{
		Synthesizers: []catalog.NewSynthesizer{{Code: "fake", Name: "Fake", Languages: []string{"en"}, Voices: []catalog.NewVoice{{Code: "v", Name: "V"}}}},
		Transcribers: []catalog.NewTranscriber{{Code: "fake", Name: "Fake", Languages: []string{"en"}}},
		Models: []catalog.NewModel{{Provider: "fake", Code: "m", Name: "M", Types: []string{"llm"}},
			{Provider: "fake", Code: "live", Name: "Live", Types: []string{"multimodal", "dualplex"}, Voices: []catalog.NewVoice{{Code: "v", Name: "V"}}}},
	})
	l.must(err)
	runner := jobs.NewRunner(d)
	room := calls.New(d, calls.Neighbours{Changed: func(c calls.Call) {
		l.states <- c
		if c.Settled {
			l.settled <- c
		}
	}})
	quiet := slog.New(slog.DiscardHandler)
	engines := Engines{Default: "fake",
		Transcribers: map[string]voice.OpenTranscriber{"fake": openTranscriber},
		Synthesizers: map[string]voice.Synthesizer{"fake": tone{}},
		Models:       map[string]func(string) agent.Model{"fake": func(string) agent.Model { return parrot{} }},
		Most:         map[string]int{"fake": 3}}
	l.Switchboard = New(Deps{
		DB: d, Jobs: runner, Calls: room, Catalog: cat, Accounts: l.people, Numbers: l, Billing: l, Campaigns: l, Webhooks: l, Dialer: l,
		Logs: calllog.New(d, room, quiet), Recordings: recordings.New(d, room, l, l.scratch, quiet), Asks: asks.New(d, "n1"),
		Mind:       mind.Mind{Now: d.Now},
		Assistants: assistants.New(d, cat, plainBox{}, assistants.Account{Numbers: l.attachable}),
		Engines:    func() *Engines { return &engines },
		Node:       "n1", Currency: "USD", Log: quiet,
	})
	ctx, stop := context.WithCancel(context.Background()) // t.Context ends before the calls are drained
	var wg sync.WaitGroup
	wg.Go(func() { _ = runner.Run(ctx) })
	wg.Go(func() { _ = l.Run(ctx) })
	wg.Go(func() { _ = l.Asks.Serve(ctx, l.Answers(), l.Open) })
	t.Cleanup(func() {
		drained, cancel := context.WithTimeout(context.Background(), time.Second)
		l.Drain(drained)
		cancel()
		stop()
		wg.Wait()
	})
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// assistant makes one that answers deskNumber (inbound) or calls from it; change adapts its settings.
func (l *lab) assistant(typ string, change func(*assistants.Settings)) assistants.Assistant {
	l.t.Helper()
	f := assistants.Settings{Name: "Desk", PostCallEvaluation: true, VoiceID: l.Catalog.Voices(catalog.Filter{})[0].ID, LanguageID: int64(1),
		Type: typ, Mode: "pipeline", Timezone: "Europe/Berlin", InitialMessage: "Hi {name}.",
		SystemPrompt: "You are {{assistant_name}}.", LLMModelID: value.Ptr(l.Catalog.Models("llm")[0].ID),
		PhoneNumberID: value.Ptr[ids.Number](numberID), EndpointSensitivity: 0.1, Record: true,
		Variables: value.Scalars{{Name: "name", Value: "Mia"}}}
	if change != nil {
		change(&f)
	}
	a, _, err := l.Assistants.Create(l.t.Context(), l.owner, assistants.Change{Patch: value.Filled(f).Sending("record", "post_call_evaluation", "tts_emotion_enabled")})
	l.must(err)
	return a
}

// until waits for the first change of a call that satisfies ok.
func (l *lab) until(ok func(calls.Call) bool) calls.Call {
	l.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case c := <-l.states:
			if ok(c) {
				return c
			}
		case <-limit:
			l.t.Fatal("the call did not get there")
		}
	}
}

func status(s calls.Status) func(calls.Call) bool {
	return func(c calls.Call) bool { return c.Status == s }
}

// stored is a call as the database has it.
func (l *lab) stored(id calls.ID) calls.Call {
	l.t.Helper()
	c, err := l.Calls.ByID(l.t.Context(), l.DB, id)
	l.must(err)
	return c
}

func (l *lab) log(id calls.ID) string {
	l.t.Helper()
	events, err := l.Calls.Events(l.t.Context(), l.DB, id)
	l.must(err)
	var b strings.Builder
	for i, e := range events {
		if e.Seq != int64(i+1) {
			l.t.Errorf("event %d has the number %d", i+1, e.Seq)
		}
		b.WriteString(e.Type + " " + string(e.Data.V) + "\n")
	}
	return b.String()
}

// inbound is a call of a person to a number.
func (l *lab) call(to string) *linetest.Leg {
	leg := linetest.NewLeg(lines.Info{ID: "1", SignalID: "sig", Kind: "sip", From: "+491701234567", To: to, TrunkID: 0})
	l.Inbound(leg)
	return leg
}

// say lets the caller speak; the transcriber hears "hello there".
func say(m *linetest.Media) {
	now := time.Now()
	m.Notice(lines.Event{Kind: lines.SpeechStart, At: now.Add(-300 * time.Millisecond)})
	m.Notice(lines.Event{Kind: lines.SpeechEnd, At: now})
}

// The lab is also the world around the switchboard.

// terms changes the account.
func (l *lab) terms(t accounts.Terms) {
	l.t.Helper()
	_, err := l.people.SetTerms(l.t.Context(), l.DB, l.owner, t)
	l.must(err)
}

func parallel(n int64) accounts.Terms {
	return accounts.Terms{Plan: &accounts.Overrides{ParallelPerAccount: value.Some(n)}}
}

func (l *lab) Called(_ context.Context, _ db.Q, _ numbers.ID, to string) (Number, bool, error) {
	switch to {
	case deskNumber:
		return Number{ID: numberID, Owner: l.owner, Phone: deskNumber}, true, nil
	case freeNumber:
		return Number{ID: 8, Owner: l.owner, Phone: freeNumber}, true, nil
	}
	return Number{}, false, nil
}

func (l *lab) Caller(_ context.Context, _ db.Q, owner accounts.ID, preferred numbers.ID) (Number, bool, error) {
	return Number{ID: preferred, Owner: owner, Phone: deskNumber}, preferred != 0, nil
}

func (l *lab) attachable(context.Context, db.Q, accounts.ID, []ids.Number) ([]assistants.Number, error) {
	return []assistants.Number{{ID: numberID, E164: deskNumber, Type: "normal"}}, nil
}

func (l *lab) HoldCall(context.Context, *db.Tx, calls.Call, time.Duration) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.poor {
		return 0, fault.New(fault.NeedsPayment, "", "poor")
	}
	return l.paid, nil
}

func (l *lab) HoldLeg(_ context.Context, _ *db.Tx, _ calls.Call, leg calls.Leg, most time.Duration) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.poorLegs {
		return 0, fault.New(fault.NeedsPayment, "", "poor")
	}
	l.legHolds = append(l.legHolds, leg.Target)
	return l.paidLeg, nil
}

func (l *lab) ReleaseLeg(_ context.Context, _ *db.Tx, _ calls.Call, leg calls.Leg) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.legHolds = append(l.legHolds, "-"+leg.Target)
	return nil
}

func (l *lab) ChargeCall(_ context.Context, _ *db.Tx, c calls.Call) (ai, carrier value.Money, err error) {
	if !c.Answered() {
		return 0, 0, nil
	}
	return value.Money(c.AISeconds) * 100, 7, nil
}

func (l *lab) Settle(context.Context, *db.Tx, campaigns.Ended) error { return nil }

func (l *lab) Shown(context.Context, db.Q, calls.Call) (lead, campaign any, err error) {
	return nil, nil, nil
}

func (l *lab) Add(context.Context, db.Q, webhooks.Event) error { return nil }

func (l *lab) Put(_ context.Context, key string, r io.Reader, _ string) error {
	b, err := io.ReadAll(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[key] = b
	return err
}

func (l *lab) Delete(_ context.Context, key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.files, key)
	return nil
}

func (l *lab) Dial(ctx context.Context, d lines.Destination, progress func(int)) (lines.Leg, error) {
	return l.dial(ctx, d, progress)
}

type plainBox struct{}

func (plainBox) Seal(b []byte) (string, error) { return string(b), nil }
func (plainBox) Open(s string) ([]byte, error) { return []byte(s), nil }

// transcriber hears "hello there" in every turn.
type transcriber struct {
	out chan voice.Transcript
	end chan struct{}
}

func openTranscriber(context.Context, voice.Transcription) (voice.Transcriber, error) {
	return &transcriber{make(chan voice.Transcript, 8), make(chan struct{})}, nil
}

func (e *transcriber) Write([]int16) error { return nil }
func (e *transcriber) EndTurn() error {
	e.out <- voice.Transcript{Text: "hello there", Final: true}
	return nil
}
func (e *transcriber) Close() error { close(e.end); return nil }
func (e *transcriber) Recv() (voice.Transcript, error) {
	select {
	case t := <-e.out:
		return t, nil
	case <-e.end:
		return voice.Transcript{}, io.EOF
	}
}

// tone says every sentence as 60 ms of sound.
type tone struct{}

func (tone) Speak(context.Context, voice.Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		pcm := make([]int16, 480)
		audio.GenSignal(pcm, 8000, 0, audio.Tone{Hz: 440, Level: 0.5})
		yield(audio.Frame{Rate: 8000, PCM: pcm}, nil)
	}
}

// parrot repeats what it hears; "evaluation" is answered with values.
type parrot struct{}

func (parrot) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		if r.Purpose == agent.PurposeEvaluation {
			yield(agent.Chunk{Text: `{"status":true,"summary":"A <talk>."}`}, nil)
			return
		}
		yield(agent.Chunk{Text: "You said " + r.Messages[len(r.Messages)-1].Text + "."}, nil)
	}
}

func wav(t testing.TB, b []byte) (rate, channels int, pcm []int16) {
	t.Helper()
	r, err := audio.NewWAVReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]int16, 1<<20)
	n, err := r.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return r.Rate, r.Channels, buf[:n]
}
