package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"parley/audio"
	"parley/config"
	"parley/voice"
)

var screenshot = flag.String("screenshot", "", "write a picture of the page during the call to this file")

// A person opens the printed link, presses the button and asks the demo assistant something: a real browser with a voice for
// a microphone against the built-in engines. Both are in the transcript, both are heard, in the browser and in the recording.
//
// Contract: 5.2 18.1 18.3
func TestTalkInTheBrowser(t *testing.T) {
	data := t.TempDir()
	key := ran(t, nil, "keys", "create", "--data", data, "--name", "test")
	c := client{startServer(t, data, nil), t, key}
	tab := newTab(t, microphone(t, "What are your opening hours?"))
	_, link, _ := strings.Cut(c.banner, "sign in ")
	tab.do(chromedp.Navigate(strings.Fields(link)[0]))
	tab.until(`[...document.querySelectorAll('button')].some(b => b.innerText == 'Start talking')`)
	tab.do(chromedp.Click(chromedp.CSS(".talk button")))
	const lines = `(document.querySelector('.lines')?.innerText ?? '').toLowerCase()`
	tab.until(lines + `.includes('this is harbour bikes')`)
	tab.until(lines + `.includes('opening hours')`)
	tab.until(lines + `.includes('from nine in the morning until six in the evening')`)
	got, err := chromedp.Run(tab.ctx, chromedp.Evaluate[struct{ Said, Heard, Level float64 }](energies, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	if got.Said <= 0.001 || got.Heard <= 0.001 || got.Level <= 0.01 {
		t.Errorf("audio energy in the browser: %+v", got)
	}
	if *screenshot != "" {
		tab.screenshot(*screenshot)
	}
	tab.do(chromedp.Click(chromedp.CSS(".talk button"))) // hang up
	var list struct{ Data []recorded }
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/user/calls", "")), &list); err != nil || len(list.Data) != 1 {
		t.Fatalf("%v %+v", err, list)
	}
	one := c.until(list.Data[0].ID, final)
	if one.Type != "web" || one.Status != "completed" || *one.Reason != "customer_hangup" {
		t.Errorf("%+v", one)
	}
	for _, want := range []string{"assistant: hello, this is harbour bikes.", "customer: what are your opening hours", "assistant: we are open every day from nine"} {
		if !strings.Contains(strings.ToLower(one.Transcript), want) {
			t.Errorf("%q is not in\n%s", want, one.Transcript)
		}
	}
	heard(t, one)
	c.stop(t)
}

// energies are what the browser's peer connection says of its own sound (WebRTC statistics, totalAudioEnergy), and the
// greatest level that an analyser saw in the sound of the assistant.
const energies = `(async () => {
	const out = {Said: 0, Heard: 0, Level: calls.level}
	for (const s of (await calls.last.getStats()).values()) {
		if (s.type == 'media-source') out.Said += s.totalAudioEnergy
		if (s.type == 'inbound-rtp') out.Heard += s.totalAudioEnergy
	}
	return out
})()`

// watchCalls keeps the page's peer connection and measures what it plays.
const watchCalls = `window.calls = {level: 0}
window.RTCPeerConnection = class extends RTCPeerConnection {
	constructor(...a) {
		super(...a)
		calls.last = this
		this.addEventListener('track', e => {
			const sound = new AudioContext(), node = sound.createAnalyser(), buf = new Float32Array(node.fftSize)
			sound.createMediaStreamSource(e.streams[0] ?? new MediaStream([e.track])).connect(node)
			setInterval(() => { node.getFloatTimeDomainData(buf); for (const v of buf) calls.level = Math.max(calls.level, Math.abs(v)) }, 50)
		})
	}
}`

// microphone is a WAV file in which somebody waits for the greeting, asks, and waits for the answer. Browsers play it again
// and again.
func microphone(t *testing.T, question string) string {
	t.Helper()
	cfg := config.Default()
	cfg.Data = t.TempDir()
	vs, err := openVendors(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := vs.Close(); err != nil {
			t.Error(err)
		}
	}()
	file := filepath.Join(t.TempDir(), "voice.wav")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	var w *audio.WAVWriter
	rate := 0
	pause := func(d time.Duration) error { return w.WriteSamples(make([]int16, int(d.Seconds()*float64(rate)))) }
	for frame, err := range vs.Now()[0].Synthesizer.Speak(t.Context(), voice.Speech{Text: question, Language: "en", Speed: 0.9, Stability: 0.7}) {
		if err != nil {
			t.Fatal(err)
		}
		if w == nil {
			rate = frame.Rate
			w, err = audio.NewWAVWriter(f, rate, 1)
			if err = errors.Join(err, pause(8*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.WriteSamples(frame.PCM); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(pause(12*time.Second), w.Close()); err != nil {
		t.Fatal(err)
	}
	return file
}

// tab is a page of a real Chromium whose microphone is a WAV file.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T, microphone string) tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("Chromium is missing: run make deps, or apt-get install chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1440, 900),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"), chromedp.Flag("use-fake-ui-for-media-stream", true),
		chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-file-for-fake-audio-capture", microphone))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := tab{t, ctx}
	b.do(chromedp.Navigate("about:blank"))
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchCalls}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// until waits for a JavaScript condition; speech takes its time.
func (b tab) until(condition string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(45*time.Second)))
	if err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`))
		b.t.Fatalf("never true: %s: %v\n%s", condition, err, text)
	}
}

func (b tab) screenshot(file string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
