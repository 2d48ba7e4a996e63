import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { curl, del, get, post, put } from '../api'
import { attempt, Badge, Button, Card, Choice, Copy, errorsOf, Field, Loaded, Page, Request, say, Switch, Tabs, Text, sure, useLoad, when, type Errors } from '../ui'
import type { Assistant, Named, Voice } from './assistants'

type Refs = { voices: Voice[]; languages: Named[]; llm: Named[]; realtime: Named[]; bases: Named[]; tools: Named[]; numbers: (Named & { phone_number: string; is_available: boolean })[]; synthesizers: Named[]; transcribers: Named[] }
const loadRefs = async (a: Assistant): Promise<Refs> => {
  const [voices, languages, llm, realtime, bases, tools, numbers, synthesizers, transcribers] = await Promise.all([
    get<Voice[]>('/user/assistants/voices'), get<Named[]>('/user/assistants/languages'), get<Named[]>('/user/assistants/models'),
    get<Named[]>('/user/assistants/models', { type: a.mode === 'pipeline' ? 'multimodal' : a.mode }), get<{ data: Named[] }>('/user/knowledgebases').then(r => r.data),
    get<Named[]>('/user/tools'), get<Refs['numbers']>('/user/assistants/phone-numbers'), get<Named[]>('/user/assistants/synthesizer-providers'), get<Named[]>('/user/assistants/transcriber-providers')])
  return { voices, languages, llm, realtime, bases, tools, numbers, synthesizers, transcribers }
}

type Kind = 'text' | 'long' | 'number' | 'switch' | 'json' | 'nullnumber' | ((a: Assistant, r: Refs) => [string | number, string][])
type Spec = { key: string; label: string; kind: Kind; hint?: string; modes?: string[]; why?: string; null?: boolean }
const named = (l: Named[]): [number, string][] => l.map(x => [x.id, x.name])
const set = (...v: string[]) => () => v.map(x => [x, x.replaceAll('_', ' ')] as [string, string])
const pipelineOnly = { modes: ['pipeline'], why: 'only in pipeline mode' }
const realtimeOnly = { modes: ['multimodal', 'dualplex'], why: 'only in multimodal and dualplex modes' }

// Every field of an assistant and where a person looks for it.
const tabs: Record<string, Spec[]> = {
  Prompt: [
    { key: 'name', label: 'Name', kind: 'text' },
    { key: 'status', label: 'Status', kind: set('active', 'inactive'), hint: 'A paused (inactive) assistant refuses live traffic.' },
    { key: 'type', label: 'What it does', kind: () => [['inbound', 'Answers calls to its number'], ['outbound', 'Places calls']] },
    { key: 'mode', label: 'Engine', kind: set('pipeline', 'multimodal', 'dualplex'), hint: 'Changing it resets the settings that belong to the engine.' },
    { key: 'initial_message', label: 'First sentence', kind: 'text', hint: 'Up to 200 characters. Placeholders such as {{customer_name}} are filled in.' },
    { key: 'system_prompt', label: 'Instructions', kind: 'long' },
    { key: 'llm_model_id', label: 'Model', kind: (_, r) => named(r.llm), ...pipelineOnly },
    { key: 'multimodal_model_id', label: 'Realtime model', kind: (_, r) => named(r.realtime), ...realtimeOnly },
    { key: 'chat_llm_fallback_id', label: 'Text model for tools and chats', kind: (_, r) => named(r.llm), null: true, ...realtimeOnly },
    { key: 'llm_temperature', label: 'Temperature', kind: 'number', hint: '0 to 1' },
    { key: 'timezone', label: 'Time zone', kind: 'text' },
    { key: 'variables', label: 'Variables', kind: 'json', hint: 'Default values of placeholders.' },
  ],
  Voice: [
    { key: 'language_id', label: 'Language', kind: (_, r) => named(r.languages) },
    { key: 'voice_id', label: 'Voice', kind: (a, r) => named(r.voices.filter(v => v.modes.includes(a.mode))) },
    { key: 'speech_speed', label: 'Speed', kind: 'number', hint: '0.7 to 1.2' },
    { key: 'synthesizer_provider_id', label: 'Speech provider', kind: (_, r) => named(r.synthesizers), null: true, modes: ['pipeline', 'dualplex'], why: 'not in multimodal mode' },
    { key: 'transcriber_provider_id', label: 'Recognition provider', kind: (_, r) => named(r.transcribers), null: true, ...pipelineOnly },
    { key: 'tts_emotion_enabled', label: 'Expressive speech', kind: 'switch' },
    { key: 'voice_stability', label: 'Stability', kind: 'number', modes: ['pipeline', 'dualplex'], why: 'not in multimodal mode' },
    { key: 'voice_similarity', label: 'Similarity', kind: 'number', modes: ['pipeline', 'dualplex'], why: 'not in multimodal mode' },
    { key: 'ambient_sound', label: 'Background sound', kind: set('off', 'office', 'city', 'forest', 'crowded_room', 'cafe', 'nature') },
    { key: 'ambient_sound_volume', label: 'Background volume', kind: 'number', hint: '0 to 1' },
  ],
  'Turn taking': [
    { key: 'wait_for_customer', label: 'Let the caller speak first', kind: 'switch' },
    { key: 'endpoint_type', label: 'End of the caller’s turn', kind: () => [['vad', 'by silence'], ['ai', 'by silence and sense']] },
    { key: 'endpoint_sensitivity', label: 'Silence that ends a turn (seconds)', kind: 'number', hint: '0 to 5' },
    { key: 'allow_interruptions', label: 'The caller may interrupt', kind: 'switch' },
    { key: 'interrupt_sensitivity', label: 'Speech that interrupts (seconds)', kind: 'number', hint: '0 to 5' },
    { key: 'min_interrupt_words', label: 'Words that interrupt', kind: 'nullnumber', hint: 'Empty: no word gate.' },
    { key: 'turn_detection_threshold', label: 'Turn detection threshold', kind: 'nullnumber', ...realtimeOnly },
    { key: 'enable_noise_cancellation', label: 'Noise cancellation', kind: 'switch' },
    { key: 'fillers', label: 'Filler words while thinking', kind: 'switch', ...pipelineOnly },
    { key: 'filler_config', label: 'Filler phrases', kind: 'json', ...pipelineOnly },
    { key: 'reengagement_interval', label: 'Ask again after (seconds of quiet)', kind: 'number' },
    { key: 'reengagement_prompt', label: 'How to ask', kind: 'text', null: true },
    { key: 'max_silence_duration', label: 'Hang up after (seconds of quiet)', kind: 'number' },
    { key: 'max_initial_silence_duration', label: 'Hang up when nothing is said at first (seconds)', kind: 'nullnumber' },
    { key: 'max_duration', label: 'Longest call (seconds)', kind: 'number' },
    { key: 'ringing_time', label: 'Ringing time (seconds)', kind: 'number' },
    { key: 'end_call_on_voicemail', label: 'Hang up on voicemail', kind: 'switch' },
    { key: 'voice_mail_message', label: 'Message for voicemail', kind: 'text', null: true },
  ],
  Tools: [{ key: 'tools', label: 'Built-in tools', kind: 'json', hint: 'A list such as [{"type":"end_call"}].' }],
  Knowledge: [
    { key: 'knowledgebase_id', label: 'Knowledgebase', kind: (_, r) => named(r.bases), null: true },
    { key: 'knowledgebase_mode', label: 'When it is searched', kind: () => [['function_call', 'when the model asks'], ['prompt', 'before every answer']] },
  ],
  'After the call': [
    { key: 'record', label: 'Record calls', kind: 'switch' },
    { key: 'post_call_evaluation', label: 'Evaluate calls', kind: 'switch' },
    { key: 'post_call_schema', label: 'What to find out', kind: 'json', hint: 'A list of {"name","type","description"}; type is string, number or bool.' },
    { key: 'conversation_inactivity_timeout', label: 'End quiet chats after (minutes)', kind: 'nullnumber' },
    { key: 'conversation_ended_retrigger', label: 'A new message reopens an ended chat', kind: 'switch' },
  ],
  Webhooks: [
    { key: 'is_webhook_active', label: 'Send the post-call webhook', kind: 'switch' },
    { key: 'webhook_url', label: 'Post-call webhook', kind: 'text', null: true },
    { key: 'send_webhook_only_on_completed', label: 'Only for completed calls', kind: 'switch' },
    { key: 'include_recording_in_webhook', label: 'With the recording’s address', kind: 'switch' },
    { key: 'conversation_ended_webhook_url', label: 'Conversation-ended webhook', kind: 'text', null: true },
  ],
  Number: [{ key: 'phone_number_id', label: 'Phone number', kind: (_, r) => r.numbers.map(n => [n.id, n.phone_number]), null: true }],
  Embed: [{ key: 'widget_settings', label: 'Widget', kind: 'json', hint: 'Texts, colour, position and allowed origins.' }],
}

export function AssistantPage() {
  const { id } = useRoute().params
  const loaded = useLoad(async () => { const a = (await get<{ data: Assistant }>(`/user/assistant/${id}`)).data; return { a, refs: await loadRefs(a) } }, [id])
  return <Loaded of={loaded}>{({ a, refs }) => <Editor key={a.updated_at} was={a} refs={refs} reload={loaded.reload} />}</Loaded>
}

function Editor({ was, refs, reload }: { was: Assistant; refs: Refs; reload: () => unknown }) {
  const { route } = useLocation()
  const [tab, setTab] = useState('Prompt')
  const [changes, change] = useState<Record<string, any>>({})
  const [errors, setErrors] = useState<Errors>({})
  const now = { ...was, ...changes }
  const errorsAt = (t: string) => tabs[t]?.some(s => errors[s.key])
  const save = async () => {
    try {
      const r = await put<{ warnings?: { field: string; message: string }[] }>(`/user/assistant/${was.id}`, changes)
      say(r.warnings?.length ? 'Saved. ' + r.warnings.map(w => `${w.field}: ${w.message}`).join(' ') : 'Saved.')
      await reload()
    } catch (e) {
      const bad = errorsOf(e)
      setErrors(bad)
      const first = Object.keys(tabs).find(t => tabs[t].some(s => bad[s.key]))
      if (first) setTab(first)
      say((e as Error).message, true)
    }
  }
  const dirty = Object.keys(changes).length > 0
  const names = [...Object.keys(tabs), 'Versions']
  return (
    <Page title={was.name} sub={<><Badge>{was.status}</Badge> {was.type}, {was.mode} · <code>{was.uuid}</code></>} actions={<>
      <Button kind="danger" onClick={async () => await sure(`Remove ${was.name}?`, 'Remove', 'Its calls and conversations stay.') !== null && attempt(() => del(`/user/assistant/${was.id}`), 'Removed.').then(ok => ok && route('/console/assistants'))}>Remove</Button>
      <Button kind="primary" disabled={!dirty} onClick={save}>Save</Button></>}>
      <div class="split">
        <div>
          <Tabs names={names} now={tab} go={setTab} mark={t => !!errorsAt(t)} class="card">
            {tabs[tab]?.map(s => <Input spec={s} now={now} refs={refs} error={errors[s.key] ?? Object.entries(errors).find(([k]) => k.startsWith(s.key + '.'))?.[1]} onInput={v => change(c => ({ ...c, [s.key]: v }))} />)}
            {tab === 'Tools' && <CustomTools refs={refs} chosen={now.tool_ids ?? []} onInput={v => change(c => ({ ...c, tool_ids: v }))} />}
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

function Input({ spec: s, now, refs, error, onInput }: { spec: Spec; now: Assistant; refs: Refs; error?: string[]; onInput: (v: unknown) => void }) {
  if (s.modes && !s.modes.includes(now.mode)) return <p class="muted small">{s.label}: {s.why}.</p>
  const value = now[s.key]
  if (typeof s.kind === 'function') {
    const options: [string | number, string][] = [...(s.null ? [['', 'none'] as [string, string]] : []), ...s.kind(now, refs)]
    const back = (v: string) => v === '' ? null : typeof options.find(o => String(o[0]) === v)?.[0] === 'number' ? Number(v) : v
    return <Choice label={s.label} value={value} options={options} onInput={v => onInput(back(v))} hint={s.hint} error={error} />
  }
  switch (s.kind) {
    case 'switch': return <Switch label={s.label} value={!!value} onInput={onInput} hint={error?.[0] ?? s.hint} />
    case 'number': return <Text label={s.label} type="number" step="any" value={value} onInput={v => onInput(v === '' ? null : Number(v))} hint={s.hint} error={error} />
    case 'nullnumber': return <Text label={s.label} type="number" step="any" value={value} onInput={v => onInput(v === '' ? null : Number(v))} hint={s.hint ?? 'Empty: off.'} error={error} />
    case 'json': return <Json label={s.label} value={value} onInput={onInput} hint={s.hint} error={error} />
    default: return <Text label={s.label} value={value} rows={s.kind === 'long' ? 14 : undefined} onInput={v => onInput(s.null && v === '' ? null : v)} hint={s.hint} error={error} />
  }
}

function Json({ label, value, onInput, hint, error }: { label: string; value: unknown; onInput: (v: unknown) => void; hint?: string; error?: string[] }) {
  const [text, set] = useState(JSON.stringify(value, null, 2))
  const [bad, setBad] = useState(false)
  const edit = (t: string) => { set(t); try { onInput(JSON.parse(t)); setBad(false) } catch { setBad(true) } }
  return <Field label={label} hint={hint} error={bad ? ['This is not valid JSON yet.'] : error}>{ids => <textarea {...ids} rows={Math.min(16, text.split('\n').length + 1)} value={text} onInput={e => edit(e.currentTarget.value)} spellcheck={false} style={{ fontFamily: 'ui-monospace, monospace' }} />}</Field>
}

const CustomTools = ({ refs, chosen, onInput }: { refs: Refs; chosen: number[]; onInput: (v: number[]) => void }) => <>
  <h2>Your tools</h2>
  {refs.tools.length ? refs.tools.map(t => <Switch label={t.name} value={chosen.includes(t.id)} onInput={on => onInput(on ? [...chosen, t.id] : chosen.filter(x => x !== t.id))} />) : <p class="muted">None yet. <a href="/console/tools">Make one</a>.</p>}
</>

function Embed({ uuid }: { uuid: string }) {
  const code = `<script src="${location.origin}/embed.js" data-assistant="${uuid}" async></script>`
  return <><p>Put this line on a page:</p><pre tabIndex={0}>{code}</pre><Copy text={code} /></>
}

type Version = { version: number; created_at: string; author: string | null; changes: Record<string, { from: unknown; to: unknown }> }
function Versions({ id, reload }: { id: number; reload: () => unknown }) {
  const list = useLoad(() => get<{ data: Version[] }>(`/user/assistants/${id}/versions`), [id])
  return <Loaded of={list}>{({ data }) => <ol class="lines">{data.map((v, i) => <li style={{ maxWidth: '100%' }}>
    <small>Version {v.version} · {when(v.created_at)}{v.author ? ` · ${v.author}` : ''}</small>
    {Object.entries(v.changes ?? {}).map(([k, c]) => <div class="small"><strong>{k}</strong>: <del class="muted">{JSON.stringify(c.from)}</del> → {JSON.stringify(c.to)}</div>)}
    {i > 0 && <Button onClick={() => attempt(() => post(`/user/assistants/${id}/versions/${v.version}/restore`), 'Restored.').then(reload)}>Return to this</Button>}
  </li>)}</ol>}</Loaded>
}

// Test is always open beside the settings: a chat with the assistant as it is saved.
function Test({ assistant, saved }: { assistant: string; saved: boolean }) {
  const [lines, set] = useState<{ role: string; content: string; function_calls?: { name: string; arguments: object; result: object }[] }[]>([])
  const [id, setId] = useState<string>()
  const [text, setText] = useState('')
  const begin = async () => {
    const c = await post<{ conversation_id: string; history: typeof lines }>('/conversations', { assistant_id: assistant, type: 'test' })
    setId(c.conversation_id)
    set(c.history)
    return c.conversation_id
  }
  const send = () => attempt(async () => {
    const message = text
    setText('')
    const to = id ?? await begin()
    set(l => [...l, { role: 'user', content: message }])
    const r = await post<{ message: string; function_calls: [] }>(`/conversations/${to}/messages`, { message })
    set(l => [...l, { role: 'assistant', content: r.message, function_calls: r.function_calls }])
  })
  return (
    <Card title="Try it">
      {!saved && <p class="muted small">Unsaved changes are not in this conversation.</p>}
      <ol class="lines" aria-live="polite" aria-label="Test conversation">{lines.map(l => <li class={l.role === 'user' ? 'human' : ''}>{l.function_calls?.map(f => <small title={JSON.stringify(f.result)}>{f.name}({JSON.stringify(f.arguments)})</small>)}{l.content}</li>)}</ol>
      <form class="row" style={{ marginTop: '.8rem' }} onSubmit={e => { e.preventDefault(); if (text.trim()) send() }}>
        <Text label="Message" value={text} onInput={setText} autocomplete="off" /><Button type="submit">Send</Button>
        <Button kind="quiet" onClick={() => attempt(begin)}>Start over</Button>
      </form>
    </Card>
  )
}
