package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"time"

	"parley/chats"
	"parley/messaging"
	"parley/ssrf"
	"parley/value"
	"parley/voice"
)

// largestFile bounds what is fetched from an address in a message.
const largestFile = 20 << 20

// openFile keeps a customer's file among the chat attachments, and says what is spoken in a voice note. What cannot be
// fetched stays where it is, and a recording that cannot be understood stays a file.
func (h *App) openFile(ctx context.Context, s messaging.Sender, f messaging.File) (a chats.Attachment, words string, err error) {
	a = chats.Attachment{Type: f.Type, URL: f.URL, Filename: f.Filename}
	body, kind, err := h.content(ctx, s, f)
	if err != nil {
		return a, "", err
	}
	recording, err := h.keepFile(ctx, f, body, kind, &a)
	if err != nil || f.Type != "audio" || h.on.Sound == nil {
		return a, "", err
	}
	words, err = h.transcribe(ctx, s, recording)
	return a, words, err
}

// content opens a file: with the sender's credentials where its platform has it, else at its address.
func (h *App) content(ctx context.Context, s messaging.Sender, f messaging.File) (io.ReadCloser, string, error) {
	if f.Ref == "" {
		return h.download(ctx, f.URL)
	}
	open := h.vendors.Now().By(s.Carrier).Files
	if open == nil {
		return nil, "", fmt.Errorf("the carrier %s has no files", s.Carrier)
	}
	return open(ctx, s, f.Ref)
}

// download opens a file at an address that a customer chose.
func (h *App) download(ctx context.Context, url string) (io.ReadCloser, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	res, err := h.Guard.Client(ssrf.Options{Timeout: 15 * time.Second}).Do(req)
	if err != nil {
		return nil, "", err
	}
	if res.StatusCode != http.StatusOK {
		return nil, "", errors.Join(fmt.Errorf("file: HTTP %d", res.StatusCode), res.Body.Close())
	}
	return http.MaxBytesReader(nil, res.Body, largestFile), res.Header.Get("Content-Type"), nil
}

// keepFile stores a file under its name, which cannot be guessed and is the same at every try. It returns what of it is to
// be listened to.
func (h *App) keepFile(ctx context.Context, f messaging.File, body io.ReadCloser, kind string, a *chats.Attachment) ([]byte, error) {
	var sound bytes.Buffer // only what is listened to is held in memory
	from := io.Reader(body)
	if a.Type == "audio" {
		from = io.TeeReader(body, &sound)
	}
	if kind == "" || kind == "application/octet-stream" {
		kind = cmp.Or(mime.TypeByExtension(path.Ext(f.Filename)), "application/octet-stream")
	}
	name := f.Keep + extension(kind)
	err := h.Blobs.Put(ctx, "chat/"+name, from, kind)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	a.URL = h.base() + "/media/chat/" + name
	return sound.Bytes(), nil
}

// transcribe says what is spoken in a recording, in the language of the sender's assistant.
func (h *App) transcribe(ctx context.Context, s messaging.Sender, recording []byte) (string, error) {
	sound, err := h.on.Sound(ctx, recording)
	if err != nil {
		return "", err
	}
	talk, language := h.Switchboard.Engines(), "en"
	open := talk.Transcribers[talk.Default]
	if s.AssistantID != nil {
		a, err := h.Assistants.ByID(ctx, h.DB, *s.AssistantID)
		if err == nil {
			language = a.Language()
			if t, ok := h.Catalog.TranscriberFor(a.LanguageID, value.Or(a.TranscriberProviderID, 0)); ok && talk.Transcribers[t.Code] != nil {
				open = talk.Transcribers[t.Code]
			}
		}
	}
	if open == nil {
		return "", nil
	}
	t, err := open(ctx, voice.Transcription{Rate: sound.Rate, Languages: []string{language}})
	if err != nil {
		return "", err
	}
	return voice.Transcribe(t, sound.PCM)
}

// extension is how the name of a file of a type ends.
func extension(kind string) string {
	kind, _, _ = mime.ParseMediaType(kind)
	usual := map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "audio/ogg": ".ogg", "audio/mpeg": ".mp3",
		"video/mp4": ".mp4", "text/plain": ".txt"}
	if ext, ok := usual[kind]; ok {
		return ext
	}
	if all, err := mime.ExtensionsByType(kind); err == nil && len(all) > 0 {
		return all[0]
	}
	return ""
}
