import { useEffect, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { del, get, post } from '../api'
import {
  attempt,
  Badge,
  Button,
  Card,
  Choice,
  Dialog,
  Empty,
  errorsOf,
  Field,
  Loaded,
  Page,
  say,
  Text,
  useLoad,
  when,
  type Errors,
} from '../ui'
import type { Schemas } from '../../openapi'

type Base = Schemas['baseOut']
type Document = Schemas['documentOut'] & { source: { url?: string; filename?: string } }

export function Knowledge() {
  const [open, setOpen] = useState(false)
  const [name, setName] = useState('')
  const list = useLoad(() => get<{ data: Base[] }>('/user/knowledgebases'), [])
  const save = () =>
    attempt(() => post('/user/knowledgebases', { name }), 'Saved.').then(ok => {
      if (ok) {
        setOpen(false)
        setName('')
        list.reload()
      }
    })
  return (
    <Page
      title="Knowledge"
      sub="Documents that assistants answer from."
      actions={
        <Button kind="primary" onClick={() => setOpen(true)}>
          New knowledgebase
        </Button>
      }
    >
      <Loaded of={list}>
        {({ data }) =>
          data.length ? (
            <div class="table" tabIndex={0} role="region" aria-label="Knowledgebases">
              <table>
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>Status</th>
                    <th class="num">Documents</th>
                    <th class="num">Assistants</th>
                    <th>Changed</th>
                  </tr>
                </thead>
                <tbody>
                  {data.map(b => (
                    <tr>
                      <td>
                        <a href={`/console/knowledge/${b.id}`}>{b.name}</a>
                      </td>
                      <td>
                        <Badge>{b.status}</Badge>
                      </td>
                      <td class="num">{b.documents_count}</td>
                      <td class="num">{b.assistants_count}</td>
                      <td>{when(b.updated_at)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          ) : (
            <Empty title="No knowledgebases yet">
              Add web pages, PDF, Word or text files; assistants then answer from them.
            </Empty>
          )
        }
      </Loaded>
      <Dialog title="New knowledgebase" open={open} onClose={() => setOpen(false)}>
        <Text label="Name" value={name} onInput={setName} autofocus />
        <Button kind="primary" onClick={save}>
          Save
        </Button>
      </Dialog>
    </Page>
  )
}

export function KnowledgeBase() {
  const { id } = useRoute().params
  const path = `/user/knowledgebases/${id}`
  const base = useLoad(() => get<{ data: Base }>(path), [id])
  const docs = useLoad(() => get<{ data: Document[] }>(path + '/documents'), [id])
  const [adding, setAdding] = useState(false)
  const working = docs.data?.data.some(d => d.status === 'processing')
  useEffect(() => {
    if (!working) return
    const t = setInterval(docs.reload, 1500)
    return () => clearInterval(t)
  }, [working])
  return (
    <Loaded of={base}>
      {({ data: b }) => (
        <Page
          title={b.name}
          sub={b.description}
          actions={
            <Button kind="primary" onClick={() => setAdding(true)}>
              Add a document
            </Button>
          }
        >
          <div class="split">
            <Loaded of={docs}>
              {({ data }) =>
                data.length ? (
                  <div class="table" tabIndex={0} role="region" aria-label="Documents">
                    <table>
                      <thead>
                        <tr>
                          <th>Document</th>
                          <th>Status</th>
                          <th class="num">Passages</th>
                          <th>
                            <span class="muted">Actions</span>
                          </th>
                        </tr>
                      </thead>
                      <tbody>
                        {data.map(d => (
                          <tr>
                            <td>
                              {d.name}
                              <div class="muted small">
                                {d.type_label} · {d.source.url ?? d.source.filename}
                              </div>
                            </td>
                            <td>
                              <Badge>{d.status}</Badge>
                              {d.error && <div class="error small">{d.error}</div>}
                            </td>
                            <td class="num">{d.chunks_count ?? '–'}</td>
                            <td>
                              <Button
                                kind="quiet"
                                label={`Read ${d.name} again`}
                                onClick={() =>
                                  attempt(() => post(`${path}/documents/${d.id}/reprocess`)).then(docs.reload)
                                }
                              >
                                Read again
                              </Button>
                              <Button
                                kind="quiet"
                                label={`Remove ${d.name}`}
                                onClick={() =>
                                  attempt(() => del(`${path}/documents/${d.id}`), 'Removed.').then(docs.reload)
                                }
                              >
                                Remove
                              </Button>
                            </td>
                          </tr>
                        ))}
                      </tbody>
                    </table>
                  </div>
                ) : (
                  <Empty title="No documents yet" />
                )
              }
            </Loaded>
            <Ask path={path} />
          </div>
          <Dialog title="Add a document" open={adding} onClose={() => setAdding(false)}>
            <Add
              path={path + '/documents'}
              done={() => {
                setAdding(false)
                docs.reload()
              }}
            />
          </Dialog>
        </Page>
      )}
    </Loaded>
  )
}

function Ask({ path }: { path: string }) {
  const [query, setQuery] = useState('')
  const [found, set] = useState<{ document: string; text: string; score: number }[]>()
  const ask = () => attempt(async () => set((await post<{ data: any[] }>(path + '/search', { query })).data))
  return (
    <Card title="Ask this base">
      <form
        class="row"
        onSubmit={e => {
          e.preventDefault()
          ask()
        }}
      >
        <Text label="Question" value={query} onInput={setQuery} />
        <Button type="submit">Ask</Button>
      </form>
      <div aria-live="polite">
        {found &&
          (found.length ? (
            <ol class="lines" style={{ marginTop: '1rem' }}>
              {found.map(p => (
                <li style={{ maxWidth: '100%' }}>
                  <small>
                    {p.document} · {p.score.toFixed(3)}
                  </small>
                  {p.text}
                </li>
              ))}
            </ol>
          ) : (
            <p class="muted">No passage fits.</p>
          ))}
      </div>
    </Card>
  )
}

function Add({ path, done }: { path: string; done: () => void }) {
  const [type, setType] = useState('website')
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [limit, setLimit] = useState('10')
  const [file, setFile] = useState<File | null>(null)
  const [errors, setErrors] = useState<Errors>({})
  const save = async () => {
    let body: unknown = { name, type, url, relative_links_limit: limit }
    if (type !== 'website') {
      const form = new FormData()
      form.set('name', name)
      form.set('type', type)
      if (file) form.set('file', file)
      body = form
    }
    try {
      await post(path, body)
      done()
    } catch (e) {
      setErrors(errorsOf(e))
      say((e as Error).message, true)
    }
  }
  return (
    <>
      <Text label="Name" value={name} onInput={setName} error={errors.name} autofocus />
      <Choice
        label="Type"
        value={type}
        onInput={setType}
        options={[
          ['website', 'Website'],
          ['pdf', 'PDF'],
          ['docx', 'Word (DOCX)'],
          ['txt', 'Text'],
        ]}
      />
      {type === 'website' ? (
        <>
          <Text label="Address" type="url" value={url} onInput={setUrl} error={errors.url} />
          <Text
            label="Linked pages to read"
            type="number"
            value={limit}
            onInput={setLimit}
            error={errors.relative_links_limit}
            hint="1 to 50, on the same host"
          />
        </>
      ) : (
        <Field label="File" error={errors.file} hint="Up to 20 MB">
          {ids => (
            <input
              {...ids}
              type="file"
              accept={'.' + type}
              onChange={e => setFile(e.currentTarget.files?.[0] ?? null)}
            />
          )}
        </Field>
      )}
      <Button kind="primary" onClick={save}>
        Add
      </Button>
    </>
  )
}
