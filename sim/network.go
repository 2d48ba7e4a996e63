package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/lines"
	"parley/lines/media"
	"parley/lines/sip"
	"parley/safe"
	"parley/voice"
)

// Network is the pretend telephone network: a SIP user agent on loopback that is the installation's carrier and, behind
// it, other people's phones. Their words are synthesised, travel as RTP, and what they hear is kept as audio.
type Network struct {
	sim  *Sim
	line *sip.Server
	deps NetworkDeps
	home sip.Trunk // the installation's own SIP address: where simulated callers call

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// DefaultNumber is the caller number of the simulated default line.
const DefaultNumber = "+14155550100"

// NetworkDeps are what the phones speak and hear with.
type NetworkDeps struct {
	Plane   *media.Plane
	Home    sip.Trunk // the installation's own SIP address: where simulated callers call
	Speak   voice.Synthesizer
	Hear    voice.OpenTranscriber
	Files   Files
	Scratch string // folder for recordings in the making
	Fetch   func(ctx context.Context, url string) ([]byte, error)
	CallOf  func(ctx context.Context, signalID string) (id int64, ok bool, err error) // the record of a call, by its SIP Call-ID
	Owned   func(ctx context.Context, number string) (bool, error)
}

// Files keeps recordings.
type Files interface {
	Put(ctx context.Context, key string, r io.Reader, contentType string) error
}

// OpenNetwork starts the network on a free loopback port.
func (s *Sim) OpenNetwork(d NetworkDeps) (*Network, error) {
	if err := os.MkdirAll(d.Scratch, 0o700); err != nil {
		return nil, err
	}
	n := &Network{sim: s, deps: d}
	n.ctx, n.stop = context.WithCancel(context.Background())
	var err error
	n.line, err = sip.Start(sip.Config{
		Listen: []string{"udp://127.0.0.1:0"}, Media: d.Plane, Open: true, SessionExpires: -1,
		Default: &n.home, Route: n.route, OnCall: n.ring,
	})
	if err != nil {
		n.stop()
		return nil, fmt.Errorf("simulated phone network: %w", err)
	}
	s.network = n
	return n, nil
}

// Home tells where the installation listens: udp://HOST:PORT. It is said once, before the first call.
func (n *Network) Home(address string) error {
	at, err := netip.ParseAddrPort(strings.TrimPrefix(address, "udp://"))
	n.home = sip.Trunk{Address: at.Addr().String(), Port: int(at.Port()), Transport: "udp", Format: "+e164", Auth: "ip"}
	return err
}

// Close hangs everything up.
func (n *Network) Close(ctx context.Context) error {
	n.stop()
	err := n.line.Close(ctx)
	n.wg.Wait()
	return err
}

// Trunk is the line to this network: the installation's default one.
func (n *Network) Trunk() (sip.Trunk, error) {
	at, err := n.addr()
	return sip.Trunk{Address: at.Addr().String(), Port: int(at.Port()), Transport: "udp", Format: "+e164", Auth: "ip"}, err
}

func (n *Network) addr() (netip.AddrPort, error) {
	return netip.ParseAddrPort(n.line.Addrs()[0][len("udp://"):])
}

// Is reports whether signalling came from this network.
func (n *Network) Is(source netip.AddrPort) bool {
	at, err := n.addr()
	return err == nil && at == source
}

// Phone is what happens when a number is called.
type Phone struct {
	Number    string          `db:"phone_number"`
	Behaviour string          `db:"behaviour"`
	RingMS    int64           `db:"ring_ms"`
	Script    db.JSON[[]Step] `db:"script"`
	Greeting  string          `db:"greeting"`
}

// SetPhone says what happens when a number is called.
func (s *Sim) SetPhone(ctx context.Context, account accounts.ID, p Phone) error {
	_, err := s.db.Exec(ctx, `INSERT INTO sim_phones (account_id, phone_number, behaviour, ring_ms, script, greeting) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (phone_number) DO UPDATE SET behaviour = excluded.behaviour, ring_ms = excluded.ring_ms, script = excluded.script, greeting = excluded.greeting`,
		account, p.Number, p.Behaviour, p.RingMS, p.Script, p.Greeting)
	return err
}

// Phone reads what happens when a number is called; an unknown one answers, says hello, listens and hangs up.
func (s *Sim) Phone(ctx context.Context, number string) (Phone, error) {
	var p Phone
	err := s.db.Get(ctx, &p, `SELECT phone_number, behaviour, ring_ms, script, greeting FROM sim_phones WHERE phone_number = $1`, number)
	if errors.Is(err, db.ErrNone) {
		p = Phone{Number: number, Behaviour: "answer", RingMS: 200,
			Script: db.JSON[[]Step]{V: []Step{{Say: "Hello?"}, {WaitMS: ptr(int64(20000))}, {Hangup: true}}}}
		return p, nil
	}
	return p, err
}

// Phones lists the numbers with an entry.
func (s *Sim) Phones(ctx context.Context, account accounts.ID) ([]Phone, error) {
	all := []Phone{}
	err := s.db.Select(ctx, &all,
		`SELECT phone_number, behaviour, ring_ms, script, greeting FROM sim_phones WHERE account_id = $1 ORDER BY phone_number`, account)
	return all, err
}

func ptr[T any](v T) *T { return &v }

// refusals are the SIP answers of phones that are not picked up.
var refusals = map[string]int{"busy": 486, "decline": 603, "invalid": 404, "carrier_error": 503}

// route refuses what the called phone's behaviour refuses.
func (n *Network) route(ctx context.Context, in sip.Inbound) sip.Decision {
	p, err := n.sim.Phone(ctx, in.Called)
	if err != nil {
		slog.Error("simulated phone not read", "error", err)
		return sip.Decision{Code: 500}
	}
	return sip.Decision{Code: refusals[p.Behaviour]}
}

// ring is a phone that is called by the installation.
func (n *Network) ring(leg lines.Leg) {
	n.wg.Add(1)
	defer n.wg.Done()
	p, err := n.sim.Phone(n.ctx, leg.Info().To)
	if err != nil {
		_ = leg.Reject(500)
		return
	}
	_ = leg.Ring()
	wait := time.Duration(p.RingMS) * time.Millisecond
	if p.Behaviour == "no_answer" {
		wait = time.Hour
	}
	select {
	case <-time.After(wait):
	case <-leg.Done():
		return
	case <-n.ctx.Done():
		_ = leg.Reject(503)
		return
	}
	if err := leg.Answer(n.ctx); err != nil {
		return
	}
	id, err := n.sim.insertCall(n.ctx, "outbound", leg.Info().From, p.Number, p.script())
	if err != nil {
		slog.Error("simulated call not recorded", "error", err)
	}
	n.act(leg, id, p.script())
}

// script is what a phone does once it is picked up.
func (p Phone) script() []Step {
	greeting := p.Greeting
	switch p.Behaviour {
	case "voicemail":
		if greeting == "" {
			greeting = "You have reached my voice mail. I can not take your call right now. Please leave a message after the tone and I will call you back."
		}
		return []Step{{WaitMS: ptr(int64(400))}, {Say: greeting}, {WaitMS: ptr(int64(300))}, {signal: beep}, {WaitMS: ptr(int64(25000))},
			{Hangup: true}}
	case "fax":
		return []Step{{WaitMS: ptr(int64(300))}, {signal: faxAnswer}, {WaitMS: ptr(int64(75))}, {signal: faxFlags}, {WaitMS: ptr(int64(3000))},
			{signal: faxFlags},
			{WaitMS: ptr(int64(3000))}, {signal: faxFlags}, {WaitMS: ptr(int64(3000))}, {Hangup: true}}
	case "screening":
		return []Step{{Say: "The person you are calling is using a screening service. Please state your name and the reason for your call."},
			{WaitFor: "speech_start", TimeoutMS: 8000}, {WaitFor: "silence", TimeoutMS: 8000}, {Say: "Thank you. Please hold."},
			{WaitMS: ptr(int64(1500))}, {Say: "Hello?"}, {WaitMS: ptr(int64(20000))}, {Hangup: true}}
	}
	if len(p.Script.V) == 0 {
		return []Step{{Say: "Hello?"}, {WaitMS: ptr(int64(20000))}, {Hangup: true}}
	}
	return p.Script.V
}

// Call has a simulated caller call an owned number.
func (n *Network) Call(ctx context.Context, from, to string, script []Step) (id int64, call int64, err error) {
	owned, err := n.deps.Owned(ctx, to)
	if err != nil {
		return 0, 0, err
	}
	if !owned {
		return 0, 0, NotFound()
	}
	if id, err = n.sim.insertCall(ctx, "inbound", from, to, script); err != nil {
		return 0, 0, err
	}
	signal := make(chan string, 1)
	n.wg.Add(1)
	safe.Go("simulated call", func() {
		defer n.wg.Done()
		n.place(id, from, to, script, signal)
	})
	return id, n.record(ctx, id, signal), nil
}

// record waits a little for the call's record to appear on the other side.
func (n *Network) record(ctx context.Context, id int64, signal <-chan string) int64 {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	var callID string
	select {
	case callID = <-signal:
	case <-time.After(2 * time.Second):
		return 0
	}
	for range 100 {
		if call, ok, err := n.deps.CallOf(ctx, callID); err == nil && ok {
			_ = n.sim.setCall(ctx, id, call)
			return call
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return 0
		}
	}
	return 0
}

func (n *Network) place(id int64, from, to string, script []Step, signal chan<- string) {
	leg, err := n.line.Dial(n.ctx,
		lines.Destination{To: to, From: from, RingFor: 60 * time.Second, Placed: func(callID string) { signal <- callID }}, func(int) {})
	if err != nil {
		state := "failed"
		if d, ok := errors.AsType[*lines.DialError](err); ok && d.Code != 0 {
			state = fmt.Sprintf("refused %d", d.Code)
		}
		_ = n.sim.finishCall(context.WithoutCancel(n.ctx), id, state, nil, nil, "")
		return
	}
	n.act(leg, id, script)
}

// SimCall is a call of the pretend world, as the phone in it lived it.
type SimCall struct {
	ID        int64                `db:"id"`
	Direction string               `db:"direction"` // seen from the installation
	From      string               `db:"from_number"`
	To        string               `db:"to_number"`
	State     string               `db:"state"`
	CallID    *int64               `db:"call_id"`
	Script    db.JSON[[]Step]      `db:"script"`
	Steps     db.JSON[[]Done]      `db:"steps"`
	Heard     db.JSON[[]HeardText] `db:"heard"`
	Audio     string               `db:"audio"`
	At        db.Time              `db:"at"`
}

// Done is a step that was run.
type Done struct {
	AtMS int64           `json:"at_ms"`
	Step json.RawMessage `json:"step"`
	Done bool            `json:"done"`
}

// HeardText is what the phone's owner heard, recognised from the audio after the call.
type HeardText struct {
	FromMS int64  `json:"from_ms"`
	ToMS   int64  `json:"to_ms"`
	Text   string `json:"text"`
}

func (s *Sim) insertCall(ctx context.Context, direction, from, to string, script []Step) (id int64, err error) {
	err = s.db.Get(ctx, &id, `INSERT INTO sim_calls (direction, from_number, to_number, state, script, steps, heard, audio, at) VALUES ($1, $2, $3, 'calling', $4, '[]', '[]', '', $5) RETURNING id`,
		direction, from, to, db.JSON[[]Step]{V: script}, db.At(s.db.Now()))
	return id, err
}

func (s *Sim) setCall(ctx context.Context, id, call int64) error {
	_, err := s.db.Exec(ctx, `UPDATE sim_calls SET call_id = $1 WHERE id = $2`, call, id)
	return err
}

func (s *Sim) setSteps(ctx context.Context, id int64, state string, steps []Done) error {
	_, err := s.db.Exec(ctx, `UPDATE sim_calls SET state = $1, steps = $2 WHERE id = $3`, state, db.JSON[[]Done]{V: steps}, id)
	return err
}

func (s *Sim) finishCall(ctx context.Context, id int64, state string, steps []Done, heard []HeardText, audio string) error {
	if steps == nil {
		steps = []Done{}
	}
	if heard == nil {
		heard = []HeardText{}
	}
	_, err := s.db.Exec(ctx, `UPDATE sim_calls SET state = $1, steps = $2, heard = $3, audio = $4 WHERE id = $5`,
		state, db.JSON[[]Done]{V: steps}, db.JSON[[]HeardText]{V: heard}, audio, id)
	return err
}

// Call reads a call of the pretend world.
func (s *Sim) Call(ctx context.Context, id int64) (c SimCall, err error) {
	err = s.db.Get(ctx, &c, `SELECT id, direction, from_number, to_number, state, call_id, script, steps, heard, audio, at FROM sim_calls WHERE id = $1`, id)
	if errors.Is(err, db.ErrNone) {
		err = NotFound()
	}
	return c, err
}

// Network is the phone network, nil while it is not open.
func (s *Sim) Network() *Network { return s.network }

// recording is the caller's own two-channel file in the making.
type recording struct {
	*os.File
	closed chan struct{}
}

func (r recording) Close() error {
	defer close(r.closed)
	return r.File.Close()
}
