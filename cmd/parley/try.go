package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"parley/accounts"
	"parley/app"
	"parley/assistants"
	"parley/chats"
	"parley/config"
	"parley/fault"
	"parley/jobs"
	"parley/value"
)

func newTry() *cobra.Command {
	return &cobra.Command{Use: "try [ASSISTANT]", Short: "Talk with an assistant in text; its id or uuid, by default the oldest one",
		Args: cobra.MaximumNArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string, cfg *config.Loaded) error {
			s := &server{cfg: cfg.Config, metrics: prometheus.NewRegistry()}
			return errors.Join(s.try(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout()), s.close())
		})}
}

// try opens the rooms beside a running server, or without one, and holds a test conversation.
func (s *server) try(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	if s.db, err = openDatabase(ctx, s.cfg); err != nil {
		return err
	}
	s.closers = append(s.closers, s.db.Close)
	s.jobs = jobs.NewRunner(s.db, jobs.Queues()) // what a conversation leaves to do is the server's work
	if err := s.rooms(ctx); err != nil {
		return err
	}
	owner, err := app.FirstAccount(ctx, s.app.Accounts, s.app.Billing)
	if err != nil {
		return err
	}
	a, err := s.partner(ctx, owner.ID, args)
	if err != nil {
		return err
	}
	return s.talkInText(ctx, owner.ID, a, in, out)
}

// partner is the assistant to talk with.
func (s *server) partner(ctx context.Context, owner accounts.ID, args []string) (assistants.Assistant, error) {
	if len(args) == 1 {
		var ref value.Ref
		if _, err := fmt.Sscan(args[0], &ref.ID); err != nil || strings.Contains(args[0], "-") {
			ref = value.Ref{UUID: args[0]}
		}
		return s.app.Assistants.Get(ctx, s.db, owner, ref)
	}
	if err := s.app.FirstVisit(ctx, owner); err != nil {
		return assistants.Assistant{}, err
	}
	all, err := s.app.Assistants.List(ctx, s.db, owner, "")
	if err == nil && len(all) == 0 {
		err = errors.New("there is no assistant yet; make one in the console")
	}
	if err != nil {
		return assistants.Assistant{}, err
	}
	return all[len(all)-1], nil
}

// talkInText reads a line, answers it, and goes on until the input or the conversation ends.
func (s *server) talkInText(ctx context.Context, owner accounts.ID, a assistants.Assistant, in io.Reader, out io.Writer) error {
	c, said, err := s.app.Chats.Begin(ctx, chats.Start{Caller: owner, Assistant: value.Ref{ID: int64(a.ID)}, Type: chats.Test})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s (an empty line ends the conversation)\n\n", a.Name)
	for _, e := range said {
		fmt.Fprintf(out, "  %s\n", e.Text)
	}
	lines := bufio.NewScanner(in)
	for {
		fmt.Fprint(out, "> ")
		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			fmt.Fprintln(out)
			return lines.Err()
		}
		r, err := s.app.Chats.Answer(ctx, chats.Message{Caller: owner, UUID: c.UUID, Text: lines.Text()})
		if errors.Is(err, chats.ErrEnded) {
			return nil
		}
		if err != nil {
			fmt.Fprintf(out, "  (%s)\n", fault.Of(err).Message)
			continue
		}
		for _, u := range r.Uses {
			fmt.Fprintf(out, "  [%s %s -> %s]\n", u.Name, u.Arguments, u.Result)
		}
		fmt.Fprintf(out, "  %s\n", r.Text)
	}
}
