import { useEffect, useState } from 'preact/hooks'
import { follow, get, post } from '../api'
import { attempt, Badge, Button, Card, Choice, Empty, Loaded, Page, Text, useLoad, when } from '../ui'
import type { Schemas } from '../../openapi'

type Item = Schemas['conversationItem']
type History = Schemas['conversationOut']

export function Conversations() {
  const [type, setType] = useState('')
  const [chosen, choose] = useState<Item>()
  const list = useLoad(() => get<{ data: Item[] }>('/user/conversations', { type, per_page: 50 }), [type])
  useEffect(() => follow('/user/events', ['conversation'], () => list.reload()), [type])
  const who = (c: Item) => c.customer?.name || c.customer?.phone || c.external_identifier || `${c.type} visitor`
  return (
    <Page title="Conversations" sub="Chats on the widget, WhatsApp and the API.">
      <div class="row filters">
        <Choice
          label="Channel"
          value={type}
          onInput={setType}
          options={[
            ['', 'All'],
            ['widget', 'Widget'],
            ['whatsapp', 'WhatsApp'],
            ['api', 'API'],
            ['test', 'Test'],
          ]}
        />
      </div>
      <div class="split thread">
        <Loaded of={list}>
          {({ data }) =>
            data.length ? (
              <div class="table" tabIndex={0} role="region" aria-label="Conversations">
                <table>
                  <thead>
                    <tr>
                      <th>Who</th>
                      <th>Channel</th>
                      <th>State</th>
                      <th class="num">Messages</th>
                      <th>Last</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.map(c => (
                      <tr aria-selected={chosen?.id === c.id}>
                        <td>
                          <button type="button" class="name" onClick={() => choose(c)}>
                            {who(c)}
                          </button>
                          <div class="muted small">{c.assistant_name}</div>
                        </td>
                        <td>{c.type}</td>
                        <td>
                          <Badge>{c.state}</Badge>
                          {!c.ai_enabled && <div class="small">AI off</div>}
                        </td>
                        <td class="num">{c.message_count}</td>
                        <td>{when(c.updated_at)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            ) : (
              <Empty title="No conversations yet">Put the widget on a page, or connect a WhatsApp sender.</Empty>
            )
          }
        </Loaded>
        {chosen ? (
          <Thread key={chosen.id} item={chosen} name={who(chosen)} changed={list.reload} />
        ) : (
          <Empty title="Choose a conversation" />
        )}
      </div>
    </Page>
  )
}

function Thread({ item, name, changed }: { item: Item; name: string; changed: () => unknown }) {
  const talk = useLoad(() => get<History>(`/conversations/${item.id}`), [item.id])
  const [text, setText] = useState('')
  useEffect(() => follow(`/conversations/${item.id}/stream`, ['message', 'state'], () => talk.reload()), [item.id])
  const act = (path: string, body?: unknown, done?: string) =>
    attempt(() => post(path, body), done).then(ok => {
      if (ok) {
        talk.reload()
        changed()
      }
      return ok
    })
  return (
    <Card title={name}>
      <Loaded of={talk}>
        {t => (
          <>
            <div class="actions">
              <Button
                onClick={() => act(`/automate/conversations/${item.id}/${t.ai_enabled ? 'disable' : 'enable'}-ai`)}
              >
                {t.ai_enabled ? 'Take over' : 'Give back to the assistant'}
              </Button>
              {t.state === 'open' && (
                <Button kind="quiet" onClick={() => act(`/conversations/${item.id}/end`, {}, 'Ended.')}>
                  End
                </Button>
              )}
            </div>
            <ol class="lines" aria-live="polite" aria-label="Messages" style={{ margin: '1rem 0' }}>
              {t.history.map(h => (
                <li class={h.role === 'user' ? '' : 'human'}>
                  <small>
                    {when(h.created_at)}
                    {h.function_calls?.map(f => ` · ${f.name}`)}
                  </small>
                  {h.content}
                </li>
              ))}
            </ol>
            <form
              class="row"
              onSubmit={e => {
                e.preventDefault()
                act(`/user/conversations/${item.id}/reply`, { message: text }).then(ok => ok && setText(''))
              }}
            >
              <Text label="Answer as a person" value={text} onInput={setText} />
              <Button type="submit">Send</Button>
            </form>
          </>
        )}
      </Loaded>
    </Card>
  )
}
