package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"parley/api/apitest"
	"parley/app"
	"parley/console"
	"parley/console/browsertest"
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
	s := apitest.New(t, dbtest.SQLite(t), func(f *app.Foundations) { f.Console, f.Config.PublicURL = c, "" })
	web := httptest.NewServer(s.API)
	t.Cleanup(web.CloseClientConnections) // event streams stay open
	t.Cleanup(func() { go web.Close() })
	acc, err := s.App.Accounts.First(t.Context(), s.DB)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.App.Accounts.Welcome(t.Context(), s.DB, acc.ID)
	if err != nil {
		t.Fatal(err)
	}
	return site{s, web.URL, web.URL + "/console/welcome?token=" + token}
}

// Every page opens for a person who came by the one-time link: nothing in the browser's console, nothing asked of others,
// nothing wider than the screen, nothing that axe-core takes seriously, on wide and narrow screens, light and dark.
func TestPages(t *testing.T) {
	s := open(t)
	b := browsertest.New(t, []string{s.url})
	b.Do(chromedp.Navigate(s.link))
	b.Until(`location.pathname == '/console' && !!document.querySelector('nav.side')`)
	s.Work()
	for _, v := range seed(t, s) {
		t.Run(v.name, func(t *testing.T) {
			b.T = t
			b.As(1440, "light")
			b.Open(s.url + v.path)
			for _, name := range v.press {
				b.Click(name)
				b.Settle()
			}
			for width, theme := range map[int64]string{1440: "light", 390: "dark"} {
				b.As(width, theme)
				if wide := browsertest.JS[int64](b, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%d pixels wide on a screen of %d", wide, width)
				}
				b.Check()
				b.Shot(fmt.Sprintf("%s-%d-%s", v.name, width, theme))
			}
			b.Complaints()
		})
	}
}

// A line of a transcript stands at the moment when its speaker began, not when they ended.
//
// Contract: 4.9
func TestLinesBegin(t *testing.T) {
	s := open(t)
	b := browsertest.New(t, []string{s.url})
	b.Do(chromedp.Navigate(s.link))
	b.Until(`location.pathname == '/console' && !!document.querySelector('nav.side')`)
	b.Open(s.url + "/console/calls/" + talked(t, s))
	b.Until(`document.querySelectorAll('.lines .human, .lines .bot').length == 5`)
	if got := browsertest.JS[string](b, `[...document.querySelectorAll('.lines li > small')].map(e => e.innerText.split(' · ').pop()).join(' ')`); got != "0:01 0:04 0:08 0:11 0:13" {
		t.Error(got)
	}
}

// A one-time link signs in once; a used one says so and offers the password.
func TestSignIn(t *testing.T) {
	s := open(t)
	b := browsertest.New(t, []string{s.url})
	b.Do(chromedp.Navigate(s.link))
	b.Until(`location.pathname == '/console' && document.querySelector('h1')?.textContent == 'Talk to your assistant'`)
	b.Complaints()
	browsertest.Call(b, network.ClearBrowserCookies, cdp.Empty{})
	b.Do(chromedp.Navigate(s.link))
	b.Until(`document.querySelector('[role=alert]')?.textContent.includes('has been used')`)
	b.Until(`!!document.querySelector('input[type=password]')`)
}

// The first page answers what is typed, with the built-in engines and the demo assistant.
func TestTalkByTyping(t *testing.T) {
	s := open(t)
	b := browsertest.New(t, []string{s.url})
	b.Do(chromedp.Navigate(s.link))
	b.Until(`!!document.querySelector('#typed')`)
	b.Do(chromedp.SendKeys(chromedp.CSS("#typed"), "What are your opening hours?\r"))
	b.Until(`document.querySelector('.lines')?.innerText.includes('from nine in the morning')`)
	b.Complaints()
}

// A built-in tool is set up by a form that the schema of the server draws: its fields, its defaults, its errors.
//
// Contract: 4.4
func TestToolForm(t *testing.T) {
	s := open(t)
	b := browsertest.New(t, []string{s.url})
	b.Do(chromedp.Navigate(s.link))
	b.Until(`location.pathname == '/console' && !!document.querySelector('nav.side')`)
	id := s.Send("GET /user/assistants", "").Want(200).Text("0.id")
	b.Open(s.url + "/console/assistants/" + id)
	b.Click("Its tools")
	b.Until(`document.querySelectorAll('option[value=call_transfer]').length == 1`)
	b.Choose("Add a tool", "Call transfer")
	b.Fill("Phone number", "030 1")
	b.Click("Save")
	b.Shows("The tools.1.phone_number field must be a valid E.164 phone number.")
	b.Shot("tool-form")
	b.Fill("Phone number", "+4930123456")
	b.Click("Save")
	b.Shows("Saved.")
	if text := fmt.Sprint(s.Send("GET /user/assistant/"+id, "").Want(200)); !strings.Contains(text, "+4930123456") || !strings.Contains(text, "Use when the caller asks for a person") {
		t.Error(text)
	}
	b.Check()
}

// An operator pastes a vendor's key and sees whether it works; a customer tops up on the payment vendor's page and comes back.
//
// Contract: 16.6
func TestProvidersAndPaying(t *testing.T) {
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "sk-good" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer cloud.Close()
	s := open(t)
	b := browsertest.New(t, []string{s.url})
	b.Do(chromedp.Navigate(s.link))
	b.Until(`location.pathname == '/console' && !!document.querySelector('nav.side')`)
	b.Open(s.url + "/console/providers")
	b.Until(`document.querySelectorAll('details').length > 0`)
	browsertest.JS[bool](b, `!![...document.querySelectorAll('details')].forEach(d => d.open = true)`)
	b.Fill("api key", "sk-bad")
	b.Fill("base url", cloud.URL)
	b.Click("Save the keys of Anthropic")
	b.Shows("Saved.")
	b.Click("Test Anthropic")
	b.Shows("The key was refused (401).")
	b.Check()
	b.Shot("providers-refused")
	b.Complaints()

	b.Open(s.url + "/console/usage")
	b.Click("Top up")
	b.Do(chromedp.WaitVisible(chromedp.CSS("form[method=post] button")))
	b.Check()
	b.Do(chromedp.Click(chromedp.CSS("form[method=post] button")))
	b.Do(chromedp.WaitVisible(chromedp.CSS("nav.side")))
	b.Shows("10,250.00")
	b.Shot("paying")
}

// An owner invites a colleague by a link; they choose a password and are in.
func TestInvitation(t *testing.T) {
	s := open(t)
	b := browsertest.New(t, []string{s.url})
	b.Do(chromedp.Navigate(s.link))
	b.Until(`location.pathname == '/console' && !!document.querySelector('nav.side')`)
	b.Open(s.url + "/console/people")
	b.Fill("E-mail", "ben@p.example")
	b.Click("Invite")
	b.Shows("it works once within 72 hours")
	b.Shows("ben@p.example")
	b.Check()
	b.Shot("people")
	b.Complaints()

	link := s.Send("POST /user/members", `{"email":"ben@p.example","role":"agent"}`).Want(201).Text("data.invitation_url")
	_, query, _ := strings.Cut(link, "?")
	browsertest.Call(b, network.ClearBrowserCookies, cdp.Empty{})
	b.Do(chromedp.Navigate(s.url + "/console/invitation?" + query))
	b.Fill("Your name", "Ben")
	b.Fill("Password", "a quite long sentence")
	b.Click("Accept the invitation")
	b.Until(`location.pathname == '/console' && !!document.querySelector('nav.side')`)
	if text := fmt.Sprint(s.Send("GET /user/members", "").Want(200)); !strings.Contains(text, `"name":"Ben"`) {
		t.Error(text)
	}
}
