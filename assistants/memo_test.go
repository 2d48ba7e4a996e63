package assistants

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/ids"
	"parley/toolbox"
)

// What one process remembers of a document is never shown for another one: a write of another process is seen at once,
// without a new updated_at too, and an earlier document is recognised when it comes back.
func TestWritesOfAnotherProcessAreSeenAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		id := ID(l.create(fmt.Sprintf(`"tool_ids":[%d,%d],"knowledgebase_id":%d`, ownTool, ownTool+1, ownKB)))
		other := dbtest.Open(t, d.URL())
		get := func() Assistant {
			t.Helper()
			a, err := l.room.Get(t.Context(), d, 1, byID(int64(id)))
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		elsewhere := func(query string, args ...any) {
			t.Helper()
			if n, err := other.Exec(t.Context(), query, args...); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		first := get()
		rename := `UPDATE assistants SET settings = replace(settings, $2, $3) WHERE id = $1`
		elsewhere(rename, int64(id), `"speech_speed":1`, `"speech_speed":1.1`)
		if a := get(); a.SpeechSpeed != 1.1 || a.UpdatedAt != first.UpdatedAt {
			t.Error(a.SpeechSpeed, a.UpdatedAt)
		}
		elsewhere(rename, int64(id), `"speech_speed":1.1`, `"speech_speed":1`)
		if a := get(); a.SpeechSpeed != 1 {
			t.Error(a.SpeechSpeed)
		}
		elsewhere(`UPDATE assistants SET knowledgebase_id = NULL, status = 'active' WHERE id = $1`, int64(id))
		elsewhere(`UPDATE assistant_tools SET position = 9 WHERE tool_id = $1`, ownTool)
		if a := get(); a.KnowledgebaseID != nil || a.Status != Active || !slices.Equal(a.ToolIDs, []ids.Tool{ownTool + 1, ownTool}) {
			t.Error(a.KnowledgebaseID, a.Status, a.ToolIDs)
		}
		elsewhere(`DELETE FROM assistant_tools WHERE tool_id = $1`, ownTool)
		if a := get(); !slices.Equal(a.ToolIDs, []ids.Tool{ownTool + 1}) {
			t.Error(a.ToolIDs)
		}
		elsewhere(`UPDATE assistants SET deleted_at = 1 WHERE id = $1`, int64(id))
		if _, err := l.room.Get(t.Context(), d, 1, byID(int64(id))); err != ErrNotFound {
			t.Error(err)
		}
	})
}

// Two accounts with the same document share what was read of it and nothing else.
func TestTheSameDocumentOfTwoAccounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		id := l.create(`"tools":[{"type":"calendar_integration",` + calendar + `}]`)
		var theirs int64
		if err := d.Get(t.Context(), &theirs, `INSERT INTO assistants (account_id, uuid, name, type, mode, status, settings, created_at, updated_at)
			SELECT 2, 'a6b0a5a2-5c0c-4f6f-8a52-3d6f5b1f7c01', name, type, mode, status, settings, 7000000, 7000000 FROM assistants WHERE id = $1 RETURNING id`, id); err != nil {
			t.Fatal(err)
		}
		mine, err := l.room.Get(t.Context(), d, 1, byID(id))
		if err != nil {
			t.Fatal(err)
		}
		mine.Tools[0].Spec.(*toolbox.CalendarIntegration).APIKey = "changed in hand"
		mine.Tools[0].Type = "changed in hand"
		a, err := l.room.Get(t.Context(), d, 2, byID(theirs))
		if err != nil || int64(a.ID) != theirs || a.Owner != 2 || a.UUID == mine.UUID || a.CreatedAt == mine.CreatedAt ||
			a.Tools[0].Type != "calendar_integration" || a.Tools[0].Spec.(*toolbox.CalendarIntegration).APIKey != "cal_live_9876" {
			t.Error(a, err)
		}
		if _, err := l.room.Get(t.Context(), d, 2, byID(id)); err != ErrNotFound {
			t.Error("remembered, but not theirs:", err)
		}
	})
}

func TestMemoIsBounded(t *testing.T) {
	m := newMemo(100_000)
	for i := range 1000 {
		text := fmt.Sprintf(`{"name":"%d","system_prompt":%q}`, i, strings.Repeat("x", i))
		for range 2 {
			f, err := m.fields(text)
			if err != nil || f.Name != fmt.Sprint(i) || len(f.SystemPrompt) != i || f.MaxDuration != 600 {
				t.Fatal(f, err)
			}
		}
		if held := len(m.young) + len(m.old); m.size > m.ceiling || held > 2*m.ceiling/int(reflect.TypeFor[Settings]().Size()) {
			t.Fatal(i, m.size, held)
		}
	}
	if _, err := m.fields(`{"name":`); err == nil {
		t.Error("a broken document was read")
	}
}

// Two that read a new document at once remember it once.
func TestMemoCountsOnce(t *testing.T) {
	m := newMemo(1 << 20)
	f, err := m.fields(`{"name":"a"}`)
	if err != nil {
		t.Fatal(err)
	}
	once := m.size
	m.keep(`{"name":"a"}`, f)
	if m.size != once {
		t.Errorf("%d bytes for one document of %d", m.size, once)
	}
}
