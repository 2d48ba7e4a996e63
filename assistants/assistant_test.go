package assistants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/ids"
	"parley/toolbox"
	"parley/value"
)

func byID(id int64) value.Ref { return value.Ref{ID: id} }

// TestStatusMachine goes through new, active and paused.
//
// Contract: 14.6
func TestStatusMachine(t *testing.T) {
	l := sqlite(t)
	var paused []ID
	l.room.account.Paused = func(_ context.Context, _ *db.Tx, a Assistant) error { paused = append(paused, a.ID); return nil }
	id := l.create("")
	status := func(want string, isPaused bool) {
		t.Helper()
		a, err := l.room.Get(t.Context(), l.d, 1, byID(id))
		if err != nil || a.Status != want || a.Paused != isPaused {
			t.Error(a.Status, a.Paused, err)
		}
	}
	put := func(body string) {
		t.Helper()
		if code, answer := l.send("PUT", fmt.Sprintf("/a/%d", id), body); code != 200 {
			t.Error(answer)
		}
	}
	activate := func() {
		t.Helper()
		if err := l.room.Activate(t.Context(), l.d, ID(id)); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"status":"inactive"}`)
	status(Inactive, false) // new, not paused
	activate()
	status(Active, false)
	put(`{"status":"inactive"}`)
	status(Inactive, true)
	activate()
	put(fmt.Sprintf(`{"phone_number_id":%d}`, dedicated))
	status(Inactive, true) // neither use nor a number wakes a paused one
	put(`{"status":"active"}`)
	status(Active, false)
	put(`{"phone_number_id":null}`)
	status(Active, false)
	if !slices.Equal(paused, []ID{ID(id)}) {
		t.Error("paused", paused)
	}
	id = l.create(fmt.Sprintf(`"phone_number_id":%d`, dedicated))
	status(Active, false)
}

// TestNumberHasOneInboundAssistant assigns one number to several assistants and changes their type.
//
// Contract: 4.2
func TestNumberHasOneInboundAssistant(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		a := l.create(fmt.Sprintf(`"phone_number_id":%d`, dedicated))
		out := l.create(fmt.Sprintf(`"type":"outbound","phone_number_id":%d`, dedicated))
		caller := l.create(fmt.Sprintf(`"type":"outbound","phone_number_id":%d`, callerID))
		_, body := l.send("POST", "/a", with(fmt.Sprintf(`"phone_number_id":%d`, dedicated)))
		if got := errorsOf(body)["phone_number_id"]; got != sayTaken {
			t.Error(body)
		}
		_, body = l.send("PUT", fmt.Sprintf("/a/%d", out), `{"type":"inbound"}`)
		if got := errorsOf(body)["phone_number_id"]; got != sayTaken {
			t.Error(body)
		}
		_, body = l.send("PUT", fmt.Sprintf("/a/%d", caller), `{"type":"inbound"}`)
		if got := errorsOf(body)["phone_number_id"]; got != sayCallerID {
			t.Error(body)
		}
		if code, body := l.send("PUT", fmt.Sprintf("/a/%d", a), fmt.Sprintf(`{"phone_number_id":%d,"name":"Again"}`, dedicated)); code != 200 {
			t.Error(body)
		}
		got, err := l.room.ForNumber(t.Context(), d, dedicated)
		if err != nil || int64(got.ID) != a {
			t.Error(got.ID, err)
		}
		if err := l.room.DetachNumber(t.Context(), d, dedicated); err != nil {
			t.Fatal(err)
		}
		if got, err := l.room.Get(t.Context(), d, 1, byID(out)); err != nil || got.PhoneNumberID != nil {
			t.Error(got.PhoneNumberID, err)
		}
		if _, err := l.room.ForNumber(t.Context(), d, dedicated); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestOnlyOneOfManyGetsTheNumber has six assistants want one number at once.
//
// Contract: 4.2
func TestOnlyOneOfManyGetsTheNumber(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		ids := make([]int64, 6)
		for i := range ids {
			ids[i] = l.create("")
		}
		var won sync.Map
		var wg sync.WaitGroup
		for _, id := range ids {
			wg.Go(func() {
				code, body := l.send("PUT", fmt.Sprintf("/a/%d", id), fmt.Sprintf(`{"phone_number_id":%d}`, dedicated))
				if code == 200 {
					won.Store(id, true)
				} else if errorsOf(body)["phone_number_id"] != sayTaken {
					t.Error(code, body)
				}
			})
		}
		wg.Wait()
		n := 0
		won.Range(func(any, any) bool { n++; return true })
		if n != 1 {
			t.Error(n, "assistants hold the number")
		}
	})
}

// TestReferencesAndOwners finds by id and uuid, and shows nothing to strangers.
//
// Contract: 1.4 1.6
func TestReferencesAndOwners(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		id := l.create("")
		a, err := l.room.Get(t.Context(), d, 1, byID(id))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := l.room.Get(t.Context(), d, 1, value.Ref{UUID: a.UUID}); err != nil || b.ID != a.ID {
			t.Error(err)
		}
		for _, ref := range []value.Ref{byID(id), {UUID: a.UUID}} {
			if _, err := l.room.Get(t.Context(), d, 2, ref); !errors.Is(err, ErrNotFound) {
				t.Error("a stranger sees it:", err)
			}
			if err := l.room.Delete(t.Context(), 2, ref); !errors.Is(err, ErrNotFound) {
				t.Error("a stranger deletes it:", err)
			}
			if err := l.room.Switch(t.Context(), 2, ref, PostCall, "https://x.example", By{}); !errors.Is(err, ErrNotFound) {
				t.Error("a stranger switches it:", err)
			}
		}
		if _, err := l.room.Get(t.Context(), d, 1, value.Ref{}); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestListsAreNewestFirst lists all, outbound ones, and a page.
//
// Contract: 1.13 4.5
func TestListsAreNewestFirst(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		var want []ID
		for i := range 5 {
			typ := []string{Inbound, Outbound}[i%2]
			want = append([]ID{ID(l.create(`"type":"` + typ + `","tool_ids":[32,31]`))}, want...)
		}
		all, err := l.room.List(t.Context(), d, 1, "")
		if err != nil || !slices.Equal(idsOf(all), want) {
			t.Error(idsOf(all), err)
		}
		if !slices.Equal(all[0].ToolIDs, []ids.Tool{32, 31}) {
			t.Error("order of tools is lost:", all[0].ToolIDs)
		}
		out, err := l.room.List(t.Context(), d, 1, Outbound)
		if err != nil || !slices.Equal(idsOf(out), []ID{want[1], want[3]}) {
			t.Error(idsOf(out), err)
		}
		page, total, err := l.room.Page(t.Context(), d, 1, 2, 2)
		if err != nil || total != 5 || !slices.Equal(idsOf(page), want[2:4]) {
			t.Error(idsOf(page), total, err)
		}
	})
}

func idsOf(list []Assistant) (out []ID) {
	for _, a := range list {
		out = append(out, a.ID)
	}
	return out
}

// TestDelete deletes with its detachments, all or nothing.
//
// Contract: 1.6 4.5
func TestDelete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		id := l.create(fmt.Sprintf(`"phone_number_id":%d,"knowledgebase_id":%d,"tool_ids":[31]`, dedicated, ownKB))
		ref := byID(id)
		fails := true
		l.room.account.Deleted = func(_ context.Context, _ *db.Tx, a Assistant) error {
			if fails {
				return errors.New("no")
			}
			return nil
		}
		if err := l.room.Delete(t.Context(), 1, ref); err == nil {
			t.Error("a refused detachment was ignored")
		}
		if _, err := l.room.Get(t.Context(), d, 1, ref); err != nil {
			t.Error("half deleted:", err)
		}
		fails = false
		if err := l.room.Delete(t.Context(), 1, ref); err != nil {
			t.Fatal(err)
		}
		if err := l.room.Delete(t.Context(), 1, ref); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		var left string
		if err := d.Get(t.Context(), &left, `SELECT settings FROM assistants WHERE id = $1`, id); err != nil || left != "{}" {
			t.Error(left, err)
		}
		if next := l.create(fmt.Sprintf(`"phone_number_id":%d`, dedicated)); next <= id {
			t.Error("the id was used again")
		}
	})
}

// TestPlanLimit reaches the limit of a plan.
//
// Contract: 4.5 16.5
func TestPlanLimit(t *testing.T) {
	l := sqlite(t)
	l.limit = 1
	l.create("")
	if code, body := l.send("POST", "/a", with("")); code != 403 || body != `{"message":"You have reached the maximum number of assistants allowed by your plan."}` {
		t.Error(code, body)
	}
	if code, _ := l.send("POST", "/a", with(`"name":7`)); code != 422 {
		t.Error("the plan was asked before the rules:", code)
	}
}

// TestPlanLimitAtOnce has the last place of a plan taken by many at the same moment.
//
// Contract: 4.5 16.5
func TestPlanLimitAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		l.create("")
		l.limit = 2
		var all sync.WaitGroup
		var made atomic.Int32
		for range 8 {
			all.Go(func() {
				if code, body := l.send("POST", "/a", with("")); code < 300 {
					made.Add(1)
				} else if code != 403 {
					t.Error(code, body)
				}
			})
		}
		all.Wait()
		if n := made.Load(); n != 1 {
			t.Errorf("%d created in one place", n)
		}
	})
}

// TestRunningCampaignKeepsTheType turns a dialling assistant inbound.
//
// Contract: 4.2
func TestRunningCampaignKeepsTheType(t *testing.T) {
	l := sqlite(t)
	id := l.create(`"type":"outbound"`)
	l.running[ID(id)] = true
	_, body := l.send("PUT", fmt.Sprintf("/a/%d", id), `{"type":"inbound"}`)
	if got := errorsOf(body)["type"]; got != "The assistant is used by a running campaign." {
		t.Error(body)
	}
}

// TestSwitches switches the three webhooks on and off.
//
// Contract: 4.2 4.6
func TestSwitches(t *testing.T) {
	l := sqlite(t)
	id := l.create("")
	flip := func(h Hook, url string) Assistant {
		t.Helper()
		if err := l.room.Switch(t.Context(), 1, byID(id), h, url, By{Name: "key"}); err != nil {
			t.Fatal(err)
		}
		a, err := l.room.Get(t.Context(), l.d, 1, byID(id))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const u = "https://x.example/in"
	if a := flip(InboundCall, u); a.InboundWebhookURL != u || a.IsWebhookActive {
		t.Error(a.InboundWebhookURL)
	}
	if a := flip(PostCall, u); value.Or(a.WebhookURL, "") != u || !a.IsWebhookActive {
		t.Error(a.WebhookURL)
	}
	if a := flip(ConversationEnded, u); value.Or(a.ConversationEndedWebhookURL, "") != u {
		t.Error(a.ConversationEndedWebhookURL)
	}
	if a := flip(PostCall, ""); a.WebhookURL != nil || a.IsWebhookActive || a.InboundWebhookURL != u {
		t.Error(a.WebhookURL)
	}
	if a := flip(InboundCall, ""); a.InboundWebhookURL != "" {
		t.Error(a.InboundWebhookURL)
	}
	if a := flip(ConversationEnded, ""); a.ConversationEndedWebhookURL != nil {
		t.Error(a.ConversationEndedWebhookURL)
	}
	if _, body := l.send("PUT", fmt.Sprintf("/a/%d", id), `{"webhook_url":"https://x.example","is_webhook_active":true}`); !strings.Contains(body, `"is_webhook_active":true`) {
		t.Error(body)
	}
	if _, body := l.send("PUT", fmt.Sprintf("/a/%d", id), `{"webhook_url":null}`); !strings.Contains(body, `"is_webhook_active":false`) {
		t.Error(body)
	}
}

// TestVersions keeps every change and goes back to one.
//
// Contract: 18.3
func TestVersions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		id := l.create(fmt.Sprintf(`"phone_number_id":%d,"tool_ids":[31,32],"tools":[{"type":"calendar_integration",%s}]`, dedicated, calendar))
		path := fmt.Sprintf("/a/%d", id)
		l.send("PUT", path, `{"name":"Second","speech_speed":1.1,"tool_ids":[]}`)
		l.send("PUT", path, `{"name":"Second"}`) // no change, no version
		l.send("PUT", path, `{"speech_speed":7}`)
		if err := l.room.Switch(t.Context(), 1, byID(id), InboundCall, "https://x.example", By{KeyID: 4, Name: "crm"}); err != nil {
			t.Fatal(err)
		}
		vs, err := l.room.Versions(t.Context(), d, 1, byID(id))
		if err != nil || len(vs) != 3 {
			t.Fatal(len(vs), err)
		}
		if v := vs[1]; v.N != 2 || !slices.Equal(v.Changed, []string{"name", "tool_ids", "speech_speed"}) || v.By.Name != "key" || v.Name != "Second" {
			t.Errorf("%+v", v)
		}
		if v := vs[0]; v.By.KeyID != 4 || !slices.Equal(v.Changed, []string{"inbound_webhook_url"}) {
			t.Errorf("%+v", v.By)
		}
		if err := l.room.DetachNumber(t.Context(), d, dedicated); err != nil {
			t.Fatal(err)
		}
		taker := l.create(fmt.Sprintf(`"phone_number_id":%d`, dedicated))
		a, warned, err := l.room.Restore(t.Context(), 1, byID(id), 1, By{Name: "Ada"})
		if err != nil || a.Name != "Desk" || a.SpeechSpeed != 1 || !slices.Equal(a.ToolIDs, []ids.Tool{31, 32}) || a.InboundWebhookURL != "" {
			t.Error(a, err)
		}
		if a.PhoneNumberID != nil || len(warned) != 1 || warned[0].Field != "phone_number_id" {
			t.Error("the number of assistant", taker, "was taken over:", warned)
		}
		if got, err := l.room.Get(t.Context(), d, 1, byID(id)); err != nil || got.Tools[0].Spec.(*toolbox.CalendarIntegration).APIKey != "cal_live_9876" {
			t.Error(got.Tools, err)
		}
		if _, _, err := l.room.Restore(t.Context(), 1, byID(id), 99, By{}); !errors.Is(err, ErrNoVersion) {
			t.Error(err)
		}
		if vs, err = l.room.Versions(t.Context(), d, 1, byID(id)); err != nil || len(vs) != 4 || vs[0].By.Name != "Ada" {
			t.Error(len(vs), err)
		}
	})
}

// TestFoldersAndLabels keeps folders and labels and what is in them.
//
// Contract: 19
func TestFoldersAndLabels(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		for _, g := range []*Groups{Folders(d), Labels(d)} {
			first, err := g.Create(t.Context(), 1, GroupChange{Name: value.Some("Acme"), Color: value.Some("blue")})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Create(t.Context(), 1, GroupChange{Name: value.Some("Acme")}); !strings.Contains(fmt.Sprint(fault.Of(err).Fields), "The name has already been taken.") {
				t.Errorf("%+v", err)
			}
			if _, err := g.Create(t.Context(), 2, GroupChange{Name: value.Some("Acme")}); err != nil {
				t.Error("names are unique per account only:", err)
			}
			key := map[string]string{"folder": fmt.Sprintf(`"folder_id":%d`, first.ID), "label": fmt.Sprintf(`"label_ids":[%d]`, first.ID)}[g.noun]
			id := l.create(key)
			got, err := g.Update(t.Context(), 1, first.ID, GroupChange{Color: value.Opt[string]{Set: true, Null: true}})
			if err != nil || got.Color != nil || got.Name != "Acme" || got.Uses != 1 {
				t.Errorf("%+v %v", got, err)
			}
			if _, err := g.Update(t.Context(), 2, first.ID, GroupChange{}); err == nil || err.Error() != "No "+g.noun+" with this id exists in your account." {
				t.Error(err)
			}
			page, total, err := g.Page(t.Context(), 1, 0, 15)
			if err != nil || total != 1 || len(page) != 1 || page[0].Uses != 1 {
				t.Error(page, total, err)
			}
			if err := g.Delete(t.Context(), 1, first.ID); err != nil {
				t.Fatal(err)
			}
			a, err := l.room.Get(t.Context(), d, 1, byID(id))
			if err != nil || a.FolderID != nil || len(a.LabelIDs) != 0 {
				t.Error(a.FolderID, a.LabelIDs, err)
			}
		}
	})
}
