import { useState } from 'preact/hooks'
import { del, get, post, put } from '../api'
import {
  attempt,
  Button,
  Choice,
  Dialog,
  Empty,
  errorsOf,
  Field,
  Loaded,
  Page,
  say,
  Text,
  sure,
  useLoad,
  type Errors,
} from '../ui'

type Tool = {
  id?: number
  name: string
  description: string
  endpoint: string
  method: string
  body_format: string
  timeout: number
  headers: object[]
  static_fields: object[]
  schema: object[]
}
const fresh: Tool = {
  name: '',
  description: '',
  endpoint: 'https://',
  method: 'GET',
  body_format: 'json',
  timeout: 10,
  headers: [],
  static_fields: [],
  schema: [],
}

export function Tools() {
  const list = useLoad(() => get<Tool[]>('/user/tools'), [])
  const [open, setOpen] = useState<Tool>()
  return (
    <Page
      title="Tools"
      sub="Requests an assistant may make while it talks."
      actions={
        <Button kind="primary" onClick={() => setOpen(fresh)}>
          New tool
        </Button>
      }
    >
      <Loaded of={list}>
        {tools =>
          tools.length ? (
            <div class="table" tabIndex={0} role="region" aria-label="Tools">
              <table>
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>What it does</th>
                    <th>Request</th>
                  </tr>
                </thead>
                <tbody>
                  {tools.map(t => (
                    <tr>
                      <td>
                        <button type="button" class="name" onClick={() => setOpen(t)}>
                          {t.name}
                        </button>
                      </td>
                      <td>{t.description}</td>
                      <td class="small">
                        <code>
                          {t.method} {t.endpoint}
                        </code>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          ) : (
            <Empty title="No tools yet">
              A tool lets an assistant look something up or do something in your systems during a conversation.
            </Empty>
          )
        }
      </Loaded>
      <Dialog title={open?.id ? open.name : 'New tool'} open={!!open} onClose={() => setOpen(undefined)}>
        {open && (
          <Editor
            key={open.id}
            was={open}
            done={() => {
              setOpen(undefined)
              list.reload()
            }}
          />
        )}
      </Dialog>
    </Page>
  )
}

function Editor({ was, done }: { was: Tool; done: () => void }) {
  const [tool, set] = useState(was)
  const [lists, setLists] = useState({
    schema: JSON.stringify(was.schema, null, 1),
    headers: JSON.stringify(was.headers, null, 1),
    static_fields: JSON.stringify(was.static_fields, null, 1),
  })
  const [errors, setErrors] = useState<Errors>({})
  const [result, setResult] = useState<{
    success: boolean
    status_code: number | null
    duration_ms: number
    body: string
    error: string | null
  }>()
  const edit = (k: keyof Tool) => (v: string) => set(t => ({ ...t, [k]: k === 'timeout' ? Number(v) : v }))
  const full = () => ({ ...tool, ...Object.fromEntries(Object.entries(lists).map(([k, v]) => [k, JSON.parse(v)])) })
  const run = async (action: () => Promise<void>) => {
    try {
      await action()
    } catch (e) {
      setErrors(errorsOf(e))
      say((e as Error).message, true)
    }
  }
  const save = () =>
    run(async () => {
      await (was.id ? put(`/user/tools/${was.id}`, full()) : post('/user/tools', full()))
      done()
    })
  const test = () => run(async () => setResult(await post('/user/tools/test', full())))
  return (
    <>
      <Text
        label="Name"
        value={tool.name}
        onInput={edit('name')}
        error={errors.name}
        hint="The function name the model sees."
      />
      <Text
        label="When to use it"
        value={tool.description}
        onInput={edit('description')}
        error={errors.description}
        rows={2}
      />
      <div class="row">
        <Choice
          label="Method"
          value={tool.method}
          onInput={edit('method')}
          options={['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(m => [m, m])}
        />
        <Choice
          label="Body"
          value={tool.body_format}
          onInput={edit('body_format')}
          options={[
            ['json', 'JSON'],
            ['form', 'Form'],
          ]}
        />
        <Text
          label="Time-out (s)"
          type="number"
          value={tool.timeout}
          onInput={edit('timeout')}
          error={errors.timeout}
        />
      </div>
      <Text
        label="Address"
        value={tool.endpoint}
        onInput={edit('endpoint')}
        error={errors.endpoint}
        hint="{parameter} in it is replaced."
      />
      {(['schema', 'headers', 'static_fields'] as const).map(k => (
        <Field
          label={{ schema: 'Parameters', headers: 'Headers', static_fields: 'Fields always sent' }[k]}
          error={Object.entries(errors).find(([e]) => e.startsWith(k))?.[1]}
          hint={
            {
              schema: '[{"name","type","description","required"}]',
              headers: '[{"name","value"}]',
              static_fields: '[{"key","value"}]',
            }[k]
          }
        >
          {ids => (
            <textarea
              {...ids}
              rows={3}
              value={lists[k]}
              onInput={e => setLists(l => ({ ...l, [k]: e.currentTarget.value }))}
              spellcheck={false}
            />
          )}
        </Field>
      ))}
      <div class="actions">
        <Button kind="primary" onClick={save}>
          Save
        </Button>
        <Button onClick={test}>Test</Button>
        {was.id && (
          <Button
            kind="danger"
            onClick={async () =>
              (await sure(`Remove ${was.name}?`, 'Remove', 'Assistants lose it.')) !== null &&
              attempt(() => del(`/user/tools/${was.id}`), 'Removed.').then(done)
            }
          >
            Remove
          </Button>
        )}
      </div>
      {result && (
        <div role="status">
          <p>
            <strong>{result.success ? 'It worked' : 'It failed'}</strong> {result.status_code ?? result.error}{' '}
            <span class="muted">{result.duration_ms} ms</span>
          </p>
          <pre tabIndex={0}>{result.body}</pre>
        </div>
      )}
    </>
  )
}
