import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { del, get, post } from '../../api'
import {
  attempt,
  Badge,
  Button,
  Card,
  Choice,
  Dialog,
  Empty,
  Loaded,
  Page,
  Pager,
  say,
  sure,
  Table,
  Text,
  useEvents,
  useLoad,
  when,
} from '../../ui'
import type { CallRecord, PageOf } from '../calls'
import { hours, short, windowOf, type Campaign, type Lead } from './campaign_types'
import { CampaignForm } from './form'
import { AddLeads } from './leads'

export function CampaignPage() {
  const { id } = useRoute().params
  const { route } = useLocation()
  const loaded = useLoad(() => get<{ data: Campaign }>(`/user/campaigns/${id}`), [id])
  const [filter, setFilter] = useState({ campaign_id: id, status: '', phone_number: '', page: 1 })
  const leads = useLoad(() => get<PageOf<Lead>>('/user/leads', filter), [filter])
  const calls = useLoad(
    () =>
      Promise.all(
        ['initiated', 'ringing', 'in-progress'].map(status =>
          get<PageOf<CallRecord>>('/user/calls', { campaign_id: id, status, per_page: 1 }).then(p => p.total),
        ),
      ),
    [id],
  )
  const [editing, edit] = useState(false)
  const [adding, add] = useState(false)
  const reload = () => {
    loaded.reload()
    leads.reload()
    calls.reload()
  }
  useEvents(['campaign', 'call'], reload)
  return (
    <Loaded of={loaded}>
      {({ data: c }) => {
        const running = c.status === 'in-progress',
          w = windowOf(c)
        const act = (action: string, drain = false) =>
          attempt(async () =>
            say(
              (await post<{ message: string }>('/user/campaign/update-status', { campaign_id: c.id, action, drain }))
                .message,
            ),
          ).then(reload)
        return (
          <Page
            title={c.name}
            sub={
              <>
                <Badge>{c.status}</Badge> {c.stop_reason && `because of ${c.stop_reason.replaceAll('_', ' ')}`}
              </>
            }
            actions={
              <>
                {running ? (
                  <>
                    <Button onClick={() => act('stop', true)}>Stop after these calls</Button>
                    <Button kind="danger" onClick={() => act('stop')}>
                      Stop now
                    </Button>
                  </>
                ) : (
                  <Button kind="primary" onClick={() => act('start')}>
                    Start
                  </Button>
                )}
                <Button onClick={() => edit(true)}>Edit</Button>
                <Button
                  kind="quiet"
                  onClick={async () =>
                    (await sure(`Remove ${c.name}?`, 'Remove', 'Its leads go with it; the calls stay.')) !== null &&
                    attempt(() => del(`/user/campaign/${c.id}`), 'Removed.').then(
                      ok => ok && route('/console/campaigns'),
                    )
                  }
                >
                  Remove
                </Button>
              </>
            }
          >
            <div class="grid">
              <Card title="Funnel">
                <Funnel of={c.leads_count} />
              </Card>
              <Card title="Lines in use">
                <Slots used={calls.data ?? [0, 0, 0]} of={c.max_calls_in_parallel} />
              </Card>
              <Card title="Window">
                <p>
                  <span class={`badge ${w.open ? 'good' : 'warn'}`}>{w.open ? 'open' : 'closed'}</span> it is {w.now}{' '}
                  there
                </p>
                <p>
                  {hours(c)}, {short(c.allowed_days)}
                </p>
                <p class="muted small">
                  {c.timezone} · {c.max_retries === 1 ? 'one retry after' : `${c.max_retries} retries, each after`}{' '}
                  {c.retry_interval} minutes
                </p>
              </Card>
            </div>
            <header class="page-head" style={{ marginTop: '1.25rem' }}>
              <h2>Leads</h2>
              <Button onClick={() => add(true)}>Add leads</Button>
            </header>
            <div class="row filters">
              <Choice
                label="Status"
                value={filter.status}
                onInput={status => setFilter(f => ({ ...f, status, page: 1 }))}
                options={[
                  ['', 'Any'],
                  ...[
                    'created',
                    'scheduled',
                    'rescheduled',
                    'processing',
                    'completed',
                    'reached-max-retries',
                    'blacklisted',
                  ].map(s => [s, s] as [string, string]),
                ]}
              />
              <Text
                label="Number contains"
                value={filter.phone_number}
                onInput={phone_number => setFilter(f => ({ ...f, phone_number, page: 1 }))}
                inputMode="numeric"
              />
            </div>
            <Loaded of={leads}>
              {page =>
                page.data.length ? (
                  <>
                    <Table
                      label="Leads"
                      heads={['Number', 'Variables', 'Status', 'Attempts', 'Next', '']}
                      rows={page.data.map(l => [
                        <>
                          <strong>{l.phone_number}</strong>
                          {l.secondary_contacts.length > 0 && (
                            <div class="muted small">
                              then {l.secondary_contacts.map(s => s.phone_number).join(', ')}
                            </div>
                          )}
                        </>,
                        <span class="small">
                          {Object.entries(l.variables)
                            .map(([k, v]) => `${k}: ${v}`)
                            .join(', ')}
                        </span>,
                        <Badge>{l.status}</Badge>,
                        l.attempts,
                        when(l.next_attempt_at),
                        <>
                          {l.last_call_id && <a href={`/console/calls/${l.last_call_id}`}>Last call</a>}{' '}
                          <Button
                            kind="quiet"
                            label={`Remove ${l.phone_number}`}
                            onClick={() => attempt(() => del(`/user/leads/${l.id}`), 'Removed.').then(reload)}
                          >
                            Remove
                          </Button>
                        </>,
                      ])}
                    />
                    <Pager
                      page={page.current_page}
                      last={page.last_page}
                      go={p => setFilter(f => ({ ...f, page: p }))}
                    />
                  </>
                ) : (
                  <Empty title="No leads here" />
                )
              }
            </Loaded>
            <Dialog title={`Edit ${c.name}`} open={editing} onClose={() => edit(false)}>
              <CampaignForm
                was={c}
                done={() => {
                  edit(false)
                  reload()
                }}
              />
            </Dialog>
            <Dialog title="Add leads" open={adding} onClose={() => add(false)}>
              <AddLeads
                campaign={c.id}
                done={() => {
                  add(false)
                  reload()
                }}
              />
            </Dialog>
          </Page>
        )
      }}
    </Loaded>
  )
}

function Funnel({ of: n }: { of: Campaign['leads_count'] }) {
  const bar = (label: string, value: number, tone: string) => (
    <div>
      <span class="small">
        {label} <strong>{value}</strong>
      </span>
      <div class="stage">
        <i class={tone} style={{ width: `${(100 * value) / Math.max(1, n.total)}%` }} />
      </div>
    </div>
  )
  return (
    <div class="stages">
      {bar('All', n.total, 's0')}
      {bar('Still open', n.open, 's2')}
      {bar('Completed', n.completed, 's3')}
      {bar('Given up', n.failed, 's4')}
    </div>
  )
}

// Slots are the lines of a campaign: those that talk, those that ring, those that are free.
function Slots({ used: [initiated, ringing, talking], of }: { used: number[]; of: number }) {
  const busy = initiated + ringing
  return (
    <>
      <p class="slots" role="img" aria-label={`${talking} of ${of} lines talk, ${busy} ring`}>
        {Array.from({ length: Math.max(of, talking + busy) }, (_, i) => (
          <i class={i < talking ? 'on' : i < talking + busy ? 'rings' : ''} />
        ))}
      </p>
      <p class="muted small">
        {talking} talking, {busy} ringing, {Math.max(0, of - talking - busy)} free
      </p>
    </>
  )
}
