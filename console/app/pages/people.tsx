import { useState } from 'preact/hooks'
import { curl, del, get, post, put } from '../api'
import {
  attempt,
  Badge,
  Button,
  Card,
  Choice,
  Copy,
  Empty,
  errorsOf,
  Loaded,
  Page,
  Request,
  say,
  sure,
  Table,
  Text,
  useLoad,
  when,
  type Errors,
} from '../ui'
import type { Schemas } from '../../openapi'

type Member = Schemas['memberOut']
type Entry = Schemas['auditOut']

const roles: [string, string][] = [
  ['owner', 'Owner: everything'],
  ['admin', 'Admin: all but owners, billing and erasing'],
  ['agent', 'Agent: inbox, calls and leads'],
  ['viewer', 'Viewer: reads'],
]

// People is who may sign in to this account, and what was done in it.
export function People() {
  const list = useLoad(() => get<{ data: Member[] }>('/user/members'), [])
  return (
    <Page title="People" sub="Who may sign in to this account, and what was done in it.">
      <div class="split">
        <Card title="Members">
          <Loaded of={list}>{({ data }) => <Members of={data} changed={list.reload} />}</Loaded>
        </Card>
        <Invite done={list.reload} />
      </div>
      <Audit />
    </Page>
  )
}

function Members({ of, changed }: { of: Member[]; changed: () => unknown }) {
  const change = (m: Member, body: object) => attempt(() => put(`/user/members/${m.id}`, body), 'Saved.').then(changed)
  const remove = async (m: Member) => {
    if (await sure(`Remove ${m.name || m.email}?`, 'Remove', 'They can no longer sign in to this account.'))
      await attempt(() => del(`/user/members/${m.id}`), 'Removed.').then(changed)
  }
  return (
    <Table
      label="Members"
      heads={['Person', 'Role', 'Last here', '']}
      rows={of.map(m => [
        <>
          {m.name || m.email} {m.name && <div class="muted small">{m.email}</div>}{' '}
          {m.two_factor && <span class="muted small">second factor</span>}
        </>,
        <>
          <select
            aria-label={`Role of ${m.email}`}
            value={m.role}
            onChange={e => change(m, { role: e.currentTarget.value })}
          >
            {roles.map(([v]) => (
              <option value={v}>{v}</option>
            ))}
          </select>
          {m.role === 'viewer' && (
            <label class="small">
              <input
                type="checkbox"
                checked={m.recordings}
                onChange={e => change(m, { recordings: e.currentTarget.checked })}
              />{' '}
              recordings
            </label>
          )}
        </>,
        m.invited ? <Badge>pending</Badge> : m.last_seen_at ? when(m.last_seen_at) : '',
        <Button kind="quiet" onClick={() => remove(m)} label={`Remove ${m.email}`}>
          Remove
        </Button>,
      ])}
    />
  )
}

function Invite({ done }: { done: () => unknown }) {
  const [form, set] = useState({ email: '', role: 'agent' })
  const [errors, setErrors] = useState<Errors>({})
  const [link, setLink] = useState<string>()
  const send = async () => {
    try {
      const { data } = await post<{ data: Schemas['invitedOut'] }>('/user/members', form)
      setLink(data.invitation_url)
      setErrors({})
      set({ ...form, email: '' })
      done()
    } catch (e) {
      setErrors(errorsOf(e))
      say((e as Error).message, true)
    }
  }
  return (
    <Card title="Invite somebody">
      <form
        onSubmit={e => {
          e.preventDefault()
          send()
        }}
      >
        <Text
          label="E-mail"
          type="email"
          autocomplete="off"
          value={form.email}
          onInput={email => set({ ...form, email })}
          error={errors.email}
        />
        <Choice
          label="Role"
          value={form.role}
          options={roles}
          onInput={role => set({ ...form, role })}
          error={errors.role}
        />
        <Button kind="primary" type="submit">
          Invite
        </Button>
      </form>
      {link && (
        <p role="status">
          Send them this link; it works once within 72 hours. <Copy text={link}>Copy the link</Copy>
        </p>
      )}
      <Request command={curl('POST', '/user/members', form)} />
    </Card>
  )
}

function Audit() {
  const [q, set] = useState({ actor: '', from: '', to: '', cursor: '' })
  const page = useLoad(() => get<{ data: Entry[]; next_cursor: string | null }>('/user/audit', q), [q])
  return (
    <Card title="What was done">
      <div class="row filters">
        <Text label="Who" value={q.actor} onInput={actor => set({ ...q, actor, cursor: '' })} />
        <Text label="From" type="date" value={q.from} onInput={from => set({ ...q, from, cursor: '' })} />
        <Text label="To" type="date" value={q.to} onInput={to => set({ ...q, to, cursor: '' })} />
      </div>
      <Loaded of={page}>
        {({ data, next_cursor: next }) =>
          data.length ? (
            <>
              <Table
                label="What was done"
                heads={['When', 'Who', 'What', 'From']}
                rows={data.map(e => [
                  when(e.at),
                  e.actor,
                  <>
                    {e.action.replaceAll('_', ' ')} <div class="muted small">{e.subject}</div>
                  </>,
                  e.address,
                ])}
              />
              <p class="row">
                {q.cursor && <Button onClick={() => set({ ...q, cursor: '' })}>Newest</Button>}
                {next && <Button onClick={() => set({ ...q, cursor: next })}>Older</Button>}
              </p>
            </>
          ) : (
            <Empty title="Nothing was done in this time" />
          )
        }
      </Loaded>
    </Card>
  )
}
