package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"parley/assets/testonly"
)

// The widget stands on a page of another origin, chats, goes on after a reload, and is usable by everybody.
func TestWidget(t *testing.T) {
	axe, err := testonly.Read("axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
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
	b := newBrowser(t, s.url, shop.URL)
	const root = `document.querySelector('parley-widget')?.shadowRoot`
	b.do(chromedp.Navigate(shop.URL))
	b.until(`!!` + root + `?.querySelector('.open')`)
	b.check(string(axe))
	js[chromedp.Void](b, root+`.querySelector('.open').click()`)
	b.until(root + `.querySelectorAll('li').length == 1`)
	js[chromedp.Void](b, `(()=>{ const r = `+root+`; r.querySelector('input').value = 'What are your prices?'; r.querySelector('form').requestSubmit() })()`)
	b.until(root + `.querySelector('ol').innerText.includes('15 euros')`)
	b.until(`seen.join() == 'open,message,message'`)
	for _, theme := range []string{"light", "dark"} {
		b.as(390, theme)
		b.check(string(axe))
	}
	b.complaints()

	b.do(chromedp.Reload())
	b.until(`!!` + root + `?.querySelector('.open')`)
	js[chromedp.Void](b, root+`.querySelector('.open').click()`)
	b.until(root + `.querySelectorAll('li').length == 3`)

	s.Send("PUT /user/assistant/"+uuid, `{"widget_settings":{"enabled":false}}`).Want(200)
	b.do(chromedp.Reload())
	b.until(`document.readyState == 'complete' && !!document.querySelector('parley-widget')`)
	if js[bool](b, `!!`+root+`?.querySelector('.open')`) {
		t.Error("a widget that is switched off shows itself")
	}
}
