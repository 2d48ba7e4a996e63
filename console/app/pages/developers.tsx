import { useState } from 'preact/hooks'
import { del, get, post } from '../api'
import { attempt, Badge, Button, Card, Choice, Copy, Dialog, Empty, Loaded, Page, Text, useLoad, when } from '../ui'

type Key = { id: number; name: string; last_used_at: string | null; created_at: string }
type Delivery = { id: number; webhook_id: string; event: string; url: string; status: string; attempts: { at: string; status_code: number | null; duration_ms: number; error: string | null; response: unknown }[]; next_attempt_at: string | null; created_at: string; payload?: unknown }

export const Developers = () => (
  <Page title="Developers" sub={<><a href="/console/reference">API reference</a> · <a href="/api/openapi.json">OpenAPI document</a></>}>
    <div class="split"><Deliveries /><div><Keys /><Secret /></div></div>
  </Page>
)

function Keys() {
  const keys = useLoad(() => get<{ api_keys: Key[] }>('/user/api-keys'), [])
  const [name, setName] = useState('')
  const [token, setToken] = useState('')
  const make = () => attempt(async () => { setToken((await post<{ api_key: { token: string } }>('/user/api-keys', { name })).api_key.token); setName(''); keys.reload() })
  return (
    <Card title="API keys">
      <Loaded of={keys}>{({ api_keys }) => <ul>{api_keys.map(k => <li>{k.name} <span class="muted small">last used {when(k.last_used_at)}</span> <Button kind="quiet" label={`Delete ${k.name}`} onClick={() => confirm(`Delete the key ${k.name}?`) && attempt(() => del(`/user/api-keys/${k.id}`), 'Deleted.').then(keys.reload)}>Delete</Button></li>)}</ul>}</Loaded>
      <form class="row" onSubmit={e => { e.preventDefault(); make() }}><Text label="New key" value={name} onInput={setName} placeholder="crm sync" /><Button type="submit">Create</Button></form>
      <Dialog title="Your new key" open={!!token} onClose={() => setToken('')}><p>It is shown once. Keep it somewhere safe.</p><pre tabIndex={0}>{token}</pre><Copy text={token} /></Dialog>
    </Card>
  )
}

function Secret() {
  const secret = useLoad(() => get<{ secret: string }>('/user/webhook-secret'), [])
  const [shown, show] = useState(false)
  return (
    <Card title="Webhook secret"><Loaded of={secret}>{s => <>
      <pre tabIndex={0}>{shown ? s.secret : 'whsec_••••••••'}</pre>
      <Button kind="quiet" onClick={() => show(!shown)}>{shown ? 'Hide' : 'Show'}</Button><Copy text={s.secret} />
      <Button kind="quiet" onClick={() => confirm('Both secrets sign for 24 hours. Rotate?') && attempt(() => post('/user/webhook-secret/rotate'), 'Rotated.').then(secret.reload)}>Rotate</Button>
    </>}</Loaded></Card>
  )
}

function Deliveries() {
  const [status, setStatus] = useState('')
  const [open, setOpen] = useState<Delivery>()
  const list = useLoad(() => get<{ data: Delivery[] }>('/user/webhook-deliveries', { status, per_page: 50 }), [status])
  return (
    <div>
      <div class="row filters"><Choice label="Webhook deliveries" value={status} onInput={setStatus} options={[['', 'All'], ['pending', 'Pending'], ['succeeded', 'Succeeded'], ['failed', 'Failed']]} /><Button onClick={list.reload}>Reload</Button></div>
      <Loaded of={list}>{({ data }) => data.length ? <div class="table" tabIndex={0} role="region" aria-label="Deliveries"><table>
        <thead><tr><th>When</th><th>Event</th><th>Status</th><th class="num">Tries</th></tr></thead>
        <tbody>{data.map(d => <tr><td><button class="quiet" type="button" onClick={() => setOpen(d)}>{when(d.created_at)}</button></td><td>{d.event}<div class="muted small">{d.url}</div></td><td><Badge>{d.status}</Badge></td><td class="num">{d.attempts.length}</td></tr>)}</tbody>
      </table></div> : <Empty title="No deliveries">Switch a webhook on in an assistant’s Webhooks tab.</Empty>}</Loaded>
      <Dialog title={open?.event ?? ''} open={!!open} onClose={() => setOpen(undefined)}>
        <p class="small muted">{open?.webhook_id}</p>
        {open?.attempts.map((a, i) => <div><strong>Try {i + 1}</strong> {when(a.at)}: {a.status_code ?? a.error} <span class="muted">({a.duration_ms} ms)</span>{a.response != null && <pre tabIndex={0}>{typeof a.response === 'string' ? a.response : JSON.stringify(a.response, null, 1)}</pre>}</div>)}
        {open?.next_attempt_at && <p>Next try {when(open.next_attempt_at)}</p>}
        <Button onClick={() => attempt(() => post(`/user/webhook-deliveries/${open!.id}/replay`), 'Queued again.').then(list.reload)}>Send again</Button>
      </Dialog>
    </div>
  )
}
