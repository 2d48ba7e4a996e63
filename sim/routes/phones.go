package routes

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"parley/fault"
	"parley/sim"
	"parley/value"
	"parley/wire"
)

type stepIn struct {
	Say       string             `json:"say" rule:"max=2000"`
	Voice     string             `json:"voice" rule:"max=64"`
	Play      string             `json:"play" trim:"no"`
	WaitMS    value.Opt[int64]   `json:"wait_ms" rule:"min=0 max=600000"`
	WaitFor   string             `json:"wait_for" rule:"oneof=speech_end|speech_start|silence"`
	TimeoutMS int64              `json:"timeout_ms" rule:"min=0 max=600000"`
	DTMF      string             `json:"dtmf" rule:"pattern=^[0-9*#A-Dw]{1,32}$"`
	Noise     string             `json:"noise" rule:"oneof=steady|babble"`
	Level     value.Opt[float64] `json:"level" rule:"min=0 max=1"`
	Hangup    bool               `json:"hangup"`
}

// kinds counts what a step does before it hangs up, if it does.
func (s stepIn) kinds() (n int) {
	for _, set := range []bool{s.Say != "", s.Play != "", s.WaitMS.Has(), s.WaitFor != "", s.DTMF != "", s.Noise != ""} {
		if set {
			n++
		}
	}
	return n
}

// checkScript refuses steps that do nothing, or two things.
func checkScript(script []stepIn) error {
	var bad []fault.Field
	for i, s := range script {
		if n := s.kinds(); n > 1 || n == 0 && !s.Hangup {
			bad = append(bad, fault.Bad("script."+strconv.Itoa(i), "pattern"))
		}
	}
	return fault.Input(bad...)
}

func scriptOf(in []stepIn) []sim.Step {
	out := make([]sim.Step, len(in))
	for i, s := range in {
		out[i] = sim.Step{Say: s.Say, Voice: s.Voice, Play: s.Play, WaitMS: s.WaitMS.Ptr(), WaitFor: s.WaitFor, TimeoutMS: s.TimeoutMS,
			DTMF: s.DTMF, Noise: s.Noise, Level: s.Level.Ptr(), Hangup: s.Hangup}
	}
	return out
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

type simPhoneIn struct {
	Number    string   `path:"phone_number"`
	Behaviour string   `json:"behaviour" rule:"oneof=answer|busy|no_answer|decline|voicemail|fax|invalid|carrier_error|screening" default:"answer"`
	RingMS    int64    `json:"ring_ms" rule:"min=0 max=120000" default:"200"`
	Script    []stepIn `json:"script" rule:"max=100"`
	Greeting  string   `json:"greeting" rule:"max=2000"`
}

type simPhone struct {
	Number    string     `json:"phone_number"`
	Behaviour string     `json:"behaviour"`
	RingMS    int64      `json:"ring_ms"`
	Script    []sim.Step `json:"script"`
	Greeting  string     `json:"greeting"`
}

func phoneOf(p sim.Phone) simPhone {
	return simPhone{p.Number, p.Behaviour, p.RingMS, orEmpty(p.Script.V), p.Greeting}
}

func (r *Routes[A, S, T]) setSimPhone(ctx context.Context, in *simPhoneIn) (data[simPhone], error) {
	id, err := r.world(ctx)
	if err != nil {
		return data[simPhone]{}, err
	}
	if !e164.MatchString(in.Number) {
		return data[simPhone]{}, fault.Input(fault.Bad("phone_number", "e164"))
	}
	if err := checkScript(in.Script); err != nil {
		return data[simPhone]{}, err
	}
	p := sim.Phone{Number: in.Number, Behaviour: in.Behaviour, RingMS: in.RingMS, Greeting: in.Greeting}
	p.Script.V = scriptOf(in.Script)
	return data[simPhone]{phoneOf(p)}, r.Sim.SetPhone(ctx, id, p)
}

func (r *Routes[A, S, T]) simPhones(ctx context.Context, _ *struct{}) (data[[]simPhone], error) {
	id, err := r.world(ctx)
	if err != nil {
		return data[[]simPhone]{}, err
	}
	all, err := r.Sim.Phones(ctx, id)
	return data[[]simPhone]{each(all, phoneOf)}, err
}

type simCallIn struct {
	From   string   `json:"from" rule:"required e164"`
	To     string   `json:"to" rule:"required"`
	Script []stepIn `json:"script" rule:"max=100"`
}

type simCalled struct {
	ID   int64  `json:"id"`
	Call *int64 `json:"call_id"`
}

func (r *Routes[A, S, T]) newSimCall(ctx context.Context, in *simCallIn) (data[simCalled], error) {
	if _, err := r.world(ctx); err != nil {
		return data[simCalled]{}, err
	}
	if err := checkScript(in.Script); err != nil {
		return data[simCalled]{}, err
	}
	o := placed{in.From, in.To, scriptOf(in.Script)}
	if r.Sim.Network() != nil {
		out, err := r.place(ctx, o)
		return data[simCalled]{out}, err
	}
	var out simCalled
	return data[simCalled]{out}, r.Asks.Ask(ctx, "", askSimCall, o, &out)
}

// placed is a simulated caller's call on its way to a process that has a phone network.
type placed struct {
	From   string     `json:"from"`
	To     string     `json:"to"`
	Script []sim.Step `json:"script"`
}

const askSimCall = "sim.call"

// placeAsked places the call that another process was asked for.
func (r *Routes[A, S, T]) placeAsked(ctx context.Context, body json.RawMessage) (any, error) {
	var o placed
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, err
	}
	return r.place(ctx, o)
}

func (r *Routes[A, S, T]) place(ctx context.Context, o placed) (simCalled, error) {
	n := r.Sim.Network()
	if n == nil {
		return simCalled{}, fault.New(fault.Conflict, "", "This process has no phone network. Give it the role voice.")
	}
	id, call, err := n.Call(ctx, o.From, o.To, o.Script)
	out := simCalled{ID: id}
	if call != 0 {
		out.Call = &call
	}
	return out, err
}

type simCallRef struct {
	ID int64 `path:"id"`
}

type simCallOut struct {
	ID        int64           `json:"id"`
	Direction string          `json:"direction"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Call      *int64          `json:"call_id"`
	State     string          `json:"state"`
	Steps     []sim.Done      `json:"steps"`
	Heard     []sim.HeardText `json:"heard"`
	Audio     *string         `json:"audio_url"`
	At        value.Time      `json:"created_at"`
}

func (r *Routes[A, S, T]) simCall(ctx context.Context, in *simCallRef) (data[simCallOut], error) {
	if _, err := r.world(ctx); err != nil {
		return data[simCallOut]{}, err
	}
	c, err := r.Sim.Call(ctx, in.ID)
	out := simCallOut{c.ID, c.Direction, c.From, c.To, c.CallID, c.State, orEmpty(c.Steps.V), orEmpty(c.Heard.V), nil, value.At(c.At.Time())}
	if c.Audio != "" {
		url := wire.Origin(ctx) + r.Base + "/sim/calls/" + strconv.FormatInt(c.ID, 10) + "/audio"
		out.Audio = &url
	}
	return data[simCallOut]{out}, err
}

func (r *Routes[A, S, T]) simAudio(ctx context.Context, in *simCallRef, w http.ResponseWriter) error {
	if _, err := r.world(ctx); err != nil {
		return err
	}
	c, err := r.Sim.Call(ctx, in.ID)
	if err != nil {
		return err
	}
	if c.Audio == "" {
		return sim.NotFound()
	}
	f, _, err := r.Blobs.Open(ctx, c.Audio)
	if err != nil {
		return sim.NotFound()
	}
	defer f.Close()
	w.Header().Set("Content-Type", "audio/wav")
	_, err = io.Copy(w, f)
	return err
}
