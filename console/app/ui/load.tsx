import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { follow } from '../api'

// useLoad runs load when its inputs change and keeps the last good answer while it reloads.
export function useLoad<T>(load: () => Promise<T>, inputs: unknown[]) {
  const [state, set] = useState<{ data?: T; error?: string }>({})
  const round = useRef(0)
  const reload = () => {
    const mine = ++round.current
    return load().then(
      data => {
        if (mine === round.current) set({ data })
      },
      (e: Error) => {
        if (mine === round.current) set(s => ({ data: s.data, error: e.message }))
      },
    )
  }
  useEffect(() => {
    reload()
    return () => {
      round.current++
    }
  }, inputs)
  return { ...state, reload }
}

// useEvents runs a function after live changes of these kinds, at most twice a second.
export function useEvents(kinds: string[], changed: () => unknown) {
  const latest = useRef(changed)
  latest.current = changed
  useEffect(() => {
    let timer = 0
    const stop = follow('/user/events', kinds, () => {
      timer ||= window.setTimeout(() => {
        timer = 0
        latest.current()
      }, 500)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [kinds.join()])
}

export function Loaded<T>({
  of,
  children,
}: {
  of: { data?: T; error?: string }
  children: (data: T) => ComponentChildren
}) {
  if (of.data !== undefined)
    return (
      <>
        {of.error && (
          <p class="error" role="alert">
            {of.error}
          </p>
        )}
        {children(of.data)}
      </>
    )
  if (of.error)
    return (
      <p class="error" role="alert">
        {of.error}
      </p>
    )
  return (
    <p class="muted" aria-busy="true">
      Loading…
    </p>
  )
}
