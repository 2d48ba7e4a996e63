import { useEffect, useState } from 'preact/hooks'
import { ApiError, curl, get, post, put } from '../api'
import { attempt, Badge, Button, Card, Choice, Empty, Loaded, Page, Request, seconds, Table, Tabs, Text, useLoad, when } from '../ui'

type Data<T> = { data: T }
const behaviours = ['answer', 'busy', 'no_answer', 'decline', 'voicemail', 'fax', 'invalid', 'carrier_error', 'screening']

export function Simulator() {
  const [tab, setTab] = useState('Phones')
  const clock = useLoad(() => get<Data<{ mode: string; now: string }>>('/sim/clock'), [])
  return (
    <Page title="Simulator" sub="A pretend carrier, phones, messaging platform and payments: everything works here without a vendor.">
      {clock.error ? <Empty title="The simulator is off">It is on while no real carrier is configured and the server listens on this machine only, or with simulator.enabled: true.</Empty> :
        <Tabs names={['Phones', 'WhatsApp customer', 'Money', 'Clock']} now={tab} go={setTab}>
          {tab === 'Phones' && <Phones />}
          {tab === 'WhatsApp customer' && <Customer />}
          {tab === 'Money' && <Money />}
          {tab === 'Clock' && <Clock now={clock} />}
        </Tabs>}
    </Page>
  )
}

const steps = (text: string) => text.split('\n').map(l => l.trim()).filter(Boolean).flatMap(say => [{ wait_for: 'speech_end', timeout_ms: 20_000 }, { wait_for: 'silence', timeout_ms: 5_000 }, { say }]).concat([{ wait_for: 'speech_end', timeout_ms: 20_000 }] as any)

function Phones() {
  const [phone, setPhone] = useState('+14155550199')
  const [behaviour, setBehaviour] = useState('answer')
  const [script, setScript] = useState('Hello?\nWhat are your opening hours?\nThank you, bye.')
  const [from, setFrom] = useState('+14155550177')
  const [to, setTo] = useState('')
  const owned = useLoad(() => get<Data<{ phone_number: string; type: string }[]>>('/user/phone-numbers/all'), [])
  const texts = useLoad(() => get<Data<{ from: string; body: string; at: string }[]>>('/sim/sms', { phone }), [phone])
  const [calls, setCalls] = useState<{ id: number; call_id: number | null }[]>([])
  const target = to || owned.data?.data.find(n => n.type !== 'caller_id')?.phone_number || ''
  const body = { from, to: target, script: [...steps(script), { hangup: true }] }
  return (
    <div class="split">
      <div>
        <Card title="Somebody calls you"><form onSubmit={e => { e.preventDefault(); attempt(async () => { const r = await post<Data<{ id: number; call_id: number | null }>>('/sim/calls', body); setCalls(c => [r.data, ...c]) }, 'The phone rings.') }}>
          <div class="row"><Text label="From" value={from} onInput={setFrom} /><Choice label="To" value={target} onInput={setTo} options={(owned.data?.data ?? []).filter(n => n.type !== 'caller_id').map(n => [n.phone_number, n.phone_number])} /></div>
          <Text label="What the caller says, one turn a line" rows={4} value={script} onInput={setScript} />
          <Button kind="primary" type="submit" disabled={!target}>Call</Button>{!target && <p class="muted small">You own no number yet. <a href="/console/numbers">Buy a simulated one</a></p>}
          <Request command={curl('POST', '/sim/calls', body)} />
        </form></Card>
        {calls.map(c => <SimCall key={c.id} id={c.id} call={c.call_id} />)}
      </div>
      <div>
        <Card title="A phone you call"><form onSubmit={e => { e.preventDefault(); attempt(() => put(`/sim/phones/${encodeURIComponent(phone)}`, { behaviour, ...(behaviour === 'answer' ? { script: [...steps(script), { hangup: true }] } : {}) }), 'The phone is set.') }}>
          <Text label="Number" value={phone} onInput={setPhone} /><Choice label="When it is called" value={behaviour} onInput={setBehaviour} options={behaviours.map(b => [b, b.replaceAll('_', ' ')])} hint={behaviour === 'answer' ? 'It says the lines on the left.' : undefined} />
          <Button type="submit">Set</Button></form></Card>
        <Card title="Texts it received"><Loaded of={texts}>{({ data }) => data.length ? <ul>{data.map(t => <li>{t.body} <span class="muted small">from {t.from}, {when(t.at)}</span></li>)}</ul> : <p class="muted">None.</p>}</Loaded><Button kind="quiet" onClick={texts.reload}>Reload</Button></Card>
      </div>
    </div>
  )
}

type Outcome = { state: string; steps: { at_ms: number; step: object; done: boolean }[]; heard: { from_ms: number; to_ms: number; text: string }[]; audio_url: string | null; call_id?: number | null }
function SimCall({ id, call: ours }: { id: number; call: number | null }) {
  const call = useLoad(() => get<Data<Outcome>>(`/sim/calls/${id}`), [id])
  const over = call.data && /^(ended|failed|refused)/.test(call.data.data.state)
  useEffect(() => { if (over) return; const t = setInterval(call.reload, 1500); return () => clearInterval(t) }, [over])
  return <Card title={`Call ${id}`}><Loaded of={call}>{({ data: c }) => <>
    <p><Badge>{c.state}</Badge> {ours && <a href={`/console/calls/${ours}`}>Watch it on the Call page</a>}</p>
    <ol class="lines">{c.heard.map(h => <li><small>heard at {seconds(h.from_ms / 1000)}</small>{h.text}</li>)}</ol>
    {c.audio_url && <audio controls preload="none" src={new URL(c.audio_url, location.href).pathname} aria-label={`What the caller of call ${id} heard`} />}
  </>}</Loaded></Card>
}

function Customer() {
  const senders = useLoad(() => get<Data<{ id: number; phone_number: string; display_name: string }[]>>('/user/whatsapp/senders', { status: 'all' }), [])
  const [phone, setPhone] = useState('+491701234567')
  const [text, setText] = useState('')
  const make = () => attempt(async () => {
    const assistants = await get<{ id: number }[]>('/user/assistants')
    const s = await post<Data<{ id: number }>>('/sim/whatsapp/senders', { phone_number: '+14155550100', display_name: 'Shop', assistant_id: assistants.at(-1)?.id ?? null })
    await post(`/sim/whatsapp/senders/${s.data.id}/templates`, { name: 'order_ready', language: 'en', category: 'utility', status: 'approved', body_text: 'Hello {{1}}, your order {{2}} is ready.', variables: ['name', 'order'] })
  }, 'A sender with one template is there.').then(senders.reload)
  return <Loaded of={senders}>{({ data }) => data.length ? <CustomerPhone key={phone} sender={data[0].id} phone={phone} setPhone={setPhone} text={text} setText={setText} name={data[0].display_name} />
    : <Empty title="No sender yet"><Button kind="primary" onClick={make}>Make a sender and a template</Button></Empty>}</Loaded>
}

function CustomerPhone({ sender, name, phone, setPhone, text, setText }: { sender: number; name: string; phone: string; setPhone: (s: string) => void; text: string; setText: (s: string) => void }) {
  const shown = useLoad(() => get<Data<{ message_sid: string; direction: string; text: string; status: string; at: string }[]>>('/sim/whatsapp/messages', { sender_id: sender, phone }), [phone])
  const mark = (sid: string, status: string) => attempt(() => post(`/sim/whatsapp/messages/${sid}/status`, { status })).then(shown.reload)
  return <Card title={`The phone of a customer of ${name}`}>
    <div class="row filters"><Text label="The customer’s number" value={phone} onInput={setPhone} /><Button kind="quiet" onClick={shown.reload}>Reload</Button></div>
    <Loaded of={shown}>{({ data }) => <ol class="lines" aria-label="Messages on the phone">{data.map(m => <li class={m.direction === 'outbound' ? '' : 'human'}><small>{when(m.at)} · {m.status}</small>{m.text}
      {m.direction === 'outbound' && m.status !== 'read' && <div><Button kind="quiet" onClick={() => mark(m.message_sid, 'read')}>Mark as read</Button></div>}</li>)}</ol>}</Loaded>
    <form class="row" style={{ marginTop: '1rem' }} onSubmit={e => { e.preventDefault(); attempt(() => post('/sim/whatsapp/inbound', { sender_id: sender, from: phone, name: 'Mia', text })).then(ok => { if (ok) { setText(''); shown.reload() } }) }}><Text label="The customer writes" value={text} onInput={setText} autocomplete="off" /><Button type="submit" kind="primary">Send</Button></form>
  </Card>
}

function Money() {
  const held = useLoad(() => get<{ charges: { ref: string; amount: number; status: string }[]; subscriptions: { ref: string; phone_number: string; status: string; period_end: string }[] }>('/sim/payments').then((r: any) => r.data ?? r), [])
  const [method, setMethod] = useState('ok')
  return <>
    <form class="row filters" onSubmit={e => { e.preventDefault(); attempt(() => put('/sim/account', { payment_method: method }), 'Set.') }}><Choice label="The payment card" value={method} onInput={setMethod} options={[['ok', 'works'], ['declined', 'is declined'], ['none', 'does not exist']]} /><Button type="submit">Set</Button></form>
    <Loaded of={held}>{p => p.charges.length + p.subscriptions.length ? <Table label="Payments" heads={['What', 'Amount', 'Status']} rows={[...p.charges.map((c: any) => [c.ref, c.amount, <Badge>{c.status}</Badge>]), ...p.subscriptions.map((s: any) => [`${s.phone_number} until ${when(s.period_end)}`, '', <Badge>{s.status}</Badge>])]} /> : <Empty title="Nothing was paid yet" />}</Loaded>
  </>
}

function Clock({ now }: { now: { data?: Data<{ mode: string; now: string }>; reload: () => unknown } }) {
  const advance = (n: number) => attempt(async () => {
    try { await post('/sim/clock/advance', { seconds: n }) } catch (e) { throw e instanceof ApiError && e.status === 409 ? new Error('The clock is real. Start the server with clock.mode: manual to move it.') : e }
  }, 'Time has passed.').then(now.reload)
  return <Card><p>It is <strong>{when(now.data?.data.now)}</strong> ({now.data?.data.mode} clock).</p>
    <div class="actions">{([['5 minutes', 300], ['1 hour', 3600], ['4 hours', 14400], ['1 day', 86400], ['30 days', 2592000]] as [string, number][]).map(([l, s]) => <Button disabled={now.data?.data.mode !== 'manual'} onClick={() => advance(s)}>+ {l}</Button>)}</div>
    {now.data?.data.mode !== 'manual' && <p class="muted small">Start the server with <code>PARLEY_CLOCK_MODE=manual</code> to move time: windows, retries, renewals and campaign hours follow.</p>}</Card>
}
