package assistants

import (
	"parley/value"
	"reflect"
	"sync"
)

// memo remembers what stored documents say, by their text: reading one takes longer than fetching it. The text is
// the key, so what is remembered is never out of date, whoever wrote the row; at worst it is not asked for again.
type memo struct {
	mu            sync.Mutex
	young, old    map[string]Settings // old are those that the last full generation left behind
	size, ceiling int                 // bytes that young takes, about, and may take
}

func newMemo(ceiling int) *memo { return &memo{young: map[string]Settings{}, ceiling: ceiling} }

// fields are the fields of a document, complete. The tools are the caller's own; the other lists are shared by all who
// read the same document and must not be changed in place.
func (m *memo) fields(document string) (Settings, error) {
	m.mu.Lock()
	f, known := m.young[document]
	if !known {
		if f, known = m.old[document]; known {
			m.keep(document, f)
		}
	}
	m.mu.Unlock()
	if !known {
		var stored Patch // what the document does not know yet has its default
		if err := value.Unmarshal([]byte(document), &stored); err != nil {
			return f, err
		}
		f = stored.Over(defaults())
		m.mu.Lock()
		m.keep(document, f)
		m.mu.Unlock()
	}
	f.Tools = f.Tools.Clone()
	return f, nil
}

// keep puts a document into the young generation; when that is full, it becomes the old one.
func (m *memo) keep(document string, f Settings) {
	if _, known := m.young[document]; known { // two read it at once
		return
	}
	cost := 2*len(document) + int(reflect.TypeFor[Settings]().Size()) // its words stand in the fields again
	if m.size+cost > m.ceiling {
		m.young, m.old, m.size = map[string]Settings{}, m.young, 0
	}
	m.young[document] = f
	m.size += cost
}
