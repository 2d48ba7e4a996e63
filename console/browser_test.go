package console_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
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

	"parley/api"
	"parley/api/apitest"
	"parley/assets/testonly"
	"parley/console"
	"parley/db/dbtest"
)

// site is the product on a port, with a one-time link.
type site struct {
	*apitest.Server
	url  string
	link string
}

func open(t *testing.T) site {
	t.Helper()
	c, err := console.New()
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.New(t, dbtest.SQLite(t), func(d *api.Deps) { d.Console, d.PublicURL = c, "" })
	web := httptest.NewServer(s.API)
	t.Cleanup(web.CloseClientConnections) // event streams stay open
	t.Cleanup(func() { go web.Close() })
	acc, err := s.House.Accounts.First(t.Context(), s.DB)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.House.Accounts.Welcome(t.Context(), s.DB, acc.ID)
	if err != nil {
		t.Fatal(err)
	}
	return site{s, web.URL, web.URL + "/console/welcome?token=" + token}
}

// browser is a tab of a real Chromium that notes what a person would find in its console.
type browser struct {
	t       *testing.T
	ctx     context.Context
	started bool // a deadline on the first step would end the browser with it

	mu   sync.Mutex
	bad  []string
	home []string // origins that pages may ask
}

func newBrowser(t *testing.T, home ...string) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("Chromium is missing: run make deps, or apt-get install chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1440, 900),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("use-fake-ui-for-media-stream", true), chromedp.Flag("use-fake-device-for-media-stream", true))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{t: t, ctx: ctx, home: home}
	b.do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	call(b, runtime.Enable, cdp.Empty{})
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	return b
}

// call sends the browser a command.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// js evaluates an expression, and waits when it is a promise.
func js[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *browser) note(e any) {
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

func (b *browser) isHome(u string) bool {
	for _, h := range b.home {
		if strings.HasPrefix(u, h) {
			return true
		}
	}
	return false
}

// complaints fails the test with what was noted since the last time.
func (b *browser) complaints() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.bad {
		b.t.Error(w)
	}
	b.bad = nil
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := b.ctx, func() {}
	if b.started {
		ctx, stop = context.WithTimeout(ctx, 30*time.Second)
	}
	defer stop()
	b.started = true
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// until waits for a JavaScript condition.
func (b *browser) until(condition string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(15*time.Second)))
	if err != nil {
		b.t.Fatalf("never true: %s: %v\n%s", condition, err, js[string](b, `document.body.innerText`))
	}
}

const settled = `!!document.querySelector('main h1') && !document.querySelector('[aria-busy=true]')`

// check runs axe-core on the page as it stands.
func (b *browser) check(axe string) {
	b.t.Helper()
	type violation struct {
		ID, Impact, Help string
		Nodes            []string
	}
	js[chromedp.Void](b, axe+";0")
	found := js[[]violation](b, `axe.run({resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})
		.then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map(n => n.html.slice(0, 200))})))`)
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			b.t.Errorf("axe: %s (%s): %q", v.ID, v.Help, v.Nodes[:min(3, len(v.Nodes))])
		}
	}
}

func (b *browser) as(width int64, theme string) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 844, DeviceScaleFactor: 1, Mobile: width < 500})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
}

// Every page opens for a person who came by the one-time link: nothing in the browser's console, nothing asked of others,
// nothing wider than the screen, nothing that axe-core takes seriously, on wide and narrow screens, light and dark.
func TestPages(t *testing.T) {
	axe, err := testonly.Read("axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t)
	b := newBrowser(t, s.url)
	b.do(chromedp.Navigate(s.link))
	b.until(`location.pathname == '/console' && !!document.querySelector('nav.side')`)
	s.Send("POST /user/knowledgebases", `{"name":"Menu"}`).Want(201)
	s.Send("POST /user/tools", `{"name":"weather","description":"Tells the weather","endpoint":"https://p.example/weather","method":"GET"}`).Want(201)
	for _, path := range pages(t, s) {
		t.Run(path, func(t *testing.T) {
			b.t = t
			b.do(chromedp.Navigate(s.url + path))
			b.until(settled)
			for _, width := range []int64{1440, 390} {
				for _, theme := range []string{"light", "dark"} {
					b.as(width, theme)
					if over := js[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
						t.Errorf("%d pixels wider than a screen of %d", over, width)
					}
					b.check(string(axe))
				}
			}
			b.complaints()
		})
	}
}

// pages are those of the menu and those behind them.
func pages(t *testing.T, s site) []string {
	t.Helper()
	assistant := s.Send("GET /user/assistants", "").Want(200).Text("0.id")
	base := s.Send("GET /user/knowledgebases", "").Want(200).Text("data.0.id")
	return []string{"/console", "/console/calls", "/console/usage", "/console/assistants", "/console/assistants/" + assistant, "/console/conversations", "/console/whatsapp", "/console/campaigns",
		"/console/numbers", "/console/knowledge", "/console/knowledge/" + base, "/console/tools", "/console/developers", "/console/reference", "/console/simulator",
		"/console/settings", "/console/nowhere"}
}

// A one-time link signs in once; a used one says so and offers the password.
func TestSignIn(t *testing.T) {
	s := open(t)
	b := newBrowser(t, s.url)
	b.do(chromedp.Navigate(s.link))
	b.until(`location.pathname == '/console' && document.querySelector('h1')?.textContent == 'Talk to your assistant'`)
	b.complaints()
	call(b, network.ClearBrowserCookies, cdp.Empty{})
	b.do(chromedp.Navigate(s.link))
	b.until(`document.querySelector('[role=alert]')?.textContent.includes('has been used')`)
	b.until(`!!document.querySelector('input[type=password]')`)
}

// The first page answers what is typed, with the built-in engines and the demo assistant.
func TestTalkByTyping(t *testing.T) {
	s := open(t)
	b := newBrowser(t, s.url)
	b.do(chromedp.Navigate(s.link))
	b.until(`!!document.querySelector('#typed')`)
	b.do(chromedp.SendKeys(chromedp.CSS("#typed"), "What are your opening hours?\r"))
	b.until(`document.querySelector('.lines')?.innerText.includes('from nine in the morning')`)
	b.complaints()
}
