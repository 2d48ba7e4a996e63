import { useState } from 'preact/hooks'
import { Choice, Copy, Field, Switch, Text } from '../../ui'
import type { Assistant } from '../assistants'
import { bounds } from '../../bounds'
import { choices, hintOf, whyNot, type Refs, type Spec } from './fields'

export function Input({
  spec: s,
  now,
  refs,
  error,
  onInput,
}: {
  spec: Spec
  now: Assistant
  refs: Refs
  error?: string[]
  onInput: (v: unknown) => void
}) {
  const why = whyNot(s, now.mode)
  if (why)
    return (
      <p class="muted small">
        {s.label}: {why}.
      </p>
    )
  const value = now[s.key] as any
  const of = bounds[s.key] ?? {}
  const hint = hintOf(s)
  const orNull = (v: string) => (of.empty && v === '' ? null : v)
  if (typeof s.kind === 'function') {
    const options: [string | number, string][] = s.kind(now, refs)
    if (of.empty && !s.needed) options.unshift(['', 'none'])
    const back = (v: string) => onInput(v === '' ? null : Number(v))
    return <Choice label={s.label} value={value} options={options} onInput={back} hint={hint} error={error} />
  }
  switch (s.kind) {
    case 'choice':
      return <Choice label={s.label} value={value} options={choices(s)} onInput={onInput} hint={hint} error={error} />
    case 'switch':
      return <Switch label={s.label} value={!!value} onInput={onInput} hint={error?.[0] ?? hint} />
    case 'number':
      return (
        <Text
          label={s.label}
          type="number"
          min={of.min}
          max={of.max}
          step={of.whole ? 1 : 'any'}
          value={value}
          onInput={v => onInput(v === '' ? null : Number(v))}
          hint={hint}
          error={error}
        />
      )
    case 'json':
      return <Json label={s.label} value={value} onInput={onInput} hint={hint} error={error} />
    default:
      return (
        <Text
          label={s.label}
          value={value}
          rows={s.kind === 'long' ? 14 : undefined}
          onInput={v => onInput(orNull(v))}
          hint={hint}
          error={error}
        />
      )
  }
}

export function Json({
  label,
  value,
  onInput,
  hint,
  error,
}: {
  label: string
  value: unknown
  onInput: (v: unknown) => void
  hint?: string
  error?: string[]
}) {
  const [text, set] = useState(JSON.stringify(value, null, 2))
  const [bad, setBad] = useState(false)
  const edit = (t: string) => {
    set(t)
    try {
      onInput(JSON.parse(t))
      setBad(false)
    } catch {
      setBad(true)
    }
  }
  return (
    <Field label={label} hint={hint} error={bad ? ['This is not valid JSON yet.'] : error}>
      {ids => (
        <textarea
          {...ids}
          rows={Math.min(16, text.split('\n').length + 1)}
          value={text}
          onInput={e => edit(e.currentTarget.value)}
          spellcheck={false}
          style={{ fontFamily: 'ui-monospace, monospace' }}
        />
      )}
    </Field>
  )
}

export const CustomTools = ({
  refs,
  chosen,
  onInput,
}: {
  refs: Refs
  chosen: number[]
  onInput: (v: number[]) => void
}) => (
  <>
    <h2>Your tools</h2>
    {refs.tools.length ? (
      refs.tools.map(t => (
        <Switch
          label={t.name}
          value={chosen.includes(t.id)}
          onInput={on => onInput(on ? [...chosen, t.id] : chosen.filter(x => x !== t.id))}
        />
      ))
    ) : (
      <p class="muted">
        None yet. <a href="/console/tools">Make one</a>.
      </p>
    )}
  </>
)

export function Embed({ uuid }: { uuid: string }) {
  const code = `<script src="${location.origin}/embed.js" data-assistant="${uuid}" async></script>`
  return (
    <>
      <p>Put this line on a page:</p>
      <pre tabIndex={0}>{code}</pre>
      <Copy text={code} />
    </>
  )
}
