package responder

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/agent"
)

var today = time.Date(2027, 3, 1, 14, 30, 0, 0, time.UTC) // a Monday

func TestGrammars(t *testing.T) {
	for _, c := range []struct {
		kind kind
		said string
		want any // nil = not understood
	}{
		{number, "four", 4.0}, {number, "about two hundred and fifty", 250.0}, {number, "a hundred", 100.0}, {number, "12", 12.0}, {number, "1,200.50 please", 1200.5},
		{number, "two point five", 2.5}, {number, "three thousand two hundred", 3200.0}, {number, "a dozen", 12.0}, {number, "a couple", 2.0}, {number, "twenty-one", 21.0}, {number, "none of it", nil},
		{date, "tomorrow", "2027-03-02"}, {date, "the day after tomorrow", "2027-03-03"}, {date, "today", "2027-03-01"}, {date, "on Friday", "2027-03-05"}, {date, "monday", "2027-03-08"},
		{date, "March 3rd", "2027-03-03"}, {date, "the third of March", "2027-03-03"}, {date, "february 2", "2028-02-02"}, {date, "twenty first of April 2029", "2029-04-21"},
		{date, "2027-12-24", "2027-12-24"}, {date, "in two weeks", "2027-03-15"}, {date, "in ten days", "2027-03-11"}, {date, "31 february", nil}, {date, "soon", nil},
		{clock, "7 pm", "19:00"}, {clock, "19:30", "19:30"}, {clock, "half past seven in the evening", "19:30"}, {clock, "quarter to eight", "07:45"}, {clock, "noon", "12:00"}, {clock, "seven thirty pm", "19:30"},
		{clock, "at eight", "08:00"}, {clock, "eight", "08:00"}, {clock, "twelve a.m.", "00:00"}, {clock, "ten past three", "03:10"}, {clock, "99:99", nil}, {clock, "later", nil},
		{phone, "+49 170 1234567", "+491701234567"}, {phone, "plus four nine one seven double zero one two three", "+491700123"}, {phone, "030/123456", "030123456"}, {phone, "oh three oh, double five, eleven twelve", "030551112"}, {phone, "fifty five, twenty, thirteen, seven", "5520137"}, {phone, "my number is for four to three six six oh nine", "4236609"}, {phone, "five to three for six seven eight ate", "52346788"}, {phone, "(030) 12 34 56", "030123456"}, {phone, "twelve", nil},
		{email, "Mia.Lee@Example.com.", "mia.lee@example.com"}, {email, "it's mia dot lee at example dot com", "mia.lee@example.com"}, {email, "m i a underscore l at my dash site dot co dot uk", "mia_l@my-site.co.uk"}, {email, "mia", nil},
		{yesno, "yes please", true}, {yesno, "nope", false}, {yesno, "perhaps", nil},
		{name, "my name is mia lee", "Mia Lee"}, {name, "Jonas", "Jonas"}, {name, "this is Ann-Marie O'Neil speaking", "Ann-Marie O'Neil"}, {name, "I'm looking for a job", nil}, {name, "yes", nil},
		{choice, "the small one", "small"}, {choice, "huge", nil}, {text, "two blue ones.", "two blue ones"},
	} {
		v, ok := parse(c.kind, c.said, []string{"small", "large"}, today, true)
		if c.want == nil && ok || c.want != nil && (!ok || v.plain != c.want) {
			t.Errorf("%d %q: got %v %v, want %v", c.kind, c.said, v.plain, ok, c.want)
		}
	}
}

func TestIntents(t *testing.T) {
	for said, want := range map[string]intent{
		"Goodbye!": goodbye, "ok, that's all, bye": goodbye, "No, that's it.": settled, "I would like to leave a message": message, "can somebody ring me back": callback, "wrong number, sorry": mistaken, "Can I speak to a human please?": person, "Operator": person,
		"What?": repeat, "sorry, could you repeat that": repeat, "a bit slower please": slower, "": silence, "...": silence, "yes": yes, "Yeah, exactly": yes,
		"no": no, "that's not right": no, "thanks a lot": thanks, "hi there": hello, "what do you charge?": none, "I need a new bike": none,
		"Please leave your message after the tone": voicemail,
	} {
		if got := intentOf(said); got != want {
			t.Errorf("%q: got %d, want %d", said, got, want)
		}
	}
}

// A message without an end and the longest prompt are answered by the beginning of what was said.
func TestEndlessMessage(t *testing.T) {
	endless := strings.Repeat("and then the number is seven, not to be ", 100_000)
	r := agent.Request{System: agent.Prompt{Text: "FAQ:\nQ: Why?\nA: Because.", Now: today}.System(),
		Messages: []agent.Message{{Role: agent.RoleUser, Text: "I would like to leave a message"}, {Role: agent.RoleAssistant, Text: "What message may I pass on?"},
			{Role: agent.RoleUser, Text: endless}}}
	reply(r)
	d := newDialog(agent.Split(r.System), r)
	d.replay(r.Messages)
	if n := len(d.filled[messageSlot.name].spoken); n == 0 || n > longestTurn {
		t.Errorf("%d bytes were noted", n)
	}
}

// Whatever is said, in whatever order, the model answers something, and the same thing again.
func TestAnswersAnythingTwiceAlike(t *testing.T) {
	sayings := rapid.SampledFrom([]string{
		"yes", "no", "bye", "what?", "", "[Keypad input: 12]", "half past", "I want a table for four tomorrow at 8 pm", "where is parcel 5", "operator", "thanks",
		"mia at example dot com", "no, the time is nine", "no", "why?", "ünïcödé 東京", strings.Repeat("blah ", 300), "{{x}}", "press one for sales", "maybe the phone number",
	})
	prompt := agent.Prompt{Now: today, Text: "FAQ:\nQ: Why?\nA: Because.\nCollect:\n- guests (number)\n- time\n- mail (email)\n- size (s|m, optional)\nSteps:\n1. Ask: Well? -> well (bool)\n2. Call: nothing\n3. Call: track"}
	tools := []agent.Tool{
		{Name: "track", Description: "where is my parcel", Parameters: []byte(`{"type":"object","properties":{"order_id":{"type":"string","description":"Order"}},"required":["order_id"]}`)},
		{Name: "end_call"}, {Name: "send_dtmf"}, {Name: "transfer_call"}, {Name: searchTool},
	}
	rapid.Check(t, func(t *rapid.T) {
		r := agent.Request{System: prompt.System(), Wanted: []agent.Field{{Name: "city", Type: "string", Description: "City"}}}
		for _, x := range tools {
			if rapid.Bool().Draw(t, x.Name) {
				r.Tools = append(r.Tools, x)
			}
		}
		for range rapid.IntRange(1, 8).Draw(t, "turns") {
			r.Messages = append(r.Messages, agent.Message{Role: agent.RoleUser, Text: sayings.Draw(t, "said")})
			for range 3 {
				first, again := answer(r), answer(r)
				if len(first) == 0 && !(len(r.Messages) > 1 && r.Messages[len(r.Messages)-1].Role == agent.RoleTool) || !reflect.DeepEqual(first, again) {
					t.Fatalf("%+v\n%+v", first, again)
				}
				m := agent.Message{Role: agent.RoleAssistant}
				for _, c := range first {
					m.Text += c.Text
					if c.Call != nil {
						m.Calls = append(m.Calls, *c.Call)
					}
				}
				r.Messages = append(r.Messages, m)
				if len(m.Calls) == 0 {
					break
				}
				result := rapid.SampledFrom([]string{`{"error":"timeout"}`, `{"status":"busy"}`, `{"results":[]}`, `null`, `x`}).Draw(t, "result")
				r.Messages = append(r.Messages, agent.Message{Role: agent.RoleTool, Text: result, CallID: m.Calls[0].ID})
			}
		}
	})
}

func answer(r agent.Request) (out []agent.Chunk) {
	for c := range (Model{}).Reply(context.Background(), r) {
		out = append(out, c)
	}
	return out
}

func BenchmarkTurn(b *testing.B) {
	p := agent.Prompt{Now: today, Text: strings.Repeat("Some prose about the firm. ", 200) + "\nFAQ:\nQ: Why?\nA: Because.\n"}
	r := agent.Request{System: p.System()}
	for range 20 {
		r.Messages = append(r.Messages, agent.Message{Role: agent.RoleUser, Text: "Why?"}, agent.Message{Role: agent.RoleAssistant, Text: "Because."})
	}
	r.Messages = r.Messages[:len(r.Messages)-1]
	for b.Loop() {
		answer(r)
	}
}
