import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Requests } from '../requests'
import { say } from './asking'
import { Button } from './form'

// Small building blocks that every page shares.
export function Page({
  title,
  sub,
  actions,
  children,
}: {
  title: string
  sub?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}) {
  useEffect(() => {
    document.title = `${title} · parley`
  }, [title])
  return (
    <main id="main" tabIndex={-1}>
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {sub && <p class="muted">{sub}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
      <Requests />
    </main>
  )
}

export const Card = ({
  title,
  children,
  class: c = '',
}: {
  title?: ComponentChildren
  children: ComponentChildren
  class?: string
}) => (
  <section class={`card ${c}`}>
    {title && <h2>{title}</h2>}
    {children}
  </section>
)

const tones: Record<string, string> = {
  active: 'good',
  completed: 'good',
  online: 'good',
  approved: 'good',
  succeeded: 'good',
  registered: 'good',
  open: 'good',
  GREEN: 'good',
  'in-progress': 'live',
  ringing: 'live',
  initiated: 'live',
  processing: 'live',
  pending: 'live',
  draft: 'calm',
  scheduled: 'live',
  rescheduled: 'live',
  scheduled_for_release: 'warn',
  'reached-max-retries': 'warn',
  blacklisted: 'bad',
  delivered: 'good',
  read: 'good',
  failed: 'bad',
  busy: 'warn',
  'no-answer': 'warn',
  rejected: 'bad',
  stopped: 'warn',
  offline: 'bad',
  RED: 'bad',
  YELLOW: 'warn',
}

export const Badge = ({ children }: { children: string }) => (
  <span class={`badge ${tones[children] ?? 'calm'}`}>{children.replaceAll('_', ' ').replaceAll('-', ' ')}</span>
)

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <strong>{title}</strong>
    {children && <p class="muted">{children}</p>}
  </div>
)

export function Copy({ text, children = 'Copy' }: { text: string; children?: ComponentChildren }) {
  return (
    <Button
      kind="quiet"
      onClick={async () => {
        await navigator.clipboard.writeText(text)
        say('Copied.')
      }}
    >
      {children}
    </Button>
  )
}

// Request shows what a page just did, or would do, as a curl command.
export function Request({ command }: { command: string }) {
  return (
    <details class="request">
      <summary>Show request</summary>
      <pre tabIndex={0}>{command}</pre>
      <Copy text={command} />
    </details>
  )
}

export const when = (iso?: string | null) =>
  iso
    ? new Date(iso.includes('T') ? iso : iso.replace(' ', 'T') + 'Z').toLocaleString([], {
        dateStyle: 'medium',
        timeStyle: 'short',
      })
    : '–'

export const seconds = (s: number) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')}`

export function Pager({ page, last, go }: { page: number; last: number; go: (p: number) => void }) {
  if (last <= 1) return null
  return (
    <nav class="pager" aria-label="Pages">
      <Button kind="quiet" disabled={page <= 1} onClick={() => go(page - 1)}>
        Previous
      </Button>
      <span>
        Page {page} of {last}
      </span>
      <Button kind="quiet" disabled={page >= last} onClick={() => go(page + 1)}>
        Next
      </Button>
    </nav>
  )
}

// Tabs shows one of several panels; the arrow keys move between their names.
export function Tabs({
  names,
  now,
  go,
  mark,
  class: c = '',
  children,
}: {
  names: string[]
  now: string
  go: (name: string) => void
  mark?: (name: string) => boolean
  class?: string
  children: ComponentChildren
}) {
  const id = useId()
  const bar = useRef<HTMLDivElement>(null)
  const move = (e: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key]
    if (!step) return
    const next = (names.indexOf(now) + step + names.length) % names.length
    go(names[next])
    ;(bar.current!.children[next] as HTMLElement).focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" ref={bar} onKeyDown={move}>
        {names.map(t => (
          <button
            role="tab"
            type="button"
            id={`${id}${t}`}
            aria-selected={t === now}
            aria-controls={id}
            tabIndex={t === now ? 0 : -1}
            onClick={() => go(t)}
          >
            {t}
            {mark?.(t) ? (
              <span class="error" aria-label="has errors">
                {' '}
                ●
              </span>
            ) : (
              ''
            )}
          </button>
        ))}
      </div>
      <section class={c} role="tabpanel" id={id} aria-labelledby={`${id}${now}`}>
        {children}
      </section>
    </>
  )
}

// Table scrolls sideways on narrow screens, by keyboard too. An empty head is a column of actions.
export function Table({ label, heads, rows }: { label: string; heads: string[]; rows: ComponentChildren[][] }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map(h =>
              h ? (
                <th scope="col">{h}</th>
              ) : (
                <th scope="col">
                  <span class="hide">Actions</span>
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(r => (
            <tr>
              {r.map(c => (
                <td>{c}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
