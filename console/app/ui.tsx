// Small building blocks that every page shares.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import { ApiError, follow } from './api'
import { Requests } from './requests'

export function Page({ title, sub, actions, children }: { title: string; sub?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren }) {
  useEffect(() => { document.title = `${title} · parley` }, [title])
  return (
    <main id="main" tabIndex={-1}>
      <header class="page-head">
        <div><h1>{title}</h1>{sub && <p class="muted">{sub}</p>}</div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
      <Requests />
    </main>
  )
}

export const Card = ({ title, children, class: c = '' }: { title?: ComponentChildren; children: ComponentChildren; class?: string }) => (
  <section class={`card ${c}`}>{title && <h2>{title}</h2>}{children}</section>
)

const tones: Record<string, string> = {
  active: 'good', completed: 'good', online: 'good', approved: 'good', succeeded: 'good', registered: 'good', open: 'good', GREEN: 'good',
  'in-progress': 'live', ringing: 'live', initiated: 'live', processing: 'live', pending: 'live', draft: 'calm', scheduled: 'live', rescheduled: 'live', scheduled_for_release: 'warn', 'reached-max-retries': 'warn', blacklisted: 'bad', delivered: 'good', read: 'good',
  failed: 'bad', busy: 'warn', 'no-answer': 'warn', rejected: 'bad', stopped: 'warn', offline: 'bad', RED: 'bad', YELLOW: 'warn',
}
export const Badge = ({ children }: { children: string }) => <span class={`badge ${tones[children] ?? 'calm'}`}>{children.replaceAll('_', ' ').replaceAll('-', ' ')}</span>

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty"><strong>{title}</strong>{children && <p class="muted">{children}</p>}</div>
)

// useLoad runs load when its inputs change and keeps the last good answer while it reloads.
export function useLoad<T>(load: () => Promise<T>, inputs: unknown[]) {
  const [state, set] = useState<{ data?: T; error?: string }>({})
  const round = useRef(0)
  const reload = () => {
    const mine = ++round.current
    return load().then(
      data => { if (mine === round.current) set({ data }) },
      (e: Error) => { if (mine === round.current) set(s => ({ data: s.data, error: e.message })) },
    )
  }
  useEffect(() => { reload(); return () => { round.current++ } }, inputs)
  return { ...state, reload }
}

// useEvents runs a function after live changes of these kinds, at most twice a second.
export function useEvents(kinds: string[], changed: () => unknown) {
  const latest = useRef(changed)
  latest.current = changed
  useEffect(() => {
    let timer = 0
    const stop = follow('/user/events', kinds, () => { timer ||= window.setTimeout(() => { timer = 0; latest.current() }, 500) })
    return () => { stop(); clearTimeout(timer) }
  }, [kinds.join()])
}

export function Loaded<T>({ of, children }: { of: { data?: T; error?: string }; children: (data: T) => ComponentChildren }) {
  if (of.data !== undefined) return <>{of.error && <p class="error" role="alert">{of.error}</p>}{children(of.data)}</>
  if (of.error) return <p class="error" role="alert">{of.error}</p>
  return <p class="muted" aria-busy="true">Loading…</p>
}

export const toast = signal<{ text: string; bad?: boolean } | null>(null)
let fade = 0
export function say(text: string, bad = false) {
  toast.value = { text, bad }
  clearTimeout(fade)
  fade = window.setTimeout(() => { toast.value = null }, bad ? 7000 : 3500)
}
export const Toast = () => <div class={`toast ${toast.value?.bad ? 'bad' : ''}`} role="status" aria-live="polite" hidden={!toast.value}>{toast.value?.text}</div>

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

export function Button({ onClick, kind = '', disabled, children, label, type = 'button' }:
  { onClick?: () => unknown; kind?: string; disabled?: boolean; children: ComponentChildren; label?: string; type?: 'button' | 'submit' }) {
  const [busy, set] = useState(false)
  const click = async () => { set(true); try { await onClick?.() } finally { set(false) } }
  return <button type={type} class={kind} disabled={disabled || busy} aria-label={label} onClick={onClick ? click : undefined}>{children}</button>
}

export function Copy({ text, children = 'Copy' }: { text: string; children?: ComponentChildren }) {
  return <Button kind="quiet" onClick={async () => { await navigator.clipboard.writeText(text); say('Copied.') }}>{children}</Button>
}

export function Dialog({ title, open, onClose, children }: { title: string; open: boolean; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => { const d = ref.current!; if (open && !d.open) d.showModal(); if (!open && d.open) d.close() }, [open])
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose}>
      <header><h2 id={id}>{title}</h2><button type="button" class="quiet" aria-label="Close" onClick={onClose}>✕</button></header>
      {open && children}
    </dialog>
  )
}

type Question = { title: string; text?: ComponentChildren; yes: string; danger?: boolean; label?: string; value?: string; answer: (v: string | null) => void }
const question = signal<Question | null>(null)

// ask puts a question; null when the person would rather not. With a label it asks for a text.
export const ask = (q: Omit<Question, 'answer'>) => new Promise<string | null>(answer => { question.value = { ...q, answer } })
export const sure = (title: string, yes: string, text?: ComponentChildren) => ask({ title, text, yes, danger: true })

export function Asking() {
  const q = question.value
  const [value, set] = useState('')
  useEffect(() => set(q?.value ?? ''), [q])
  const answer = (v: string | null) => { question.value = null; q?.answer(v) }
  return <Dialog title={q?.title ?? ''} open={!!q} onClose={() => answer(null)}>
    <form onSubmit={e => { e.preventDefault(); answer(value) }}>
      {q?.text && <p>{q.text}</p>}
      {q?.label && <Text label={q.label} value={value} onInput={set} autofocus />}
      <div class="actions end"><Button onClick={() => answer(null)}>Cancel</Button><Button kind={q?.danger ? 'danger' : 'primary'} type="submit">{q?.yes}</Button></div>
    </form>
  </Dialog>
}

// Request shows what a page just did, or would do, as a curl command.
export function Request({ command }: { command: string }) {
  return <details class="request"><summary>Show request</summary><pre tabIndex={0}>{command}</pre><Copy text={command} /></details>
}

export type Errors = Record<string, string[]>
export const errorsOf = (e: unknown): Errors => e instanceof ApiError ? e.errors : {}

export function Field({ label, hint, error, children }: { label: string; hint?: ComponentChildren; error?: string[]; children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ComponentChildren }) {
  const id = useId()
  const note = hint || error ? id + 'n' : undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': note, 'aria-invalid': error ? true : undefined })}
      {note && <p id={note} class={error ? 'error' : 'muted small'}>{error ? error[0] : hint}</p>}
    </div>
  )
}

type Value = string | number | null | undefined
export function Text({ label, value, onInput, hint, error, rows, type = 'text', ...rest }:
  { label: string; value: Value; onInput: (v: string) => void; hint?: ComponentChildren; error?: string[]; rows?: number; type?: string; [k: string]: unknown }) {
  return <Field label={label} hint={hint} error={error}>{ids => rows
    ? <textarea {...ids} {...rest} rows={rows} value={value ?? ''} onInput={e => onInput(e.currentTarget.value)} />
    : <input {...ids} {...rest} type={type} value={value ?? ''} onInput={e => onInput(e.currentTarget.value)} />}</Field>
}

export function Choice({ label, value, options, onInput, hint, error }:
  { label: string; value: Value; options: [string | number, string][]; onInput: (v: string) => void; hint?: ComponentChildren; error?: string[] }) {
  return <Field label={label} hint={hint} error={error}>{ids =>
    <select {...ids} value={value ?? ''} onChange={e => onInput(e.currentTarget.value)}>{options.map(([v, text]) => <option value={v}>{text}</option>)}</select>}</Field>
}

export function Switch({ label, value, onInput, hint }: { label: string; value: boolean; onInput: (v: boolean) => void; hint?: ComponentChildren }) {
  const id = useId()
  return <div class="field switch"><input id={id} type="checkbox" role="switch" checked={value} onChange={e => onInput(e.currentTarget.checked)} /><label for={id}>{label}</label>{hint && <p class="muted small">{hint}</p>}</div>
}

export const when = (iso?: string | null) => iso ? new Date(iso.includes('T') ? iso : iso.replace(' ', 'T') + 'Z').toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }) : '–'
export const seconds = (s: number) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')}`

export function Pager({ page, last, go }: { page: number; last: number; go: (p: number) => void }) {
  if (last <= 1) return null
  return <nav class="pager" aria-label="Pages"><Button kind="quiet" disabled={page <= 1} onClick={() => go(page - 1)}>Previous</Button><span>Page {page} of {last}</span><Button kind="quiet" disabled={page >= last} onClick={() => go(page + 1)}>Next</Button></nav>
}

// Tabs shows one of several panels; the arrow keys move between their names.
export function Tabs({ names, now, go, mark, class: c = '', children }: { names: string[]; now: string; go: (name: string) => void; mark?: (name: string) => boolean; class?: string; children: ComponentChildren }) {
  const id = useId()
  const bar = useRef<HTMLDivElement>(null)
  const move = (e: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key]
    if (!step) return
    const next = (names.indexOf(now) + step + names.length) % names.length
    go(names[next])
    ;(bar.current!.children[next] as HTMLElement).focus()
  }
  return <>
    <div class="tabs" role="tablist" ref={bar} onKeyDown={move}>{names.map(t => <button role="tab" type="button" id={`${id}${t}`} aria-selected={t === now} aria-controls={id} tabIndex={t === now ? 0 : -1} onClick={() => go(t)}>{t}{mark?.(t) ? <span class="error" aria-label="has errors"> ●</span> : ''}</button>)}</div>
    <section class={c} role="tabpanel" id={id} aria-labelledby={`${id}${now}`}>{children}</section>
  </>
}

// Table scrolls sideways on narrow screens, by keyboard too. An empty head is a column of actions.
export function Table({ label, heads, rows }: { label: string; heads: string[]; rows: ComponentChildren[][] }) {
  return <div class="table" tabIndex={0} role="region" aria-label={label}><table>
    <thead><tr>{heads.map(h => h ? <th scope="col">{h}</th> : <th scope="col"><span class="hide">Actions</span></th>)}</tr></thead>
    <tbody>{rows.map(r => <tr>{r.map(c => <td>{c}</td>)}</tr>)}</tbody>
  </table></div>
}
