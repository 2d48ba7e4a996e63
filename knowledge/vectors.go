package knowledge

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"parley/db"
)

// embed gives the vectors of passages, nil without an embedding model.
func (r *Room) embed(ctx context.Context, part []piece) ([][]float32, error) {
	if r.embedder == nil {
		return nil, nil
	}
	out := make([][]float32, 0, len(part))
	for some := range slices.Chunk(part, 64) {
		texts := make([]string, len(some))
		for i, p := range some {
			texts[i] = p.text
			if p.title != "" {
				texts[i] = p.title + "\n" + p.text
			}
		}
		vectors, err := r.embedder.Embed(ctx, texts)
		if err != nil {
			return nil, err
		}
		if len(vectors) != len(texts) {
			return nil, fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// pack stores a vector of length 1.
func pack(v []float32) []byte {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := float32(math.Sqrt(max(sum, 1e-30)))
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x/norm))
	}
	return b
}

func unpack(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func dot(a, b []float32) (sum float32) {
	for i, x := range a[:min(len(a), len(b))] {
		sum += x * b[i]
	}
	return sum
}

// vectorCache keeps the vectors of the knowledgebases searched last.
type vectorCache struct {
	mu    sync.Mutex
	order []ID
	bases map[ID]*vectorSet
}

// vectorSet is the vectors of a knowledgebase as of a state of its passages.
type vectorSet struct {
	state   vectorState
	ids     []int64
	vectors [][]float32
}

// vectorState changes when passages with vectors come or go.
type vectorState struct {
	Count int64 `db:"n"`
	Last  int64 `db:"last"`
	Sum   int64 `db:"total"`
}

const cachedBases = 16

// byMeaning ranks passages by the angle between their vectors and the query's.
func (r *Room) byMeaning(ctx context.Context, base ID, query string) ([]hit, error) {
	set, err := r.vectorsOf(ctx, base)
	if err != nil || len(set.ids) == 0 {
		return nil, err
	}
	vectors, err := r.embedder.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 {
		return nil, errors.New("no vector for the query")
	}
	asked := unpack(pack(vectors[0]))
	type near struct {
		id    int64
		angle float32
	}
	list := make([]near, len(set.ids))
	for i, v := range set.vectors {
		list[i] = near{set.ids[i], dot(asked, v)}
	}
	slices.SortFunc(list, func(a, b near) int { return cmp.Or(cmp.Compare(b.angle, a.angle), cmp.Compare(a.id, b.id)) })
	list = list[:min(len(list), candidates/2)]
	ids := make([]int64, len(list))
	for i, n := range list {
		ids[i] = n.id
	}
	in, args := db.In(1, ids)
	var hits []hit
	if err := r.db.Select(ctx, &hits, `SELECT `+hitColumns+` FROM passages p`+hitFrom+`WHERE p.id IN `+in, args...); err != nil {
		return nil, err
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
	return hits, nil
}

// vectorsOf takes the vectors of a knowledgebase from the cache, or reads them when its passages have changed.
func (r *Room) vectorsOf(ctx context.Context, base ID) (*vectorSet, error) {
	var now vectorState
	err := r.db.Get(ctx, &now, `SELECT count(*) AS n, COALESCE(max(p.id), 0) AS last, CAST(COALESCE(sum(p.id), 0) AS BIGINT) AS total
		FROM passages p`+hitFrom+`WHERE p.knowledgebase_id = $1 AND p.vector IS NOT NULL AND p.model = $2`, base, r.embedder.Model())
	if err != nil {
		return nil, err
	}
	if set := r.vectors.get(base); set != nil && set.state == now {
		return set, nil
	}
	var rows []struct {
		ID     int64  `db:"id"`
		Vector []byte `db:"vector"`
	}
	err = r.db.Select(ctx, &rows, `SELECT p.id, p.vector FROM passages p`+hitFrom+`
		WHERE p.knowledgebase_id = $1 AND p.vector IS NOT NULL AND p.model = $2 ORDER BY p.id`, base, r.embedder.Model())
	if err != nil {
		return nil, err
	}
	set := &vectorSet{state: now}
	for _, x := range rows {
		set.ids = append(set.ids, x.ID)
		set.vectors = append(set.vectors, unpack(x.Vector))
	}
	r.vectors.put(base, set)
	return set, nil
}

func (c *vectorCache) get(base ID) *vectorSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bases[base]
}

func (c *vectorCache) put(base ID, set *vectorSet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bases == nil {
		c.bases = map[ID]*vectorSet{}
	}
	c.order = append(slices.DeleteFunc(c.order, func(id ID) bool { return id == base }), base)
	c.bases[base] = set
	if len(c.order) > cachedBases {
		delete(c.bases, c.order[0])
		c.order = c.order[1:]
	}
}
