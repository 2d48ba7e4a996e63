package voice

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/audio"
	"parley/lines"
	"parley/lines/linetest"
)

var update = flag.Bool("update", false, "rewrite the lower half of testdata/*.call")

// A .call file is a call: above the dashes what the caller does and how slow the engines are, below what must happen.
//
//	set KEY VALUE…            a setting of the conversation
//	caller AT FOR WORDS…      speaks; "-" makes a sound without words; "lingers" before them: the detector hears 0.3 s more
//	fade AT · back AT         the sound of speech is gone and returns
//	gap AT FOR                no packets come
//	tone AT FOR HZ            and beeps
//	type AT TEXT · key AT K · hint AT TEXT · hold AT FOR · hangup AT · stop AT REASON
//	llm DELAY TEXT…           one answer; [tool NAME FOR] runs a tool, [hold FOR] parks the caller, [back] ends
//	                      that, [heard] waits until all was heard, [then REASON] ends the call, [next GREETING] hands it to another assistant, [end] hangs up, [fail] fails, [stall] never goes on
//	tts DELAY PER-CHAR        or stall, or fail; tts2, llm2, stt2 are the fallbacks
//	stt DELAY                 from the end of the turn to its text; "batch" after it: no words before that
//	over AT · likely AT · resumed AT   the transcriber ends the turn itself, or thinks about it
//
// Contract: 4.2 4.4 4.9
func TestCalls(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.call")
	if len(files) == 0 {
		t.Fatal("no calls")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".call"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, want, _ := strings.Cut(string(raw), "---\n")
			synctest.Test(t, func(t *testing.T) {
				got := parse(t, head).run(t)
				if *update {
					os.WriteFile(file, []byte(head+"---\n"+got), 0o644)
				} else if got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// A call is the same in every mode, as far as it means the same there.
//
// Contract: 4.2
func TestModes(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.call")
	for _, mode := range []string{"multimodal", "dualplex"} {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".call")
			if slices.Contains(strings.Fields(pipelineOnly[name]), mode) {
				continue
			}
			t.Run(mode+"/"+name, func(t *testing.T) {
				raw, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				head, want, _ := strings.Cut(string(raw), "---\n")
				if strings.Contains(head, "\nengine ") {
					t.Skip("it has an engine of its own")
				}
				synctest.Test(t, func(t *testing.T) {
					w := parse(t, head)
					w.mode = mode
					want := requests.ReplaceAllString(want, "")
					if got := requests.ReplaceAllString(w.run(t), ""); got != want {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
					for _, e := range w.seen {
						if strings.Contains(e, " stt.request ") || mode == "multimodal" && strings.Contains(e, " tts.request ") {
							t.Errorf("in %s: %s", mode, e)
						}
					}
				})
			})
		}
	}
}

// requests are what the engines of a pipeline are asked.
var requests = regexp.MustCompile(`(?m)^(asked |.* (stt|tts)\.request ).*\n`)

// pipelineOnly are the calls that mean something else in a mode, because an engine of the pipeline fails in them, or a field works in
// that one alone.
var pipelineOnly = map[string]string{
	"filler": "multimodal", "failing-llm": "multimodal dualplex", "failing-stt": "multimodal dualplex",
	"own-end": "multimodal dualplex", "own-end-missing": "multimodal dualplex", "stall-llm": "multimodal", "parked-funds": "multimodal", "stall-llm-fallback": "multimodal dualplex", "stall-stt": "multimodal dualplex",
	"llm-dies-alone": "multimodal dualplex", "llm-dies-middle": "multimodal dualplex", "llm-stalls-alone": "multimodal dualplex",
	"llm-stalls-middle": "multimodal dualplex", "stall-stt-alone": "multimodal dualplex", "filler-language": "multimodal",
	"filler-own-voice": "multimodal", "holding-dead-voice": "multimodal", "tts-dies-alone": "multimodal", "tts-dies-middle": "multimodal",
	"tts-shunned": "multimodal", "tool-and-words": "multimodal", "tool-cut": "multimodal", "holding-again": "multimodal",
	"stall-tts": "multimodal", "stall-tts-alone": "multimodal", "stall-tts-middle": "multimodal", "tool": "multimodal", // there a tool is called once the words before it are sound
}

// Finding out who picked up a call that we placed takes nothing from a person: every conversation is the same to the
// moment as one in which nobody is to be found out (contract 4.2, 5.2).
func TestPeopleNoticeNothing(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.call")
	people := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, want, _ := strings.Cut(string(raw), "---\n")
		if strings.Contains(head, "voicemail") || strings.Contains(head, "voice_mail") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".call"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := parse(t, "set end_call_on_voicemail true\n"+head).run(t)
				people += strings.Count(got, `amd {"result":"human"`)
				if got = amd.ReplaceAllString(got, ""); got != want {
					t.Errorf("got\n%s\nwithout looking\n%s", got, want)
				}
			})
		})
	}
	if people < 20 {
		t.Errorf("only %d people", people)
	}
}

var amd = regexp.MustCompile(`(?m)^.* amd \{.*\n`)

type step struct {
	at time.Duration
	do func(*world)
}

// world is one call in the making.
type world struct {
	t        *testing.T
	cfg      Config
	steps    []step
	show     map[string]bool
	thinkers [2]*thinker
	says     [2]*synth
	hears    [2]*recogniser
	tamper   func(*Parts) // puts other engines in their place

	media   *linetest.Media
	session *Session
	stop    context.CancelCauseFunc
	began   time.Time
	out     []string
	answers []agentCall

	tape   []taped
	clock  sync.Mutex
	ends   bool
	engine *scripted
	mode   string                  // "multimodal", "dualplex"; empty = pipeline
	played map[time.Duration]int64 // at the moments somebody asked
	seen   []string                // every event, hidden ones too
	report Report
}

type agentCall struct {
	src int
	q   Thinking
}

func parse(t *testing.T, text string) *world {
	w := &world{t: t, show: map[string]bool{}, played: map[time.Duration]int64{}, cfg: Config{
		Greeting: "Hi there.", Language: "en", Speech: Speech{Voice: "v", Speed: 1},
		EndSilence: 500 * time.Millisecond, Interruptible: true, InterruptAfter: 500 * time.Millisecond,
		MaxDuration: 10 * time.Minute, MaxSilence: 40 * time.Second, ReengageEvery: 30 * time.Second,
	}}
	w.thinkers[0], w.says[0], w.hears[0] = &thinker{w: w}, &synth{first: 200 * time.Millisecond, perChar: 60 * time.Millisecond}, newRecogniser(100*time.Millisecond)
	for _, l := range strings.Split(text, "\n") {
		f := strings.Fields(l)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		w.parseLine(f)
	}
	slices.SortStableFunc(w.steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	return w
}

func (w *world) dur(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *world) at(s string, do func(*world)) { w.steps = append(w.steps, step{w.dur(s), do}) }

func (w *world) parseLine(f []string) {
	rest := func(n int) string { return strings.Join(f[n:], " ") }
	switch f[0] {
	case "set":
		w.setting(f[1], rest(2))
	case "show":
		for _, k := range f[1:] {
			w.show[k] = true
		}
	case "caller":
		w.speaks(w.dur(f[1]), w.dur(f[2]), f[3:])
	case "tone":
		hz, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			w.t.Fatal(err)
		}
		pcm := make([]int16, int64(w.dur(f[2]))*8000/int64(time.Second))
		audio.GenSignal(pcm, 8000, 0, audio.Tone{Hz: hz, Level: 0.3})
		w.at(f[1], func(w *world) { w.media.Utter(pcm) })
	case "fade", "back": // inside speech
		kind := map[string]lines.EventKind{"fade": lines.SpeechFaded, "back": lines.SpeechBack}[f[0]]
		w.at(f[1], func(w *world) { w.notice(lines.Event{Kind: kind}) })
	case "gap": // no packets come
		w.steps = append(w.steps, step{w.dur(f[1]) + 100*time.Millisecond, func(w *world) { w.notice(lines.Event{Kind: lines.Gap, At: w.began.Add(w.dur(f[1]))}) }},
			step{w.dur(f[1]) + w.dur(f[2]), func(w *world) { w.notice(lines.Event{Kind: lines.GapOver}) }})
	case "type":
		w.at(f[1], func(w *world) { w.session.Say(w.t.Context(), rest(2)) })
	case "over", "likely", "resumed":
		sign := map[string]TurnSign{"over": TurnOver, "likely": TurnLikely, "resumed": TurnResumed}[f[0]]
		w.at(f[1], func(w *world) { w.hears[0].sign(sign) })
	case "engine": // MODE [ends]: a realtime engine
		w.mode, w.ends = f[1], len(f) > 2
	case "lose": // AT: its connection breaks
		w.at(f[1], func(w *world) { w.engine.now().lose() })
	case "hint":
		w.at(f[1], func(w *world) { w.session.Hint(w.t.Context(), rest(2)) })
	case "key":
		w.at(f[1], func(w *world) { w.notice(lines.Event{Kind: lines.Digit, Digit: f[2][0]}) })
	case "hold":
		w.at(f[1], func(w *world) { w.notice(lines.Event{Kind: lines.HeldOn}) })
		w.steps = append(w.steps, step{w.dur(f[1]) + w.dur(f[2]), func(w *world) { w.notice(lines.Event{Kind: lines.HeldOff}) }})
	case "hangup":
		w.at(f[1], func(w *world) { w.media.Close() })
	case "stop":
		w.at(f[1], func(w *world) { w.stop(Reason(f[2])) })
	case "llm", "llm2":
		i := len(f[0]) - len("llm")
		if w.thinkers[i] == nil {
			w.thinkers[i] = &thinker{w: w, src: i}
		}
		w.thinkers[i].answers = append(w.thinkers[i].answers, reply{w.dur(f[1]), rest(2)})
	case "tts", "tts2":
		s := &synth{perChar: 60 * time.Millisecond}
		w.says[len(f[0])-len("tts")] = s
		switch f[1] {
		case "stall", "fail":
			s.trouble = f[1]
		default:
			s.first, s.perChar = w.dur(f[1]), w.dur(f[2])
			if len(f) > 3 {
				s.trouble, s.good = f[3], w.dur(f[4])
			}
		}
	case "stt", "stt2":
		e := newRecogniser(0)
		w.hears[len(f[0])-len("stt")] = e
		if f[1] == "stall" || f[1] == "fail" {
			e.trouble = f[1]
		} else {
			e.delay = w.dur(f[1])
		}
		e.batch = len(f) > 2 && f[2] == "batch"
	default:
		w.t.Fatalf("what is %q?", f)
	}
}

func (w *world) setting(key, v string) {
	secs := func() time.Duration {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		return time.Duration(n * float64(time.Second))
	}
	c := &w.cfg
	switch key {
	case "initial_message":
		c.Greeting = v
	case "wait_for_customer":
		c.WaitForCaller = v == "true"
	case "endpoint_type":
		c.Semantic = v == "ai"
	case "endpoint_sensitivity":
		c.EndSilence = secs()
	case "interrupt_sensitivity":
		c.InterruptAfter = secs()
	case "min_interrupt_words":
		c.InterruptWords = int(secs() / time.Second)
	case "allow_interruptions":
		c.Interruptible = v == "true"
	case "max_duration":
		c.MaxDuration = secs()
	case "max_silence_duration":
		c.MaxSilence = secs()
	case "max_initial_silence_duration":
		c.MaxInitialSilence = secs()
	case "reengagement_interval":
		c.ReengageEvery = secs()
	case "reengagement_prompt":
		c.ReengagePrompt = strings.Trim(v, `"`)
	case "funds":
		c.Funds = secs()
	case "end_call_on_voicemail":
		w.answering().HangUp = v == "true"
	case "voice_mail_message":
		w.answering().Message = v
	case "languages":
		c.Others = strings.Fields(v)
	case "ambient_sound":
		c.Ambience, c.AmbienceVolume = v, 0.5
	case "keypad":
		c.Keypad = &Keypad{Timeout: w.dur(strings.Fields(v)[0]), Stop: strings.Fields(v)[1][0]}
	case "fillers":
		c.Fillers = map[string]Fillers{"en": {Question: []string{v}, Neutral: []string{"Hm."}}}
	case "fillers_de":
		c.Fillers["de"] = Fillers{Neutral: []string{v}}
	default:
		w.t.Fatalf("no setting %s", key)
	}
}

// answering makes the call one that we placed.
func (w *world) answering() *Answering {
	if w.cfg.Answering == nil {
		w.cfg.Answering = &Answering{Opening: w.cfg.Greeting}
	}
	return w.cfg.Answering
}

const (
	onsetLate = 60 * time.Millisecond // the detector's own delays
	endLate   = 80 * time.Millisecond
)

// speaks plays a sound of the caller to the detector and its words to the transcribers.
func (w *world) speaks(at, dur time.Duration, words []string) {
	sound, late := true, endLate
	if words[0] == "lingers" { // the detector says speech for longer than there is sound
		words, late = words[1:], 300*time.Millisecond
		w.steps = append(w.steps, step{at + dur + endLate, func(w *world) { w.notice(lines.Event{Kind: lines.SpeechFaded, At: w.began.Add(at + dur)}) }})
	}
	if words[0] == "-" {
		words = nil
	} else if words[0] == "quietly" { // too quiet for the detector
		words, sound = words[1:], false
	}
	if sound {
		w.steps = append(w.steps,
			step{at + onsetLate, func(w *world) { w.notice(lines.Event{Kind: lines.SpeechStart, At: w.began.Add(at)}) }},
			step{at + dur + late, func(w *world) { w.notice(lines.Event{Kind: lines.SpeechEnd, At: w.began.Add(at + dur)}) }})
	}
	if w.ends {
		w.steps = append(w.steps, step{at + onsetLate, func(w *world) { w.engine.now().starts() }},
			step{at + dur + w.cfg.EndSilence, func(w *world) { w.engine.now().stops() }})
	}
	for i, word := range words {
		w.steps = append(w.steps, step{at + dur*time.Duration(i+1)/time.Duration(len(words)), func(w *world) {
			for _, e := range w.hears {
				if e != nil {
					e.say(word)
				}
			}
		}})
	}
}

func (w *world) notice(ev lines.Event) {
	if ev.At.IsZero() {
		ev.At = time.Now()
	}
	w.media.Notice(ev)
}

func (w *world) run(t *testing.T) string {
	w.media = linetest.NewMedia(8000)
	w.began = time.Now()
	ctx, stop := context.WithCancelCause(t.Context())
	w.stop = stop
	defer stop(nil)
	parts := Parts{
		Transcriber: NamedTranscriber{w.hears[0].open, "one"}, Thinker: w.thinkers[0], Synthesizer: NamedSynthesizer{Synthesizer: w.says[0], Provider: "one"},
		Observe: w.observe, Log: slog.New(slog.DiscardHandler),
	}
	if w.hears[1] != nil {
		parts.TranscriberFallback = NamedTranscriber{w.hears[1].open, "two"}
	}
	if w.thinkers[1] != nil {
		parts.ThinkerFallback = w.thinkers[1]
	}
	if w.says[1] != nil {
		parts.SynthesizerFallback = NamedSynthesizer{Synthesizer: w.says[1], Provider: "two"}
	}
	if w.mode != "" {
		w.engine = &scripted{w: w, text: w.mode == "dualplex", ends: w.ends}
		parts.Realtime = w.engine.talker()
	}
	if w.tamper != nil {
		w.tamper(&parts)
	}
	w.session = New(w.cfg, meter{w.media, w}, parts)
	w.session.trace = func(at time.Time, what any) { w.tape = append(w.tape, taped{at.Sub(w.began), what}) }
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, st := range w.steps {
			select {
			case <-time.After(time.Until(w.began.Add(st.at))):
				st.do(w)
			case <-over:
				return
			}
		}
	})
	rep := w.session.Run(ctx)
	w.report = rep
	ended := time.Since(w.began)
	close(over)
	wg.Wait()
	w.media.Close()
	for _, sp := range w.media.Spans() {
		w.out = append(w.out, fmt.Sprintf("%8.3fs   assistant is heard until %.3fs", sp.From.Seconds(), sp.To.Seconds()))
	}
	slices.SortStableFunc(w.out, func(a, b string) int { return cmp.Compare(stamp(a), stamp(b)) })
	for _, e := range rep.Entries {
		who, cutOff := "Customer", ""
		if e.Assistant {
			who = "Assistant"
		}
		if e.Interrupted {
			cutOff = " [interrupted]"
		}
		w.out = append(w.out, fmt.Sprintf("%-9s | %s%s", who, e.Text, cutOff))
	}
	w.out = append(w.out, fmt.Sprintf("ended: %s after %.3fs", rep.Reason, ended.Seconds()))
	if w.show["history"] {
		for _, m := range rep.History {
			b, _ := json.Marshal(m)
			w.out = append(w.out, "history: "+string(b))
		}
	}
	for _, c := range w.answers {
		if w.show["asked"] {
			w.out = append(w.out, fmt.Sprintf("asked %d: %s %q notes %q last %q", c.src, c.q.Purpose, c.q.Instruction, c.q.Notes, lastText(c.q.History)))
		}
	}
	return strings.Join(w.out, "\n") + "\n"
}

func lastText(h []agent.Message) string {
	if len(h) == 0 {
		return ""
	}
	return h[len(h)-1].Text
}

func stamp(l string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.Fields(l)[0], "s"), 64)
	if err != nil {
		return math.Inf(1)
	}
	return n
}

var hidden = map[string]bool{"audio.denoise": true, "stt.request": true, "tts.request": true, "audio.first_out": true, "partial": true,
	"realtime.session": true}

func (w *world) observe(e Event) {
	w.seen = append(w.seen, seen(e, w.began))
	if hidden[e.Type] && !w.show[e.Type] {
		return
	}
	data, err := json.Marshal(e.Data)
	if err != nil {
		w.t.Error(err)
	}
	w.out = append(w.out, fmt.Sprintf("%8.3fs %s %s", e.At.Sub(w.began).Seconds(), e.Type, data))
}

// transcriber is a transcriber that hears what the script says.
type recogniser struct {
	delay   time.Duration
	batch   bool
	trouble string
	mu      sync.Mutex
	words   []string
	open1   *earCall

	dismissed bool
}

func newRecogniser(delay time.Duration) *recogniser { return &recogniser{delay: delay} }

type earCall struct {
	e   *recogniser
	out chan Transcript
	end chan struct{}
}

func (e *recogniser) open(ctx context.Context, l Transcription) (Transcriber, error) {
	if e.trouble == "fail" {
		return nil, errors.New("no recogniser")
	}
	c := &earCall{e, make(chan Transcript, 100), make(chan struct{})}
	e.mu.Lock()
	e.open1, e.dismissed = c, false
	e.mu.Unlock()
	return c, nil
}

func (e *recogniser) say(word string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dismissed {
		return // nobody listens
	}
	e.words = append(e.words, word)
	if e.open1 != nil && !e.batch && e.trouble == "" {
		e.open1.out <- Transcript{Text: strings.Join(e.words, " ")}
	}
}

// sign has the transcriber say what it makes of the turn.
func (e *recogniser) sign(sign TurnSign) {
	e.mu.Lock()
	defer e.mu.Unlock()
	tr := Transcript{Text: strings.Join(e.words, " "), Turn: sign, Final: sign == TurnOver}
	if tr.Final {
		e.words = nil
	}
	e.open1.out <- tr
}

func (c *earCall) Write([]int16) error { return nil }

func (c *earCall) EndTurn() error {
	c.e.mu.Lock()
	text := strings.Join(c.e.words, " ")
	c.e.words = nil
	c.e.mu.Unlock()
	if c.e.trouble == "stall" {
		return nil
	}
	language := ""
	if strings.HasPrefix(text, "guten") {
		language = "de"
	}
	go func() {
		select {
		case <-time.After(c.e.delay):
			c.out <- Transcript{Text: text, Final: true, Language: language}
		case <-c.end:
		}
	}()
	return nil
}

func (c *earCall) Recv() (Transcript, error) {
	select {
	case t := <-c.out:
		return t, nil
	case <-c.end:
		return Transcript{}, io.EOF
	}
}

func (c *earCall) Close() error {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if c.e.open1 == c {
		c.e.open1, c.e.words, c.e.dismissed = nil, nil, true
	}
	close(c.end)
	return nil
}

// thinker answers from the script.
type thinker struct {
	w       *world
	src     int
	answers []reply
}

type reply struct {
	after time.Duration
	text  string
}

func (m *thinker) Think(ctx context.Context, q Thinking) iter.Seq2[Thought, error] {
	m.w.answers = append(m.w.answers, agentCall{m.src, q})
	return func(yield func(Thought, error) bool) {
		if len(m.answers) == 0 {
			yield(Thought{}, errors.New("nothing to say"))
			return
		}
		a := m.answers[0]
		m.answers = m.answers[1:]
		if wait(ctx, a.after) != nil {
			return
		}
		m.speak(ctx, a.text, yield)
	}
}

func (m *thinker) speak(ctx context.Context, text string, yield func(Thought, error) bool) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if !strings.HasPrefix(text, "[") {
			n := strings.IndexAny(text, ".?![")
			if n < 0 {
				n = len(text)
			} else if text[n] != '[' {
				n++
			}
			if !yield(Thought{Text: text[:n]}, nil) {
				return
			}
			text = text[n:]
			continue
		}
		cmd, rest, _ := strings.Cut(text[1:], "]")
		text = rest
		f := strings.Fields(cmd)
		switch f[0] {
		case "end":
			if !yield(Thought{Then: AssistantHangup}, nil) {
				return
			}
		case "hold": // the caller waits, once what was said before was heard
			sound := func(pcm []int16) { audio.GenSignal(pcm, 8000, 0, audio.Tone{Hz: 425, Level: 0.1}) }
			if !yield(Thought{Park: &Parking{Sound: sound}}, nil) || wait(ctx, m.w.dur(f[1])+31*offBeat) != nil {
				return
			}
		case "back":
			if !yield(Thought{Resume: true}, nil) {
				return
			}
		case "heard":
			if !yield(Thought{Pause: true}, nil) {
				return
			}
		case "then":
			if !yield(Thought{Then: Reason(f[1])}, nil) {
				return
			}
		case "next": // another assistant takes over
			c := m.w.cfg
			c.Greeting, c.Speech.Voice, c.MaxDuration = strings.Join(f[1:], " "), "w", time.Second
			if !yield(Thought{Successor: &Successor{Config: c, Parts: m.w.session.parts, Greet: len(f) > 1}}, nil) {
				return
			}
		case "fail":
			yield(Thought{}, errors.New("model broke"))
			return
		case "stall":
			<-ctx.Done()
			return
		case "tool":
			if !yield(Thought{Event: &agent.Event{Type: "tool.call", Data: agent.Called{Name: f[1], Arguments: json.RawMessage(`{}`)}}}, nil) {
				return
			}
			if wait(ctx, m.w.dur(f[2])) != nil {
				return
			}
			if !yield(Thought{Event: &agent.Event{Type: "tool.result", Data: agent.Answered{Name: f[1], Result: json.RawMessage(`{"ok":true}`)}}}, nil) {
				return
			}
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// offBeat keeps the first sounds of sentences off the moments at which the line sends; its squares do not add up to one.
const offBeat = 100 * time.Microsecond

// synth makes a tone as long as the text; trouble stalls or fails it, after good of sound.
type synth struct {
	first, perChar, good time.Duration
	trouble              string
	n                    int
}

func (s *synth) Speak(ctx context.Context, sp Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		s.n++
		if wait(ctx, s.first+time.Duration(s.n*s.n)*offBeat) != nil {
			return
		}
		total := time.Duration(len(sp.Text)) * s.perChar
		if s.trouble != "" {
			total = s.good
		}
		pcm := make([]int16, 8000/50)
		for i := range pcm {
			pcm[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/8000))
		}
		for range int(total / audio.FrameDur) {
			if !yield(audio.Frame{Rate: 8000, PCM: pcm}, nil) {
				return
			}
		}
		switch s.trouble {
		case "fail":
			yield(audio.Frame{}, errors.New("synthesizer broke"))
		case "stall":
			<-ctx.Done()
		}
	}
}

// Whichever engine stalls, the caller hears something within the budget: 3 s from the end of the turn.
func TestNeverSilent(t *testing.T) {
	const budget = 3 * time.Second
	for name, engines := range map[string]string{
		"recogniser":               "stt stall batch",
		"recogniser with fallback": "stt stall batch\nstt2 100ms",
		"recogniser after words":   "stt stall",
		"model":                    "llm 0s [stall]",
		"model with fallback":      "llm 0s [stall]\nllm2 300ms Nine.",
		"model that fails":         "llm 100ms [fail]",
		"speech with fallback":     "tts stall\ntts2 200ms 60ms",
		"speech that fails":        "tts fail\ntts2 200ms 60ms",
		"every one a little":       "stt 900ms batch\nllm 900ms Nine.\ntts 900ms 60ms",
		"tool":                     "llm 100ms [tool search 9s] Nine.",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := parse(t, "set initial_message\nset wait_for_customer true\ncaller 2s 1s when do you open\nllm 300ms Nine.\n"+engines+"\nhangup 12s")
				if strings.HasPrefix(engines, "llm ") {
					w.thinkers[0].answers = w.thinkers[0].answers[1:]
				}
				w.run(t)
				end := 3*time.Second + w.cfg.EndSilence
				for _, sp := range w.media.Spans() {
					if sp.From > end {
						if wait := sp.From - end; wait > budget {
							t.Errorf("the caller waited %v", wait)
						}
						return
					}
				}
				t.Error("the caller heard nothing")
			})
		})
	}
}
