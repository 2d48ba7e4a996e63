import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { ApiError } from '../api'
import { say } from './asking'

// attempt runs an action and tells the person how it went; true when it went well.
export async function attempt(action: () => Promise<unknown>, done?: string) {
  try {
    await action()
    if (done) say(done)
    return true
  } catch (e) {
    say((e as Error).message, true)
    return false
  }
}

export function Button({
  onClick,
  kind = '',
  disabled,
  children,
  label,
  type = 'button',
}: {
  onClick?: () => unknown
  kind?: string
  disabled?: boolean
  children: ComponentChildren
  label?: string
  type?: 'button' | 'submit'
}) {
  const [busy, set] = useState(false)
  const click = async () => {
    set(true)
    try {
      await onClick?.()
    } finally {
      set(false)
    }
  }
  return (
    <button
      type={type}
      class={kind}
      disabled={disabled || busy}
      aria-label={label}
      onClick={onClick ? click : undefined}
    >
      {children}
    </button>
  )
}

export type Errors = Record<string, string[]>

export const errorsOf = (e: unknown): Errors => (e instanceof ApiError ? e.errors : {})

export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string
  hint?: ComponentChildren
  error?: string[]
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ComponentChildren
}) {
  const id = useId()
  const note = hint || error ? id + 'n' : undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': note, 'aria-invalid': error ? true : undefined })}
      {note && (
        <p id={note} class={error ? 'error' : 'muted small'}>
          {error ? error[0] : hint}
        </p>
      )}
    </div>
  )
}

type Value = string | number | null | undefined

export function Text({
  label,
  value,
  onInput,
  hint,
  error,
  rows,
  type = 'text',
  ...rest
}: {
  label: string
  value: Value
  onInput: (v: string) => void
  hint?: ComponentChildren
  error?: string[]
  rows?: number
  type?: string
  [k: string]: unknown
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {ids =>
        rows ? (
          <textarea {...ids} {...rest} rows={rows} value={value ?? ''} onInput={e => onInput(e.currentTarget.value)} />
        ) : (
          <input
            {...ids}
            {...rest}
            type={type as 'text'}
            value={value ?? ''}
            onInput={e => onInput(e.currentTarget.value)}
          />
        )
      }
    </Field>
  )
}

export function Choice({
  label,
  value,
  options,
  onInput,
  hint,
  error,
}: {
  label: string
  value: Value
  options: [string | number, string][]
  onInput: (v: string) => void
  hint?: ComponentChildren
  error?: string[]
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {ids => (
        <select {...ids} value={value ?? ''} onChange={e => onInput(e.currentTarget.value)}>
          {options.map(([v, text]) => (
            <option value={v}>{text}</option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function Switch({
  label,
  value,
  onInput,
  hint,
}: {
  label: string
  value: boolean
  onInput: (v: boolean) => void
  hint?: ComponentChildren
}) {
  const id = useId()
  return (
    <div class="field switch">
      <input id={id} type="checkbox" role="switch" checked={value} onChange={e => onInput(e.currentTarget.checked)} />
      <label for={id}>{label}</label>
      {hint && <p class="muted small">{hint}</p>}
    </div>
  )
}
