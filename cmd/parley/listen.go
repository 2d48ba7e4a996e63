package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// newListen forwards webhooks to a receiver that the server cannot reach, such as a developer's machine.
func newListen() *cobra.Command {
	l := listener{again: 2 * time.Second, client: &http.Client{Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	cmd := &cobra.Command{Use: "listen --forward-to URL --key KEY", Short: "Forward webhooks to a receiver on this machine",
		Args: cobra.NoArgs,
		Long: "Follows the account's webhooks and sends each one, signed as usual, to a receiver that the server cannot reach.\n" +
			"Webhooks exist for assistants that have a webhook URL; any URL will do.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.out = cmd.OutOrStdout()
			return l.run(cmd.Context())
		}}
	cmd.Flags().StringVar(&l.to, "forward-to", "", "URL of the receiver")
	cmd.Flags().StringVar(&l.key, "key", "", "API key")
	cmd.Flags().StringVar(&l.server, "server", "http://127.0.0.1:8080", "address of the server")
	for _, name := range []string{"forward-to", "key"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag stands above
		}
	}
	return cmd
}

type listener struct {
	to, key, server string
	last            string // id of the newest event: what comes while there is no connection is asked for later
	again           time.Duration
	client          *http.Client // of the receiver
	out             io.Writer
}

// run follows the stream, again and again, until ctx ends or the server refuses the key.
func (l *listener) run(ctx context.Context) error {
	for {
		err := l.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if refused, ok := errors.AsType[refusedKey](err); ok {
			return failure{refused}
		}
		fmt.Fprintf(l.out, "connection lost (%v), trying again\n", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(l.again):
		}
	}
}

type refusedKey struct{ status string }

func (r refusedKey) Error() string { return "the server refused the key: " + r.status }

func (l *listener) follow(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(l.server, "/")+"/api/user/webhook-deliveries/stream", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+l.key)
	if l.last != "" {
		r.Header.Set("Last-Event-ID", l.last)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusUnauthorized {
		return refusedKey{res.Status}
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", res.Status)
	}
	fmt.Fprintf(l.out, "listening, forwarding to %s\n", l.to)
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			l.last = id
		} else if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			l.forward(ctx, []byte(data))
		}
	}
	return cmp.Or(lines.Err(), io.ErrUnexpectedEOF)
}

// forward sends one event on and tells what the receiver said.
func (l *listener) forward(ctx context.Context, data []byte) {
	var d struct {
		Event   string
		Headers map[string]string
		Payload json.RawMessage
	}
	if err := json.Unmarshal(data, &d); err != nil {
		fmt.Fprintf(l.out, "unreadable event: %v\n", err)
		return
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to, bytes.NewReader(d.Payload))
	if err != nil {
		fmt.Fprintf(l.out, "%s: %v\n", d.Event, err)
		return
	}
	for k, v := range d.Headers {
		r.Header.Set(k, v)
	}
	began := time.Now()
	res, err := l.client.Do(r)
	if err != nil {
		fmt.Fprintf(l.out, "%s %s: %v\n", d.Event, d.Headers["Webhook-Id"], err)
		return
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // what the receiver says is its own business
	fmt.Fprintf(l.out, "%s %s: %s in %d ms\n", d.Event, d.Headers["Webhook-Id"], res.Status, time.Since(began).Milliseconds())
}
