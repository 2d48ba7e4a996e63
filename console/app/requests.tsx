// What this page asked of the API, as commands for a terminal: whatever a person does here, a program can do too.
import { signal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { curl } from './api'
import { Copy } from './ui'

export type Sent = {
  page: string
  method: string
  path: string
  body?: unknown
  status: number
  ms: number
  times: number
}
export const sent = signal<Sent[]>([])

// note keeps a request; one that repeats itself is counted.
export function note(s: Omit<Sent, 'page' | 'times'>) {
  const page = location.pathname
  const same = sent.value.find(
    x =>
      x.page === page &&
      x.method === s.method &&
      x.path === s.path &&
      JSON.stringify(x.body) === JSON.stringify(s.body),
  )
  sent.value = same
    ? sent.value.map(x => (x === same ? { ...s, page, times: x.times + 1 } : x))
    : [{ ...s, page, times: 1 }, ...sent.value].slice(0, 100)
}

export const List = ({ of }: { of: Sent[] }) => (
  <ol class="sent">
    {of.map(s => {
      const command = curl(s.method, s.path, s.body)
      return (
        <li>
          <details>
            <summary>
              <span class={`verb ${s.method.toLowerCase()}`}>{s.method}</span> <code>{s.path}</code>{' '}
              <span class={s.status < 400 ? 'muted small' : 'error small'}>
                {s.status}, {s.ms} ms{s.times > 1 && `, ${s.times} times`}
              </span>
            </summary>
            <pre tabIndex={0}>{command}</pre>
            <Copy text={command} />
          </details>
        </li>
      )
    })}
  </ol>
)

export function Requests() {
  useLocation() // another page, other requests
  const mine = sent.value.filter(s => s.page === location.pathname)
  if (!mine.length) return null
  return (
    <details class="request page-requests">
      <summary>Show requests ({mine.length})</summary>
      <List of={mine} />
    </details>
  )
}
