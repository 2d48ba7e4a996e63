package campaigns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
)

// TestSeveralProcesses lets processes that share a PostgreSQL dial the same campaigns at once, lose their place in the
// middle as a killed one does, settle calls twice and put numbers on the do-not-call list, in a random order. Whatever
// happens: never more calls at once than allowed, never two calls for one attempt of a lead, never more attempts than
// allowed, and in the end every lead is dealt with.
//
// Contract: 6.2 6.6 14.3 14.4
func TestSeveralProcesses(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { severalProcesses(t, rand.New(rand.NewPCG(seed, 4))) })
	}
}

func severalProcesses(t *testing.T, r *rand.Rand) {
	url := dbtest.PostgresURL(t)
	first := dbtest.Open(t, url, db.Manual())
	w := newWorld(t, first)
	var nodes []*Campaigns
	var worlds []*world
	for i := range 3 {
		d := first
		if i > 0 {
			d = dbtest.Open(t, url, db.Manual())
		}
		at := &world{t: t, db: d, room: 100, funds: true, blocked: map[string]bool{}, asst: w.asst}
		worlds, nodes = append(worlds, at), append(nodes, New(d, dying{at}, at, at, at, nil))
	}
	var ids []ID
	var leads []LeadID
	for range 2 {
		one, err := nodes[0].Create(t.Context(), 1, w.judge)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, one.ID)
		for i := range 8 {
			leads = append(leads, worlds[0].lead(nodes[0], one.ID, fmt.Sprintf("+4917%d000000%02d", one.ID, i), fmt.Sprintf("+4916%d000000%02d", one.ID, i)))
		}
		worlds[0].start(nodes[0], one.ID)
	}
	reasons := []string{"busy", "no_answer", "customer_hangup", "server_restart", "invalid_number", "voicemail_detected"}
	for step := 0; ; step++ {
		if step == 500 {
			t.Fatal("the campaigns never complete")
		}
		var wg sync.WaitGroup
		for i, n := range nodes {
			wg.Go(func() {
				err := n.Tick(context.Background(), worlds[i].db.Now())
				if err != nil && !errors.Is(err, errKilled) {
					t.Errorf("tick: %v", err)
				}
			})
		}
		var over []placed
		for _, call := range worlds[0].calls() {
			if call.Live && r.IntN(3) == 0 {
				over = append(over, call)
			}
		}
		why := reasons[r.IntN(len(reasons))]
		for i, call := range over {
			wg.Go(func() { worlds[i%3].finish(nodes[i%3], call, why) })
			if r := r.IntN(4); r == 0 {
				wg.Go(func() { worlds[(i+1)%3].finish(nodes[(i+1)%3], call, why) })
			}
		}
		wg.Wait()
		if step == 5 {
			blocked := fmt.Sprintf("+4917%d00000007", ids[0])
			for _, at := range worlds {
				at.blocked[blocked] = true
			}
			if err := first.Do(t.Context(), func(tx *db.Tx) error { return nodes[1].Block(t.Context(), tx, 1, blocked) }); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range ids {
			if n, err := worlds[0].Live(t.Context(), first, id); err != nil || n > 3 {
				t.Fatalf("%d calls at once, %v", n, err)
			}
		}
		if worlds[0].state(nodes[0], ids[0]) == "completed" && worlds[0].state(nodes[0], ids[1]) == "completed" {
			break
		}
		if err := first.AdvanceTo(t.Context(), first.Now().Add(time.Duration(r.IntN(20))*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	tries := map[LeadID]int{}
	for _, call := range worlds[0].calls() {
		if call.Live {
			t.Errorf("call %d goes on although its campaign is completed", call.ID)
		}
		tries[call.Lead]++
	}
	for _, id := range leads {
		l, err := nodes[0].Lead(t.Context(), first, 1, id)
		if err != nil {
			t.Fatal(err)
		}
		if l.Attempts > 2 || tries[id] > 2 || tries[l.Contacts[0].ID] > 2 {
			t.Errorf("lead %d: %d attempts, %d calls and %d of its contact", id, l.Attempts, tries[id], tries[l.Contacts[0].ID])
		}
		if !l.Status.over() {
			t.Errorf("lead %d is %s in a completed campaign", id, l.Status)
		}
	}
}

// errKilled ends a transaction of dying in its middle.
var errKilled = errors.New("killed")

// dying places calls, and now and then is killed right after: whatever it wrote is gone with its transaction.
type dying struct{ *world }

func (d dying) Place(ctx context.Context, tx *db.Tx, a Attempt) (calls.ID, error) {
	id, err := d.world.Place(ctx, tx, a)
	if err == nil && rand.IntN(5) == 0 {
		return 0, errKilled
	}
	return id, err
}
