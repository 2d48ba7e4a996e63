import { useEffect, useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { curl, del, follow, get, post, request } from '../api'
import { attempt, Badge, Button, Card, Choice, Dialog, Empty, errorsOf, Field, Loaded, Page, Pager, Request, say, Switch, Table, Text, useLoad, when, type Errors } from '../ui'
import { account } from '../session'
import type { Assistant } from './assistants'
import type { CallRecord, PageOf } from './calls'

type Campaign = {
  id: number; name: string; status: string; assistant_id: number | null; timezone: string; max_calls_in_parallel: number; allowed_hours_start_time: string; allowed_hours_end_time: string; allowed_days: string[]
  max_retries: number; retry_interval: number; stop_reason: string | null; leads_count: { total: number; open: number; completed: number; failed: number }
}
type Lead = { id: number; phone_number: string; variables: Record<string, unknown>; status: string; attempts: number; next_attempt_at: string | null; last_call_id: number | null; secondary_contacts: { phone_number: string }[] }
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const short = (d: string[]) => d.length === 7 ? 'every day' : days.filter(x => d.includes(x)).map(x => x[0].toUpperCase() + x.slice(1, 3)).join(' ')
const hours = (c: Campaign) => `${c.allowed_hours_start_time.slice(0, 5)}–${c.allowed_hours_end_time.slice(0, 5)}`

// windowOf tells whether calls may start now, by the clock of the campaign's zone. A window over midnight counts to the day it began.
function windowOf(c: Campaign) {
  const parts = Object.fromEntries(new Intl.DateTimeFormat('en-GB', { timeZone: c.timezone, weekday: 'long', hour: '2-digit', minute: '2-digit' }).formatToParts(new Date()).map(p => [p.type, p.value]))
  const now = `${parts.hour}:${parts.minute}`, today = days.indexOf(parts.weekday.toLowerCase())
  const [from, to] = [c.allowed_hours_start_time.slice(0, 5), c.allowed_hours_end_time.slice(0, 5)]
  const began = (d: number) => c.allowed_days.includes(days[(d + 7) % 7])
  const open = from < to ? began(today) && from <= now && now <= to : began(today) && now >= from || began(today - 1) && now <= to
  return { open, now: `${parts.weekday.slice(0, 3)} ${now}` }
}

export function Campaigns() {
  const list = useLoad(() => get<Campaign[]>('/user/campaigns'), [])
  const [open, setOpen] = useState(false)
  const { route } = useLocation()
  useEffect(() => follow('/user/events', ['campaign'], () => list.reload()), [])
  return (
    <Page title="Campaigns" sub="Lists of people that an assistant calls." actions={<Button kind="primary" onClick={() => setOpen(true)}>New campaign</Button>}>
      <Loaded of={list}>{all => all.length ? <Table label="Campaigns" heads={['Name', 'Status', 'Leads', 'Window']} rows={all.map(c => [
        <a href={`/console/campaigns/${c.id}`}>{c.name}</a>, <Badge>{c.status}</Badge>, `${c.leads_count.completed} of ${c.leads_count.total} reached`,
        <>{hours(c)} {short(c.allowed_days)}<div class="muted small">{c.timezone}</div></>])} /> : <Empty title="No campaigns yet">A campaign calls its leads during the hours you allow, and tries again.</Empty>}</Loaded>
      <Dialog title="New campaign" open={open} onClose={() => setOpen(false)}><NewCampaign done={id => route(`/console/campaigns/${id}`)} /></Dialog>
    </Page>
  )
}

function NewCampaign({ done }: { done: (id: number) => void }) {
  const assistants = useLoad(() => get<Assistant[]>('/user/assistants').then(all => all.filter(a => a.type === 'outbound')), [])
  const [f, set] = useState<Record<string, any>>({ name: '', timezone: account.value!.timezone, max_calls_in_parallel: 3, allowed_hours_start_time: '09:00', allowed_hours_end_time: '18:00', allowed_days: days.slice(0, 5), max_retries: 3, retry_interval: 60 })
  const [errors, setErrors] = useState<Errors>({})
  const edit = (k: string) => (v: unknown) => set(x => ({ ...x, [k]: v }))
  const field = (k: string, label: string, type = 'text') => <Text label={label} type={type} value={f[k]} onInput={v => edit(k)(type === 'number' ? Number(v) : v)} error={errors[k]} />
  return <Loaded of={assistants}>{all => {
    if (!all.length) return <p>A campaign needs an assistant that places calls. <a href="/console/assistants">Make one</a> of the type “Places calls”.</p>
    const body = { assistant_id: all[0].id, ...f }
    const save = async () => { try { done((await post<{ data: { id: number } }>('/user/campaigns', body)).data.id) } catch (e) { setErrors(errorsOf(e)); say((e as Error).message, true) } }
    return <form onSubmit={e => { e.preventDefault(); save() }}>
      {field('name', 'Name')}
      <Choice label="Assistant" value={body.assistant_id} onInput={v => edit('assistant_id')(Number(v))} options={all.map(a => [a.id, a.name])} error={errors.assistant_id} />
      <div class="row">{field('allowed_hours_start_time', 'From', 'time')}{field('allowed_hours_end_time', 'To', 'time')}{field('timezone', 'Time zone')}</div>
      <fieldset><legend>Days</legend>{days.map(d => <label class="check"><input type="checkbox" checked={f.allowed_days.includes(d)} onChange={e => edit('allowed_days')(e.currentTarget.checked ? [...f.allowed_days, d] : f.allowed_days.filter((x: string) => x !== d))} />{d.slice(0, 3)}</label>)}</fieldset>
      <div class="row">{field('max_calls_in_parallel', 'Calls at once', 'number')}{field('max_retries', 'Retries', 'number')}{field('retry_interval', 'Minutes between', 'number')}</div>
      <Button kind="primary" type="submit">Save as a draft</Button><Request command={curl('POST', '/user/campaigns', body)} />
    </form>
  }}</Loaded>
}

export function CampaignPage() {
  const { id } = useRoute().params
  const { route } = useLocation()
  const loaded = useLoad(() => get<{ data: Campaign }>(`/user/campaigns/${id}`), [id])
  const [filter, setFilter] = useState({ campaign_id: id, status: '', phone_number: '', page: 1 })
  const leads = useLoad(() => get<PageOf<Lead>>('/user/leads', filter), [filter])
  const calls = useLoad(() => get<PageOf<CallRecord>>('/user/calls', { campaign_id: id, status: 'in-progress' }), [id])
  const [adding, add] = useState(false)
  const reload = () => { loaded.reload(); leads.reload(); calls.reload() }
  useEffect(() => follow('/user/events', ['campaign', 'call'], reload), [filter])
  return <Loaded of={loaded}>{({ data: c }) => {
    const running = c.status === 'in-progress', w = windowOf(c)
    const act = (action: string, drain = false) => attempt(async () => say((await post<{ message: string }>('/user/campaign/update-status', { campaign_id: c.id, action, drain })).message)).then(reload)
    return (
      <Page title={c.name} sub={<><Badge>{c.status}</Badge> {c.stop_reason && `because of ${c.stop_reason.replaceAll('_', ' ')}`}</>} actions={<>
        {running ? <><Button onClick={() => act('stop', true)}>Stop after these calls</Button><Button kind="danger" onClick={() => act('stop')}>Stop now</Button></> : <Button kind="primary" onClick={() => act('start')}>Start</Button>}
        <Button kind="quiet" onClick={() => confirm(`Remove ${c.name} and its leads?`) && attempt(() => del(`/user/campaign/${c.id}`), 'Removed.').then(ok => ok && route('/console/campaigns'))}>Remove</Button></>}>
        <div class="grid">
          <Card title="Funnel"><Funnel of={c.leads_count} /></Card>
          <Card title="Lines in use"><Slots used={Math.min(calls.data?.total ?? 0, c.max_calls_in_parallel)} of={c.max_calls_in_parallel} /></Card>
          <Card title="Window"><p><span class={`badge ${w.open ? 'good' : 'warn'}`}>{w.open ? 'open' : 'closed'}</span> it is {w.now} there</p><p>{hours(c)}, {short(c.allowed_days)}</p><p class="muted small">{c.timezone} · {c.max_retries} retries, {c.retry_interval} minutes apart</p></Card>
        </div>
        <header class="page-head" style={{ marginTop: '1.25rem' }}><h2>Leads</h2><Button onClick={() => add(true)}>Add leads</Button></header>
        <div class="row filters"><Choice label="Status" value={filter.status} onInput={status => setFilter(f => ({ ...f, status, page: 1 }))} options={[['', 'Any'], ...['created', 'scheduled', 'rescheduled', 'processing', 'completed', 'reached-max-retries', 'blacklisted'].map(s => [s, s] as [string, string])]} />
          <Text label="Number contains" value={filter.phone_number} onInput={phone_number => setFilter(f => ({ ...f, phone_number, page: 1 }))} inputMode="numeric" /></div>
        <Loaded of={leads}>{page => page.data.length ? <>
          <Table label="Leads" heads={['Number', 'Variables', 'Status', 'Attempts', 'Next', '']} rows={page.data.map(l => [
            <><strong>{l.phone_number}</strong>{l.secondary_contacts.length > 0 && <div class="muted small">then {l.secondary_contacts.map(s => s.phone_number).join(', ')}</div>}</>,
            <span class="small">{Object.entries(l.variables).map(([k, v]) => `${k}: ${v}`).join(', ')}</span>, <Badge>{l.status}</Badge>, l.attempts, when(l.next_attempt_at),
            <>{l.last_call_id && <a href={`/console/calls/${l.last_call_id}`}>Last call</a>} <Button kind="quiet" label={`Remove ${l.phone_number}`} onClick={() => attempt(() => del(`/user/leads/${l.id}`), 'Removed.').then(reload)}>Remove</Button></>])} />
          <Pager page={page.current_page} last={page.last_page} go={p => setFilter(f => ({ ...f, page: p }))} />
        </> : <Empty title="No leads here" />}</Loaded>
        <Dialog title="Add leads" open={adding} onClose={() => add(false)}><AddLeads campaign={c.id} done={() => { add(false); reload() }} /></Dialog>
      </Page>
    )
  }}</Loaded>
}

function Funnel({ of: n }: { of: Campaign['leads_count'] }) {
  const bar = (label: string, value: number, tone: string) => <div><span class="small">{label} <strong>{value}</strong></span><div class="stage"><i class={tone} style={{ width: `${100 * value / Math.max(1, n.total)}%` }} /></div></div>
  return <div class="stages">{bar('All', n.total, 's0')}{bar('Still open', n.open, 's2')}{bar('Completed', n.completed, 's3')}{bar('Given up', n.failed, 's4')}</div>
}

const Slots = ({ used, of }: { used: number; of: number }) => <><p class="slots" role="img" aria-label={`${used} of ${of} lines are talking`}>{Array.from({ length: of }, (_, i) => <i class={i < used ? 'on' : ''} />)}</p><p class="muted small">{used} of {of} talking now</p></>

// AddLeads takes one number, or a CSV file whose first rows are shown before anything is stored.
function AddLeads({ campaign, done }: { campaign: number; done: () => void }) {
  const [phone, setPhone] = useState('')
  const [file, setFile] = useState<File>()
  const [rows, setRows] = useState<string[][]>([])
  const [column, setColumn] = useState('')
  const [again, setAgain] = useState(false)
  const choose = async (f?: File) => {
    setFile(f)
    const r = f ? csv(await f.text()) : []
    setRows(r)
    setColumn(r[0]?.find(h => /phone|number|mobile|tel/i.test(h)) ?? r[0]?.[0] ?? '')
  }
  const load = () => attempt(async () => {
    const form = new FormData()
    form.set('file', file!); form.set('campaign_id', String(campaign)); form.set('phone_column', column); form.set('allow_dupplicate', again ? '1' : '0')
    const { data } = await request<{ data: { created: number; skipped: number; errors: { row: number; error: string }[] } }>('POST', '/user/leads/import', form)
    say(`${data.created} added, ${data.skipped} left out. ${data.errors.slice(0, 3).map(e => `Row ${e.row}: ${e.error}`).join(' ')}`, data.errors.length > 0)
    done()
  })
  return <>
    <form class="row" onSubmit={e => { e.preventDefault(); attempt(() => post('/user/lead', { campaign_id: campaign, phone_number: phone }), 'Added.').then(ok => ok && done()) }}><Text label="One number" value={phone} onInput={setPhone} placeholder="+491701234567" /><Button type="submit">Add</Button></form>
    <hr />
    <Field label="Or a CSV file with a header row">{ids => <input {...ids} type="file" accept=".csv,text/csv" onChange={e => choose(e.currentTarget.files?.[0])} />}</Field>
    {rows.length > 0 && <>
      <Choice label="Column with the phone number" value={column} onInput={setColumn} options={rows[0].map(h => [h, h])} />
      <p class="muted small">{rows.length - 1} rows. The other columns become variables.</p>
      <Table label="Preview" heads={rows[0]} rows={rows.slice(1, 6)} />
      <Switch label="Also numbers that are in the campaign already" value={again} onInput={setAgain} />
      <Button kind="primary" onClick={load}>Import {rows.length - 1} leads</Button>
    </>}
  </>
}

// csv reads comma or semicolon separated text with quotes (RFC 4180) for the preview; the server reads the file itself.
function csv(text: string): string[][] {
  const mark = text.split('\n', 1)[0].includes(';') && !text.split('\n', 1)[0].includes(',') ? ';' : ','
  const rows: string[][] = [[]]
  let cell = '', quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (quoted) { if (c !== '"') cell += c; else if (text[i + 1] === '"') { cell += '"'; i++ } else quoted = false }
    else if (c === '"') quoted = true
    else if (c === mark || c === '\n') { rows.at(-1)!.push(cell.trim()); cell = ''; if (c === '\n') rows.push([]) }
    else cell += c
  }
  rows.at(-1)!.push(cell.trim())
  return rows.filter(r => r.some(Boolean))
}
