package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/db"
	"parley/db/dbtest"
)

// One read with key check and one update of an assistant, against a bare net/http handler that answers as many bytes,
// in one run: the ratio says what all our checks cost. SQLite at both settings of database.synchronous.
func BenchmarkHTTP(b *testing.B) {
	s := apitest.New(b, dbtest.SQLite(b))
	world(s)
	size := len(s.Send("GET /user/assistant/1", "").Want(200).Body)
	body := strings.Repeat("x", size)
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	})
	b.Run("bare", func(b *testing.B) { hammer(b, bare, "", "GET", "") })
	b.Run("read", func(b *testing.B) { hammer(b, s.API, s.Token, "GET", "") })
	const change = `{"name":"Desk","speech_speed":1.1,"max_duration":300,"variables":{"city":"Berlin"}}`
	for _, mode := range []string{"NORMAL", "FULL"} {
		b.Run("update/"+mode, func(b *testing.B) {
			s := apitest.New(b, dbtest.Open(b, dbtest.SQLiteURL(b), db.Synchronous(mode)))
			world(s)
			hammer(b, s.API, s.Token, "PUT", change)
		})
	}
}

// hammer sends the same request over kept connections from several clients at once.
func hammer(b *testing.B, h http.Handler, token, method, body string) {
	web := httptest.NewServer(h)
	defer web.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, err := http.NewRequest(method, web.URL+"/api/user/assistant/1", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+token)
			res, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if res.StatusCode != 200 {
				b.Errorf("status %d", res.StatusCode)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}
