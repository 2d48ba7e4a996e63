package house

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"

	"parley/assistants"
	"parley/chats"
	"parley/messaging"
	"parley/providers/whatsapp"
	"parley/voice"
)

// openFile keeps a file that only its platform has among the chat attachments, and says what is spoken in a voice note.
// A recording that cannot be understood stays a file.
func (h *House) openFile(ctx context.Context, s messaging.Sender, f messaging.File) (a chats.Attachment, words string, err error) {
	a = chats.Attachment{Type: f.Type, URL: f.URL, Filename: f.Filename}
	var content []byte
	switch {
	case f.Ref != "":
		content, err = h.keepFile(ctx, s, f.Ref, &a)
	case f.Type == "audio":
		content, err = h.fetch(ctx, f.URL)
	}
	if err != nil || f.Type != "audio" || h.on.Engines.Sound == nil {
		return a, "", err
	}
	words, err = h.transcribe(ctx, s, content)
	return a, words, err
}

// keepFile fetches a file with the sender's credentials and stores it under a name that cannot be guessed. It returns what
// of it is to be listened to.
func (h *House) keepFile(ctx context.Context, s messaging.Sender, ref string, a *chats.Attachment) ([]byte, error) {
	if s.Carrier != whatsapp.CarrierName {
		return nil, fmt.Errorf("the carrier %s has no files", s.Carrier)
	}
	body, kind, err := h.cloud.File(ctx, s, ref)
	if err != nil {
		return nil, err
	}
	var sound bytes.Buffer // only what is listened to is held in memory
	from := io.Reader(body)
	if a.Type == "audio" {
		from = io.TeeReader(body, &sound)
	}
	name := rand.Text() + extension(kind)
	err = h.Blobs.Put(ctx, "chat/"+name, from, kind)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	a.URL = h.base() + "/media/chat/" + name
	return sound.Bytes(), nil
}

// transcribe says what is spoken in a recording, in the language of the sender's assistant.
func (h *House) transcribe(ctx context.Context, s messaging.Sender, recording []byte) (string, error) {
	sound, err := h.on.Engines.Sound(ctx, recording)
	if err != nil {
		return "", err
	}
	talk, language := h.on.Engines.Talk, "en"
	open := talk.Ears[talk.Default]
	if s.AssistantID != nil {
		a, err := h.Assistants.ByID(ctx, h.DB, assistants.ID(*s.AssistantID))
		if err == nil {
			language = a.Language()
			if t, ok := h.Catalog.TranscriberFor(a.LanguageID.V, a.TranscriberProviderID.V); ok && talk.Ears[t.Code] != nil {
				open = talk.Ears[t.Code]
			}
		}
	}
	if open == nil {
		return "", nil
	}
	ear, err := open(ctx, voice.Listening{Rate: sound.Rate, Languages: []string{language}})
	if err != nil {
		return "", err
	}
	return voice.Transcribe(ear, sound.PCM)
}

// extension is how the name of a file of a type ends.
func extension(kind string) string {
	kind, _, _ = mime.ParseMediaType(kind)
	usual := map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "audio/ogg": ".ogg", "audio/mpeg": ".mp3", "video/mp4": ".mp4", "text/plain": ".txt"}
	if ext, ok := usual[kind]; ok {
		return ext
	}
	if all, err := mime.ExtensionsByType(kind); err == nil && len(all) > 0 {
		return all[0]
	}
	return ""
}
