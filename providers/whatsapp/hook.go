package whatsapp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/fault"
	"parley/messaging"
)

// maxCallback bounds a callback; the platform promises 3 MB.
const maxCallback = 4 << 20

// Hook answers the platform's callbacks: the challenge of a subscription, and notifications signed with the app secret.
func (c *Client) Hook(m *messaging.Messaging) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			c.challenge(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallback))
		if err != nil || r.Method != http.MethodPost || !c.signed(r.Header.Get("X-Hub-Signature-256"), body) {
			forbid(w)
			return
		}
		var n notification
		if json.Unmarshal(body, &n) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if err := c.take(r.Context(), m, n); err != nil { // the platform sends it again
			slog.ErrorContext(r.Context(), "callback not taken", "carrier", CarrierName, "error", err)
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
}

// forbid answers a callback whose signature is not good.
func forbid(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, `{"message":"Forbidden."}`) // the client is gone: nobody is left to tell
}

func (c *Client) challenge(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if c.VerifyToken == "" || q.Get("hub.mode") != "subscribe" ||
		subtle.ConstantTimeCompare([]byte(q.Get("hub.verify_token")), []byte(c.VerifyToken)) != 1 {
		forbid(w)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, q.Get("hub.challenge")) // the client is gone: nobody is left to tell
}

func (c *Client) signed(header string, body []byte) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(header, "sha256="))
	if err != nil || c.AppSecret == "" {
		return false
	}
	mac := hmac.New(sha256.New, []byte(c.AppSecret))
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}

// notification is what the platform posts.
type notification struct {
	Entry []struct {
		Changes []struct {
			Field string `json:"field"`
			Value struct {
				Metadata struct {
					Ref string `json:"phone_number_id"`
				} `json:"metadata"`
				Contacts []person  `json:"contacts"`
				Messages []inbound `json:"messages"`
				Statuses []status  `json:"statuses"`
			} `json:"value"`
		} `json:"changes"`
	} `json:"entry"`
}

type person struct {
	Phone   string `json:"wa_id"`
	ID      string `json:"user_id"`
	Profile struct {
		Name string `json:"name"`
	} `json:"profile"`
}

type file struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
	Caption  string `json:"caption"`
}

type inbound struct {
	ID       string `json:"id"`
	From     string `json:"from"`
	FromID   string `json:"from_user_id"`
	Type     string `json:"type"`
	Text     text   `json:"text"`
	Image    *file  `json:"image"`
	Audio    *file  `json:"audio"`
	Video    *file  `json:"video"`
	Document *file  `json:"document"`
	Sticker  *file  `json:"sticker"`
	Button   struct {
		Text string `json:"text"`
	} `json:"button"`
	Interactive struct {
		Button struct {
			Title string `json:"title"`
		} `json:"button_reply"`
		List struct {
			Title string `json:"title"`
		} `json:"list_reply"`
	} `json:"interactive"`
	Location *struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
		Name      string  `json:"name"`
	} `json:"location"`
}

type status struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	At     string `json:"timestamp"` // unix seconds
	Ref    string `json:"biz_opaque_callback_data"`
	Errors []struct {
		Code    int    `json:"code"`
		Title   string `json:"title"`
		Message string `json:"message"`
		Data    struct {
			Details string `json:"details"`
		} `json:"error_data"`
	} `json:"errors"`
}

// take passes a notification on. What is not for a sender of ours is none of our business.
func (c *Client) take(ctx context.Context, m *messaging.Messaging, n notification) (err error) {
	for _, e := range n.Entry {
		for _, ch := range e.Changes {
			if ch.Field != "messages" {
				continue
			}
			s, look := m.SenderAt(ctx, CarrierName, ch.Value.Metadata.Ref)
			if fault.Is(look, fault.NotFound) {
				continue
			}
			if look != nil {
				return look
			}
			for _, in := range ch.Value.Messages {
				if msg, ok := in.incoming(s, ch.Value.Contacts); ok {
					_, failed := m.Receive(ctx, msg)
					err = errors.Join(err, failed)
				}
			}
			for _, st := range ch.Value.Statuses {
				if failed := m.Delivery(ctx, s.ID, st.update()); !fault.Is(failed, fault.NotFound) {
					err = errors.Join(err, failed)
				}
			}
		}
	}
	return err
}

// incoming is a message as the room takes it; false for what carries nothing, such as a reaction.
func (in inbound) incoming(s messaging.Sender, people []person) (messaging.Incoming, bool) {
	out := messaging.Incoming{SenderID: s.ID, ID: in.ID, From: messaging.Peer{ID: in.FromID}, Text: in.Text.Body}
	if in.From != "" {
		out.From.Phone = "+" + digits(in.From)
	}
	for _, p := range people {
		if p.Phone == in.From || p.ID != "" && p.ID == in.FromID {
			out.Name = p.Profile.Name
			if out.From.ID == "" {
				out.From.ID = p.ID
			}
		}
	}
	for kind, f := range map[string]*file{"image": in.Image, "audio": in.Audio, "video": in.Video, "document": in.Document,
		"sticker": in.Sticker} {
		if f == nil {
			continue
		}
		if kind == "sticker" {
			kind = "image"
		}
		out.Text = f.Caption
		out.Files = append(out.Files, messaging.File{Type: kind, Ref: f.ID, Filename: f.Filename})
	}
	switch in.Type {
	case "button":
		out.Text = in.Button.Text
	case "interactive":
		out.Text = in.Interactive.Button.Title + in.Interactive.List.Title
	case "location":
		if l := in.Location; l != nil {
			out.Text = strings.TrimSpace(l.Name + " " + strconv.FormatFloat(l.Latitude, 'f', -1, 64) + "," + strconv.FormatFloat(l.Longitude, 'f',
				-1, 64))
		}
	}
	return out, in.ID != "" && out.From != messaging.Peer{} && (out.Text != "" || len(out.Files) > 0)
}

func (s status) update() messaging.Update {
	u := messaging.Update{SID: s.ID, Ref: s.Ref, Status: messaging.DeliveryStatus(s.Status)}
	if seconds, err := strconv.ParseInt(s.At, 10, 64); err == nil {
		u.At = time.Unix(seconds, 0)
	}
	if len(s.Errors) > 0 {
		e := s.Errors[0]
		u.ErrorCode, u.ErrorText = strconv.Itoa(e.Code), e.Message
		if u.ErrorText == "" {
			u.ErrorText = e.Title
		}
		u.ErrorDetails = e.Data.Details
	}
	return u
}
