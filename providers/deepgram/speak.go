package deepgram

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"

	"parley/audio"
	"parley/catalog"
	"parley/voice"
)

const (
	speechRate = 16000
	mostLetter = 2000 // of one request, in bytes: less than the vendor's 2000 characters
)

// Synthesizer speaks with the voices of Aura.
func (c *Client) Synthesizer() voice.Synthesizer { return synthesizer{c} }

type synthesizer struct{ client *Client }

// Speak implements voice.Synthesizer. The vendor knows no speed: the sound is stretched here.
func (s synthesizer) Speak(ctx context.Context, how voice.Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		path := fmt.Sprintf("/v1/speak?model=%s&encoding=linear16&sample_rate=%d&container=none", url.QueryEscape(how.Voice), speechRate)
		pace := audio.NewStretcher(speechRate, paceOf(how))
		for _, text := range parts(how.Text) {
			for f, err := range s.client.rest.Speech(ctx, path, map[string]string{"text": text}, speechRate) {
				if f.PCM = pace.Process(f.PCM); (len(f.PCM) > 0 || err != nil) && !yield(f, err) || err != nil {
					return
				}
			}
		}
	}
}

func paceOf(how voice.Speech) float64 {
	if how.Speed == 0 {
		return 1
	}
	return how.Speed
}

// parts cuts a text between words where it is too long for one request.
func parts(text string) (out []string) {
	for text = strings.TrimSpace(text); len(text) > mostLetter; {
		at := strings.LastIndexAny(text[:mostLetter], " \n")
		if at <= 0 {
			at = mostLetter
		}
		out, text = append(out, strings.ToValidUTF8(text[:at], "")), strings.TrimSpace(text[at:])
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// voices are those of Aura 2 that are offered unless others are named.
var voices = []string{
	"aura-2-thalia-en", "aura-2-andromeda-en", "aura-2-helena-en", "aura-2-apollo-en", "aura-2-arcas-en", "aura-2-aries-en",
	"aura-2-asteria-en", "aura-2-athena-en", "aura-2-cora-en", "aura-2-draco-en", "aura-2-harmonia-en", "aura-2-hera-en",
	"aura-2-hermes-en", "aura-2-hyperion-en", "aura-2-luna-en", "aura-2-orion-en", "aura-2-pandora-en", "aura-2-zeus-en",
	"aura-2-celeste-es", "aura-2-estrella-es", "aura-2-nestor-es", "aura-2-agathe-fr", "aura-2-elara-de", "aura-2-aurelia-de",
	"aura-2-beatrix-nl", "aura-2-daphne-nl", "aura-2-cinzia-it", "aura-2-dionisio-it", "aura-2-ama-ja", "aura-2-ebisu-ja",
}

// men are the offered voices that are a man's; the others are a woman's.
const men = " apollo arcas aries draco hermes hyperion orion zeus nestor dionisio ebisu "

// accents of voices that have one to speak of.
var accents = map[string]string{"draco": "British", "pandora": "British", "hyperion": "Australian"}

// offer is what a voice's name says: model, name and language.
func offer(codes []string) (out []catalog.NewVoice) {
	for _, code := range codes {
		v := catalog.NewVoice{Code: code, Name: code}
		parts := strings.Split(code, "-")
		if n := len(parts); n >= 3 && len(parts[n-1]) == 2 {
			name := parts[n-2]
			v.Name, v.Languages, v.Accent = strings.ToUpper(name[:1])+name[1:], []string{parts[n-1]}, accents[name]
			if strings.Contains(men, " "+name+" ") {
				v.Gender = "male"
			} else if strings.Contains(strings.Join(voices, " "), "-"+name+"-") {
				v.Gender = "female"
			}
		}
		out = append(out, v)
	}
	return out
}
