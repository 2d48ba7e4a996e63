import { useEffect, useState } from 'preact/hooks'
import { curl, follow, get, post } from '../../api'
import { attempt, Button, Card, Dialog, Empty, Loaded, Request, Table, Text, useLoad, when } from '../../ui'
import { Picker } from './templates'
import type { Sender } from './senders'
import type { Schemas } from '../../../openapi'

type Session = Schemas['sessionOut']

type Chat = Schemas['conversationItem']

type Entry = Schemas['entryOut']

export function Inbox({ sender }: { sender: Sender }) {
  const chats = useLoad(
    () =>
      get<{ data: Chat[] }>('/user/conversations', {
        type: 'whatsapp',
        whatsapp_sender_phone: sender.phone_number,
        per_page: 50,
      }),
    [],
  )
  const [phone, setPhone] = useState('')
  const [fresh, setFresh] = useState('')
  useEffect(() => follow('/user/events', ['conversation'], () => chats.reload()), [])
  return (
    <div class="split thread">
      <div>
        <form
          class="row filters"
          onSubmit={e => {
            e.preventDefault()
            setPhone(fresh)
          }}
        >
          <Text label="Write to a number" value={fresh} onInput={setFresh} placeholder="+491701234567" />
          <Button type="submit">Open</Button>
        </form>
        <Loaded of={chats}>
          {({ data }) =>
            data.length ? (
              <Table
                label="Conversations"
                heads={['Customer', 'Messages', 'Last']}
                rows={data.map(c => [
                  <button type="button" class="name" onClick={() => setPhone(c.customer?.phone ?? '')}>
                    {c.customer?.name ?? c.customer?.phone}
                  </button>,
                  c.message_count,
                  when(c.updated_at),
                ])}
              />
            ) : (
              <Empty title="No messages yet" />
            )
          }
        </Loaded>
      </div>
      {phone ? (
        <Thread
          key={phone}
          sender={sender}
          phone={phone}
          chat={chats.data?.data.find(c => c.customer?.phone === phone)}
          changed={chats.reload}
        />
      ) : (
        <Empty title="Choose a conversation" />
      )}
    </div>
  )
}

function Thread({
  sender,
  phone,
  chat,
  changed,
}: {
  sender: Sender
  phone: string
  chat?: Chat
  changed: () => unknown
}) {
  const session = useLoad(
    () => get<Session>('/user/whatsapp/session-status', { sender_id: sender.id, recipient_phone: phone }),
    [phone, chat?.updated_at],
  )
  const talk = useLoad(
    async () =>
      chat
        ? await get<{ history: Entry[]; ai_enabled: boolean }>(`/conversations/${chat.id}`)
        : { history: [], ai_enabled: true },
    [chat?.id, chat?.updated_at],
  )
  const [text, setText] = useState('')
  const [picking, pick] = useState(false)
  const body = { sender_id: sender.id, recipient_phone: phone, message: text }
  const after = (ok: boolean) => {
    if (ok) {
      setText('')
      changed()
      session.reload()
      talk.reload()
    }
    return ok
  }
  return (
    <Card title={chat?.customer?.name ? `${chat.customer.name} · ${phone}` : phone}>
      <Loaded of={session}>{s => <Countdown status={s.session_status} />}</Loaded>
      <Loaded of={talk}>
        {t => (
          <>
            {chat && (
              <Button
                kind="quiet"
                onClick={() =>
                  attempt(() =>
                    post(`/automate/conversations/${chat.id}/${t.ai_enabled ? 'disable' : 'enable'}-ai`),
                  ).then(talk.reload)
                }
              >
                {t.ai_enabled ? 'Take over from the assistant' : 'Give back to the assistant'}
              </Button>
            )}
            <ol class="lines" aria-live="polite" aria-label="Messages">
              {t.history.map(h => (
                <li class={h.role === 'user' ? '' : 'human'}>
                  <small>{when(h.created_at)}</small>
                  {h.content}
                </li>
              ))}
            </ol>
          </>
        )}
      </Loaded>
      {session.data?.session_status.is_open && (
        <form
          class="row"
          style={{ marginTop: '1rem' }}
          onSubmit={e => {
            e.preventDefault()
            attempt(() => post('/user/whatsapp/send-freeform', body)).then(after)
          }}
        >
          <Text label="Message" value={text} onInput={setText} autocomplete="off" />
          <Button type="submit" kind="primary">
            Send
          </Button>
        </form>
      )}
      <p>
        <Button onClick={() => pick(true)}>Send a template</Button>
      </p>
      <Dialog title="Send a template" open={picking} onClose={() => pick(false)}>
        <Picker
          sender={sender}
          phone={phone}
          done={() => {
            pick(false)
            after(true)
          }}
        />
      </Dialog>
      {text && <Request command={curl('POST', '/user/whatsapp/send-freeform', body)} />}
    </Card>
  )
}

// Countdown says how long any text may still be sent.
function Countdown({ status }: { status: Session['session_status'] }) {
  const [now, tick] = useState(Date.now())
  useEffect(() => {
    const t = setInterval(() => tick(Date.now()), 30_000)
    return () => clearInterval(t)
  }, [])
  const left = status.expires_at ? Math.floor((Date.parse(status.expires_at) - now) / 60_000) : 0
  if (!status.is_open || left <= 0)
    return (
      <p>
        <span class="badge warn">window closed</span> <span class="muted small">{status.message}</span>
      </p>
    )
  return (
    <p>
      <span class={`badge ${left < 60 ? 'warn' : 'good'}`}>
        {Math.floor(left / 60)} h {left % 60} min left
      </span>{' '}
      <span class="muted small">Any text may be sent until {when(status.expires_at)}.</span>
    </p>
  )
}
