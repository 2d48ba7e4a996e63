package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"parley/console/browsertest"
)

// The widget stands on a page of another origin, chats, goes on after a reload, and is usable by everybody.
func TestWidget(t *testing.T) {
	s := open(t)
	s.Keyless().Send("POST /console/sign-in", fmt.Sprintf(`{"token":%q}`, s.link[len(s.url+"/console/welcome?token="):])).Want(200)
	uuid := s.Send("GET /user/assistants", "").Want(200).Text("0.uuid")
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><main><h1>Shop</h1></main>
<script>window.seen = []; for (const e of ["open", "message"]) document.addEventListener("parley:" + e, () => seen.push(e))</script>
<script src="%s/embed.js" data-assistant="%s" async></script></html>`, s.url, uuid)
	}))
	t.Cleanup(shop.Close)
	b := browsertest.New(t, []string{s.url, shop.URL})
	const root = `document.querySelector('parley-widget')?.shadowRoot`
	b.Do(chromedp.Navigate(shop.URL))
	b.Until(`!!` + root + `?.querySelector('.open')`)
	b.Check()
	browsertest.JS[chromedp.Void](b, root+`.querySelector('.open').click()`)
	b.Until(root + `.querySelectorAll('li').length == 1`)
	browsertest.JS[chromedp.Void](b, `(()=>{ const r = `+root+`; r.querySelector('input').value = 'What are your prices?'; r.querySelector('form').requestSubmit() })()`)
	b.Until(root + `.querySelector('ol').innerText.includes('15 euros')`)
	b.Until(`seen.join() == 'open,message,message'`)
	for _, theme := range []string{"light", "dark"} {
		b.As(390, theme)
		b.Check()
	}
	b.Complaints()

	b.Do(chromedp.Reload())
	b.Until(`!!` + root + `?.querySelector('.open')`)
	browsertest.JS[chromedp.Void](b, root+`.querySelector('.open').click()`)
	b.Until(root + `.querySelectorAll('li').length == 3`)

	s.Send("PUT /user/assistant/"+uuid, `{"widget_settings":{"enabled":false}}`).Want(200)
	b.Do(chromedp.Reload())
	b.Until(`document.readyState == 'complete' && !!document.querySelector('parley-widget')`)
	if browsertest.JS[bool](b, `!!`+root+`?.querySelector('.open')`) {
		t.Error("a widget that is switched off shows itself")
	}
}
