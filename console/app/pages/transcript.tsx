// What was said, and how long each answer took; the Talk page and the Call page share it.
export type Event = { seq: number; at: string; ms: number; type: string; data: any }
export type Line = { who: 'human' | 'bot'; text: string; ms?: number; cut?: boolean; typed?: boolean }

export const linesOf = (events: Event[]): Line[] => events.flatMap((e): Line[] =>
  e.type === 'turn.user' ? [{ who: 'human', text: e.data.text, ms: e.ms, typed: e.data.source !== 'speech' }]
    : e.type === 'turn.assistant' ? [{ who: 'bot', text: e.data.text, ms: e.ms, cut: e.data.interrupted }] : [])

export function Lines({ lines }: { lines: Line[] }) {
  return (
    <ol class="lines" aria-live="polite" aria-label="Transcript">
      {lines.map(l => <li class={`${l.who} ${l.cut ? 'cut' : ''}`}><small>{l.who === 'human' ? 'Caller' : 'Assistant'}{l.typed ? ' (typed)' : ''}{l.cut ? ' · interrupted' : ''}</small>{l.text}</li>)}
    </ol>
  )
}

// What happened between the caller's last sound and the first packet of the answer, in milliseconds each.
export type Stages = [endpoint: number, recognition: number, token: number, audio: number]
export const stagesOf = (events: Event[]): Stages[] => events.filter(e => e.type === 'turn.assistant' && e.data.stages).map(e => {
  const s = e.data.stages // each counted from the caller's last sound
  return [s.endpoint_ms, s.heard_ms - s.endpoint_ms, s.first_token_ms - s.heard_ms, s.first_packet_ms - s.first_token_ms].map(n => Math.max(0, n)) as Stages
})

const names = ['Silence that ended the turn', 'Recognition', 'First words of the answer', 'First sound']
export function StageBars({ stages }: { stages: Stages[] }) {
  if (!stages.length) return <p class="muted small">Each answer will show here how long it took.</p>
  const most = Math.max(...stages.map(s => s.reduce((a, b) => a + b, 0)), 1)
  return (
    <>
      <div class="stages">{stages.map((s, i) => {
        const p: number[] = s, sum = p.reduce((a, b) => a + b, 0)
        return <div><span class="small muted">Turn {i + 1}: {sum} ms</span><div class="stage" role="img" aria-label={names.map((n, k) => `${n} ${p[k]} ms`).join(', ')}>{p.map((n, k) => <i class={`s${k}`} style={{ width: `${100 * n / most}%` }} title={`${names[k]}: ${n} ms`} />)}</div></div>
      })}</div>
      <p class="legend">{names.map((n, k) => <span><b class={`s${k}`} />{n}</span>)}</p>
    </>
  )
}
