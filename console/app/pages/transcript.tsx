// What was said, and how long each answer took; the Talk page and the Call page share it.
export type Event = { seq: number; at: string; ms: number; type: string; data: any }
export type Line = {
  who: 'human' | 'bot' | 'tool'
  label?: string // of who; 'Tool' otherwise
  text: string
  ms?: number
  cut?: boolean
  typed?: boolean
  partial?: boolean
  stages?: Stages
  detail?: string
}

type Moments = { [side: string]: number | undefined }
const longPause = 3000 // ms, longer than any within a turn

// transferred is one step of a transfer in a few words.
export function transferred(e: Event) {
  const { phase, target, result } = e.data
  return result && result !== phase ? `${phase}: ${target}, ${result.replaceAll('_', ' ')}` : `${phase}: ${target}`
}

// linesOf is the conversation in the order it was begun, each line at the moment when its speaker began; what the caller
// is saying right now comes last.
export function linesOf(events: Event[]): Line[] {
  const began: Moments = {},
    paused: Moments = {}
  const lines = events.flatMap((e): Line[] => {
    switch (e.type) {
      case 'speech.start':
      case 'speech.end':
        if (e.type === 'speech.end') paused[e.data.side] = e.ms
        else if (e.ms - (paused[e.data.side] ?? e.ms) > longPause)
          began[e.data.side] = e.ms // after a sound without words
        else began[e.data.side] ??= e.ms
        return []
      case 'turn.user': {
        const spoken = e.data.source === 'speech',
          ms = (spoken ? began.customer : undefined) ?? e.ms
        if (spoken) began.customer = undefined
        return [{ who: 'human', text: e.data.text, ms, typed: !spoken }]
      }
      case 'turn.assistant': {
        const ms = began.assistant ?? e.ms
        began.assistant = undefined
        return [{ who: 'bot', text: e.data.text, ms, cut: e.data.interrupted, stages: stagesOf([e])[0] }]
      }
      case 'tool.result':
        return [
          { who: 'tool', text: e.data.name, ms: e.ms, detail: `${e.data.ms} ms · ${JSON.stringify(e.data.result)}` },
        ]
      case 'transfer':
        return [{ who: 'tool', label: 'Transfer', text: transferred(e), ms: e.ms, detail: e.data.kind }]
      default:
        return []
    }
  })
  const now = events.findLast(e => e.type === 'partial' || e.type === 'turn.user')
  if (now?.type === 'partial' && now.data.text) lines.push({ who: 'human', text: now.data.text, partial: true })
  return lines
}

export function Lines({ lines, seek }: { lines: Line[]; seek?: (ms: number) => void }) {
  return (
    <ol class="lines" aria-live="polite" aria-label="Transcript">
      {lines.map(l =>
        l.who === 'tool' ? (
          <li class="tool">
            <details>
              <summary>
                <small>{l.label ?? 'Tool'}</small> <code>{l.text}</code>
              </summary>
              <pre tabIndex={0}>{l.detail}</pre>
            </details>
          </li>
        ) : (
          <li class={`${l.who} ${l.cut ? 'cut' : ''} ${l.partial ? 'partial' : ''}`}>
            <small>
              {l.who === 'human' ? 'Caller' : 'Assistant'}
              {l.typed ? ' (typed)' : ''}
              {l.cut ? ' · interrupted' : ''}
              {l.ms !== undefined &&
                (seek ? (
                  <>
                    {' '}
                    ·{' '}
                    <button
                      type="button"
                      class="link"
                      aria-label={`Play from ${clock(l.ms)}`}
                      onClick={() => seek(l.ms!)}
                    >
                      {clock(l.ms)}
                    </button>
                  </>
                ) : (
                  ` · ${clock(l.ms)}`
                ))}
            </small>
            {l.text}
            {l.partial && '…'}
            {l.stages && <StageBar of={l.stages} />}
          </li>
        ),
      )}
    </ol>
  )
}

export const clock = (ms: number) =>
  `${Math.floor(Math.max(0, ms) / 60_000)}:${String(Math.floor(Math.max(0, ms) / 1000) % 60).padStart(2, '0')}`

// What happened between the caller's last sound and the first packet of the answer, in milliseconds each.
export type Stages = [endpoint: number, recognition: number, token: number, audio: number]
export const stagesOf = (events: Event[]): Stages[] =>
  events
    .filter(e => e.type === 'turn.assistant' && e.data.stages)
    .map(e => {
      const s = e.data.stages // each counted from the caller's last sound
      return [
        s.endpoint_ms,
        s.heard_ms - s.endpoint_ms,
        s.first_token_ms - s.heard_ms,
        s.first_packet_ms - s.first_token_ms,
      ].map(n => Math.max(0, n)) as Stages
    })

export const stageNames = ['Silence that ended the turn', 'Recognition', 'First words of the answer', 'First sound']
const sum = (p: number[]) => p.reduce((a, b) => a + b, 0)

const StageBar = ({ of: p }: { of: Stages }) => (
  <div class="answer-time">
    <div class="stage" role="img" aria-label={stageNames.map((n, k) => `${n} ${p[k]} ms`).join(', ')}>
      {p.map((n, k) => (
        <i class={`p${k}`} style={{ flexGrow: n }} title={`${stageNames[k]}: ${n} ms`} />
      ))}
    </div>
    <span class="small muted">{sum(p)} ms</span>
  </div>
)

export function StageBars({ stages }: { stages: Stages[] }) {
  if (!stages.length) return <p class="muted small">Each answer will show here how long it took.</p>
  const most = Math.max(...stages.map(sum), 1),
    sorted = stages.map(sum).sort((a, b) => a - b)
  return (
    <>
      <div class="stages">
        {stages.map((s, i) => {
          const p: number[] = s
          return (
            <div>
              <span class="small muted">
                Answer {i + 1}: {sum(p)} ms
              </span>
              <div class="stage" role="img" aria-label={stageNames.map((n, k) => `${n} ${p[k]} ms`).join(', ')}>
                {p.map((n, k) => (
                  <i class={`p${k}`} style={{ width: `${(100 * n) / most}%` }} title={`${stageNames[k]}: ${n} ms`} />
                ))}
              </div>
            </div>
          )
        })}
      </div>
      <StageLegend />
      {stages.length > 1 && (
        <p class="muted small">
          Half of the answers began within {sorted[Math.floor((sorted.length - 1) / 2)]} ms of the caller’s last sound.
        </p>
      )}
    </>
  )
}

export const StageLegend = () => (
  <p class="legend">
    {stageNames.map((n, k) => (
      <span>
        <b class={`p${k}`} />
        {n}
      </span>
    ))}
  </p>
)
