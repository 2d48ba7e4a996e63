import { useRef } from 'preact/hooks'
import { clock, stageNames, StageLegend, stagesOf, transferred, type Event } from '../transcript'

type Span = [from: number, to: number]

// spans pairs each side's speech.start with the speech.end that follows it, in ms.
export function spans(events: Event[], side: string, until: number): Span[] {
  const out: Span[] = []
  let from: number | null = null
  for (const e of events) {
    if (e.data?.side !== side) continue
    if (e.type === 'speech.start' && from === null) from = e.ms
    if (e.type === 'speech.end' && from !== null) {
      out.push([from, e.ms])
      from = null
    }
  }
  if (from !== null) out.push([from, until])
  return out
}

// toolSpans pairs each tool.call with its result.
function toolSpans(events: Event[], until: number) {
  return events
    .filter(e => e.type === 'tool.call')
    .map(call => {
      const result = events.find(e => e.type === 'tool.result' && e.data.name === call.data.name && e.ms >= call.ms)
      return {
        name: call.data.name as string,
        from: call.ms,
        to: result?.ms ?? until,
        args: JSON.stringify(call.data.arguments),
      }
    })
}

// answerTimes puts the stages of each answer where they happened: they end where the assistant began to speak.
function answerTimes(events: Event[]) {
  return events.flatMap(e => {
    const stages = stagesOf([e])[0]
    const spoke =
      stages && events.findLast(x => x.type === 'speech.start' && x.data.side === 'assistant' && x.ms <= e.ms)
    if (!stages || !spoke) return []
    let at = spoke.ms - stages.reduce((a, b) => a + b, 0)
    return stages.map((ms, k) => ({ k, from: at, to: (at += ms), ms }))
  })
}

const marks: Record<string, { sign: string; name: (e: Event) => string }> = {
  'dtmf.in': { sign: '#', name: e => `Key ${e.data.digit}` },
  'dtmf.out': { sign: '#', name: e => `Keys sent: ${e.data.digits}` },
  filler: { sign: '~', name: e => `Filler: ${e.data.text}` },
  reengage: { sign: '?', name: () => 'Asked whether somebody is there' },
  transfer: { sign: '→', name: e => `Transfer ${transferred(e)}` },
  amd: { sign: '☎', name: e => `Answered by ${e.data.result}` },
  'language.switch': { sign: 'A', name: e => `Language ${e.data.to}` },
  limit: { sign: '!', name: e => `Limit: ${e.data.kind}` },
  warning: { sign: '!', name: e => e.data.message },
  error: { sign: '!', name: e => `${e.data.stage}: ${e.data.message}` },
}

// Axis is the call on one time axis: the caller above, the assistant below, how each answer came about between them, and
// what else happened. length is in ms; at is where the recording plays.
export function Axis({
  events,
  length,
  at,
  live,
  seek,
}: {
  events: Event[]
  length: number
  at: number
  live: boolean
  seek?: (ms: number) => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const x = (ms: number) => `${100 * Math.min(1, Math.max(0, ms) / length)}%`
  const place = (from: number, to: number) => ({
    left: x(from),
    width: `max(2px, ${(100 * Math.max(0, Math.min(to, length) - Math.max(0, from))) / length}%)`,
  })
  const narrow = typeof innerWidth === 'number' && innerWidth < 700
  const step =
    [1, 2, 5, 10, 15, 30, 60, 120, 300].map(s => s * 1000).find(s => length / s <= (narrow ? 5 : 12)) ?? 600_000
  const cuts = events.filter(e => e.type === 'barge_in'),
    tools = toolSpans(events, length),
    times = answerTimes(events),
    others = events.filter(e => marks[e.type] && e.ms >= 0)
  const said = { customer: spans(events, 'customer', length), assistant: spans(events, 'assistant', length) }
  const share = (s: Span[]) => Math.round((100 * s.reduce((n, [a, b]) => n + b - a, 0)) / length)
  return (
    <>
      <div
        class="axis"
        ref={box}
        role="img"
        aria-label={`${clock(length)} long. The caller speaks ${share(said.customer)} % of it, the assistant ${share(said.assistant)} %. ${cuts.length} interruptions, ${tools.length} tool calls.`}
        onClick={e => {
          const r = box.current!.getBoundingClientRect()
          seek?.(((e.clientX - r.left) / r.width) * length)
        }}
        style={seek ? { cursor: 'pointer' } : undefined}
      >
        <div class="ticks">
          {Array.from({ length: Math.floor(length / step) + 1 }, (_, i) => (
            <i style={{ left: x(i * step) }}>
              <span>{length - i * step > length / 40 && clock(i * step)}</span>
            </i>
          ))}
        </div>
        <div class="lane">
          <b>Caller</b>
          {said.customer.map(([a, b]) => (
            <i class="caller" style={place(a, b)} title={`Caller ${clock(a)}–${clock(b)}`} />
          ))}
        </div>
        <div class="lane thin">
          {times.map(t => (
            <i class={`p${t.k}`} style={place(t.from, t.to)} title={`${stageNames[t.k]}: ${t.ms} ms`} />
          ))}
        </div>
        <div class="lane">
          <b>Assistant</b>
          {said.assistant.map(([a, b]) => (
            <i class="assistant" style={place(a, b)} title={`Assistant ${clock(a)}–${clock(b)}`} />
          ))}
        </div>
        {tools.length > 0 && (
          <div class="lane tools">
            {tools.map(t => (
              <i class="tool" style={place(t.from, t.to)} title={`${t.name}(${t.args}), ${t.to - t.from} ms`}>
                <span>{t.name}</span>
              </i>
            ))}
          </div>
        )}
        {others.length > 0 && (
          <div class="lane notes">
            {others.map(e => (
              <i
                class={e.type === 'error' ? 'mark bad' : 'mark'}
                style={{ left: x(e.ms) }}
                title={marks[e.type].name(e)}
              >
                {marks[e.type].sign}
              </i>
            ))}
          </div>
        )}
        {cuts.map(e => (
          <i class="barge" style={{ left: x(e.ms) }} title={`The caller interrupted after ${e.data.after_ms} ms`} />
        ))}
        {(at > 0 || live) && <i class={live ? 'now live' : 'now'} style={{ left: x(live ? length : at) }} />}
      </div>
      <p class="legend">
        <span>
          <b class="k-caller" />
          Caller
        </span>
        <span>
          <b class="k-assistant" />
          Assistant
        </span>
        {cuts.length > 0 && (
          <span>
            <b class="k-barge" />
            Interrupted
          </span>
        )}
        {tools.length > 0 && (
          <span>
            <b class="k-tool" />
            Tool
          </span>
        )}
        {live && (
          <span>
            <b class="k-now" />
            Now
          </span>
        )}
      </p>
      {times.length > 0 && <StageLegend />}
    </>
  )
}
