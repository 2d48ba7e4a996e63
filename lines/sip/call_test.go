package sip

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/lines"
)

// pair is two servers: a places calls, b takes them.
func pair(t *testing.T, onCall func(lines.Leg), route func(context.Context, Inbound) Decision) (a, b *Server) {
	t.Helper()
	p := plane(t)
	b = serve(t, Config{Media: p, Open: true, OnCall: onCall, Route: route})
	return serve(t, Config{Media: p}), b
}

func dial(t *testing.T, s *Server, to string) (*Leg, []int, error) {
	t.Helper()
	var codes []int
	leg, err := s.Dial(t.Context(), lines.Destination{To: to, From: "+4930111", RingFor: patience}, func(c int) { codes = append(codes, c) })
	if err != nil {
		return nil, codes, err
	}
	return leg.(*Leg), codes, nil
}

func TestCallBothWays(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"udp", "tcp"} {
		for _, who := range []string{"caller", "callee"} {
			t.Run(network+" "+who+" hangs up", func(t *testing.T) {
				t.Parallel()
				taken := make(chan lines.Leg, 1)
				a, b := pair(t, func(l lines.Leg) {
					if err := l.Ring(); err != nil {
						t.Error(err)
					}
					if err := l.Answer(t.Context()); err != nil {
						t.Error(err)
					}
					taken <- l
				}, nil)
				out, codes, err := dial(t, a, uri(b, network, "205"))
				if err != nil {
					t.Fatal(err)
				}
				in := receive(t, taken, "inbound leg")
				for _, c := range codes { // an overtaken 180 is not reported
					if c != 100 && c != 180 {
						t.Errorf("provisional answers %v", codes)
					}
				}
				if i := in.Info(); i.To != "205" || i.From != "+4930111" || i.SignalID != out.Info().SignalID || i.Kind != "sip" {
					t.Errorf("%+v", i)
				}
				if out.Media() == nil || in.Media() == nil || out.Media().Rate() != 8000 {
					t.Error("no audio")
				}
				first, second := lines.Leg(out), in
				if who == "callee" {
					first, second = in, out
				}
				if err := first.Hangup(t.Context()); err != nil {
					t.Fatal(err)
				}
				receive(t, first.Done(), "end of the first leg")
				receive(t, second.Done(), "end of the second leg")
				if first.End() != (lines.End{}) || second.End() != (lines.End{Remote: true}) {
					t.Errorf("ends %+v %+v", first.End(), second.End())
				}
				if err := first.Hangup(t.Context()); err != nil {
					t.Errorf("second hangup: %v", err)
				}
				titles := ""
				for _, m := range out.Trace() {
					titles += m.Title + ","
				}
				if !strings.HasPrefix(titles, "INVITE,") || !strings.Contains(titles, "200 OK,ACK,BYE,") {
					t.Errorf("trace %s", titles)
				}
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for code, route := range map[int]bool{486: false, 603: false, 480: true, 404: true} {
		a, b := pair(t, func(l lines.Leg) {
			if err := l.Reject(code); err != nil {
				t.Error(err)
			}
			if <-l.Done(); l.End().Code != code {
				t.Errorf("end %+v", l.End())
			}
		}, func(context.Context, Inbound) Decision {
			if route {
				return Decision{code}
			}
			return Decision{}
		})
		_, _, err := dial(t, a, uri(b, "udp", "205"))
		var e *lines.DialError
		if !errors.As(err, &e) || e.Code != code || e.Timeout {
			t.Errorf("%d: %v", code, err)
		}
		if last := e.Trace[len(e.Trace)-1]; e.Trace[0].Title != "INVITE" || !strings.HasPrefix(last.Title, strconv.Itoa(code)) {
			t.Errorf("%d: trace %+v", code, e.Trace)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	ended := make(chan lines.End, 1)
	a, b := pair(t, func(l lines.Leg) {
		_ = l.Ring()
		<-l.Done()
		ended <- l.End()
	}, nil)
	_, err := a.Dial(t.Context(), lines.Destination{To: uri(b, "udp", "205"), RingFor: time.Second}, nil)
	var e *lines.DialError
	if !errors.As(err, &e) || e.Code != 408 || !e.Timeout {
		t.Fatalf("%v", err)
	}
	if end := receive(t, ended, "end"); end != (lines.End{Remote: true, Code: 487}) {
		t.Errorf("callee saw %+v", end)
	}
}

func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	ended, rings := make(chan lines.End, 1), make(chan struct{})
	a, b := pair(t, func(l lines.Leg) {
		_ = l.Ring()
		close(rings)
		<-l.Done()
		if err := l.Answer(context.Background()); err == nil {
			t.Error("answered a cancelled call")
		}
		ended <- l.End()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-rings; cancel() }()
	_, err := a.Dial(ctx, lines.Destination{To: uri(b, "udp", "205")}, nil)
	var e *lines.DialError
	if !errors.As(err, &e) || e.Code != 487 || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if end := receive(t, ended, "end"); !end.Remote || end.Code != 487 {
		t.Errorf("callee saw %+v", end)
	}
}

func TestNothingAnswersTheSignalling(t *testing.T) {
	t.Parallel()
	a := serve(t, Config{})
	_, err := a.Dial(t.Context(), lines.Destination{To: "sip:1@127.0.0.1:9", RingFor: 200 * time.Millisecond}, nil)
	var e *lines.DialError
	if !errors.As(err, &e) || e.Code != 0 {
		t.Fatalf("%v", err)
	}
	_, err = a.Dial(t.Context(), lines.Destination{To: "sip:1@127.0.0.1:9;transport=tcp"}, nil)
	if !errors.As(err, &e) || e.Code != 0 {
		t.Fatalf("%v", err)
	}
}
