import { useEffect, useRef, useState } from 'preact/hooks'
import { follow, get, post } from '../api'
import { attempt, Button, Card, Choice, Loaded, Page, say, useLoad } from '../ui'
import { startCall, type BrowserCall } from '../browsercall'
import { Lines, linesOf, StageBars, stagesOf, type Event, type Line } from './transcript'

type Assistant = { id: number; uuid: string; name: string }
const types = [
  'call.state',
  'audio.first_in',
  'audio.first_out',
  'audio.denoise',
  'speech.start',
  'speech.end',
  'turn.user',
  'turn.assistant',
  'stt.request',
  'llm.request',
  'llm.first_token',
  'tts.request',
  'realtime.session',
  'barge_in',
  'filler',
  'reengage',
  'limit',
  'amd',
  'dtmf.in',
  'dtmf.out',
  'keypad',
  'tool.call',
  'tool.result',
  'transfer',
  'language.switch',
  'ambient',
  'warning',
  'error',
  'partial',
]

// useCallEvents follows one live call.
export function useCallEvents(id?: string | number) {
  const [events, set] = useState<Event[]>([])
  useEffect(() => {
    set([])
    if (!id) return
    return follow(
      `/user/calls/${id}/stream`,
      types,
      (_, e) =>
        e?.type &&
        set(all =>
          e.seq && all.some(x => x.seq === e.seq)
            ? all
            : [...all, e].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq)),
        ),
    )
  }, [id])
  return events
}

export function Talk() {
  const list = useLoad(() => get<Assistant[]>('/user/assistants'), [])
  return (
    <Page
      title="Talk to your assistant"
      sub="Press the button and speak, or type. Nothing leaves this machine unless you configure a provider."
    >
      <Loaded of={list}>
        {assistants =>
          assistants.length ? <Conversation assistants={assistants} /> : <p>There is no assistant yet.</p>
        }
      </Loaded>
    </Page>
  )
}

function Conversation({ assistants }: { assistants: Assistant[] }) {
  const oldest = assistants[assistants.length - 1]
  const [chosen, choose] = useState(oldest.uuid)
  const [call, setCall] = useState<BrowserCall | null>(null)
  const [connecting, setConnecting] = useState(false)
  const [last, setLast] = useState<string>()
  const events = useCallEvents(call?.id ?? last)
  const [typed, setTyped] = useState<Line[]>([])
  const running = useRef<BrowserCall | null>(null)
  useEffect(
    () => () => {
      running.current?.stop()
    },
    [],
  )
  const toggle = async () => {
    if (call) return call.stop()
    setConnecting(true)
    setTyped([])
    try {
      const c = await startCall(chosen, 'test', () => {
        running.current = null
        setCall(null)
      })
      running.current = c
      setCall(c)
      setLast(c.id)
    } catch (e) {
      const denied = (e as Error).name === 'NotAllowedError'
      say(denied ? 'The browser did not allow the microphone. You can type instead.' : (e as Error).message, true)
    }
    setConnecting(false)
  }
  const spoken = linesOf(events)
  return (
    <div class="split">
      <div>
        <Card class="talk">
          <p class="muted" role="status">
            {call
              ? 'Listening. Speak whenever you like; you may interrupt.'
              : connecting
                ? 'Connecting…'
                : last
                  ? 'The call is over.'
                  : 'Your browser will ask for the microphone.'}
          </p>
          <div class="row">
            <Button kind={`big ${call ? 'danger' : 'primary'}`} onClick={toggle} disabled={connecting}>
              {call ? 'Hang up' : 'Start talking'}
            </Button>
          </div>
          <Meter call={call} />
          {assistants.length > 1 && !call && (
            <Choice label="Assistant" value={chosen} onInput={choose} options={assistants.map(a => [a.uuid, a.name])} />
          )}
        </Card>
        <Card title="Conversation">
          {spoken.length || typed.length ? (
            <Lines lines={[...spoken, ...typed]} />
          ) : (
            <p class="muted">What you both say appears here.</p>
          )}
          <Typing assistant={chosen} callId={call?.id} add={l => setTyped(all => [...all, l])} />
        </Card>
      </div>
      <div>
        <Card title="How long each answer took">
          <StageBars stages={stagesOf(events)} />
        </Card>
        {last && !call && (
          <p>
            <a class="button" href={`/console/calls/${last}`}>
              See the recording of this call
            </a>
          </p>
        )}
        <Card title="What next">
          <ul>
            <li>
              <a href="/console/assistants">Change what the assistant says</a>
            </li>
            <li>
              <a href="/console/numbers">Connect a phone number</a>
            </li>
            <li>
              <a href="/console/assistants">Put the assistant on a web page</a>
            </li>
            <li>
              <a href="/console/developers">Get an API key</a>
            </li>
          </ul>
        </Card>
      </div>
    </div>
  )
}

function Meter({ call }: { call: BrowserCall | null }) {
  const bar = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!call) return
    const timer = setInterval(() => {
      if (bar.current) bar.current.style.transform = `scaleX(${Math.min(1, call.level() * 6)})`
    }, 80)
    return () => clearInterval(timer)
  }, [call])
  return call ? (
    <div class="meter" aria-hidden="true">
      <i ref={bar} />
    </div>
  ) : null
}

// Typing goes into the running call, or into a test chat when there is none.
function Typing({ assistant, callId, add }: { assistant: string; callId?: string; add: (l: Line) => void }) {
  const [text, set] = useState('')
  const chat = useRef<{ assistant: string; id: string }>(undefined)
  const send = async () => {
    const message = text.trim()
    if (!message) return
    set('')
    if (callId) return attempt(() => post(`/user/calls/${callId}/say`, { text: message }))
    await attempt(async () => {
      if (chat.current?.assistant !== assistant) {
        const c = await post<{ conversation_id: string; history: { content: string }[] }>('/conversations', {
          assistant_id: assistant,
          type: 'test',
        })
        chat.current = { assistant, id: c.conversation_id }
        c.history.forEach(h => add({ who: 'bot', text: h.content }))
      }
      add({ who: 'human', text: message, typed: true })
      const reply = await post<{ message: string }>(`/conversations/${chat.current!.id}/messages`, { message })
      add({ who: 'bot', text: reply.message })
    })
  }
  return (
    <form
      class="row"
      style={{ marginTop: '1rem' }}
      onSubmit={e => {
        e.preventDefault()
        send()
      }}
    >
      <div class="field">
        <label for="typed">Or type</label>
        <input id="typed" value={text} onInput={e => set(e.currentTarget.value)} autocomplete="off" />
      </div>
      <Button type="submit">Send</Button>
    </form>
  )
}
