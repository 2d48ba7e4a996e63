package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"parley/app"
	"parley/assistants"
	"parley/catalog"
	"parley/config"
	"parley/lines"
	"parley/lines/sip"
	"parley/numbers"
	"parley/providers"
	"parley/sim/instant"
	"parley/value"
)

func newBench() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Tools for measuring"}
	cmd.AddCommand(newBenchServe())
	return cmd
}

// newBenchServe is serve with one assistant that answers every INVITE, on engines that take no time.
func newBenchServe() *cobra.Command {
	b := &bench{}
	cmd := &cobra.Command{Use: "serve", Short: "Answer every INVITE on sip.listen with engines that take no time, to compare systems",
		Args: cobra.NoArgs,
		Long: `Runs the whole server on loopback with one assistant that answers every INVITE on sip.listen, without authorisation.
Signalling, media, voice detection, turn taking, events and call records are those of "parley serve"; transcriber, model
and voice take no time: the words are there when the turn ends, the answer is a fixed sentence, its sound a tone of 440 Hz.
Everything is stored in a temporary folder that is removed at the end, or in --data, an empty folder.`,
		RunE: action(func(cmd *cobra.Command, _ []string, cfg *config.Loaded) error {
			if !cmd.Flags().Changed("listen") {
				cfg.Listen = "127.0.0.1:0"
			}
			if err := b.check(cfg.Config); err != nil {
				return misuse{err}
			}
			return b.serve(cmd.Context(), cfg.Config, cmd.Flags().Changed("data"))
		})}
	f := cmd.Flags()
	f.DurationVar(&b.silence, "silence", 300*time.Millisecond, "silence that ends the caller's turn, 100ms to 5s")
	f.DurationVar(&b.answer, "answer", time.Second, "length of an answer")
	f.DurationVar(&b.greeting, "greeting", time.Second, "length of the greeting")
	f.BoolVar(&b.record, "record", false, "record the calls")
	f.StringVar(&b.mode, "mode", string(catalog.Pipeline), "pipeline, multimodal or dualplex")
	f.BoolVar(&b.builtin, "builtin", false, "use the built-in engines instead, with their limit of conversations")
	f.StringVar(&b.profile, "profile", "", "write a CPU profile of the whole run to this file")
	f.String("listen", "127.0.0.1:0", "HTTP address of API, console and metrics")
	return cmd
}

// bench is a server under measurement.
type bench struct {
	silence, answer, greeting time.Duration
	record, builtin           bool
	profile, mode             string

	line numbers.Trunk // that everybody calls, once the rooms stand
}

// check refuses what makes no sense, and every address that others can reach: the line asks nobody for a password.
func (b *bench) check(cfg *config.Config) error {
	switch {
	case b.silence < 100*time.Millisecond || b.silence > 5*time.Second:
		return errors.New("--silence must be between 100ms and 5s")
	case !slices.Contains([]string{string(catalog.Pipeline), string(catalog.Multimodal), string(catalog.Dualplex)}, b.mode):
		return errors.New("--mode must be pipeline, multimodal or dualplex")
	case b.answer <= 0 || b.greeting < 0 || b.answer > time.Minute || b.greeting > time.Minute:
		return errors.New("--answer and --greeting must be between 0s and 1m")
	}
	listen := []string{"http://" + cfg.Listen}
	for _, address := range append(listen, cfg.SIP.Listen...) {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
			return fmt.Errorf("bench serve answers everybody and therefore listens on loopback only, not on %s", address)
		}
	}
	return nil
}

// serve runs the server until ctx ends.
func (b *bench) serve(ctx context.Context, cfg *config.Config, keep bool) (err error) {
	if !keep {
		if cfg.Data, err = os.MkdirTemp("", "parley-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(cfg.Data)) }()
	}
	if left, _ := os.ReadDir(cfg.Data); len(left) > 0 {
		return misuse{fmt.Errorf("--data: %s is not empty", cfg.Data)}
	}
	if b.profile != "" {
		f, err := os.Create(b.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	cfg.Database.URL, cfg.Blobs.URL, cfg.Roles = "", "", []string{"all"}
	cfg.Simulator.Enabled, cfg.WebRTC.Listen, cfg.Sections = "false", []string{"udp://127.0.0.1:0"}, nil
	cfg.Telephony.AllowCIDRs = []string{"127.0.0.0/8"} // the desk's line is here
	cfg.Billing.Enforce, cfg.Plan.Default.ParallelPerAccount = false, 1e6
	s, err := assemble(ctx, cfg, b)
	if err != nil {
		return err
	}
	return errors.Join(s.run(ctx), s.close())
}

// vendors are who the server talks with.
func (b *bench) vendors(own *providers.Registry) *providers.Registry {
	if b.builtin {
		return own
	}
	return providers.Start(context.Background(), nil, nil, providers.Ground{},
		instant.Engines{Greeting: b.greeting, Answer: b.answer}.Vendor())
}

// benchPrompt is for the built-in engines.
const benchPrompt = `You answer the phone of a bicycle shop.

FAQ:
Q: When do you open?
A: We open at nine in the morning.
Q: How much is a bike for a day?
A: A city bike is fifteen euros a day.
`

// desk makes the assistant and the line that it answers.
func (b *bench) desk(ctx context.Context, h *app.App) (numbers.Trunk, error) {
	owner, err := app.FirstAccount(ctx, h.Accounts, h.Billing)
	if err != nil {
		return numbers.Trunk{}, err
	}
	line, err := h.Numbers.CreateTrunk(ctx, owner.ID, numbers.TrunkChange{
		Form: value.Some("extension"), Number: value.Some("1000"), Username: value.Some("bench"), Password: value.Some("bench"),
		Address: value.Some("127.0.0.1"), Format: value.Some("+e164"), Auth: value.Some("ip"), Country: value.Some("US"),
		Allowed: value.Some([]string{"127.0.0.1"})})
	if err != nil {
		return line, err
	}
	english := catalog.LanguageOf("en").ID
	tone, ok := h.Catalog.DefaultVoice(english, catalog.Mode(b.mode))
	if !ok {
		return line, errors.New("there is no voice")
	}
	greeting := instant.Greeting
	if b.greeting == 0 {
		greeting = ""
	}
	text, realtime := value.Ptr(h.Catalog.DefaultModel(catalog.LLM)), (*int64)(nil)
	if b.mode != string(catalog.Pipeline) {
		text, realtime = nil, value.Ptr(h.Catalog.DefaultModel(b.mode))
	}
	_, _, err = h.Assistants.Create(ctx, owner.ID,
		assistants.Change{By: assistants.By{Name: "parley"}, Patch: value.Filled(assistants.Settings{
			Name: "Bench", Type: assistants.Inbound, Mode: b.mode,
			VoiceID: tone.ID, LanguageID: english, LLMModelID: text, MultimodalModelID: realtime,
			Timezone: "UTC", InitialMessage: greeting, SystemPrompt: benchPrompt,
			EndpointType: "vad", EndpointSensitivity: b.silence.Seconds(), Record: b.record,
			PostCallEvaluation: false, MaxDuration: 1200, PhoneNumberID: value.Ptr(line.ID)}).Sending("initial_message", "record",
			"post_call_evaluation")})
	return line, err
}

// admit lets everybody in on the line of the desk.
func (b *bench) admit(line *sip.Config) {
	take := line.OnCall
	line.Open, line.Trunks = true, nil
	line.OnCall = func(l lines.Leg) { take(guest{l.(*sip.Leg), b.line}) }
}

// guest is the leg of a caller that no trunk vouches for.
type guest struct {
	*sip.Leg
	desk numbers.Trunk
}

// Info says that the desk was called.
func (g guest) Info() lines.Info {
	in := g.Leg.Info()
	in.TrunkID, in.To = g.desk.ID, g.desk.Number
	return in
}
