import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { curl, del, get, put } from '../../api'
import {
  attempt,
  Badge,
  Button,
  errorsOf,
  Loaded,
  Page,
  Request,
  say,
  Tabs,
  sure,
  useLoad,
  type Errors,
} from '../../ui'
import type { Assistant } from '../assistants'
import { loadRefs, tabs, type Refs } from './fields'
import { Test } from './test'
import { Embed, CustomTools, Input } from './inputs'
import { ToolForms } from './tools'
import { Versions } from './versions'

export function AssistantPage() {
  const { id } = useRoute().params
  const loaded = useLoad(async () => {
    const a = (await get<{ data: Assistant }>(`/user/assistant/${id}`)).data
    return { a, refs: await loadRefs(a) }
  }, [id])
  return (
    <Loaded of={loaded}>
      {({ a, refs }) => <Editor key={a.updated_at} was={a} refs={refs} reload={loaded.reload} />}
    </Loaded>
  )
}

function Editor({ was, refs, reload }: { was: Assistant; refs: Refs; reload: () => unknown }) {
  const { route } = useLocation()
  const [tab, setTab] = useState('Prompt')
  const [changes, change] = useState<Record<string, any>>({})
  const [errors, setErrors] = useState<Errors>({})
  const now = { ...was, ...changes }
  const fails = (t: string, bad: Errors) =>
    tabs[t]?.some(s => bad[s.key]) || (t === 'Its tools' && Object.keys(bad).some(k => /^tools?(_ids)?(\.|$)/.test(k)))
  const save = async () => {
    try {
      const r = await put<{ warnings?: { field: string; message: string }[] }>(`/user/assistant/${was.id}`, changes)
      say(r.warnings?.length ? 'Saved. ' + r.warnings.map(w => `${w.field}: ${w.message}`).join(' ') : 'Saved.')
      await reload()
    } catch (e) {
      const bad = errorsOf(e)
      setErrors(bad)
      const first = Object.keys(tabs).find(t => fails(t, bad))
      if (first) setTab(first)
      say((e as Error).message, true)
    }
  }
  const dirty = Object.keys(changes).length > 0
  const names = [...Object.keys(tabs), 'Versions']
  return (
    <Page
      title={was.name}
      sub={
        <>
          <Badge>{was.status}</Badge> {was.type}, {was.mode} · <code>{was.uuid}</code>
        </>
      }
      actions={
        <>
          <Button
            kind="danger"
            onClick={async () =>
              (await sure(`Remove ${was.name}?`, 'Remove', 'Its calls and conversations stay.')) !== null &&
              attempt(() => del(`/user/assistant/${was.id}`), 'Removed.').then(ok => ok && route('/console/assistants'))
            }
          >
            Remove
          </Button>
          <Button kind="primary" disabled={!dirty} onClick={save}>
            Save
          </Button>
        </>
      }
    >
      <div class="split">
        <div>
          <Tabs names={names} now={tab} go={setTab} mark={t => !!fails(t, errors)} class="card">
            {tabs[tab]?.map(s => (
              <Input
                spec={s}
                now={now}
                refs={refs}
                error={errors[s.key] ?? Object.entries(errors).find(([k]) => k.startsWith(s.key + '.'))?.[1]}
                onInput={v => change(c => ({ ...c, [s.key]: v }))}
              />
            ))}
            {tab === 'Its tools' && (
              <ToolForms value={now.tools ?? []} errors={errors} onInput={v => change(c => ({ ...c, tools: v }))} />
            )}
            {tab === 'Its tools' && (
              <CustomTools
                refs={refs}
                chosen={now.tool_ids ?? []}
                onInput={v => change(c => ({ ...c, tool_ids: v }))}
              />
            )}
            {tab === 'Embed' && <Embed uuid={was.uuid} />}
            {tab === 'Versions' && <Versions id={was.id} reload={reload} />}
          </Tabs>
          {dirty && <Request command={curl('PUT', `/user/assistant/${was.id}`, changes)} />}
        </div>
        <Test assistant={was.uuid} saved={!dirty} />
      </div>
    </Page>
  )
}
