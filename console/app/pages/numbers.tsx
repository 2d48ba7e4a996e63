import { useState } from 'preact/hooks'
import { curl, del, get, post, put } from '../api'
import { attempt, Badge, Button, Card, Choice, Dialog, Empty, errorsOf, Loaded, Page, Request, say, Switch, Table, Tabs, Text, ask, sure, useLoad, when, type Errors } from '../ui'

type Owned = { id: number; phone_number: string; country_code: string; type: string; type_label: string; sms_capable: boolean; nickname: string | null; status: string; release_at: string | null; assistant_ids: number[] }
type Offer = { phone_number: string; phone_number_formatted: string; country_code: string; price: number; address_requirements: string; sms_capable: boolean }
type Trunk = Record<string, any> & { id: number; phone_number: string; sip_address: string; sip_username: string; registration: string }
const countries = ['US', 'CA', 'GB', 'AU', 'IL', 'PL', 'FI', 'NL', 'DK', 'IT']

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
  const rename = async (n: Owned) => { const nickname = await ask({ title: `Name ${n.phone_number}`, label: 'Name', value: n.nickname ?? '', yes: 'Save' }); if (nickname !== null) attempt(() => put(`/user/phone-numbers/${n.id}`, { nickname }), 'Saved.').then(list.reload) }
  const release = async (n: Owned) => await sure(`Give ${n.phone_number} back?`, 'Release', 'Somebody else may buy it then.') !== null && attempt(async () => say((await del<{ message: string }>(`/user/phone-numbers/${n.id}`)).message)).then(list.reload)
  return <Loaded of={list}>{({ data }) => data.length ? <Table label="Owned numbers" heads={['Number', 'Kind', 'Status', 'Assistants', '']} rows={data.map(n => [
    <><strong>{n.phone_number}</strong>{n.nickname && <div class="muted small">{n.nickname}</div>}</>, <>{n.type_label}<div class="muted small">{n.country_code}{n.sms_capable && ' · SMS'}</div></>,
    <><Badge>{n.status}</Badge>{n.release_at && <div class="muted small">until {when(n.release_at)}</div>}</>,
    n.assistant_ids.length ? n.assistant_ids.map(id => <a href={`/console/assistants/${id}`}>#{id} </a>) : <span class="muted">none</span>,
    <><Button kind="quiet" label={`Name ${n.phone_number}`} onClick={() => rename(n)}>Name</Button>{n.status === 'active' && <Button kind="quiet" label={`Release ${n.phone_number}`} onClick={() => release(n)}>Release</Button>}</>,
  ])} /> : <Empty title="No numbers yet">Buy one, connect your own SIP trunk, or verify a number you own as Caller ID.</Empty>}</Loaded>
}

function Search({ bought }: { bought: () => unknown }) {
  const [country, setCountry] = useState('US')
  const [contains, setContains] = useState('')
  const [asked, search] = useState({ country_code: 'US', contains: '' })
  const found = useLoad(() => get<{ data: Offer[] }>('/user/phone-numbers/search', asked), [asked])
  const buy = async (o: Offer) => await ask({ title: `Buy ${o.phone_number}?`, text: `$${o.price.toFixed(2)} a month, from your payment method.`, yes: 'Buy this number' }) !== null && attempt(async () => say((await post<{ message: string }>('/user/phone-numbers/purchase', { phone_number: o.phone_number })).message)).then(ok => { if (ok) { bought(); found.reload() } })
  return <>
    <form class="row filters" onSubmit={e => { e.preventDefault(); search({ country_code: country, contains }) }}>
      <Choice label="Country" value={country} onInput={setCountry} options={countries.map(c => [c, new Intl.DisplayNames(['en'], { type: 'region' }).of(c)!])} />
      <Text label="Contains" value={contains} onInput={setContains} inputMode="numeric" pattern="[0-9]*" maxLength={10} /><Button type="submit" kind="primary">Search</Button>
    </form>
    <Loaded of={found}>{({ data }) => data.length ? <Table label="Numbers on offer" heads={['Number', 'SMS', 'Address needed', 'A month', '']} rows={data.map(o => [
      <><strong>{o.phone_number}</strong><div class="muted small">{o.phone_number_formatted}</div></>, o.sms_capable ? 'yes' : 'no', o.address_requirements, `$${o.price.toFixed(2)}`,
      <Button label={`Buy ${o.phone_number}`} onClick={() => buy(o)}>Buy</Button>])} /> : <Empty title="Nothing fits">Try fewer digits or another country.</Empty>}</Loaded>
    <Request command={curl('GET', `/user/phone-numbers/search?${new URLSearchParams(asked)}`)} />
  </>
}

const fresh = { sip_trunk_type: 'extension', phone_number: '', nickname: '', sip_username: '', sip_password: '', sip_address: '', sip_calling_format: '+e164', inbound_authorization_type: 'auth', allowed_inbound_ips: [], country_code: 'US', outbound_proxy: false, transport: 'udp', port: 5060 }
function Trunks({ changed }: { changed: () => unknown }) {
  const list = useLoad(() => get<{ data: Trunk[] }>('/user/phone-numbers/sip-trunks'), [])
  const [open, setOpen] = useState<Record<string, any>>()
  const done = () => { setOpen(undefined); list.reload(); changed() }
  return <>
    <div class="actions filters"><Button kind="primary" onClick={() => setOpen(fresh)}>New trunk</Button><Button kind="quiet" onClick={list.reload}>Reload</Button></div>
    <Loaded of={list}>{({ data }) => data.length ? <Table label="SIP trunks" heads={['Number', 'Server', 'Registration', '']} rows={data.map(t => [
      <><strong>{t.phone_number}</strong>{t.nickname && <div class="muted small">{t.nickname}</div>}</>, <>{t.sip_username}@{t.sip_address}:{t.port}<div class="muted small">{t.transport}, {t.codecs.join(' ')}</div></>,
      <Badge>{t.registration}</Badge>, <><Button kind="quiet" label={`Change ${t.phone_number}`} onClick={() => setOpen(t)}>Change</Button>
        <Button kind="quiet" label={`Remove ${t.phone_number}`} onClick={async () => await sure(`Remove ${t.phone_number}?`, 'Remove') !== null && attempt(() => del(`/user/phone-numbers/${t.id}`), 'Removed.').then(done)}>Remove</Button></>])} />
      : <Empty title="No trunks yet">Connect a phone system or a SIP provider: the assistant registers there and takes its calls.</Empty>}</Loaded>
    <Dialog title={open?.id ? 'Change trunk' : 'New SIP trunk'} open={!!open} onClose={() => setOpen(undefined)}>{open && <TrunkForm key={open.id} was={open} done={done} />}</Dialog>
  </>
}

function TrunkForm({ was, done }: { was: Record<string, any>; done: () => void }) {
  const [t, set] = useState(was)
  const [errors, setErrors] = useState<Errors>({})
  const edit = (k: string) => (v: unknown) => set(x => ({ ...x, [k]: v }))
  const text = (k: string, label: string, more: object = {}) => <Text label={label} value={t[k]} onInput={edit(k)} error={errors[k]} {...more} />
  const save = async () => {
    const body = Object.fromEntries(Object.keys(fresh).filter(k => k in t && !(k === 'sip_password' && !t[k]) && !(k === 'sip_trunk_type' && was.id)).map(k => [k, t[k]]))
    try { await (was.id ? put(`/user/phone-numbers/sip-trunks/${was.id}`, body) : post('/user/phone-numbers/sip-trunks', body)); done() } catch (e) { setErrors(errorsOf(e)); say((e as Error).message, true) }
  }
  return <form onSubmit={e => { e.preventDefault(); save() }}>
    {!was.id && <Choice label="What it is" value={t.sip_trunk_type} onInput={edit('sip_trunk_type')} options={[['extension', 'An extension of a phone system'], ['number', 'A phone number of a provider']]} />}
    <div class="row">{text('phone_number', t.sip_trunk_type === 'number' ? 'Number (+49…)' : 'Extension')}{text('nickname', 'Name')}</div>
    <div class="row">{text('sip_address', 'Server')}<Text label="Port" type="number" value={t.port} onInput={v => edit('port')(Number(v))} error={errors.port} /><Choice label="Transport" value={t.transport} onInput={edit('transport')} options={[['udp', 'UDP'], ['tcp', 'TCP'], ['tls', 'TLS']]} error={errors.transport} /></div>
    <div class="row">{text('sip_username', 'User name')}{text('sip_password', was.id ? 'New password' : 'Password', { type: 'password', autocomplete: 'new-password' })}</div>
    <div class="row"><Choice label="Dialled as" value={t.sip_calling_format} onInput={edit('sip_calling_format')} options={[['+e164', '+4930…'], ['e164', '4930…'], ['national', '030…']]} />{text('country_code', 'Country')}</div>
    <Choice label="Incoming calls are let in" value={t.inbound_authorization_type} onInput={edit('inbound_authorization_type')} options={[['auth', 'with user name and password'], ['ip', 'from these addresses']]} />
    {t.inbound_authorization_type === 'ip' && <Text label="Addresses" rows={2} value={t.allowed_inbound_ips.join('\n')} onInput={v => edit('allowed_inbound_ips')(v.split(/\s+/).filter(Boolean))} hint="One IP or CIDR per line" error={errors.allowed_inbound_ips ?? errors['allowed_inbound_ips.0']} />}
    <Switch label="Through the outbound proxy" value={t.outbound_proxy} onInput={edit('outbound_proxy')} />
    <Button kind="primary" type="submit">Save</Button>
  </form>
}

function CallerIds({ list }: { list: List }) {
  const [phone, setPhone] = useState('')
  const [code, setCode] = useState('')
  const [waiting, wait] = useState<{ id: number; phone_number: string }>()
  const start = () => attempt(async () => { wait((await post<{ data: { id: number; phone_number: string } }>('/user/phone-numbers/caller-ids', { phone_number: phone })).data) }, 'A code is on its way.')
  const verify = () => attempt(() => post(`/user/phone-numbers/caller-ids/${waiting!.id}/verify`, { code }), 'Verified.').then(ok => { if (ok) { wait(undefined); setPhone(''); setCode(''); list.reload() } })
  return <>
    <p class="muted">A number you own elsewhere, shown when an assistant calls. A code sent to it proves that it is yours.</p>
    {waiting ? <form class="row filters" onSubmit={e => { e.preventDefault(); verify() }}><Text label={`Code sent to ${waiting.phone_number}`} value={code} onInput={setCode} autocomplete="one-time-code" /><Button kind="primary" type="submit">Verify</Button><Button kind="quiet" onClick={() => wait(undefined)}>Another number</Button></form>
      : <form class="row filters" onSubmit={e => { e.preventDefault(); start() }}><Text label="Your number" value={phone} onInput={setPhone} placeholder="+14155550123" /><Button kind="primary" type="submit">Send the code</Button></form>}
    <Loaded of={list}>{({ data }) => <ul>{data.filter(n => n.type === 'caller_id').map(n => <li>{n.phone_number} <Badge>{n.status}</Badge></li>)}</ul>}</Loaded>
  </>
}
