// Webhook deliveries: what was sent, what came back, and sending it again. The Developers page and the Call page share it.
import { useState } from 'preact/hooks'
import { curl, get, post } from '../api'
import { attempt, Badge, Button, Copy, Dialog, Empty, Loaded, Request, Table, useEvents, useLoad, when } from '../ui'
import type { Schemas } from '../../openapi'

type Delivery = Schemas['deliveryOut']

const pretty = (v: unknown) => {
  try {
    return JSON.stringify(typeof v === 'string' ? JSON.parse(v) : v, null, 1)
  } catch {
    return String(v)
  }
}

export function Deliveries({ query, empty }: { query: Record<string, string | number>; empty: string }) {
  const [open, setOpen] = useState<number>()
  const list = useLoad(
    () => get<{ data: Delivery[] }>('/user/webhook-deliveries', { per_page: 50, ...query }),
    [JSON.stringify(query)],
  )
  useEvents(['delivery'], list.reload)
  return (
    <Loaded of={list}>
      {({ data }) => {
        const d = data.find(x => x.id === open)
        return (
          <>
            {data.length ? (
              <Table
                label="Webhook deliveries"
                heads={['When', 'Event', 'Status', 'Answer', '']}
                rows={data.map(d => {
                  const last = d.attempts.at(-1)
                  return [
                    when(d.created_at),
                    <>
                      {d.event}
                      <div class="muted small break">{d.url}</div>
                    </>,
                    <>
                      <Badge>{d.status}</Badge>
                      {d.next_attempt_at && <div class="muted small">again {when(d.next_attempt_at)}</div>}
                    </>,
                    last ? (
                      <>
                        {last.status_code ?? last.error}
                        <div class="muted small">
                          {d.attempts.length === 1 ? 'one try' : `${d.attempts.length} tries`}, {last.duration_ms} ms
                        </div>
                      </>
                    ) : (
                      <span class="muted">not sent yet</span>
                    ),
                    <Button kind="quiet" label={`Open delivery ${d.id}`} onClick={() => setOpen(d.id)}>
                      Open
                    </Button>,
                  ]
                })}
              />
            ) : (
              <Empty title="No webhooks">{empty}</Empty>
            )}
            <Dialog title={d?.event ?? ''} open={!!d} onClose={() => setOpen(undefined)}>
              {d && <Detail of={d} changed={list.reload} />}
            </Dialog>
          </>
        )
      }}
    </Loaded>
  )
}

function Detail({ of: d, changed }: { of: Delivery; changed: () => unknown }) {
  const replay = `/user/webhook-deliveries/${d.id}/replay`
  return (
    <>
      <p class="break">
        <Badge>{d.status}</Badge> <code>{d.url}</code>
      </p>
      <p class="small muted break">{d.webhook_id}</p>
      {d.payload !== undefined && (
        <details>
          <summary>Body</summary>
          <pre tabIndex={0}>{pretty(d.payload)}</pre>
          <Copy text={pretty(d.payload)} />
        </details>
      )}
      <ol class="tries">
        {d.attempts.map((a, i) => (
          <li>
            <strong>Try {i + 1}</strong> {when(a.at)}: {a.status_code ?? a.error}{' '}
            <span class="muted">({a.duration_ms} ms)</span>
            {a.response != null && a.response !== '' && <pre tabIndex={0}>{pretty(a.response)}</pre>}
          </li>
        ))}
      </ol>
      {d.next_attempt_at && <p>Next try {when(d.next_attempt_at)}</p>}
      <Button kind="primary" onClick={() => attempt(() => post(replay), 'Queued again.').then(changed)}>
        Send again
      </Button>
      <Request command={curl('POST', replay)} />
    </>
  )
}
