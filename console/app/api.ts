// The console's one way to talk to the server: the public API with the session cookie.
import { note } from './requests'

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors: Record<string, string[]> = {},
  ) {
    super(message)
  }
}

export type Params = Record<string, string | number | boolean | undefined | null>

const query = (params?: Params) => {
  const q = new URLSearchParams()
  for (const [k, v] of Object.entries(params ?? {})) if (v !== undefined && v !== null && v !== '') q.set(k, String(v))
  return q.size ? '?' + q : ''
}

export async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const form = body instanceof FormData,
    began = performance.now()
  const res = await fetch('/api' + path, {
    method,
    headers: {
      'X-Requested-With': 'parley',
      ...(body === undefined || form ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? undefined : form ? body : JSON.stringify(body),
  })
  const text = await res.text()
  let data: any = null
  try {
    data = text ? JSON.parse(text) : null
  } catch {
    /* not ours: a proxy's page */
  }
  if (!path.startsWith('/console/'))
    note({ method, path, body: shown(path, body), status: res.status, ms: Math.round(performance.now() - began) })
  if (res.status === 401) window.dispatchEvent(new Event('signed-out'))
  if (!res.ok)
    throw new ApiError(res.status, data?.message ?? data?.error ?? `The server answered ${res.status}.`, data?.errors)
  return data
}

// shown is a body as the list of requests shows it: keys of vendors stay out of sight.
const shown = (path: string, body: unknown) =>
  path.startsWith('/user/providers/') && body
    ? Object.fromEntries(Object.keys(body as object).map(k => [k, '…']))
    : body

export const get = <T>(path: string, params?: Params) => request<T>('GET', path + query(params))
export const post = <T>(path: string, body: unknown = {}) => request<T>('POST', path, body)
export const put = <T>(path: string, body: unknown) => request<T>('PUT', path, body)
export const del = <T>(path: string) => request<T>('DELETE', path)

// curl is the request a developer would send for the same effect.
export function curl(method: string, path: string, body?: unknown) {
  const lines = [`curl -X ${method} '${location.origin}/api${path}'`, `  -H "Authorization: Bearer $PARLEY_KEY"`]
  if (body instanceof FormData)
    for (const [k, v] of body) lines.push(`  -F '${k}=${v instanceof File ? '@' + v.name : v}'`)
  else if (body !== undefined)
    lines.push(`  -H "Content-Type: application/json"`, `  -d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`)
  return lines.join(' \\\n')
}

// follow reads a server-sent event stream until the returned function is called; the browser reconnects by itself.
export function follow(path: string, types: string[], on: (type: string, data: any, id: string) => void) {
  const source = new EventSource('/api' + path)
  const listen = (e: MessageEvent) => on(e.type, e.data ? JSON.parse(e.data) : null, e.lastEventId)
  for (const t of types) source.addEventListener(t, listen)
  source.onmessage = listen
  return () => source.close()
}
