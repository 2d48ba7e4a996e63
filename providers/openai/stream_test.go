package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"parley/fault"
	"parley/voice"
)

// hear has a second of sound recognised by a server, and returns everything that is said of it.
func hear(t *testing.T, c *Client) (all []voice.Transcript, err error) {
	t.Helper()
	hears, err := c.Transcriber("m")(t.Context(), voice.Transcription{Rate: 8000, Languages: []string{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	defer hears.Close()
	return turnOf(t, hears)
}

func turnOf(t *testing.T, hears voice.Transcriber) (all []voice.Transcript, err error) {
	t.Helper()
	if err := errors.Join(hears.Write(tone(8000, 1, 8000)), hears.EndTurn()); err != nil {
		t.Fatal(err)
	}
	for {
		got, err := hears.Recv()
		if err != nil {
			return all, err
		}
		if all = append(all, got); got.Final {
			return all, nil
		}
	}
}

// A server that streams says what it hears while it hears it.
func TestTranscriptionIsStreamed(t *testing.T) {
	c := quick(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("stream") != "true" {
			t.Errorf("asked with %v", r.Form)
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, data := range []string{`{"type":"transcript.text.delta","delta":"When do"}`, `{"type":"of.tomorrow","delta":7e3,"text":"?"}`,
			`{"type":"transcript.text.delta","delta":" you open"}`, `{"type":"transcript.text.done","text":"When do you open?","usage":{}}`} {
			data = strings.Replace(data, "7e3", `"?"`, 1)
			fmt.Fprintf(w, "event: x\ndata: %s\n\n", data)
		}
	})
	all, err := hear(t, c)
	var said []string
	for _, tr := range all {
		said = append(said, tr.Text)
	}
	if err != nil || strings.Join(said, "|") != "When do|When do you open|When do you open?" {
		t.Errorf("%q %v", said, err)
	}
}

// A server that refuses the wish is asked without it, and from then on only so.
func TestTranscriptionOfServersThatDoNotStream(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusUnprocessableEntity} {
		asked := []string{}
		c := quick(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.FormValue("stream"))
			if r.FormValue("stream") != "" {
				w.WriteHeader(status)
				return
			}
			fmt.Fprint(w, "{\n  \"text\": \"Hello.\"\n}")
		})
		hears, err := c.Transcriber("m")(t.Context(), voice.Transcription{Rate: 8000})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if all, err := turnOf(t, hears); err != nil || len(all) != 1 || all[0].Text != "Hello." {
				t.Errorf("%v %v", all, err)
			}
		}
		hears.Close()
		if got := strings.Join(asked, ","); got != "true,," {
			t.Errorf("%d: asked with %q", status, got)
		}
	}
}

// What a stream may be instead of words is an error of its turn, in words for people, and the next turn may succeed.
func TestTranscriptionStreamsThatBreak(t *testing.T) {
	for name, body := range map[string]string{
		"ends in the middle": `data: {"type":"transcript.text.delta","delta":"When"}` + "\n\n",
		"is garbage":         "data: {{{\n\n",
		"is an error":        `data: {"type":"error","error":{"message":"no"}}` + "\n\n",
		"is a megabyte":      "data: " + strings.Repeat("x", 20<<20) + "\n\n",
		"is empty":           "",
	} {
		t.Run(name, func(t *testing.T) {
			broken := true
			c := quick(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				if broken {
					_, _ = w.Write([]byte(body))
					return
				}
				fmt.Fprint(w, `data: {"type":"transcript.text.done","text":"Hello."}`+"\n\n")
			})
			hears, err := c.Transcriber("m")(t.Context(), voice.Transcription{Rate: 8000})
			if err != nil {
				t.Fatal(err)
			}
			defer hears.Close()
			if _, err := turnOf(t, hears); fault.Of(err).Kind != fault.Unavailable {
				t.Errorf("%v", err)
			}
			broken = false
			if all, err := turnOf(t, hears); err != nil || all[len(all)-1].Text != "Hello." {
				t.Errorf("%v %v", all, err)
			}
		})
	}
}
