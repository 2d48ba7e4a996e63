import { useState } from 'preact/hooks'
import { get } from '../api'
import { Badge, Choice, Empty, Loaded, Page, Pager, seconds, Text, useEvents, useLoad, when } from '../ui'
import type { Schemas } from '../../openapi'

export type CallRecord = Schemas['callOut']
export type PageOf<T> = { data: T[]; current_page: number; last_page: number; total: number }

const statuses = ['initiated', 'ringing', 'in-progress', 'completed', 'busy', 'no-answer', 'failed']

export function Calls() {
  const [filter, set] = useState({ status: '', type: '', phone_number: '', page: 1 })
  const calls = useLoad(() => get<PageOf<CallRecord>>('/user/calls', filter), [filter])
  useEvents(['call'], calls.reload)
  const change = (part: Partial<typeof filter>) => set(f => ({ ...f, page: 1, ...part }))
  return (
    <Page title="Calls" sub="Every call, newest first.">
      <div class="row filters">
        <Choice
          label="Status"
          value={filter.status}
          onInput={status => change({ status })}
          options={[['', 'Any'], ...statuses.map(s => [s, s] as [string, string])]}
        />
        <Choice
          label="Type"
          value={filter.type}
          onInput={type => change({ type })}
          options={[
            ['', 'Any'],
            ['inbound', 'inbound'],
            ['outbound', 'outbound'],
            ['web', 'web'],
          ]}
        />
        <Text
          label="Number contains"
          value={filter.phone_number}
          onInput={phone_number => change({ phone_number })}
          inputMode="numeric"
        />
      </div>
      <Loaded of={calls}>
        {page =>
          page.data.length ? (
            <>
              <div class="table" tabIndex={0} role="region" aria-label="Calls">
                <table>
                  <thead>
                    <tr>
                      <th>When</th>
                      <th>Who</th>
                      <th>Assistant</th>
                      <th>Type</th>
                      <th>Status</th>
                      <th class="num">Length</th>
                      <th class="num">Cost</th>
                    </tr>
                  </thead>
                  <tbody>
                    {page.data.map(c => (
                      <tr>
                        <td>
                          <a href={`/console/calls/${c.id}`}>{when(c.created_at)}</a>
                        </td>
                        <td>{c.client_phone_number ?? 'browser'}</td>
                        <td>
                          {c.assistant_name}
                          {c.campaign_name && <div class="muted small">{c.campaign_name}</div>}
                        </td>
                        <td>{c.type}</td>
                        <td>
                          <Badge>{c.status}</Badge>
                        </td>
                        <td class="num">{seconds(c.duration)}</td>
                        <td class="num">{c.total_cost.toFixed(4)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
              <Pager page={page.current_page} last={page.last_page} go={p => set(f => ({ ...f, page: p }))} />
            </>
          ) : (
            <Empty title="No calls here">Talk to an assistant on the first page, or call one of your numbers.</Empty>
          )
        }
      </Loaded>
    </Page>
  )
}
