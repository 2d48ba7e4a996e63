package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"parley/api/apitest"
	"parley/db"
	"parley/db/dbtest"
)

const (
	httpRounds  = 9                      // each subject's turns
	httpTurn    = 150 * time.Millisecond // length of a turn
	httpClients = 4                      // at once
)

// BenchmarkHTTP reads and updates an assistant through the API, with key check and everything, and compares it with a bare
// net/http handler that answers as many bytes: all over kept connections on loopback, with the same client in the same
// process. The subjects take turns and the median of each counts, so that a busy machine slows them alike. Processor time
// is that of this process, client included; PostgreSQL's server is another one.
func BenchmarkHTTP(b *testing.B) {
	type subject struct {
		name, method, body string
		target             float64 // × bare; 0 = none
		rates, costs       []float64
		clients            *clients
	}
	const change = `{"name":"Desk","speech_speed":1.1,"max_duration":300,"variables":{"city":"Berlin"}}`
	var subjects []*subject
	for _, engine := range []struct {
		name         string
		db           *db.DB
		read, update float64
	}{
		{"SQLite, NORMAL", dbtest.Open(b, dbtest.SQLiteURL(b), db.Synchronous("NORMAL")), 0.35, 0.10},
		{"SQLite, FULL", dbtest.Open(b, dbtest.SQLiteURL(b), db.Synchronous("FULL")), 0.35, 0},
		{"PostgreSQL", dbtest.Postgres(b), 0, 0},
	} {
		s := apitest.New(b, engine.db)
		world(s)
		if len(subjects) == 0 {
			size := len(s.Send("GET /user/assistant/1", "").Want(200).Body)
			subjects = append(subjects, &subject{name: "bare net/http", method: "GET", clients: newClients(b, bareHandler(size), "")})
		}
		c := newClients(b, s.API, s.Token)
		subjects = append(subjects, &subject{name: engine.name + ": read", method: "GET", target: engine.read, clients: c},
			&subject{name: engine.name + ": update", method: "PUT", body: change, target: engine.update, clients: c})
	}
	for range httpRounds {
		for _, one := range subjects {
			rate, cost := one.clients.turn(b, one.method, one.body)
			one.rates, one.costs = append(one.rates, rate), append(one.costs, cost)
		}
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n\trequests/s\t× bare\ttarget\tµs of processor\tbare ÷ it\t\n")
	for _, one := range subjects {
		slices.Sort(one.rates)
		slices.Sort(one.costs)
	}
	const median = httpRounds / 2
	bare := subjects[0]
	for _, one := range subjects {
		target := ""
		if one.target > 0 {
			target = fmt.Sprintf("≥ %.2f", one.target)
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.2f\t%s\t%.0f\t%.2f\t\n", one.name, one.rates[median], one.rates[median]/bare.rates[median],
			target, one.costs[median], bare.costs[median]/one.costs[median])
	}
	if err := t.Flush(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op")
}

// bareHandler does the least: it reads the request and answers so many bytes.
func bareHandler(size int) http.Handler {
	body := strings.Repeat("x", size)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	})
}

// clients send the same request over kept connections.
type clients struct {
	url, token string
	http       *http.Client
}

func newClients(b *testing.B, h http.Handler, token string) *clients {
	web := httptest.NewServer(h)
	b.Cleanup(web.Close)
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: httpClients}}
	b.Cleanup(c.CloseIdleConnections)
	return &clients{web.URL + "/api/user/assistant/1", token, c}
}

// turn is how many requests per second are answered for a while, and the microseconds of processor time that each takes.
func (c *clients) turn(b *testing.B, method, body string) (rate, cost float64) {
	b.Helper()
	used := processorTime(b)
	began := time.Now()
	counts := make(chan int, httpClients)
	for range httpClients {
		go func() {
			n := 0
			for ; time.Since(began) < httpTurn && c.send(b, method, body); n++ {
			}
			counts <- n
		}()
	}
	total := 0
	for range httpClients {
		total += <-counts
	}
	return float64(total) / time.Since(began).Seconds(), float64((processorTime(b) - used).Microseconds()) / float64(total)
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (c *clients) send(b *testing.B, method, body string) bool {
	r, err := http.NewRequest(method, c.url, strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return false
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := c.http.Do(r)
	if err != nil {
		b.Error(err)
		return false
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		b.Errorf("%s: status %d", method, answer.StatusCode)
		return false
	}
	return true
}
