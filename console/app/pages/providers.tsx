import { useState } from 'preact/hooks'
import { ApiError, curl, get, post, put } from '../api'
import {
  Badge,
  Button,
  Card,
  Empty,
  errorsOf,
  Loaded,
  Page,
  Request,
  say,
  Text,
  useLoad,
  when,
  type Errors,
} from '../ui'
import type { Schemas } from '../../openapi'

type Vendor = Schemas['vendorOut']
type Answer = Schemas['vendorTest']

const words: Record<string, string> = {
  llm: 'language models',
  stt: 'recognition',
  tts: 'speech',
  realtime: 'realtime',
  embedding: 'search by meaning',
  numbers: 'numbers',
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  payments: 'payments',
  calendar: 'calendar',
}

// Providers is where operators paste a vendor's key, and see whether it works.
export function Providers() {
  const list = useLoad(
    () =>
      get<{ data: Vendor[] }>('/user/providers').catch(e => {
        if (e instanceof ApiError && e.status === 404) return { data: [] }
        throw e
      }),
    [],
  )
  return (
    <Page
      title="Providers"
      sub="Vendors of models, voices and payments. A key is enough; it is in force for the next call."
    >
      <Loaded of={list}>
        {({ data }) =>
          data.length ? (
            <div class="grid">
              {data.map(v => (
                <One key={v.code} vendor={v} changed={list.reload} />
              ))}
            </div>
          ) : (
            <Empty title="These are for the operators of this installation">
              Ask them for a vendor that you need here.
            </Empty>
          )
        }
      </Loaded>
    </Page>
  )
}

const state = (v: Vendor) => (!v.configured ? 'not set up' : v.healthy ? 'active' : 'failed')

function One({ vendor: v, changed }: { vendor: Vendor; changed: () => unknown }) {
  const [said, setSaid] = useState<Answer>()
  const test = async () => {
    setSaid(await post<Answer>(`/user/providers/${v.code}/test`))
    changed()
  }
  return (
    <Card title={v.name}>
      <p>
        <Badge>{state(v)}</Badge> <span class="muted small">{v.roles.map(r => words[r] ?? r).join(', ')}</span>
      </p>
      {v.last_error && !said && (
        <p class="error" role="alert">
          {v.last_error}
        </p>
      )}
      {v.configured && (
        <p class="row">
          <Button onClick={test} label={`Test ${v.name}`}>
            Test
          </Button>
          <span class="muted small" role="status">
            {said
              ? `${said.message}${said.ok && said.ms ? ` ${said.ms} ms` : ''}`
              : v.checked_at && `Asked ${when(v.checked_at)}`}
          </span>
        </p>
      )}
      {v.source === 'config' ? (
        <p class="muted small">Set by the configuration of this installation.</p>
      ) : (
        v.fields.length > 0 && <Keys vendor={v} changed={changed} />
      )}
    </Card>
  )
}

// Keys sends what was typed and nothing else: what is set stays where a field is left empty.
function Keys({ vendor: v, changed }: { vendor: Vendor; changed: () => unknown }) {
  const [form, set] = useState<Record<string, string>>({})
  const [errors, setErrors] = useState<Errors>({})
  const send = async (body: Record<string, string | null>, done: string) => {
    try {
      await put(`/user/providers/${v.code}`, body)
      set({})
      setErrors({})
      say(done)
      changed()
    } catch (e) {
      setErrors(errorsOf(e))
      say((e as Error).message, true)
    }
  }
  const typed = Object.fromEntries(Object.entries(form).filter(([, x]) => x !== ''))
  const remove = () => send(Object.fromEntries(v.fields.map(f => [f.name, null])), 'Removed.')
  return (
    <details open={v.source === 'console' && !v.configured}>
      <summary>{v.source === 'console' ? 'Change its keys' : 'Set up'}</summary>
      <form
        onSubmit={e => {
          e.preventDefault()
          send(typed, 'Saved.')
        }}
      >
        {v.fields.map(f => (
          <Text
            key={f.name}
            label={f.name.replaceAll('_', ' ')}
            type={f.secret ? 'password' : 'text'}
            autocomplete="off"
            value={form[f.name]}
            placeholder={f.set ? (f.secret ? 'set' : 'as it is') : ''}
            onInput={x => set(was => ({ ...was, [f.name]: x }))}
            error={errors[f.name]}
          />
        ))}
        <p class="row">
          <Button
            kind="primary"
            type="submit"
            disabled={!Object.keys(typed).length}
            label={`Save the keys of ${v.name}`}
          >
            Save
          </Button>
          {v.source === 'console' && (
            <Button onClick={remove} label={`Remove the keys of ${v.name}`}>
              Remove
            </Button>
          )}
        </p>
      </form>
      <Request
        command={curl(
          'PUT',
          `/user/providers/${v.code}`,
          Object.fromEntries(v.fields.map(f => [f.name, f.secret ? '…' : ''])),
        )}
      />
    </details>
  )
}
