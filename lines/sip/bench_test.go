package sip

import (
	"context"
	"testing"
	"time"

	"parley/lines"
)

// BenchmarkSetUp is the time from INVITE to its 200 as a telephone on loopback sees it, with the port allocated, the
// offer answered and the stream running. Target: 10 ms.
func BenchmarkSetUp(b *testing.B) {
	legs := make(chan lines.Leg, 1)
	s := serve(b, Config{Open: true, OnCall: func(l lines.Leg) { _ = l.Answer(context.Background()); legs <- l }})
	var worst, sum time.Duration
	for b.Loop() {
		p := newPhone(b, s)
		invite := p.request("INVITE", "205", p.sdp())
		began := time.Now()
		p.send(invite)
		p.expect("200 OK")
		took := time.Since(began)
		worst, sum = max(worst, took), sum+took
		p.send(p.request("ACK", "205", ""))
		leg := <-legs
		p.send(p.request("BYE", "205", ""))
		p.expect("200 OK")
		<-leg.Done()
		p.conn.Close()
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(b.N)/1000, "ms/200")
	b.ReportMetric(float64(worst.Microseconds())/1000, "ms/200-worst")
}
