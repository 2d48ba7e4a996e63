package api

import (
	"errors"
	"net/http"

	"parley/blobs"
)

// public are the folders of the store whose files anybody may read who knows their name; the names cannot be guessed.
var public = map[string]bool{"recordings": true, "chat": true}

// serveMedia answers /media/recordings/9f2c….wav and the like, ranges included.
func (a *API) serveMedia(w http.ResponseWriter, r *http.Request) {
	folder, name := r.PathValue("folder"), r.PathValue("name")
	if !public[folder] || a.Blobs == nil {
		http.NotFound(w, r)
		return
	}
	f, info, err := a.Blobs.Open(r.Context(), folder+"/"+name)
	switch {
	case errors.Is(err, blobs.ErrNone):
		http.NotFound(w, r)
		return
	case err != nil:
		a.Log.ErrorContext(r.Context(), "media not read", "error", err)
		unavailable(w)
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", info.ContentType)
	h.Set("Cache-Control", "private, no-cache") // it dies with its record
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox") // what customers sent is never run
	h.Set("Access-Control-Allow-Origin", "*")
	http.ServeContent(w, r, "", info.Modified, f)
}
