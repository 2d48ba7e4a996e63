package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/knowledge"
	"parley/value"
)

func TestBases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		first, second := l.base(l.ada, "Hotel"), l.base(l.ada, "Straße")
		foreign := l.base(l.bob, "Hotel")
		for search, want := range map[string][]knowledge.ID{"": {second, first}, "STRA": {second}, "hot": {first}, "x": nil} {
			list, err := l.room.Bases(l.ctx, l.ada, search)
			var got []knowledge.ID
			for _, b := range list {
				got = append(got, b.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("search %q: %v %v", search, got, err)
			}
		}
		b, err := l.room.UpdateBase(l.ctx, l.ada, first, knowledge.BaseChange{Description: value.Some("Rules")})
		if err != nil || b.Name != "Hotel" || *b.Description != "Rules" || b.Status != "empty" {
			t.Errorf("%+v %v", b, err)
		}
		b, err = l.room.UpdateBase(l.ctx, l.ada, first, knowledge.BaseChange{Description: value.Opt[string]{Set: true, Null: true}})
		if err != nil || b.Description != nil {
			t.Errorf("null clears: %+v %v", b, err)
		}
		if _, err := l.room.Base(l.ctx, l.ada, foreign); err != knowledge.ErrNoBase {
			t.Errorf("foreign: %v", err)
		}
		if err := l.room.DeleteBase(l.ctx, l.ada, foreign); err != knowledge.ErrNoBase {
			t.Errorf("delete foreign: %v", err)
		}
		owned, err := l.room.Owned(l.ctx, d, l.ada, []knowledge.ID{first, foreign})
		if err != nil || !slices.Equal(owned, []knowledge.ID{first}) {
			t.Errorf("owned %v %v", owned, err)
		}
	})
}

func TestLifeOfADocument(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		base := l.base(l.ada, "Hotel")
		doc := l.add(base, txt("Rules", "Breakfast is served from seven to ten.\n\nDogs are welcome for 12 euros."))
		if doc.Status != knowledge.Processing || *doc.Size != 70 || *doc.Filename != "Rules.txt" {
			t.Errorf("%+v", doc)
		}
		if b, _ := l.room.Base(l.ctx, l.ada, base); b.Status != knowledge.Processing || b.Documents != 1 {
			t.Errorf("%+v", b)
		}
		if got := l.find(base, "breakfast"); got != nil {
			t.Errorf("found before it is active: %q", got)
		}
		l.work()
		doc = l.settled(doc)
		if doc.Status != knowledge.Active || *doc.Pages != 1 || *doc.Chunks != 1 || doc.Error != nil {
			t.Errorf("%+v", doc)
		}
		if got := l.find(base, "When can I have breakfast?"); len(got) != 1 || !strings.HasPrefix(got[0], "Breakfast") {
			t.Errorf("found %q", got)
		}

		// Another account's base never answers, whatever is in it.
		if got := l.find(l.base(l.bob, "Other"), "breakfast"); got != nil {
			t.Errorf("leaked %q", got)
		}

		broken := l.settled(l.add(base, upload("pdf", "Broken", []byte("%PDF-1.4 nothing"))))
		if broken.Status != knowledge.Failed || *broken.Error != "Damaged file." {
			t.Errorf("%+v", broken)
		}
		if b, _ := l.room.Base(l.ctx, l.ada, base); b.Status != knowledge.Failed || b.Documents != 2 {
			t.Errorf("%+v", b)
		}
		if got := l.find(base, "breakfast"); len(got) != 1 {
			t.Errorf("a failed neighbour hides documents: %q", got)
		}
		if err := l.room.DeleteDocument(l.ctx, l.ada, base, broken.ID); err != nil {
			t.Error(err)
		}

		renamed, err := l.room.UpdateDocument(l.ctx, l.ada, base, doc.ID, knowledge.DocumentChange{Name: value.Some("House rules")})
		if err != nil || renamed.Name != "House rules" {
			t.Errorf("%+v %v", renamed, err)
		}

		// Reading again replaces the passages; until then the old ones are found.
		again, err := l.room.Reprocess(l.ctx, l.ada, base, doc.ID)
		if err != nil || again.Status != knowledge.Processing {
			t.Errorf("%+v %v", again, err)
		}
		if got := l.find(base, "breakfast"); len(got) != 1 {
			t.Errorf("while it is read again: %q", got)
		}
		if again = l.settled(again); again.Status != knowledge.Active {
			t.Errorf("%+v", again)
		}
		if got := l.find(base, "breakfast"); len(got) != 1 {
			t.Errorf("after it was read again: %q", got)
		}

		if err := l.room.DeleteDocument(l.ctx, l.ada, base, doc.ID); err != nil {
			t.Error(err)
		}
		if got := l.find(base, "breakfast"); got != nil {
			t.Errorf("found after its deletion: %q", got)
		}
		if err := l.room.DeleteDocument(l.ctx, l.ada, base, doc.ID); err != knowledge.ErrNoDocument {
			t.Errorf("second delete: %v", err)
		}
		if b, _ := l.room.Base(l.ctx, l.ada, base); b.Status != "empty" {
			t.Errorf("%+v", b)
		}
		left(t, d)
	})
}

// left fails when anything of a deleted document is still there.
func left(t *testing.T, d *db.DB) {
	t.Helper()
	for _, table := range []string{"documents", "passages", "passage_terms"} {
		var n int
		if err := d.Get(t.Context(), &n, `SELECT count(*) FROM `+table); err != nil || n != 0 {
			t.Errorf("%d rows left in %s %v", n, table, err)
		}
	}
}

func TestDeleteBase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		base := l.base(l.ada, "Hotel")
		doc := l.add(base, txt("Rules", "Breakfast is at seven."))
		l.add(base, txt("Other", "Dinner is at eight."))
		var assistant int64
		err := d.Get(l.ctx, &assistant, `INSERT INTO assistants (account_id, uuid, name, type, mode, status, knowledgebase_id, settings, created_at, updated_at)
			VALUES ($1, 'u', 'Desk', 'inbound', 'pipeline', 'inactive', $2, '{}', 1, 1) RETURNING id`, l.ada, base)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := l.room.Base(l.ctx, l.ada, base); b.Assistants != 1 {
			t.Errorf("%+v", b)
		}
		l.work()
		l.settled(doc)
		<-l.news
		if err := l.room.DeleteBase(l.ctx, l.ada, base); err != nil {
			t.Fatal(err)
		}
		if got := l.find(base, "breakfast"); got != nil {
			t.Errorf("found %q", got)
		}
		left(t, d)
		var detached bool
		if err := d.Get(l.ctx, &detached, `SELECT knowledgebase_id IS NULL FROM assistants WHERE id = $1`, assistant); err != nil || !detached {
			t.Errorf("the assistant still has it: %v", err)
		}
		if _, err := l.room.Base(l.ctx, l.ada, base); err != knowledge.ErrNoBase {
			t.Error(err)
		}
	})
}

// A job that comes late, for a document deleted or read anew meanwhile, leaves nothing behind.
func TestLateJobs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		base := l.base(l.ada, "Hotel")
		gone := l.add(base, txt("Gone", "Breakfast is at seven."))
		if err := l.room.DeleteDocument(l.ctx, l.ada, base, gone.ID); err != nil {
			t.Fatal(err)
		}
		stays := l.add(base, txt("Stays", "Dinner is at eight."))
		again, err := l.room.Reprocess(l.ctx, l.ada, base, stays.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.jobs.Add(l.ctx, d, jobs.New{Kind: "knowledge.read", Args: map[string]any{"Document": stays.ID, "Edition": 1}}); err != nil {
			t.Fatal(err)
		}
		l.work()
		if got := l.settled(again); got.Status != knowledge.Active || *got.Chunks != 1 {
			t.Errorf("%+v", got)
		}
		if got := l.find(base, "breakfast dinner"); len(got) != 1 {
			t.Errorf("found %q", got)
		}
	})
}

func TestPassages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d).work()
		base := l.base(l.ada, "Book")
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "Sentence number %d tells about subject%d and ends here. ", i, i)
			if i%10 == 9 {
				b.WriteString("\n\n")
			}
		}
		doc := l.settled(l.add(base, txt("Book", b.String())))
		if n := *doc.Chunks; n < 12 || n > 22 {
			t.Errorf("%d passages of %d characters", n, b.Len())
		}
		for i := 0; i < 200; i += 17 {
			got := l.find(base, fmt.Sprintf("subject%d", i))
			if len(got) == 0 || !strings.Contains(got[0], fmt.Sprintf("subject%d and", i)) || len(got[0]) > 1200 {
				t.Errorf("subject%d: %q", i, got)
			}
		}
	})
}

func TestSearchScores(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d).work()
		base := l.base(l.ada, "Hotel")
		for _, text := range []string{
			"Breakfast is served from seven to ten.", "Dogs are welcome for 12 euros per night.", "The pool is open all year.", "東京駅の近くにあります。", "Das Café öffnet um neun.",
		} {
			l.settled(l.add(base, txt("Note", text)))
		}
		for _, c := range []struct {
			query, want string
			min         float64
		}{
			{"breakfast served", "Breakfast", 0.8}, {"are dogs welcome?", "Dogs", 0.8}, {"What does it cost to bring my dog?", "Dogs", 0.1}, {"東京駅", "東京駅", 0.5},
			{"CAFE öffnet", "Das Café", 0.8}, {"opening hours of the pool", "The pool", 0.3},
		} {
			got, err := l.room.Search(l.ctx, base, c.query, 3)
			if err != nil || len(got) == 0 || !strings.HasPrefix(got[0].Text, c.want) || got[0].Score < c.min || got[0].Score > 1 || got[0].Document != "Note" {
				t.Errorf("%q: %+v %v", c.query, got, err)
			}
		}
		for _, query := range []string{"", "what is the", "zeppelin", `"; DROP TABLE`, "a OR b AND (", "NEAR(x", "*", "kb1x"} {
			if got, err := l.room.Search(l.ctx, base, query, 3); err != nil || len(got) != 0 && query != "kb1x" {
				t.Errorf("%q: %+v %v", query, got, err)
			}
		}
	})
}
