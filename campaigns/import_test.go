package campaigns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/value"
)

// sheetOf is a file of so many leads, every tenth with a contact.
func sheetOf(rows int) *strings.Reader {
	var b strings.Builder
	b.WriteString("phone,name,city,home\n")
	for i := range rows {
		contact := ""
		if i%10 == 0 {
			contact = fmt.Sprintf("+4930%08d", i)
		}
		fmt.Fprintf(&b, "+49170%07d,Mia %d,Berlin,%s\n", i, i, contact)
	}
	return strings.NewReader(b.String())
}

func sheetTo(id ID) Sheet { return Sheet{Campaign: id, Phone: "phone", Secondary: []string{"home"}} }

// TestImportIsBounded takes no more than 50,000 rows and stores nothing of a larger file, nor of one that is no sheet.
//
// Contract: 18.1
func TestImportIsBounded(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		for name, file := range map[string]io.ReadSeeker{
			"The file must not have more than 50000 rows. Send the rest in another one.": sheetOf(MostRows + 1),
			"The file field must be a file of type: csv.":                                strings.NewReader("phone\n+491700000001\n" + strings.Repeat("x,", 2<<20)),
		} {
			out, err := c.Import(t.Context(), 1, file, Sheet{Campaign: id, Phone: "phone"})
			f, _ := errors.AsType[*fault.Fault](err)
			if f == nil || f.Kind != fault.Invalid || f.Fields[0] != (fault.Field{Name: "file", Sentence: name}) || out.Created != 0 {
				t.Errorf("%v %v, want %s", out, err, name)
			}
		}
		if _, total, err := c.Leads(t.Context(), w.db, 1, LeadFilter{}, 1, 0); total != 0 || err != nil {
			t.Errorf("%d leads, %v", total, err)
		}
	})
}

// TestImportInBatches stores leads with contacts and variables in their order, in several transactions, tells live views
// after each, and obeys the do-not-call list. The same file again adds nothing.
//
// Contract: 7.2 14.4 18.1
func TestImportInBatches(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		told := 0
		c := New(d, w, w, w, w, func(accounts.ID, ID) { told++ })
		one, err := c.Create(t.Context(), 1, w.judge)
		if err != nil {
			t.Fatal(err)
		}
		const rows = 3*importBatch + 7
		w.blocked["+491700000003"], w.blocked["+493000000010"] = true, true
		told = 0
		for _, want := range []string{fmt.Sprintf("{%d 0 []} <nil>", rows), fmt.Sprintf("{0 %d []} <nil>", rows)} {
			before, errBefore := c.Preview(t.Context(), 1, sheetOf(rows), sheetTo(one.ID))
			out, err := c.Import(t.Context(), 1, sheetOf(rows), sheetTo(one.ID))
			w.want(fmt.Sprint(out, err), want)
			w.want(fmt.Sprint(before, errBefore), want)
		}
		if told != 4 {
			t.Errorf("live views were told %d times, want once for each of 4 batches", told)
		}
		all, total, err := c.Leads(t.Context(), d, 1, LeadFilter{}, rows, 0)
		if err != nil || total != rows {
			t.Fatalf("%d leads, %v", total, err)
		}
		slices.Reverse(all)
		for i, l := range all {
			wantStatus, contacts := Created, "[]"
			if i == 3 {
				wantStatus = Blacklisted
			}
			if i%10 == 0 {
				contacts = fmt.Sprintf("[+4930%08d created]", i)
			}
			if i == 10 {
				contacts = "[+493000000010 blacklisted]"
			}
			got := []string{}
			for _, k := range l.Contacts {
				got = append(got, k.Phone+" "+string(k.Status))
			}
			if l.Phone != fmt.Sprintf("+49170%07d", i) || l.Status != wantStatus || fmt.Sprint(got) != contacts ||
				l.Variables.V.String() != fmt.Sprintf(`{"name":"Mia %d","city":"Berlin"}`, i) {
				t.Fatalf("row %d: %s %s %v %v", i, l.Phone, l.Status, l.Variables.V, got)
			}
		}
	})
}

// TestImportEndsWithItsClient stops between two batches when nobody waits for the answer; what is there stays, and the file
// sent again goes on where it ended.
//
// Contract: 18.1
func TestImportEndsWithItsClient(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		leave := func() {}
		c := New(d, w, w, w, w, func(accounts.ID, ID) { leave() })
		one, err := c.Create(t.Context(), 1, w.judge)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		leave = stop
		out, err := c.Import(ctx, 1, sheetOf(5*importBatch), sheetTo(one.ID))
		w.want(fmt.Sprint(out, err), fmt.Sprintf("{%d 0 []} context canceled", importBatch))
		out, err = c.Import(t.Context(), 1, sheetOf(5*importBatch), sheetTo(one.ID))
		w.want(fmt.Sprint(out, err), fmt.Sprintf("{%d %d []} <nil>", 4*importBatch, importBatch))
	})
}

// BenchmarkImport measures rows per second of the largest file, and how much longer another account's requests take
// meanwhile: a lead added, and one read.
func BenchmarkImport(b *testing.B) {
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			d := open(b)
			w := newWorld(b, d)
			w.exec(`INSERT INTO accounts (id, name, email, kind, timezone, plan, payment_method, is_first, created_at, updated_at) VALUES (2, 'b', 'b@x', 'direct', 'UTC', '{}', 'ok', FALSE, 0, 0)`)
			c := New(d, w, w, w, w, nil)
			mine, theirs := benchCampaign(b, c, 1, w), benchCampaign(b, c, 2, w)
			n := 0
			neighbour := func() time.Duration {
				began := time.Now()
				n++
				l, err := c.AddLead(b.Context(), 2, NewLead{Contact: Contact{Phone: fmt.Sprintf("+4917%09d", n), Variables: value.Scalars{{Name: "a", Value: "b"}}}, Campaign: theirs})
				if err == nil {
					_, err = c.Lead(b.Context(), d, 2, l.ID)
				}
				if err != nil {
					b.Fatal(err)
				}
				took := time.Since(began)
				<-time.After(2 * time.Millisecond)
				return took
			}
			var alone, beside []time.Duration
			for b.Loop() {
				var rows int
				var took, spent time.Duration
				for turn := range 10 { // in turns, so that a busy moment of the machine hits both alike
					for range 100 {
						alone = append(alone, neighbour())
					}
					began, worked, done := time.Now(), cpu(b), make(chan error, 1)
					go func() {
						s := sheetTo(mine)
						s.Duplicates = turn > 0
						_, err := c.Import(b.Context(), 1, sheetOf(MostRows/10), s)
						done <- err
					}()
					for over := false; !over; {
						select {
						case err := <-done:
							if over = true; err != nil {
								b.Fatal(err)
							}
						default:
							beside = append(beside, neighbour())
						}
					}
					rows, took, spent = rows+MostRows/10, took+time.Since(began), spent+cpu(b)-worked
				}
				b.ReportMetric(float64(rows)/took.Seconds(), "rows/s")
				b.ReportMetric(float64(rows)/spent.Seconds(), "rows/cpu-s") // of this process, the neighbour's work included
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(middle(beside))/float64(middle(alone)), "×-neighbour-median")
			b.ReportMetric(float64(mean(beside))/float64(mean(alone)), "×-neighbour-mean")
		})
	}
}

func benchCampaign(b *testing.B, c *Campaigns, owner accounts.ID, w *world) ID {
	b.Helper()
	one, err := c.Create(b.Context(), owner, w.judge)
	if err != nil {
		b.Fatal(err)
	}
	return one.ID
}

func middle(all []time.Duration) time.Duration { return slices.Sorted(slices.Values(all))[len(all)/2] }

func mean(all []time.Duration) (sum time.Duration) {
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(len(all))
}

// cpu is the time that this process has worked.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
