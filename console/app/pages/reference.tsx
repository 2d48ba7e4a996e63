import { useState } from 'preact/hooks'
import { get } from '../api'
import { Copy, Loaded, Page, Text, useLoad } from '../ui'

type Schema = Record<string, any>
type Operation = {
  summary?: string
  description?: string
  operationId?: string
  tags?: string[]
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { description?: string; content?: Record<string, { schema: Schema }> }>
  security?: object[]
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
  info: { version: string }
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

// The reference is made from the document that the server makes from its own routes.
export function Reference() {
  const doc = useLoad(() => get<Document>('/openapi.json'), [])
  const [find, setFind] = useState('')
  return (
    <Page
      title="API reference"
      sub={
        <>
          Made from <a href="/api/openapi.json">the OpenAPI document</a> of this server.
        </>
      }
    >
      <div class="filters">
        <Text label="Find" type="search" value={find} onInput={setFind} placeholder="campaign, webhook, PUT …" />
      </div>
      <Loaded of={doc}>
        {d => {
          const all = Object.entries(d.paths).flatMap(([path, ops]) =>
            methods.filter(m => ops[m]).map(method => ({ path, method, op: ops[method] })),
          )
          const words = find.toLowerCase().split(/\s+/)
          const hits = all.filter(o =>
            words.every(w =>
              `${o.method} ${o.path} ${o.op.summary ?? ''} ${o.op.tags?.join(' ')}`.toLowerCase().includes(w),
            ),
          )
          const groups = [...new Set(hits.map(o => o.op.tags?.[0] ?? 'Other'))]
          return groups.map(g => (
            <section class="ops">
              <h2>{g}</h2>
              {hits
                .filter(o => (o.op.tags?.[0] ?? 'Other') === g)
                .map(o => (
                  <One key={o.method + o.path} {...o} doc={d} />
                ))}
            </section>
          ))
        }}
      </Loaded>
    </Page>
  )
}

function One({ path, method, op, doc }: { path: string; method: string; op: Operation; doc: Document }) {
  const [open, set] = useState(false)
  return (
    <details class="card op" onToggle={e => set(e.currentTarget.open)}>
      <summary>
        <span class={`verb ${method}`}>{method.toUpperCase()}</span> <code>{path}</code>{' '}
        <span class="muted">{op.summary}</span>
      </summary>
      {open && <Body path={path} method={method} op={op} doc={doc} />}
    </details>
  )
}

function Body({ path, method, op, doc }: { path: string; method: string; op: Operation; doc: Document }) {
  const schema = Object.values(op.requestBody?.content ?? {})[0]?.schema
  const fields = schema && resolve(schema, doc)
  const example = fields && sample(fields, doc, 0)
  const query = (op.parameters ?? [])
    .filter(p => p.in === 'query' && p.required)
    .map(p => `${p.name}=…`)
    .join('&')
  const command = [
    `curl -X ${method.toUpperCase()} '${location.origin}/api${path.replace(/^\/api/, '')}${query && '?' + query}'`,
    `  -H "Authorization: Bearer $PARLEY_KEY"`,
    ...(example
      ? [`  -H "Content-Type: application/json"`, `  -d '${JSON.stringify(example).replaceAll("'", `'\\''`)}'`]
      : []),
  ].join(' \\\n')
  return (
    <>
      {op.description && <p>{op.description}</p>}
      <pre tabIndex={0}>{command}</pre>
      <Copy text={command} />
      {(op.parameters?.length || fields?.properties) && (
        <dl class="facts">
          {op.parameters?.map(p => (
            <>
              <dt>
                <code>{p.name}</code> <span class="small">{p.in}</span>
              </dt>
              <dd>
                {p.description}{' '}
                <span class="muted small">
                  {kind(p.schema ?? {}, doc)}
                  {p.required && ', required'}
                </span>
              </dd>
            </>
          ))}
          {Object.entries<Schema>(fields?.properties ?? {}).map(([k, v]) => (
            <>
              <dt>
                <code>{k}</code>
              </dt>
              <dd>
                {v.description}{' '}
                <span class="muted small">
                  {kind(v, doc)}
                  {fields!.required?.includes(k) && ', required'}
                </span>
              </dd>
            </>
          ))}
        </dl>
      )}
      <p class="small">Answers {Object.keys(op.responses).join(', ')}</p>
      {Object.entries(op.responses)
        .filter(([c]) => c.startsWith('2'))
        .map(([, r]) => {
          const s = Object.values(r.content ?? {})[0]?.schema
          return s && <pre tabIndex={0}>{JSON.stringify(sample(resolve(s, doc), doc, 0), null, 1)}</pre>
        })}
    </>
  )
}

const resolve = (s: Schema, d: Document): Schema =>
  s.$ref ? resolve(d.components?.schemas?.[s.$ref.split('/').pop()!] ?? {}, d) : s
function kind(s: Schema, d: Document): string {
  const r = resolve(s, d)
  const bounds = [
    r.minimum !== undefined && `from ${r.minimum}`,
    r.maximum !== undefined && `to ${r.maximum}`,
    r.maxLength && `up to ${r.maxLength} characters`,
  ]
    .filter(Boolean)
    .join(' ')
  return [r.enum ? r.enum.join(' | ') : [r.type].flat().join(' or '), r.format, bounds].filter(Boolean).join(', ')
}

// sample is an example value of a schema.
function sample(s: Schema, d: Document, depth: number): any {
  const r = resolve(s, d)
  if (depth > 4) return null
  if (r.example !== undefined) return r.example
  if (r.const !== undefined) return r.const
  if (r.enum) return r.enum[0]
  const one = r.oneOf?.[0] ?? r.anyOf?.[0]
  if (one) return sample(one, d, depth)
  const type = [r.type].flat()[0]
  if (type === 'object') {
    const names = Object.keys(r.properties ?? {})
    return Object.fromEntries(
      (depth === 0 && r.required?.length && names.length > 12 ? names.filter(n => r.required.includes(n)) : names).map(
        n => [n, sample(r.properties[n], d, depth + 1)],
      ),
    )
  }
  if (type === 'array') return r.items ? [sample(r.items, d, depth + 1)] : []
  return (
    r.default ??
    { integer: 1, number: 1, boolean: true, string: r.format === 'date-time' ? '2027-03-01T08:00:00.000000Z' : 'text' }[
      type as string
    ] ??
    null
  )
}
