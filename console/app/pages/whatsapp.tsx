import { useEffect, useState } from 'preact/hooks'
import { curl, follow, get, post, put } from '../api'
import { attempt, Badge, Button, Card, Choice, Dialog, Empty, errorsOf, Loaded, Page, Request, say, Switch, Table, Tabs, Text, useLoad, when, type Errors } from '../ui'
import type { Assistant } from './assistants'

type Sender = { id: number; phone_number: string; display_name: string; status: string; quality_rating: string; messaging_limit_formatted: string; assistant_id: number | null; ai_enabled: boolean; status_detail: string; last_synced_at: string | null }
type Template = { id: number; name: string; language: string; category: string; status: string; body_text: string; variables: string[]; status_detail: string; rejected_reason: string | null }
type Session = { has_conversation: boolean; customer_name?: string | null; session_status: { is_open: boolean; message: string; expires_at?: string | null } }
type Chat = { id: string; updated_at: string; message_count: number; customer: { name: string | null; phone: string } }
type Entry = { role: string; content: string; created_at: string }

export function WhatsApp() {
  const [tab, setTab] = useState('Inbox')
  const senders = useLoad(() => get<{ data: Sender[] }>('/user/whatsapp/senders', { status: 'all' }), [])
  const [chosen, choose] = useState(0)
  return (
    <Page title="WhatsApp" sub="Any text within 24 hours of the customer’s last message; a template otherwise.">
      <Loaded of={senders}>{({ data }) => {
        const sender = data.find(s => s.id === chosen) ?? data[0]
        if (!sender) return <Empty title="No senders yet">Connect a WhatsApp number, or make one in the simulator. <a href="/console/simulator">Open the simulator</a></Empty>
        return <>
          {data.length > 1 && <div class="filters"><Choice label="Sender" value={sender.id} onInput={v => choose(Number(v))} options={data.map(s => [s.id, `${s.display_name} ${s.phone_number}`])} /></div>}
          <Tabs names={['Inbox', 'Templates', 'Senders']} now={tab} go={setTab}>
            {tab === 'Inbox' && <Inbox key={sender.id} sender={sender} />}
            {tab === 'Templates' && <Templates key={sender.id} sender={sender} />}
            {tab === 'Senders' && <Senders list={data} reload={senders.reload} />}
          </Tabs>
        </>
      }}</Loaded>
    </Page>
  )
}

function Inbox({ sender }: { sender: Sender }) {
  const chats = useLoad(() => get<{ data: Chat[] }>('/user/conversations', { type: 'whatsapp', whatsapp_sender_phone: sender.phone_number, per_page: 50 }), [])
  const [phone, setPhone] = useState('')
  const [fresh, setFresh] = useState('')
  useEffect(() => follow('/user/events', ['conversation'], () => chats.reload()), [])
  return (
    <div class="split thread">
      <div>
        <form class="row filters" onSubmit={e => { e.preventDefault(); setPhone(fresh) }}><Text label="Write to a number" value={fresh} onInput={setFresh} placeholder="+491701234567" /><Button type="submit">Open</Button></form>
        <Loaded of={chats}>{({ data }) => data.length ? <Table label="Conversations" heads={['Customer', 'Messages', 'Last']} rows={data.map(c => [
          <button type="button" class="name" onClick={() => setPhone(c.customer.phone)}>{c.customer.name ?? c.customer.phone}</button>, c.message_count, when(c.updated_at)])} /> : <Empty title="No messages yet" />}</Loaded>
      </div>
      {phone ? <Thread key={phone} sender={sender} phone={phone} chat={chats.data?.data.find(c => c.customer.phone === phone)} changed={chats.reload} /> : <Empty title="Choose a conversation" />}
    </div>
  )
}

function Thread({ sender, phone, chat, changed }: { sender: Sender; phone: string; chat?: Chat; changed: () => unknown }) {
  const session = useLoad(() => get<Session>('/user/whatsapp/session-status', { sender_id: sender.id, recipient_phone: phone }), [phone, chat?.updated_at])
  const talk = useLoad(async () => chat ? await get<{ history: Entry[]; ai_enabled: boolean }>(`/conversations/${chat.id}`) : { history: [], ai_enabled: true }, [chat?.id, chat?.updated_at])
  const [text, setText] = useState('')
  const [picking, pick] = useState(false)
  const body = { sender_id: sender.id, recipient_phone: phone, message: text }
  const after = (ok: boolean) => { if (ok) { setText(''); changed(); session.reload(); talk.reload() } return ok }
  return (
    <Card title={chat?.customer.name ? `${chat.customer.name} · ${phone}` : phone}>
      <Loaded of={session}>{s => <Countdown status={s.session_status} />}</Loaded>
      <Loaded of={talk}>{t => <>
        {chat && <Button kind="quiet" onClick={() => attempt(() => post(`/automate/conversations/${chat.id}/${t.ai_enabled ? 'disable' : 'enable'}-ai`)).then(talk.reload)}>{t.ai_enabled ? 'Take over from the assistant' : 'Give back to the assistant'}</Button>}
        <ol class="lines" aria-live="polite" aria-label="Messages">{t.history.map(h => <li class={h.role === 'user' ? '' : 'human'}><small>{when(h.created_at)}</small>{h.content}</li>)}</ol>
      </>}</Loaded>
      {session.data?.session_status.is_open && <form class="row" style={{ marginTop: '1rem' }} onSubmit={e => { e.preventDefault(); attempt(() => post('/user/whatsapp/send-freeform', body)).then(after) }}>
        <Text label="Message" value={text} onInput={setText} autocomplete="off" /><Button type="submit" kind="primary">Send</Button></form>}
      <p><Button onClick={() => pick(true)}>Send a template</Button></p>
      <Dialog title="Send a template" open={picking} onClose={() => pick(false)}><Picker sender={sender} phone={phone} done={() => { pick(false); after(true) }} /></Dialog>
      {text && <Request command={curl('POST', '/user/whatsapp/send-freeform', body)} />}
    </Card>
  )
}

// Countdown says how long any text may still be sent.
function Countdown({ status }: { status: Session['session_status'] }) {
  const [now, tick] = useState(Date.now())
  useEffect(() => { const t = setInterval(() => tick(Date.now()), 30_000); return () => clearInterval(t) }, [])
  const left = status.expires_at ? Math.floor((Date.parse(status.expires_at) - now) / 60_000) : 0
  if (!status.is_open || left <= 0) return <p><span class="badge warn">window closed</span> <span class="muted small">{status.message}</span></p>
  return <p><span class={`badge ${left < 60 ? 'warn' : 'good'}`}>{Math.floor(left / 60)} h {left % 60} min left</span> <span class="muted small">Any text may be sent until {when(status.expires_at)}.</span></p>
}

const filled = (t: Template, values: Record<string, string>) => t.body_text.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (all, key) => values[key] || values[t.variables[Number(key) - 1]] || all)

function Picker({ sender, phone, done }: { sender: Sender; phone: string; done: () => void }) {
  const list = useLoad(() => get<{ data: Template[] }>(`/user/whatsapp/senders/${sender.id}/templates`), [sender.id])
  const [id, setId] = useState(0)
  const [values, setValues] = useState<Record<string, string>>({})
  return <Loaded of={list}>{({ data }) => {
    const t = data.find(x => x.id === id) ?? data[0]
    if (!t) return <Empty title="No approved template" />
    const variables = Object.fromEntries(t.variables.map(v => [v, values[v] ?? '']))
    const body = { sender_id: sender.id, template_id: t.id, recipient_phone: phone, variables }
    return <form onSubmit={e => { e.preventDefault(); attempt(() => post('/user/whatsapp/send', body), 'Sent.').then(ok => ok && done()) }}>
      <Choice label="Template" value={t.id} onInput={v => { setId(Number(v)); setValues({}) }} options={data.map(x => [x.id, `${x.name} (${x.language}, ${x.category})`])} />
      {t.variables.map(v => <Text label={v} value={values[v]} onInput={x => setValues(all => ({ ...all, [v]: x }))} />)}
      <p class="bubble" aria-live="polite" aria-label="Preview">{filled(t, values)}</p>
      <Button kind="primary" type="submit">Send to {phone}</Button>
      <Request command={curl('POST', '/user/whatsapp/send', body)} />
    </form>
  }}</Loaded>
}

function Templates({ sender }: { sender: Sender }) {
  const path = `/user/whatsapp/senders/${sender.id}/templates`
  const list = useLoad(() => get<{ data: Template[] }>(path, { status: 'all' }), [sender.id])
  const [open, setOpen] = useState(false)
  return <>
    <div class="actions filters"><Button kind="primary" onClick={() => setOpen(true)}>New template</Button><Button onClick={() => attempt(() => post(path + '/sync'), 'Up to date.').then(list.reload)}>Synchronise</Button></div>
    <Loaded of={list}>{({ data }) => data.length ? <Table label="Templates" heads={['Name', 'Text', 'Status']} rows={data.map(t => [
      <><strong>{t.name}</strong><div class="muted small">{t.language} · {t.category}</div></>, <span class="bubble">{t.body_text}</span>,
      <><Badge>{t.status}</Badge>{t.rejected_reason && <div class="error small">{t.rejected_reason}</div>}</>])} /> : <Empty title="No templates yet" />}</Loaded>
    <Dialog title="New template" open={open} onClose={() => setOpen(false)}><NewTemplate path={path} done={() => { setOpen(false); list.reload() }} /></Dialog>
  </>
}

function NewTemplate({ path, done }: { path: string; done: () => void }) {
  const [t, set] = useState({ name: '', language: 'en', category: 'utility', body_text: 'Hello {{1}}, your order is ready.', names: 'name', samples: 'Mia' })
  const [errors, setErrors] = useState<Errors>({})
  const edit = (k: keyof typeof t) => (v: string) => set(x => ({ ...x, [k]: v }))
  const list = (s: string) => s.split(',').map(x => x.trim()).filter(Boolean)
  const save = async () => {
    try { await post(path, { name: t.name, language: t.language, category: t.category, body_text: t.body_text, variables: list(t.names), examples: list(t.samples) }); done() } catch (e) { setErrors(errorsOf(e)); say((e as Error).message, true) }
  }
  return <form onSubmit={e => { e.preventDefault(); save() }}>
    <Text label="Name" value={t.name} onInput={edit('name')} error={errors.name} hint="Small letters, digits and _" />
    <div class="row"><Text label="Language" value={t.language} onInput={edit('language')} error={errors.language} /><Choice label="Category" value={t.category} onInput={edit('category')} options={['marketing', 'utility', 'authentication'].map(c => [c, c])} /></div>
    <Text label="Text" rows={4} value={t.body_text} onInput={edit('body_text')} error={errors.body_text} hint="{{1}}, {{2}} … are filled in." />
    <Text label="Names of the placeholders, in order" value={t.names} onInput={edit('names')} error={errors.variables} /><Text label="Examples" value={t.samples} onInput={edit('samples')} error={errors.examples} />
    <Button kind="primary" type="submit">Submit</Button>
  </form>
}

function Senders({ list, reload }: { list: Sender[]; reload: () => unknown }) {
  const assistants = useLoad(() => get<Assistant[]>('/user/assistants'), [])
  const save = (s: Sender, change: object) => attempt(() => put(`/user/whatsapp/senders/${s.id}`, change), 'Saved.').then(reload)
  return <Loaded of={assistants}>{all => <div class="grid">{list.map(s => <Card title={s.display_name}>
    <p><strong>{s.phone_number}</strong> <Badge>{s.status}</Badge> <Badge>{s.quality_rating}</Badge></p>
    <p class="muted small">{s.messaging_limit_formatted} · {s.status_detail} · synchronised {when(s.last_synced_at)}</p>
    <Choice label="Assistant" value={s.assistant_id} onInput={v => save(s, { assistant_id: v ? Number(v) : null })} options={[['', 'none'], ...all.map(a => [a.id, a.name] as [number, string])]} />
    <Switch label="The assistant answers" value={s.ai_enabled} onInput={ai_enabled => save(s, { ai_enabled })} />
  </Card>)}</div>}</Loaded>
}
