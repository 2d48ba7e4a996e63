import { useState } from 'preact/hooks'
import { del, get, post, put } from '../../api'
import { attempt, Badge, Button, Empty, Loaded, Page, say, Table, Tabs, Text, ask, sure, useLoad, when } from '../../ui'
import { Trunks } from './trunks'
import { Search } from './search'
import type { Schemas } from '../../../openapi'

type Owned = Schemas['numberOut']

export function Numbers() {
  const [tab, setTab] = useState('Owned')
  const owned = useLoad(() => get<{ data: Owned[] }>('/user/phone-numbers/all'), [])
  return (
    <Page title="Numbers" sub="What people call, and what they see when an assistant calls them.">
      <Tabs names={['Owned', 'Search and buy', 'SIP trunks', 'Caller IDs']} now={tab} go={setTab}>
        {tab === 'Owned' && <Mine list={owned} />}
        {tab === 'Search and buy' && <Search bought={owned.reload} />}
        {tab === 'SIP trunks' && <Trunks changed={owned.reload} />}
        {tab === 'Caller IDs' && <CallerIds list={owned} />}
      </Tabs>
    </Page>
  )
}

type List = { data?: { data: Owned[] }; error?: string; reload: () => unknown }

function Mine({ list }: { list: List }) {
  const rename = async (n: Owned) => {
    const nickname = await ask({ title: `Name ${n.phone_number}`, label: 'Name', value: n.nickname ?? '', yes: 'Save' })
    if (nickname !== null) attempt(() => put(`/user/phone-numbers/${n.id}`, { nickname }), 'Saved.').then(list.reload)
  }
  const release = async (n: Owned) =>
    (await sure(`Give ${n.phone_number} back?`, 'Release', 'Somebody else may buy it then.')) !== null &&
    attempt(async () => say((await del<{ message: string }>(`/user/phone-numbers/${n.id}`)).message)).then(list.reload)
  return (
    <Loaded of={list}>
      {({ data }) =>
        data.length ? (
          <Table
            label="Owned numbers"
            heads={['Number', 'Kind', 'Status', 'Assistants', '']}
            rows={data.map(n => [
              <>
                <strong>{n.phone_number}</strong>
                {n.nickname && <div class="muted small">{n.nickname}</div>}
              </>,
              <>
                {n.type_label}
                <div class="muted small">
                  {n.country_code}
                  {n.sms_capable && ' · SMS'}
                </div>
              </>,
              <>
                <Badge>{n.status}</Badge>
                {n.release_at && <div class="muted small">until {when(n.release_at)}</div>}
              </>,
              n.assistant_ids.length ? (
                n.assistant_ids.map(id => <a href={`/console/assistants/${id}`}>#{id} </a>)
              ) : (
                <span class="muted">none</span>
              ),
              <>
                <Button kind="quiet" label={`Name ${n.phone_number}`} onClick={() => rename(n)}>
                  Name
                </Button>
                {n.status === 'active' && (
                  <Button kind="quiet" label={`Release ${n.phone_number}`} onClick={() => release(n)}>
                    Release
                  </Button>
                )}
              </>,
            ])}
          />
        ) : (
          <Empty title="No numbers yet">
            Buy one, connect your own SIP trunk, or verify a number you own as Caller ID.
          </Empty>
        )
      }
    </Loaded>
  )
}

function CallerIds({ list }: { list: List }) {
  const [phone, setPhone] = useState('')
  const [code, setCode] = useState('')
  const [waiting, wait] = useState<{ id: number; phone_number: string }>()
  const start = () =>
    attempt(async () => {
      wait(
        (
          await post<{ data: { id: number; phone_number: string } }>('/user/phone-numbers/caller-ids', {
            phone_number: phone,
          })
        ).data,
      )
    }, 'A code is on its way.')
  const verify = () =>
    attempt(() => post(`/user/phone-numbers/caller-ids/${waiting!.id}/verify`, { code }), 'Verified.').then(ok => {
      if (ok) {
        wait(undefined)
        setPhone('')
        setCode('')
        list.reload()
      }
    })
  return (
    <>
      <p class="muted">
        A number you own elsewhere, shown when an assistant calls. A code sent to it proves that it is yours.
      </p>
      {waiting ? (
        <form
          class="row filters"
          onSubmit={e => {
            e.preventDefault()
            verify()
          }}
        >
          <Text
            label={`Code sent to ${waiting.phone_number}`}
            value={code}
            onInput={setCode}
            autocomplete="one-time-code"
          />
          <Button kind="primary" type="submit">
            Verify
          </Button>
          <Button kind="quiet" onClick={() => wait(undefined)}>
            Another number
          </Button>
        </form>
      ) : (
        <form
          class="row filters"
          onSubmit={e => {
            e.preventDefault()
            start()
          }}
        >
          <Text label="Your number" value={phone} onInput={setPhone} placeholder="+14155550123" />
          <Button kind="primary" type="submit">
            Send the code
          </Button>
        </form>
      )}
      <Loaded of={list}>
        {({ data }) => (
          <ul>
            {data
              .filter(n => n.type === 'caller_id')
              .map(n => (
                <li>
                  {n.phone_number} <Badge>{n.status}</Badge>
                </li>
              ))}
          </ul>
        )}
      </Loaded>
    </>
  )
}
