import { useState } from 'preact/hooks'
import { get, post } from '../../api'
import { attempt, Button, Card, Empty, Loaded, Text, useLoad, when } from '../../ui'
import type { Data } from './simulator'

export function Customer() {
  const senders = useLoad(
    () =>
      get<Data<{ id: number; phone_number: string; display_name: string }[]>>('/user/whatsapp/senders', {
        status: 'all',
      }),
    [],
  )
  const [phone, setPhone] = useState('+491701234567')
  const [text, setText] = useState('')
  const make = () =>
    attempt(async () => {
      const assistants = await get<{ id: number }[]>('/user/assistants')
      const s = await post<Data<{ id: number }>>('/sim/whatsapp/senders', {
        phone_number: '+14155550100',
        display_name: 'Shop',
        assistant_id: assistants.at(-1)?.id ?? null,
      })
      await post(`/sim/whatsapp/senders/${s.data.id}/templates`, {
        name: 'order_ready',
        language: 'en',
        category: 'utility',
        status: 'approved',
        body_text: 'Hello {{1}}, your order {{2}} is ready.',
        variables: ['name', 'order'],
      })
    }, 'A sender with one template is there.').then(senders.reload)
  return (
    <Loaded of={senders}>
      {({ data }) =>
        data.length ? (
          <CustomerPhone
            key={phone}
            sender={data[0].id}
            phone={phone}
            setPhone={setPhone}
            text={text}
            setText={setText}
            name={data[0].display_name}
          />
        ) : (
          <Empty title="No sender yet">
            <Button kind="primary" onClick={make}>
              Make a sender and a template
            </Button>
          </Empty>
        )
      }
    </Loaded>
  )
}

function CustomerPhone({
  sender,
  name,
  phone,
  setPhone,
  text,
  setText,
}: {
  sender: number
  name: string
  phone: string
  setPhone: (s: string) => void
  text: string
  setText: (s: string) => void
}) {
  const shown = useLoad(
    () =>
      get<Data<{ message_sid: string; direction: string; text: string; status: string; at: string }[]>>(
        '/sim/whatsapp/messages',
        { sender_id: sender, phone },
      ),
    [phone],
  )
  const mark = (sid: string, status: string) =>
    attempt(() => post(`/sim/whatsapp/messages/${sid}/status`, { status })).then(shown.reload)
  return (
    <Card title={`The phone of a customer of ${name}`}>
      <div class="row filters">
        <Text label="The customer’s number" value={phone} onInput={setPhone} />
        <Button kind="quiet" onClick={shown.reload}>
          Reload
        </Button>
      </div>
      <Loaded of={shown}>
        {({ data }) => (
          <ol class="lines" aria-label="Messages on the phone">
            {data.map(m => (
              <li class={m.direction === 'outbound' ? '' : 'human'}>
                <small>
                  {when(m.at)} · {m.status}
                </small>
                {m.text}
                {m.direction === 'outbound' && m.status !== 'read' && (
                  <div>
                    <Button kind="quiet" onClick={() => mark(m.message_sid, 'read')}>
                      Mark as read
                    </Button>
                  </div>
                )}
              </li>
            ))}
          </ol>
        )}
      </Loaded>
      <form
        class="row"
        style={{ marginTop: '1rem' }}
        onSubmit={e => {
          e.preventDefault()
          attempt(() => post('/sim/whatsapp/inbound', { sender_id: sender, from: phone, name: 'Mia', text })).then(
            ok => {
              if (ok) {
                setText('')
                shown.reload()
              }
            },
          )
        }}
      >
        <Text label="The customer writes" value={text} onInput={setText} autocomplete="off" />
        <Button type="submit" kind="primary">
          Send
        </Button>
      </form>
    </Card>
  )
}
