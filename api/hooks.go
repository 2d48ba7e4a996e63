package api

import (
	"io"
	"net/http"
)

// callback answers /hooks/…, where vendors call back. Every adapter checks the signatures of its vendor; what no adapter
// answers for is forbidden.
func (a *API) callback(w http.ResponseWriter, r *http.Request) {
	if h := a.Callbacks(r.PathValue("vendor")); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, `{"message":"Forbidden."}`) // the client is gone: nobody is left to tell
}
