import { useState } from 'preact/hooks'
import { get } from '../api'
import { account } from '../session'
import { Card, Choice, Empty, Loaded, Page, Text, useLoad } from '../ui'

type Row = Record<string, string | number | null> & { amount: number }
const day = (offset: number) => new Date(Date.now() + offset * 864e5).toISOString().slice(0, 10)

export function Usage() {
  const [q, set] = useState({ from: day(-30), to: day(0), group_by: 'day' })
  const usage = useLoad(() => get<{ data: Row[] }>('/user/usage', q), [q])
  const me = account.value!
  return (
    <Page title="Usage" sub={`Balance ${me.total_balance} ${me.balance_unit}, available ${me.available_balance}.`} actions={<a class="button" href={`/api/user/usage.csv?${new URLSearchParams(q)}`}>Download CSV</a>}>
      <div class="row filters"><Text label="From" type="date" value={q.from} onInput={from => set({ ...q, from })} /><Text label="To" type="date" value={q.to} onInput={to => set({ ...q, to })} /><Choice label="By" value={q.group_by} onInput={group_by => set({ ...q, group_by })} options={[['day', 'day'], ['assistant', 'assistant'], ['kind', 'kind']]} /></div>
      <Loaded of={usage}>{({ data }) => data.length ? <Bars rows={data} by={q.group_by} /> : <Empty title="Nothing was charged in this time" />}</Loaded>
    </Page>
  )
}

function Bars({ rows, by }: { rows: Row[]; by: string }) {
  const most = Math.max(...rows.map(r => Math.abs(r.amount)), 1e-9)
  return <Card><table><thead><tr><th>{by}</th><th class="num">Amount</th><th style={{ width: '50%' }}><span class="muted">Share</span></th></tr></thead>
    <tbody>{rows.map(r => <tr><td>{r[by] ?? 'other'}</td><td class="num">{r.amount}</td><td><div class="stage"><i class="s3" style={{ width: `${100 * Math.abs(r.amount) / most}%` }} /></div></td></tr>)}</tbody></table></Card>
}
