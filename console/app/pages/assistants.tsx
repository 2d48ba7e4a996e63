import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { get, post } from '../api'
import {
  Badge,
  Button,
  Choice,
  Dialog,
  Empty,
  errorsOf,
  Loaded,
  Page,
  say,
  Text,
  useLoad,
  when,
  type Errors,
} from '../ui'
import type { PageOf } from './calls'
import type { Schemas } from '../../openapi'

export type Assistant = Schemas['Record']
export type Named = { id: number; name: string }
export type Voice = Schemas['voiceOut']

export function Assistants() {
  const [open, setOpen] = useState(false)
  const list = useLoad(() => get<PageOf<Assistant>>('/user/assistants/get', { per_page: 100 }), [])
  return (
    <Page
      title="Assistants"
      sub="What answers calls and chats."
      actions={
        <Button kind="primary" onClick={() => setOpen(true)}>
          New assistant
        </Button>
      }
    >
      <Loaded of={list}>
        {page =>
          page.data.length ? (
            <div class="table" tabIndex={0} role="region" aria-label="Assistants">
              <table>
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>Type</th>
                    <th>Mode</th>
                    <th>Status</th>
                    <th>Changed</th>
                  </tr>
                </thead>
                <tbody>
                  {page.data.map(a => (
                    <tr>
                      <td>
                        <a href={`/console/assistants/${a.id}`}>{a.name}</a>
                      </td>
                      <td>{a.type}</td>
                      <td>{a.mode}</td>
                      <td>
                        <Badge>{a.status}</Badge>
                      </td>
                      <td>{when(a.updated_at)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          ) : (
            <Empty title="No assistants yet">Make one: a name, a voice and what it should do.</Empty>
          )
        }
      </Loaded>
      <Dialog title="New assistant" open={open} onClose={() => setOpen(false)}>
        <Create />
      </Dialog>
    </Page>
  )
}

function Create() {
  const { route } = useLocation()
  const refs = useLoad(
    () =>
      Promise.all([
        get<Voice[]>('/user/assistants/voices', { mode: 'pipeline' }),
        get<Named[]>('/user/assistants/languages'),
        get<Named[]>('/user/assistants/models'),
      ]),
    [],
  )
  const [form, set] = useState<Record<string, any>>({
    name: '',
    type: 'inbound',
    mode: 'pipeline',
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
    initial_message: 'Hello, how can I help you?',
    system_prompt: 'You are a friendly assistant. Answer briefly.',
  })
  const [errors, setErrors] = useState<Errors>({})
  const edit = (k: string) => (v: unknown) => set(f => ({ ...f, [k]: v }))
  return (
    <Loaded of={refs}>
      {([voices, languages, models]) => {
        const body = {
          voice_id: voices[0]?.id,
          language_id: voices[0]?.language_id,
          llm_model_id: models[0]?.id,
          ...form,
        }
        const save = async () => {
          try {
            const made = await post<{ data: Named }>('/user/assistant', body)
            route(`/console/assistants/${made.data.id}`)
          } catch (e) {
            setErrors(errorsOf(e))
            say((e as Error).message, true)
          }
        }
        return (
          <>
            <Text label="Name" value={form.name} onInput={edit('name')} error={errors.name} autofocus />
            <Choice
              label="What it does"
              value={form.type}
              onInput={edit('type')}
              options={[
                ['inbound', 'Answers calls to its number'],
                ['outbound', 'Places calls'],
              ]}
              error={errors.type}
            />
            <Choice
              label="Language"
              value={body.language_id}
              onInput={v => edit('language_id')(Number(v))}
              options={languages.map(l => [l.id, l.name])}
              error={errors.language_id}
            />
            <Choice
              label="Voice"
              value={body.voice_id}
              onInput={v => edit('voice_id')(Number(v))}
              options={voices.map(v => [v.id, v.name])}
              error={errors.voice_id}
            />
            <Text
              label="First sentence"
              value={form.initial_message}
              onInput={edit('initial_message')}
              error={errors.initial_message}
            />
            <Text
              label="Instructions"
              value={form.system_prompt}
              onInput={edit('system_prompt')}
              rows={5}
              error={errors.system_prompt}
            />
            <Button kind="primary" onClick={save}>
              Save
            </Button>
          </>
        )
      }}
    </Loaded>
  )
}
