package api

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// previews are the voices' samples that were asked for, as WAV files; an engine speaks each one once.
type previews struct {
	mu   sync.Mutex
	made map[int64][]byte
}

// servePreview answers /media/voices/3.wav.
func (a *API) servePreview(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutSuffix(r.PathValue("file"), ".wav")
	id, err := strconv.ParseInt(name, 10, 64)
	if !ok || err != nil || a.Catalog == nil {
		http.NotFound(w, r)
		return
	}
	wav, err := a.preview(r, id)
	switch {
	case err != nil:
		a.Log.ErrorContext(r.Context(), "voice preview failed", "voice", id, "error", err)
		unavailable(w)
	case wav == nil:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "audio/wav")
		w.Header().Set("Cache-Control", "public, max-age=86400")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(wav))
	}
}

// preview speaks a voice's sample, one voice at a time.
func (a *API) preview(r *http.Request, id int64) ([]byte, error) {
	voice, ok := a.Catalog.Voice(id)
	if !ok || a.Preview == nil {
		return nil, nil
	}
	a.previews.mu.Lock()
	defer a.previews.mu.Unlock()
	if wav, ok := a.previews.made[id]; ok {
		return wav, nil
	}
	wav, err := a.Preview(r.Context(), voice)
	if err != nil {
		return nil, err
	}
	if a.previews.made == nil {
		a.previews.made = map[int64][]byte{}
	}
	a.previews.made[id] = wav
	return wav, nil
}
