import { useEffect, useRef, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import WaveSurfer from 'wavesurfer.js'
import { curl, get, post } from '../api'
import { attempt, Badge, Button, Card, Copy, Loaded, Page, Request, seconds, Text, useLoad, when } from '../ui'
import type { CallRecord } from './calls'
import { useCallEvents } from './talk'
import { Lines, linesOf, StageBars, stagesOf, type Event } from './transcript'

const over = (c: CallRecord) => !['initiated', 'ringing', 'in-progress'].includes(c.status)

export function Call() {
  const { id } = useRoute().params
  const call = useLoad(() => get<CallRecord>(`/user/calls/${id}`), [id])
  useEffect(() => { // a live call changes; a finished one settles within a minute
    if (!call.data || ['completed', 'busy', 'no-answer', 'failed'].includes(call.data.status)) return
    const timer = setInterval(call.reload, 2000)
    return () => clearInterval(timer)
  }, [call.data?.status])
  return <Loaded of={call}>{c => <Detail call={c} />}</Loaded>
}

function Detail({ call }: { call: CallRecord }) {
  const stored = useLoad(() => get<{ data: Event[] }>(`/user/calls/${call.id}/events`), [call.id, call.status])
  const live = useCallEvents(over(call) ? undefined : call.id)
  const events = over(call) ? stored.data?.data ?? [] : live
  const [at, setAt] = useState(0)
  const who = call.client_phone_number ?? 'a browser'
  return (
    <Page title={`Call with ${who}`} sub={<><Badge>{call.status}</Badge> {call.assistant_name} · {call.type} · {when(call.created_at)} · {seconds(call.duration)}</>}
      actions={!over(call) && <Button kind="danger" onClick={() => attempt(() => post(`/user/calls/${call.id}/hangup`), 'Hanging up.')}>Hang up</Button>}>
      <Card title="Timeline">
        <Axis events={events} length={Math.max(call.duration, lastOf(events))} at={at} />
        {call.recording_url ? <Player url={call.recording_url} onTime={setAt} /> : over(call) && <p class="muted small">This call was not recorded.</p>}
      </Card>
      <div class="split">
        <div>
          <Card title="Transcript"><Lines lines={linesOf(events)} />{!linesOf(events).length && <p class="muted">Nothing was said{over(call) ? '.' : ' yet.'}</p>}</Card>
          {!over(call) && <Whisper id={call.id} />}
          <Card title="Events"><div class="events" tabIndex={0} role="region" aria-label="Events"><table><tbody>{events.map(e => <tr><td class="num small">{(e.ms / 1000).toFixed(2)}</td><td class="small"><code>{e.type}</code></td><td class="small"><code>{JSON.stringify(e.data)}</code></td></tr>)}</tbody></table></div></Card>
        </div>
        <div>
          <Card title="Answers"><StageBars stages={stagesOf(events)} /></Card>
          <Card title="Facts"><dl class="facts">
            <dt>Ended</dt><dd>{call.ended_reason?.replaceAll('_', ' ') ?? '–'}{call.ended_by && ` (by ${call.ended_by})`}</dd>
            <dt>Answered by</dt><dd>{call.answered_by}</dd>
            <dt>Our number</dt><dd>{call.assistant_phone_number ?? '–'}</dd>
            <dt>Cost</dt><dd>{call.total_cost} {call.currency} ({call.ai_cost} conversation, {call.carrier_cost} carrier)</dd>
            <dt>Id</dt><dd>{call.id} · {call.uuid}</dd>
          </dl></Card>
          <Card title="Evaluation">{call.evaluation_fields?.length ? <dl class="facts">{call.evaluation_fields.map(f => <><dt title={f.description}>{f.name}</dt><dd>{f.value === null ? 'not known' : String(f.value)}</dd></>)}</dl> : <p class="muted">None.</p>}</Card>
          <Card title="Collected"><pre tabIndex={0}>{JSON.stringify(call.variables, null, 1)}</pre></Card>
          {call.webhook_response && <Card title="Webhook answer"><pre tabIndex={0}>{JSON.stringify(call.webhook_response, null, 1)}</pre></Card>}
          <Copy text={JSON.stringify({ call, events }, null, 1)}>Copy debug bundle</Copy>
          <Request command={curl('GET', `/user/calls/${call.id}`)} />
        </div>
      </div>
    </Page>
  )
}

const lastOf = (events: Event[]) => Math.max(1, ...events.map(e => e.ms / 1000))

// spans pairs each side's speech.start with the speech.end that follows it.
function spans(events: Event[], side: string, until: number) {
  const out: [number, number][] = []
  let from: number | null = null
  for (const e of events) {
    if (e.data?.side !== side) continue
    if (e.type === 'speech.start' && from === null) from = e.ms / 1000
    if (e.type === 'speech.end' && from !== null) { out.push([from, e.ms / 1000]); from = null }
  }
  if (from !== null) out.push([from, until])
  return out
}

// Axis draws both voices on one time axis: caller above, assistant below, interruptions and tools as marks.
function Axis({ events, length, at }: { events: Event[]; length: number; at: number }) {
  const W = 1000, x = (s: number) => Math.max(0, s) / length * W
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 300].find(s => length / s <= 12) ?? 600
  const tools = events.filter(e => e.type === 'tool.call')
  return (
    <svg class="axis" viewBox={`0 0 ${W} 118`} role="img" aria-label={`Who spoke when during ${seconds(length)} minutes`} preserveAspectRatio="none" style={{ height: '118px' }}>
      {Array.from({ length: Math.floor(length / step) + 1 }, (_, i) => <g><line class="tick" x1={x(i * step)} x2={x(i * step)} y1="0" y2="98" vector-effect="non-scaling-stroke" /></g>)}
      {spans(events, 'customer', length).map(([a, b]) => <rect class="caller" x={x(a)} width={Math.max(2, x(b) - x(a))} y="10" height="34" rx="4" />)}
      {spans(events, 'assistant', length).map(([a, b]) => <rect class="assistant" x={x(a)} width={Math.max(2, x(b) - x(a))} y="54" height="34" rx="4" />)}
      {events.filter(e => e.type === 'barge_in').map(e => <line class="barge" x1={x(e.ms / 1000)} x2={x(e.ms / 1000)} y1="4" y2="94" vector-effect="non-scaling-stroke"><title>Interrupted</title></line>)}
      {tools.map(e => <rect class="tool" x={x(e.ms / 1000)} y="92" width="6" height="6"><title>{e.data.name}</title></rect>)}
      {at > 0 && <line class="now" x1={x(at)} x2={x(at)} y1="0" y2="98" vector-effect="non-scaling-stroke" />}
    </svg>
  )
}

// tone is the colour a variable stands for where el is; canvases know neither variables nor light-dark().
function tone(el: HTMLElement, variable: string) {
  const probe = el.appendChild(document.createElement('i'))
  probe.style.color = `var(${variable})`
  const color = getComputedStyle(probe).color
  probe.remove()
  return color
}

function Player({ url, onTime }: { url: string; onTime: (s: number) => void }) {
  const box = useRef<HTMLDivElement>(null)
  const audio = useRef<HTMLAudioElement>(null)
  useEffect(() => {
    const wave = WaveSurfer.create({
      container: box.current!, media: audio.current!, height: 40, barWidth: 2, barGap: 1, normalize: true,
      splitChannels: [{ waveColor: tone(box.current!, '--caller') }, { waveColor: tone(box.current!, '--assistant') }] as any,
    })
    wave.on('timeupdate', onTime)
    return () => wave.destroy()
  }, [url])
  return <><div ref={box} /><audio ref={audio} src={new URL(url, location.href).pathname} controls preload="metadata" aria-label="Recording" /></>
}

function Whisper({ id }: { id: number }) {
  const [text, set] = useState('')
  return (
    <form class="card row" onSubmit={e => { e.preventDefault(); attempt(() => post(`/user/calls/${id}/whisper`, { text }), 'The assistant has your hint.').then(ok => ok && set('')) }}>
      <Text label="Whisper to the assistant" value={text} onInput={set} hint="The caller does not hear it." /><Button type="submit">Send</Button>
    </form>
  )
}
