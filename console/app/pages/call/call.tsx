import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { get, post } from '../../api'
import { attempt, Badge, Button, Card, Copy, Loaded, Page, seconds, Tabs, useLoad, when } from '../../ui'
import type { CallRecord } from '../calls'
import { Deliveries } from '../deliveries'
import { useCallEvents } from '../talk'
import { Lines, linesOf, StageBars, stagesOf, type Event } from '../transcript'
import { Axis } from './axis'
import { Listen, money, useCost, Whisper } from './live'
import { Player } from './player'
import { Signalling } from './signalling'

const going = (c: CallRecord) => ['initiated', 'ringing', 'in-progress'].includes(c.status)
const settled = (c: CallRecord) => ['completed', 'busy', 'no-answer', 'failed'].includes(c.status)

// Call is one call: live while it goes on, and its recording afterwards.
export function Call() {
  const { id } = useRoute().params
  const call = useLoad(() => get<CallRecord>(`/user/calls/${id}`), [id])
  useEffect(() => {
    // a live call changes; a finished one settles within a minute
    if (!call.data || settled(call.data)) return
    const timer = setInterval(call.reload, 1500)
    return () => clearInterval(timer)
  }, [call.data?.status])
  return <Loaded of={call}>{c => <Detail key={c.id} call={c} />}</Loaded>
}

// useNow is how long the call lasts, in ms, ticking between two looks at its record.
function useNow(call: CallRecord) {
  const [, tick] = useState(0)
  const seen = useRef({ seconds: call.duration, at: performance.now() })
  if (seen.current.seconds !== call.duration) seen.current = { seconds: call.duration, at: performance.now() }
  const talking = call.status === 'in-progress'
  useEffect(() => {
    if (!talking) return
    const t = setInterval(() => tick(n => n + 1), 250)
    return () => clearInterval(t)
  }, [talking])
  return seen.current.seconds * 1000 + (talking ? performance.now() - seen.current.at : 0)
}

function Detail({ call }: { call: CallRecord }) {
  const live = going(call)
  const stored = useLoad(() => get<{ data: Event[] }>(`/user/calls/${call.id}/events`), [call.id, call.status])
  const followed = useCallEvents(live ? call.id : undefined)
  const events = useMemo(
    () => (live && followed.length ? followed : (stored.data?.data ?? followed)).toSorted((a, b) => a.ms - b.ms),
    [live, followed, stored.data],
  )
  const now = useNow(call),
    cost = useCost(call.id, call.status)
  const [at, setAt] = useState(0)
  const [recorded, setRecorded] = useState(0)
  const seek = useRef<((ms: number) => void) | undefined>(undefined)
  const lines = linesOf(events),
    who = call.client_phone_number ?? 'a browser'
  const length = Math.max(
    1000,
    live
      ? Math.max(now, ...events.map(e => e.ms))
      : recorded || call.duration * 1000 || Math.max(0, ...events.map(e => e.ms)),
  )
  const jump = call.recording_url ? (ms: number) => seek.current?.(ms) : undefined
  return (
    <Page
      title={`Call with ${who}`}
      sub={
        <>
          <Badge>{call.status}</Badge>{' '}
          {call.assistant_id ? (
            <a href={`/console/assistants/${call.assistant_id}`}>{call.assistant_name}</a>
          ) : (
            call.assistant_name
          )}{' '}
          · {call.type} · {when(call.created_at)}
          {call.campaign_name && (
            <>
              {' '}
              · <a href={`/console/campaigns/${call.campaign_id}`}>{call.campaign_name}</a>
            </>
          )}
        </>
      }
      actions={
        <>
          {call.status === 'in-progress' && <Listen id={call.id} />}
          {live && (
            <Button kind="danger" onClick={() => attempt(() => post(`/user/calls/${call.id}/hangup`), 'Hanging up.')}>
              Hang up
            </Button>
          )}
          {!live && <Copy text={JSON.stringify({ call, events }, null, 1)}>Copy debug bundle</Copy>}
        </>
      }
    >
      <dl class="tiles">
        <div>
          <dt>{live ? 'Talking for' : 'Length'}</dt>
          <dd>{seconds(Math.floor((live ? now : call.duration * 1000) / 1000))}</dd>
        </div>
        <div>
          <dt>{cost && !cost.final ? 'Cost so far' : 'Cost'}</dt>
          <dd>{cost ? money(cost.total_cost, cost.currency) : '–'}</dd>
        </div>
        <div>
          <dt>Answered by</dt>
          <dd>{call.answered_at ? call.answered_by : 'nobody'}</dd>
        </div>
        <div>
          <dt>{live ? 'Turns' : 'Ended'}</dt>
          <dd>
            {live ? lines.filter(l => l.who !== 'tool').length : <>{call.ended_reason?.replaceAll('_', ' ') ?? '–'}</>}
          </dd>
        </div>
      </dl>
      {call.answered_at && (
        <Card title="Timeline">
          <Axis events={events} length={length} at={at} live={live} seek={jump} />
          {call.recording_url ? (
            <Player url={call.recording_url} onTime={setAt} onLength={setRecorded} seek={seek} />
          ) : (
            !live && <p class="muted small">This call was not recorded.</p>
          )}
        </Card>
      )}
      <div class="split">
        <Card title="Transcript">
          <Lines lines={lines} seek={jump} />
          {!lines.length && <p class="muted">Nothing was said{live ? ' yet.' : '.'}</p>}
        </Card>
        <div>
          {call.status === 'in-progress' && <Whisper id={call.id} />}
          <Values call={call} />
          <Card title="Answers">
            <StageBars stages={stagesOf(events)} />
          </Card>
          <Facts call={call} />
        </div>
      </div>
      <Behind call={call} events={events} live={live} />
    </Page>
  )
}

const text = (v: unknown) =>
  v === null ? (
    <span class="muted">not known</span>
  ) : typeof v === 'object' ? (
    <code>{JSON.stringify(v)}</code>
  ) : typeof v === 'boolean' ? (
    v ? (
      'yes'
    ) : (
      'no'
    )
  ) : (
    String(v)
  )

// Values are what was found out: the evaluation, what else was collected, and what the call was given.
function Values({ call }: { call: CallRecord }) {
  const found = new Set(call.evaluation_fields?.map(f => f.name))
  const more = Object.entries(call.variables).filter(([k]) => !found.has(k)),
    given = Object.entries(call.input_variables)
  if (!found.size && !more.length && !given.length)
    return (
      <Card title="Variables">
        <p class="muted small">{going(call) ? 'What is collected appears here.' : 'None.'}</p>
      </Card>
    )
  return (
    <Card title="Variables">
      {call.evaluation_fields?.length > 0 && (
        <>
          <h3>Evaluation</h3>
          <dl class="facts">
            {call.evaluation_fields.map(f => (
              <>
                <dt title={f.description}>{f.name}</dt>
                <dd>{text(f.value)}</dd>
              </>
            ))}
          </dl>
        </>
      )}
      {more.length > 0 && (
        <>
          <h3>Collected</h3>
          <dl class="facts">
            {more.map(([k, v]) => (
              <>
                <dt>{k}</dt>
                <dd>{text(v)}</dd>
              </>
            ))}
          </dl>
        </>
      )}
      {given.length > 0 && (
        <>
          <h3>Given</h3>
          <dl class="facts">
            {given.map(([k, v]) => (
              <>
                <dt>{k}</dt>
                <dd>{text(v)}</dd>
              </>
            ))}
          </dl>
        </>
      )}
    </Card>
  )
}

const Facts = ({ call: c }: { call: CallRecord }) => (
  <Card title="Facts">
    <dl class="facts">
      <dt>Customer</dt>
      <dd>{c.client_phone_number ?? 'browser'}</dd>
      <dt>Our number</dt>
      <dd>{c.assistant_phone_number ?? '–'}</dd>
      <dt>Answered</dt>
      <dd>{when(c.answered_at)}</dd>
      {c.ended_at && (
        <>
          <dt>Ended</dt>
          <dd>
            {when(c.ended_at)}
            {c.ended_by && `, by the ${c.ended_by}`}
          </dd>
        </>
      )}
      {settled(c) && (
        <>
          <dt>Conversation</dt>
          <dd>{money(c.ai_cost, c.currency)}</dd>
          <dt>Carrier</dt>
          <dd>{money(c.carrier_cost, c.currency)}</dd>
        </>
      )}
      <dt>Id</dt>
      <dd>
        {c.id} <span class="muted small">{c.uuid}</span>
      </dd>
    </dl>
  </Card>
)

// Behind is what engineers look at: webhooks, signalling, the raw log.
function Behind({ call, events, live }: { call: CallRecord; events: Event[]; live: boolean }) {
  const [tab, go] = useState('Webhooks')
  return (
    <Tabs names={['Webhooks', 'Signalling', 'Events']} now={tab} go={go} class="card">
      {tab === 'Webhooks' && (
        <Deliveries
          query={{ call_id: call.id }}
          empty={
            live
              ? 'They leave when the call is over.'
              : 'The assistant reports its calls when its Webhooks tab says so.'
          }
        />
      )}
      {tab === 'Signalling' && <Signalling id={call.id} live={live} status={call.status} />}
      {tab === 'Events' && (
        <div class="events" tabIndex={0} role="region" aria-label="Events">
          <table>
            <tbody>
              {events
                .filter(e => e.seq)
                .map(e => (
                  <tr>
                    <td class="num small">{(e.ms / 1000).toFixed(2)}</td>
                    <td class="small">
                      <code>{e.type}</code>
                    </td>
                    <td class="small break">
                      <code>{JSON.stringify(e.data)}</code>
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
    </Tabs>
  )
}
