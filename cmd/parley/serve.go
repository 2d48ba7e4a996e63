package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"parley/app"
	"parley/assets"
	"parley/audio/opus"
	"parley/blobs"
	"parley/config"
	"parley/console"
	"parley/db"
	"parley/jobs"
	"parley/providers"
	"parley/safe"
	"parley/ssrf"
	"parley/switchboard"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// lastJobs is how long jobs may go on when calls and requests are over; they go back into the queue.
const lastJobs = 2 * time.Second

// lastSteps is how long closing everything else may take.
const lastSteps = 5 * time.Second

func newServe() *cobra.Command {
	cmd := &cobra.Command{Use: "serve", Short: "Run the server", Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string, cfg *config.Loaded) error {
			return serve(cmd.Context(), cfg.Config)
		})}
	cmd.Flags().String("listen", "127.0.0.1:8080", "HTTP address, HOST:PORT")
	cmd.Flags().Bool("dev", false, "allow loopback destinations for webhooks, tools, documents and calendars")
	return cmd
}

// server is everything that runs, put together by assemble.
type server struct {
	cfg      *config.Config
	node     string // names this process among those that share the database
	db       *db.DB
	jobs     *jobs.Runner
	metrics  *prometheus.Registry
	app      *app.App
	vendors  *providers.Registry
	opus     *opus.Library
	phones   []string // addresses of the telephone line
	browsers string   // address of the browser line
	bench    *bench   // nil = a real server

	background []func(ctx context.Context) error // each runs until its context ends
	drain      []func(ctx context.Context)       // asked in order at the end: finish what runs
	closers    []func() error                    // in reverse order, last
}

// serve runs until ctx ends, then lets what runs finish.
func serve(ctx context.Context, cfg *config.Config) error {
	limitMemory()
	s, err := assemble(ctx, cfg, nil)
	if err != nil {
		return err
	}
	defer overdue(ctx, cfg.Shutdown.Grace+lastJobs+lastSteps, os.Exit)()
	err = s.run(ctx)
	return errors.Join(err, s.close())
}

// overdue ends the process that has not stopped that long after ctx ended: what does not heed its end is left as after a
// kill, which loses nothing that was acknowledged. The returned function calls it off.
func overdue(ctx context.Context, after time.Duration, exit func(code int)) (inTime func()) {
	done, inTime := context.WithCancel(context.Background())
	context.AfterFunc(ctx, func() {
		select {
		case <-done.Done():
		case <-time.After(after):
			slog.Warn("stopped without waiting for work that does not end")
			exit(0)
		}
	})
	return inTime
}

// assemble wires the rooms by hand, foundations first.
func assemble(ctx context.Context, cfg *config.Config, b *bench) (s *server, err error) {
	s = &server{cfg: cfg, metrics: prometheus.NewRegistry(), bench: b}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for _, build := range []func(context.Context) error{
		s.foundations,
		s.rooms,
	} {
		if err := build(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

// foundations: the data folder, the database, durable work, the guard of outgoing requests.
func (s *server) foundations(ctx context.Context) (err error) {
	s.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	lock, err := lockData(s.cfg)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, lock.Close)
	if s.node, err = nodeName(s.cfg); err != nil {
		return err
	}
	if s.db, err = openDatabase(ctx, s.cfg); err != nil {
		return err
	}
	s.closers = append(s.closers, s.db.Close)

	s.jobs = jobs.NewRunner(s.db, append(s.queues(), jobs.Node(s.node), jobs.Grace(lastJobs))...)
	s.metrics.MustRegister(s.jobs)
	s.background = append(s.background, s.jobs.Run, keepGivingBack)

	return nil
}

// rooms: everything customers own, on this process's engines.
func (s *server) rooms(ctx context.Context) error {
	allow, err := ssrf.ParseAllow(s.cfg.Outbound.AllowCIDRs, s.cfg.Dev)
	if err != nil {
		return misuse{fmt.Errorf("outbound.allow_cidrs: %w", err)}
	}
	files, err := blobs.Open(ctx, s.cfg.Blobs.URL, s.cfg.DataPath("files"))
	if err != nil {
		return err
	}
	box, err := openSecrets(s.cfg)
	if err != nil {
		return err
	}
	if s.vendors, err = openVendors(ctx, s.cfg, box); err != nil {
		return err
	}
	s.opus = opus.New(func() ([]byte, error) { return assets.Read(opusModule) })
	s.closers = append(s.closers, func() error { return errors.Join(s.opus.Close(context.Background()), s.vendors.Close()) })
	talk := s.vendors
	if s.bench != nil {
		talk = s.bench.vendors(talk)
	}
	pages, err := console.New()
	if err != nil {
		slog.Warn("no console", "error", err)
	}
	s.closers = append(s.closers, func() error {
		if s.app == nil {
			return nil // it never stood
		}
		return s.app.Close()
	})
	foundations := app.Foundations{Config: s.cfg, DB: s.db, Jobs: s.jobs, Guard: ssrf.New(allow...), Blobs: files, Box: box, Vendors: talk,
		Sound: s.sound, Node: s.node, Metrics: s.metrics, Console: pages, IsolatePDF: true}
	if s.cfg.Has("voice") {
		foundations.Lines = s.lines
	}
	if s.app, err = app.New(ctx, foundations); err != nil {
		return err
	}
	s.background = append(s.background, s.app.Background...)
	if s.bench != nil {
		s.bench.line, err = s.bench.desk(ctx, s.app)
	}
	return err
}

// queues are the job queues this process works: all of them unless its roles leave work to others.
func (s *server) queues() []jobs.Option {
	switch {
	case s.cfg.Has("work") && s.cfg.Has("voice"):
		return nil
	case s.cfg.Has("voice"):
		return []jobs.Option{jobs.Queues(switchboard.Dialling)}
	case s.cfg.Has("work"):
		return []jobs.Option{jobs.Except(switchboard.Dialling)}
	}
	return []jobs.Option{jobs.Queues()}
}

// run listens, tells where, and works until ctx ends; then nothing new is taken and what runs may finish.
func (s *server) run(ctx context.Context) error {
	l, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return err
	}
	web, l := newWeb(s.app.API, l, s.app.Proxies)
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	g, failed := errgroup.WithContext(working)
	g.Go(func() error {
		if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	for _, work := range s.background {
		g.Go(func() (err error) {
			safe.Loop(working, "background", func(ctx context.Context) { err = work(ctx) })
			return err
		})
	}
	if err := s.banner(ctx, l.Addr().String()); err != nil {
		return errors.Join(err, web.Close())
	}
	select {
	case <-ctx.Done():
		slog.Info("stopping", "at_most", s.cfg.Shutdown.Grace)
	case <-failed.Done():
	}
	s.finish(web)
	stopWork()
	return g.Wait()
}

// finish refuses new work and waits for what runs, at most the configured grace.
func (s *server) finish(web *http.Server) {
	ctx, stop := context.WithTimeout(context.Background(), s.cfg.Shutdown.Grace)
	defer stop()
	s.app.API.Drain()
	for _, drain := range s.drain {
		drain(ctx)
	}
	if err := web.Shutdown(ctx); err != nil {
		slog.Warn("requests cut off", "error", err)
		_ = web.Close() // nothing more can be done for them
	}
}

func (s *server) close() (err error) {
	for i := len(s.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, s.closers[i]())
	}
	return err
}

// banner tells an operator where everything is, and lets them in.
func (s *server) banner(ctx context.Context, listening string) error {
	first, err := app.FirstAccount(ctx, s.app.Accounts, s.app.Billing)
	if err != nil {
		return err
	}
	link, err := s.app.Accounts.Welcome(ctx, s.db, first.ID)
	if err != nil {
		return err
	}
	home := s.cfg.PublicURL
	if home == "" {
		home = "http://" + listening
	}
	fmt.Printf("parley %s (%s)\n  console  %s/console\n  API      %s/api\n", version, commit(), home, home)
	for _, address := range s.phones {
		fmt.Printf("  SIP      %s\n", address)
	}
	if s.browsers != "" {
		fmt.Printf("  WebRTC   %s\n", s.browsers)
	}
	for _, line := range found(ctx, s.vendors.Now()) {
		fmt.Printf("  engines  %s\n", line)
	}
	fmt.Printf("  sign in  %s/console/welcome?token=%s (30 minutes, once)\n", home, link)
	fmt.Println("  ready")
	return nil
}
