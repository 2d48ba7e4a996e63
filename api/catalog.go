package api

import (
	"context"
	"strconv"

	"parley/assistants"
	"parley/catalog"
	"parley/value"
	"parley/wire"
)

type voicesIn struct {
	Mode       value.Opt[string] `query:"mode" rule:"oneof=pipeline|multimodal|dualplex"`
	LanguageID value.Opt[int64]  `query:"language_id"`
}

type languageFilterIn struct {
	LanguageID value.Opt[int64] `query:"language_id"`
}

type modelsIn struct {
	Type string `query:"type" rule:"oneof=llm|multimodal|dualplex" default:"llm"`
}

type attachableIn struct {
	Type value.Opt[string] `query:"type" rule:"oneof=inbound|outbound"`
}

type voiceOut struct {
	ID            int64          `json:"id"`
	Name          string         `json:"name"`
	LanguageID    int64          `json:"language_id"`
	Gender        *string        `json:"gender"`
	PreviewURL    string         `json:"preview_url"`
	Accent        *string        `json:"accent"`
	Age           *string        `json:"age"`
	SynthesizerID *int64         `json:"synthesizer_provider_id"`
	Modes         []catalog.Mode `json:"modes"`
}

type languageOut struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	ISO2 string `json:"iso_2"`
}

type providerOut struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	Code      string `json:"code"`
	IsHealthy bool   `json:"is_healthy"`
}

type modelOut struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	Code      *string `json:"code,omitempty"` // of realtime models
	IsHealthy bool    `json:"is_healthy"`
}

type attachableOut struct {
	ID          int64  `json:"id"`
	PhoneNumber string `json:"phone_number"`
	CountryCode string `json:"country_code"`
	TypeLabel   string `json:"type_label"`
	IsAvailable bool   `json:"is_available"`
}

func (a *API) voices(ctx context.Context, in *voicesIn) ([]voiceOut, error) {
	out := []voiceOut{}
	for _, v := range a.Catalog.Voices(languageFilter(in.LanguageID, catalog.Mode(in.Mode.V))) {
		shown := voiceOut{ID: v.ID, Name: v.Name, LanguageID: v.LanguageID, Gender: filled(v.Gender), Accent: filled(v.Accent), Modes: v.Modes,
			PreviewURL: wire.Origin(ctx) + "/media/voices/" + strconv.FormatInt(v.ID, 10) + ".wav"}
		if v.SynthesizerID != 0 {
			shown.SynthesizerID = &v.SynthesizerID
		}
		out = append(out, shown)
	}
	return out, nil
}

// languageFilter: an id of 0 was sent by somebody, too, and matches no language.
func languageFilter(id value.Opt[int64], m catalog.Mode) catalog.Filter {
	f := catalog.Filter{Mode: m, LanguageID: id.V}
	if id.Has() && id.V == 0 {
		f.LanguageID = -1
	}
	return f
}

func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (a *API) languages(context.Context, *struct{}) ([]languageOut, error) {
	out := []languageOut{}
	for _, l := range catalog.Languages() {
		out = append(out, languageOut(l))
	}
	return out, nil
}

func (a *API) synthesizers(_ context.Context, in *languageFilterIn) ([]providerOut, error) {
	return providersOut(a.Catalog.Synthesizers(languageFilter(in.LanguageID, ""))), nil
}

func (a *API) transcribers(_ context.Context, in *languageFilterIn) ([]providerOut, error) {
	return providersOut(a.Catalog.Transcribers(languageFilter(in.LanguageID, ""))), nil
}

func providersOut(list []catalog.Provider) []providerOut {
	out := []providerOut{}
	for _, p := range list {
		out = append(out, providerOut{p.ID, p.Name, p.Code, p.Healthy()})
	}
	return out
}

func (a *API) models(_ context.Context, in *modelsIn) ([]modelOut, error) {
	out := []modelOut{}
	for _, m := range a.Catalog.Models(in.Type) {
		shown := modelOut{ID: m.ID, Name: m.Name, IsHealthy: m.Healthy()}
		if in.Type != catalog.LLM {
			shown.Code = &m.Code
		}
		out = append(out, shown)
	}
	return out, nil
}

// attachable lists the numbers that an assistant can be given.
func (a *API) attachable(ctx context.Context, in *attachableIn) ([]attachableOut, error) {
	numbers, err := a.Assistants.Attachable(ctx, owner(ctx))
	if err != nil {
		return nil, err
	}
	out := []attachableOut{}
	for _, n := range numbers {
		if in.Type.V == assistants.Inbound && (n.Held || n.CallerID()) {
			continue
		}
		out = append(out, attachableOut{int64(n.ID), n.E164, n.Country, n.TypeLabel, !n.Held})
	}
	return out, nil
}
