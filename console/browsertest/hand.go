package browsertest

import (
	"fmt"
	"strconv"

	"github.com/chromedp/chromedp"
)

// finder finds what a person would: by role and name, visible, the open dialog before the page behind it.
const finder = `window.__parley = {
	root() { return [...document.querySelectorAll('dialog[open]')].at(-1) ?? document },
	seen(e) { return e.checkVisibility({ visibilityProperty: true }) && !e.disabled },
	name(e) { return (e.getAttribute('aria-label') ?? e.innerText ?? '').trim().replace(/\s+/g, ' ') },
	press(name) {
		const all = [...this.root().querySelectorAll('button, a, [role=tab], summary, label')].filter(e => this.seen(e))
		return name.endsWith('…') ? all.find(e => this.name(e).startsWith(name.slice(0, -1))) : all.find(e => this.name(e) === name)
	},
	field(label) {
		const all = [...this.root().querySelectorAll('label')].filter(e => this.seen(e) && this.name(e) === label)
		return all.map(l => l.control).find(Boolean)
	},
	middle(e) {
		e.scrollIntoView({ block: 'center', behavior: 'instant' })
		const r = e.getBoundingClientRect()
		return [r.x + r.width / 2, r.y + r.height / 2]
	},
}, 0`

// Click presses what has this name: a button, a link, a tab, a check box. A name that ends in … is the beginning of one.
func (b *Browser) Click(name string) {
	b.T.Helper()
	b.reach(fmt.Sprintf(`__parley.press(%s)`, strconv.Quote(name)))
}

// reach waits for an element and clicks its middle with the mouse.
func (b *Browser) reach(element string) {
	b.T.Helper()
	JS[int](b, finder)
	b.Until(`!!(` + element + `)`)
	at := JS[[]float64](b, `__parley.middle(`+element+`)`)
	b.Do(chromedp.MouseClickXY(at[0], at[1]))
}

// Fill writes text into the field with this label, over what stands there.
func (b *Browser) Fill(label, text string) {
	b.T.Helper()
	b.reach(fmt.Sprintf(`__parley.field(%s)`, strconv.Quote(label)))
	JS[bool](b, `document.activeElement.select?.() ?? true`)
	b.Do(chromedp.KeyEvent(text))
}

// Set gives a field a value that its kind writes in a way of its own: times, numbers.
func (b *Browser) Set(label, value string) {
	b.T.Helper()
	b.put(label, value, `input`)
}

// Choose picks the option of a list by what it reads.
func (b *Browser) Choose(label, option string) {
	b.T.Helper()
	JS[int](b, finder)
	field := fmt.Sprintf(`__parley.field(%s)`, strconv.Quote(label))
	b.Until(fmt.Sprintf(`[...(%s)?.options ?? []].some(o => o.text === %s)`, field, strconv.Quote(option)))
	b.put(label, JS[string](b, fmt.Sprintf(`[...%s.options].find(o => o.text === %s).value`, field, strconv.Quote(option))), `change`)
}

func (b *Browser) put(label, value, event string) {
	b.T.Helper()
	JS[int](b, finder)
	field := fmt.Sprintf(`__parley.field(%s)`, strconv.Quote(label))
	b.Until(`!!` + field)
	JS[bool](b, fmt.Sprintf(`(e => { e.focus(); e.value = %s; return e.dispatchEvent(new Event(%q, { bubbles: true })) })(%s)`,
		strconv.Quote(value), event, field))
}

// Shows waits until the page, or the open dialog, reads text.
func (b *Browser) Shows(text string) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`document.body.innerText.includes(%s)`, strconv.Quote(text)))
}
