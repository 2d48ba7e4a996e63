import { useState } from 'preact/hooks'
import { curl, get, post } from '../../api'
import {
  attempt,
  Badge,
  Button,
  Choice,
  Dialog,
  Empty,
  errorsOf,
  Loaded,
  Request,
  say,
  Table,
  Text,
  useLoad,
  type Errors,
} from '../../ui'
import type { Sender } from './senders'
import type { Schemas } from '../../../openapi'

type Template = Schemas['templateOut']

const filled = (t: Template, values: Record<string, string>) =>
  t.body_text.replace(
    /\{\{\s*([\w.]+)\s*\}\}/g,
    (all, key) => values[key] || values[t.variables[Number(key) - 1]] || all,
  )

export function Picker({ sender, phone, done }: { sender: Sender; phone: string; done: () => void }) {
  const list = useLoad(() => get<{ data: Template[] }>(`/user/whatsapp/senders/${sender.id}/templates`), [sender.id])
  const [id, setId] = useState(0)
  const [values, setValues] = useState<Record<string, string>>({})
  return (
    <Loaded of={list}>
      {({ data }) => {
        const t = data.find(x => x.id === id) ?? data[0]
        if (!t) return <Empty title="No approved template" />
        const variables = Object.fromEntries(t.variables.map(v => [v, values[v] ?? '']))
        const body = { sender_id: sender.id, template_id: t.id, recipient_phone: phone, variables }
        return (
          <form
            onSubmit={e => {
              e.preventDefault()
              attempt(() => post('/user/whatsapp/send', body), 'Sent.').then(ok => ok && done())
            }}
          >
            <Choice
              label="Template"
              value={t.id}
              onInput={v => {
                setId(Number(v))
                setValues({})
              }}
              options={data.map(x => [x.id, `${x.name} (${x.language}, ${x.category})`])}
            />
            {t.variables.map(v => (
              <Text label={v} value={values[v]} onInput={x => setValues(all => ({ ...all, [v]: x }))} />
            ))}
            <p class="bubble" aria-live="polite" aria-label="Preview">
              {filled(t, values)}
            </p>
            <Button kind="primary" type="submit">
              Send to {phone}
            </Button>
            <Request command={curl('POST', '/user/whatsapp/send', body)} />
          </form>
        )
      }}
    </Loaded>
  )
}

export function Templates({ sender }: { sender: Sender }) {
  const path = `/user/whatsapp/senders/${sender.id}/templates`
  const list = useLoad(() => get<{ data: Template[] }>(path, { status: 'all' }), [sender.id])
  const [open, setOpen] = useState(false)
  return (
    <>
      <div class="actions filters">
        <Button kind="primary" onClick={() => setOpen(true)}>
          New template
        </Button>
        <Button onClick={() => attempt(() => post(path + '/sync'), 'Up to date.').then(list.reload)}>
          Synchronise
        </Button>
      </div>
      <Loaded of={list}>
        {({ data }) =>
          data.length ? (
            <Table
              label="Templates"
              heads={['Name', 'Text', 'Status']}
              rows={data.map(t => [
                <>
                  <strong>{t.name}</strong>
                  <div class="muted small">
                    {t.language} · {t.category}
                  </div>
                </>,
                <span class="bubble">{t.body_text}</span>,
                <>
                  <Badge>{t.status}</Badge>
                  {t.rejected_reason && <div class="error small">{t.rejected_reason}</div>}
                </>,
              ])}
            />
          ) : (
            <Empty title="No templates yet" />
          )
        }
      </Loaded>
      <Dialog title="New template" open={open} onClose={() => setOpen(false)}>
        <NewTemplate
          path={path}
          done={() => {
            setOpen(false)
            list.reload()
          }}
        />
      </Dialog>
    </>
  )
}

function NewTemplate({ path, done }: { path: string; done: () => void }) {
  const [t, set] = useState({
    name: '',
    language: 'en',
    category: 'utility',
    body_text: 'Hello {{1}}, your order is ready.',
    names: 'name',
    samples: 'Mia',
  })
  const [errors, setErrors] = useState<Errors>({})
  const edit = (k: keyof typeof t) => (v: string) => set(x => ({ ...x, [k]: v }))
  const list = (s: string) =>
    s
      .split(',')
      .map(x => x.trim())
      .filter(Boolean)
  const save = async () => {
    try {
      await post(path, {
        name: t.name,
        language: t.language,
        category: t.category,
        body_text: t.body_text,
        variables: list(t.names),
        examples: list(t.samples),
      })
      done()
    } catch (e) {
      setErrors(errorsOf(e))
      say((e as Error).message, true)
    }
  }
  return (
    <form
      onSubmit={e => {
        e.preventDefault()
        save()
      }}
    >
      <Text label="Name" value={t.name} onInput={edit('name')} error={errors.name} hint="Small letters, digits and _" />
      <div class="row">
        <Text label="Language" value={t.language} onInput={edit('language')} error={errors.language} />
        <Choice
          label="Category"
          value={t.category}
          onInput={edit('category')}
          options={['marketing', 'utility', 'authentication'].map(c => [c, c])}
        />
      </div>
      <Text
        label="Text"
        rows={4}
        value={t.body_text}
        onInput={edit('body_text')}
        error={errors.body_text}
        hint="{{1}}, {{2}} … are filled in."
      />
      <Text
        label="Names of the placeholders, in order"
        value={t.names}
        onInput={edit('names')}
        error={errors.variables}
      />
      <Text label="Examples" value={t.samples} onInput={edit('samples')} error={errors.examples} />
      <Button kind="primary" type="submit">
        Submit
      </Button>
    </form>
  )
}
