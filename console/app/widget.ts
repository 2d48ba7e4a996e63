// The widget: one dependency-free web component that chats and calls.
//
//   <script src="https://parley.example/embed.js" data-assistant="UUID" async></script>
//
// or, placed by hand, <parley-widget assistant="UUID" color="#0b6e65" position="left"></parley-widget>.
// Events on the element and the document: parley:open, parley:message, parley:call-start, parley:call-end.

type Settings = Partial<
  Record<
    | 'position'
    | 'color'
    | 'header_title'
    | 'header_subtitle'
    | 'button_main_text'
    | 'button_sub_text'
    | 'start_button_text'
    | 'modal_title'
    | 'modal_description',
    string
  >
> & { voice_enabled?: boolean }
type Entry = { role: 'assistant' | 'user'; content: string }

const script =
  (document.currentScript as HTMLScriptElement | null) ??
  document.querySelector<HTMLScriptElement>('script[src*="/embed.js"][data-assistant]')
const home = new URL(script?.src ?? location.href).origin

const style = `
:host{--c:#0b6e65;--on:#fff;all:initial;font:15px/1.45 system-ui,sans-serif;color-scheme:light dark;position:fixed;bottom:20px;right:20px;z-index:2147483000}
:host([position=left]){right:auto;left:20px}
*{box-sizing:border-box;font:inherit}
button{border:0;cursor:pointer;border-radius:999px;padding:10px 18px;background:var(--c);color:var(--on)}
button:disabled{opacity:.6}
:focus-visible{outline:3px solid #4c9ffe;outline-offset:2px}
.open{box-shadow:0 6px 24px #0004;text-align:left;display:flex;flex-direction:column}.open small{font-size:12px}
.panel{display:none;flex-direction:column;width:min(380px,calc(100vw - 24px));height:min(560px,calc(100vh - 40px));background:light-dark(#fff,#181e1c);color:light-dark(#15201c,#e8efec);border-radius:16px;box-shadow:0 10px 40px #0005;overflow:hidden}
:host([open]) .panel{display:flex}:host([open]) .open{display:none}
header{background:var(--c);color:var(--on);padding:14px 16px;display:flex;gap:8px;align-items:start}header div{flex:1}header strong{display:block}header p{margin:0;font-size:13px}
header button{padding:2px 10px;background:#0000;color:inherit;font-size:20px}
ol{flex:1;overflow:auto;list-style:none;margin:0;padding:14px;display:flex;flex-direction:column;gap:8px}
li{max-width:85%;padding:8px 12px;border-radius:14px;background:light-dark(#eef2f0,#26302c);white-space:pre-wrap;overflow-wrap:anywhere}
li.user{align-self:end;background:var(--c);color:var(--on)}li.wait{opacity:.75}
form{display:flex;gap:8px;padding:10px;border-top:1px solid light-dark(#dbe1de,#2f3935)}
input{flex:1;min-width:0;padding:9px 12px;border-radius:999px;border:1px solid light-dark(#8a9690,#5f6d66);background:#0000;color:inherit}
.call{margin:10px 10px 0;background:light-dark(#eef2f0,#26302c);color:inherit}.call.on{background:#ab1f2d;color:#fff}
.note{font-size:13px;padding:0 14px 6px;margin:0}`

class ParleyWidget extends HTMLElement {
  static observedAttributes = ['color', 'position']
  private root = this.attachShadow({ mode: 'open' })
  private conversation?: string
  private settings: Settings = {}
  private end?: () => void
  private stream?: EventSource
  private shown = 0

  get assistant() {
    return this.getAttribute('assistant') ?? ''
  }
  private key = () => `parley:${this.assistant}`
  private text(name: keyof Settings & string, fallback: string) {
    return this.getAttribute(name.replaceAll('_', '-')) || (this.settings as Record<string, string>)[name] || fallback
  }

  async connectedCallback() {
    const answer = await fetch(`${home}/embed.json?assistant=${encodeURIComponent(this.assistant)}`).catch(() => null)
    if (!answer?.ok) return // switched off, paused or unknown: show nothing
    this.settings = await answer.json()
    if (!this.hasAttribute('position') && this.settings.position)
      this.setAttribute('position', this.settings.position.includes('left') ? 'left' : 'right')
    this.draw()
  }

  disconnectedCallback() {
    this.end?.()
    this.stream?.close()
  }

  private draw() {
    this.root.innerHTML = `<style>${style}</style>
<button class="open" aria-haspopup="dialog"><span></span><small></small></button>
<div class="panel" role="dialog" aria-labelledby="t"><header><div><strong id="t"></strong><p></p></div><button class="close" aria-label="Close">×</button></header>
<ol aria-live="polite" aria-label="Messages" tabindex="0"></ol><p class="note" role="status"></p><button class="call" hidden></button>
<form><input name="m" maxlength="2000" autocomplete="off"><button>${this.text('send_text' as never, 'Send')}</button></form></div>`
    const put = (selector: string, text: string) => {
      const el = this.$(selector)
      el.textContent = text
      el.hidden = !text
    }
    put('.open span', this.text('button_main_text', 'Talk to us'))
    put('.open small', this.text('button_sub_text', ''))
    put('strong', this.text('header_title', this.text('modal_title', 'How can we help?')))
    put('header p', this.text('header_subtitle', this.text('modal_description', '')))
    const color = this.getAttribute('color') || this.settings.color
    if (color) {
      this.style.setProperty('--c', color)
      this.style.setProperty('--on', contrast(color))
    }
    const input = this.$<HTMLInputElement>('input')
    input.setAttribute('aria-label', this.text('placeholder' as never, 'Your message'))
    input.placeholder = this.text('placeholder' as never, 'Your message')
    this.$('.open').onclick = () => this.open()
    this.$('.close').onclick = () => this.close()
    this.root.addEventListener('keydown', e => (e as KeyboardEvent).key === 'Escape' && this.close())
    this.$('form').onsubmit = e => {
      e.preventDefault()
      const m = input.value.trim()
      if (m) {
        input.value = ''
        this.send(m)
      }
    }
    const call = this.$('.call')
    call.hidden = this.settings.voice_enabled === false || !navigator.mediaDevices
    call.onclick = () => (this.end ? this.end() : this.call())
    this.calling(false)
  }

  private $<T extends HTMLElement = HTMLElement>(s: string) {
    return this.root.querySelector<T>(s)!
  }
  private fire(name: string, detail: unknown = {}) {
    this.dispatchEvent(new CustomEvent(`parley:${name}`, { detail, bubbles: true, composed: true }))
  }
  private note(text: string) {
    this.$('.note').textContent = text
  }

  async open() {
    this.setAttribute('open', '')
    this.fire('open')
    this.$('input').focus()
    if (!this.conversation) await this.resume().catch(e => this.note(e.message))
  }
  close() {
    this.removeAttribute('open')
    this.$('.open').focus()
  }

  private async api(method: string, path: string, body?: unknown) {
    const res = await fetch(`${home}/api${path}`, {
      method,
      headers: body ? { 'Content-Type': 'application/json' } : {},
      body: body ? JSON.stringify(body) : undefined,
    })
    const data = await res.json().catch(() => ({}))
    if (!res.ok)
      throw Object.assign(new Error(data.error ?? data.message ?? 'Something went wrong.'), { status: res.status })
    return data
  }

  // resume goes on with the visitor's last conversation, or begins one.
  private async resume() {
    const id = localStorage.getItem(this.key())
    let found = id ? await this.api('GET', `/conversations/${id}`).catch(() => null) : null
    if (found?.state === 'ended') found = null
    const talk = found
      ? { conversation_id: id!, history: found.history }
      : await this.api('POST', '/conversations', { assistant_id: this.assistant, type: 'widget' })
    this.conversation = talk.conversation_id as string
    localStorage.setItem(this.key(), this.conversation)
    this.sync(talk.history)
    this.stream?.close()
    this.stream = new EventSource(`${home}/api/conversations/${this.conversation}/stream`)
    this.stream.addEventListener('message', () => this.refresh())
  }

  // refresh shows what arrived beside our own requests: a person's answer, a late reply.
  private async refresh() {
    if (this.root.querySelector('.wait')) return
    this.sync((await this.api('GET', `/conversations/${this.conversation}`)).history)
  }

  private sync(history: Entry[]) {
    for (const e of history.slice(this.shown)) this.add(e.role, e.content)
    this.shown = history.length
  }

  private add(role: string, text: string) {
    const li = document.createElement('li')
    li.className = role
    li.textContent = text
    this.$('ol').append(li)
    li.scrollIntoView({ block: 'nearest' })
    return li
  }

  private async send(message: string) {
    this.note('')
    this.add('user', message)
    this.fire('message', { role: 'user', content: message })
    const wait = this.add('assistant wait', '…')
    try {
      if (!this.conversation) await this.resume()
      const reply = await this.api('POST', `/conversations/${this.conversation}/messages`, { message })
      wait.remove()
      this.shown += 1
      if (reply.message) {
        this.shown += 1
        this.add('assistant', reply.message)
        this.fire('message', { role: 'assistant', content: reply.message })
      }
    } catch (e) {
      wait.remove()
      this.note((e as Error).message)
      if ((e as Error).message === 'Conversation has ended') {
        localStorage.removeItem(this.key())
        this.conversation = undefined
        this.shown = 0
      }
    }
  }

  private calling(on: boolean) {
    const b = this.$('.call')
    b.classList.toggle('on', on)
    b.textContent = on
      ? this.text('end_button_text' as never, 'Hang up')
      : this.text('start_button_text', 'Talk instead')
  }

  // The servers that help through firewalls come with the first answer, and are asked from the next call on.
  private ice: RTCIceServer[] = []

  private async call() {
    this.note('Connecting…')
    const pc = new RTCPeerConnection({ iceServers: this.ice })
    let mic: MediaStream | undefined
    let hangUp = async () => {}
    this.end = () => {
      this.end = undefined
      mic?.getTracks().forEach(t => t.stop())
      hangUp().finally(() => pc.close())
      this.calling(false)
      this.note('')
      this.fire('call-end')
    }
    try {
      mic = await navigator.mediaDevices.getUserMedia({ audio: true })
      mic.getTracks().forEach(t => pc.addTrack(t, mic!))
      const player = new Audio()
      player.autoplay = true
      pc.ontrack = e => {
        player.srcObject = e.streams[0] ?? new MediaStream([e.track])
      }
      pc.onconnectionstatechange = () => {
        if (/failed|closed|disconnected/.test(pc.connectionState)) this.end?.()
      }
      await pc.setLocalDescription(await pc.createOffer())
      if (pc.iceGatheringState !== 'complete')
        await new Promise<void>(r => {
          pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && r()
        })
      const a = await this.api('POST', '/web-calls', {
        assistant_id: this.assistant,
        type: 'widget',
        sdp: pc.localDescription!.sdp,
      })
      hangUp = () => this.api('DELETE', `/web-calls/${a.call_id}?token=${encodeURIComponent(a.token)}`).catch(() => {})
      this.ice = a.ice_servers
      await pc.setRemoteDescription({ type: 'answer', sdp: a.sdp })
      this.calling(true)
      this.note('You are talking. Close or hang up to end.')
      this.fire('call-start', { call_id: a.call_id })
    } catch (e) {
      this.end?.()
      this.note((e as Error).name === 'NotAllowedError' ? 'The microphone was not allowed.' : (e as Error).message)
    }
  }
}

// contrast picks the text colour that reads on c.
function contrast(c: string) {
  const ctx = document.createElement('canvas').getContext('2d')!
  ctx.fillStyle = c
  ctx.fillRect(0, 0, 1, 1)
  const [r, g, b] = [...ctx.getImageData(0, 0, 1, 1).data].map(v => (v / 255) ** 2.2)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.3 ? '#000' : '#fff'
}

if (!customElements.get('parley-widget')) {
  customElements.define('parley-widget', ParleyWidget)
  if (script?.dataset.assistant) {
    const place = () => {
      const w = document.createElement('parley-widget')
      for (const [k, v] of Object.entries(script.dataset))
        w.setAttribute(
          k.replace(/[A-Z]/g, c => '-' + c.toLowerCase()),
          v!,
        )
      document.body.append(w)
    }
    if (document.body) place()
    else addEventListener('DOMContentLoaded', place)
  }
}
