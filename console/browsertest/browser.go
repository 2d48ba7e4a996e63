// Package browsertest drives a real Chromium as a person would: by the names of what is on the screen, with mouse and
// keyboard. It notes what a person would find in the browser's console, and requests to third parties.
package browsertest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"parley/assets/testonly"
)

var shots = flag.String("shots", "", "folder that screenshots are saved in")

// patience bounds how long anything on a page may take.
const patience = 30 * time.Second

// Browser is a tab.
type Browser struct {
	T       *testing.T
	ctx     context.Context
	started bool // a deadline on the first step would end the browser with it

	mu   sync.Mutex
	bad  []string
	home []string // origins that pages may ask
}

// New starts a browser that may talk to the origins of home and nobody else. flags are further switches of Chromium.
func New(t *testing.T, home []string, flags ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("Chromium is missing: run make deps, or apt-get install chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1440, 900),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("lang", "en-GB"),
		chromedp.Flag("use-fake-ui-for-media-stream", true), chromedp.Flag("use-fake-device-for-media-stream", true),
		chromedp.Flag("allow-loopback-in-peer-connection", true), chromedp.Flag("autoplay-policy", "no-user-gesture-required"))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(opts, flags...)...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &Browser{T: t, ctx: ctx, home: home}
	b.Do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	Call(b, runtime.Enable, cdp.Empty{})
	Call(b, log.Enable, cdp.Empty{})
	Call(b, network.Enable, network.EnableParams{})
	return b
}

// Call sends the browser a command.
func Call[P, R any](b *Browser, command cdp.Command[P, R], params P) {
	b.T.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.T.Fatal(err)
	}
}

// JS evaluates an expression, and waits when it is a promise.
func JS[V any](b *Browser, expression string) V {
	b.T.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 2*patience)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[V](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.T.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (b *Browser) note(e any) {
	what := ""
	switch e := e.(type) {
	case *runtime.EventExceptionThrown:
		what = fmt.Sprintf("exception: %+v", e.ExceptionDetails)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			what = fmt.Sprint("console error: ", len(e.Args), " values")
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			what = fmt.Sprint(e.Entry.Text, " ", e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") && !b.isHome(u) {
			what = "request to a third party: " + u
		}
	}
	if what != "" {
		b.mu.Lock()
		b.bad = append(b.bad, what)
		b.mu.Unlock()
	}
}

func (b *Browser) isHome(u string) bool {
	for _, h := range b.home {
		if strings.HasPrefix(u, h) {
			return true
		}
	}
	return false
}

// Complaints fails the test with what was noted since the last time.
func (b *Browser) Complaints() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.bad {
		b.T.Error(w)
	}
	b.bad = nil
}

// Do runs steps of chromedp.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	ctx, stop := b.ctx, func() {}
	if b.started {
		ctx, stop = context.WithTimeout(ctx, patience)
	}
	defer stop()
	b.started = true
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.T.Fatal(err)
	}
}

// Open goes to an address and waits until the page has settled.
func (b *Browser) Open(url string) {
	b.T.Helper()
	b.Do(chromedp.Navigate(url))
	b.Settle()
}

// Settle waits until the page shows what it loads.
func (b *Browser) Settle() {
	b.T.Helper()
	b.Until(`!!document.querySelector('main h1') && !document.querySelector('[aria-busy=true]')`)
}

// Until waits for a JavaScript condition.
func (b *Browser) Until(condition string) {
	b.T.Helper()
	b.UntilFor(patience, condition)
}

// UntilFor is Until with a limit of its own.
func (b *Browser) UntilFor(limit time.Duration, condition string) {
	b.T.Helper()
	_, err := chromedp.Run(b.ctx,
		chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(limit)))
	if err != nil {
		b.T.Fatalf("never true: %s: %v\n%s", condition, err, JS[string](b, `document.body.innerText`))
	}
}

// As makes the screen width wide and the system light or dark.
func (b *Browser) As(width int64, theme string) {
	b.T.Helper()
	height := int64(900)
	if width < 500 {
		height = 844
	}
	Call(b, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500})
	Call(b, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
}

// Check runs axe-core on the page as it stands, and fails for what it takes seriously.
func (b *Browser) Check() {
	b.T.Helper()
	if !JS[bool](b, `!!window.axe`) {
		axe, err := testonly.Read("axe-core/axe.min.js")
		if err != nil {
			b.T.Fatal(err)
		}
		JS[chromedp.Void](b, string(axe)+";0")
	}
	type violation struct {
		ID, Impact, Help string
		Nodes            []string
	}
	found := JS[[]violation](b, `axe.run({resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})
		.then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map(n => n.html.slice(0, 200))})))`)
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			b.T.Errorf("axe: %s (%s): %q", v.ID, v.Help, v.Nodes[:min(3, len(v.Nodes))])
		}
	}
}

// Shot saves a picture of the whole page as name.png, when the test was started with -shots.
func (b *Browser) Shot(name string) {
	b.T.Helper()
	if *shots == "" {
		return
	}
	JS[bool](b, `new Promise(done => { document.activeElement?.blur?.(); scrollTo(0, 0); requestAnimationFrame(() => requestAnimationFrame(() => done(true))) })`)
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(*shots, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644)
	}
	if err != nil {
		b.T.Error(err)
	}
}
