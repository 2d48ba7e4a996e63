package api

import (
	"net/http"
	"slices"

	"parley/assistants"
	"parley/chats"
	"parley/db"
	"parley/fault"
	"parley/value"

	"github.com/google/uuid"
)

// embedded is what the widget on a page needs to know before anybody chats.
type embedded struct {
	VoiceEnabled     bool   `json:"voice_enabled"`
	Position         string `json:"position"`
	Color            string `json:"color"`
	HeaderTitle      string `json:"header_title"`
	HeaderSubtitle   string `json:"header_subtitle"`
	ButtonMainText   string `json:"button_main_text"`
	ButtonSubText    string `json:"button_sub_text"`
	StartButtonText  string `json:"start_button_text"`
	ModalTitle       string `json:"modal_title"`
	ModalDescription string `json:"modal_description"`
}

// serveEmbed answers /embed.json?assistant=<uuid>: the look of the assistant's widget, or 404 when it has none to show.
func (a *API) serveEmbed(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	id, err := uuid.Parse(r.URL.Query().Get("assistant"))
	var x assistants.Assistant
	if err == nil {
		x, err = a.Assistants.ByUUID(r.Context(), a.DB, id.String())
	}
	switch {
	case db.Away(err):
		a.Log.ErrorContext(r.Context(), "database away", "error", err)
		unavailable(w)
		return
	case err != nil && fault.Of(err).Kind == fault.Internal && id != uuid.Nil:
		a.Log.ErrorContext(r.Context(), "widget not served", "error", err)
		plain(w, http.StatusInternalServerError, "Server Error\n")
		return
	case err != nil || !chats.Serves(x):
		http.NotFound(w, r)
		return
	}
	if allowed := chats.AllowedOrigins(x); len(allowed) > 0 {
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if !slices.Contains(allowed, origin) && origin != "" {
			h.Del("Access-Control-Allow-Origin")
			plain(w, http.StatusForbidden, "Origin not allowed\n")
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
	}
	s := x.WidgetSettings
	body, err := value.Marshal(embedded{s.VoiceEnabled, s.Position, s.Color, s.HeaderTitle, s.HeaderSubtitle, s.ButtonMainText,
		s.ButtonSubText, s.StartButtonText, s.ModalTitle, s.ModalDescription})
	if err != nil {
		plain(w, http.StatusInternalServerError, "Server Error\n")
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write(body) // the client is gone: nobody is left to tell
}
