import { useState } from 'preact/hooks'
import { curl, get } from '../api'
import type { Account } from '../session'
import { Card, Choice, Empty, Loaded, Page, Request, Text, useEvents, useLoad } from '../ui'
import type { Schemas } from '../../openapi'
import { Paying } from './paying'

type Row = Schemas['usageLine']
type Answer = Schemas['usageOut']
type Limit = Schemas['planLimit']
type Plan = Schemas['planData']
const day = (offset: number) => new Date(Date.now() + offset * 864e5).toISOString().slice(0, 10)
const amount = (n: number) => n.toLocaleString([], { minimumFractionDigits: 2, maximumFractionDigits: 4 })
const nameOf = (r: Row) =>
  r.day ??
  r.kind?.replaceAll('_', ' ') ??
  r.assistant ??
  (r.assistant_id ? `assistant ${r.assistant_id}, removed` : 'no assistant')

export function Usage() {
  const [q, set] = useState({ from: day(-30), to: day(0), group_by: 'day' })
  const usage = useLoad(() => get<Answer>('/user/usage', q), [q])
  const me = useLoad(() => get<Account>('/user/me'), [])
  const plan = useLoad(() => get<{ data: Plan }>('/user/plan'), [])
  useEvents(['call', 'conversation'], () => {
    me.reload()
    usage.reload()
    plan.reload()
  })
  return (
    <Page
      title="Usage"
      sub="What was used, what it cost, and what is left."
      actions={
        <a class="button" href={`/api/user/usage.csv?${new URLSearchParams(q)}`}>
          Download CSV
        </a>
      }
    >
      <Loaded of={me}>
        {m => (
          <dl class="tiles">
            <div>
              <dt>Balance</dt>
              <dd>
                {amount(m.total_balance)} <small>{m.balance_unit}</small>
              </dd>
            </div>
            <div>
              <dt>Held by running calls</dt>
              <dd>
                {amount(m.total_balance - m.available_balance)} <small>{m.balance_unit}</small>
              </dd>
            </div>
            <div>
              <dt>Available</dt>
              <dd>
                {amount(m.available_balance)} <small>{m.balance_unit}</small>
              </dd>
            </div>
          </dl>
        )}
      </Loaded>
      <div class="split">
        <Card title="Charges">
          <div class="row filters">
            <Text label="From" type="date" value={q.from} onInput={from => set({ ...q, from })} />
            <Text label="To" type="date" value={q.to} onInput={to => set({ ...q, to })} />
            <Choice
              label="By"
              value={q.group_by}
              onInput={group_by => set({ ...q, group_by })}
              options={[
                ['day', 'day'],
                ['assistant', 'assistant'],
                ['kind', 'kind'],
              ]}
            />
          </div>
          <Loaded of={usage}>
            {u =>
              u.data.length ? <Rows of={u} by={q.group_by} /> : <Empty title="Nothing was charged in this time" />
            }
          </Loaded>
          <Request command={curl('GET', `/user/usage?${new URLSearchParams(q)}`)} />
        </Card>
        <div>
          <Paying />
          <Card title="Plan">
            <Loaded of={plan}>
              {({ data: p }) => (
                <>
                  <Meter name="Calls at once" of={p.parallel_calls} />
                  <Meter name="Calls in 24 hours" of={p.daily_outbound} />
                  <Meter name="Assistants" of={p.assistants} />
                  <Meter name="Campaigns" of={p.campaigns} />
                  <Meter name="Tools" of={p.tools} />
                  <dl class="facts">
                    <dt>Calls at once in a campaign</dt>
                    <dd>{p.parallel_per_campaign}</dd>
                    <dt>A minute with an assistant</dt>
                    <dd>
                      {amount(p.minute_price)} {p.currency}
                    </dd>
                  </dl>
                </>
              )}
            </Loaded>
          </Card>
        </div>
      </div>
    </Page>
  )
}

const Meter = ({ name, of: l }: { name: string; of: Limit }) => (
  <div class="field">
    <span>
      {name} <strong>{l.used}</strong> <span class="muted small">{l.most === null ? 'no limit' : `of ${l.most}`}</span>
    </span>
    {l.most !== null && (
      <div class="stage thin">
        <i
          class={l.used >= l.most ? 's4' : 's3'}
          style={{ width: `${Math.min(100, (100 * l.used) / Math.max(1, l.most))}%` }}
        />
      </div>
    )}
  </div>
)

function Rows({ of: { data, unit, currency }, by }: { of: Answer; by: string }) {
  const most = Math.max(...data.map(r => Math.abs(r.amount)), 1e-9),
    sum = (k: 'count' | 'amount' | 'cost') => data.reduce((n, r) => n + r[k], 0)
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Charges">
      <table>
        <thead>
          <tr>
            <th>{by[0].toUpperCase() + by.slice(1)}</th>
            <th class="num">Times</th>
            <th class="num">{unit}</th>
            <th class="num">{currency}</th>
            <th class="bar">
              <span class="hide">Share</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {data.map(r => (
            <tr>
              <td>{nameOf(r)}</td>
              <td class="num">{r.count}</td>
              <td class="num">{amount(r.amount)}</td>
              <td class="num">{amount(r.cost)}</td>
              <td>
                <div class="stage thin">
                  <i class="s3" style={{ width: `${(100 * Math.abs(r.amount)) / most}%` }} />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Together</th>
            <td class="num">{sum('count')}</td>
            <td class="num">{amount(sum('amount'))}</td>
            <td class="num">{amount(sum('cost'))}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  )
}
