import { useState } from 'preact/hooks'
import { del, get, post, put } from '../../api'
import {
  attempt,
  Badge,
  Button,
  Choice,
  Dialog,
  Empty,
  errorsOf,
  Loaded,
  say,
  Switch,
  Table,
  Text,
  sure,
  useLoad,
  type Errors,
} from '../../ui'
import type { Schemas } from '../../../openapi'

type Trunk = Schemas['trunkItem']

const fresh = {
  sip_trunk_type: 'extension',
  phone_number: '',
  nickname: '',
  sip_username: '',
  sip_password: '',
  sip_address: '',
  sip_calling_format: '+e164',
  inbound_authorization_type: 'auth',
  allowed_inbound_ips: [],
  country_code: 'US',
  outbound_proxy: false,
  transport: 'udp',
  port: 5060,
  register: undefined as boolean | undefined, // as the server has it
  srtp: undefined as string | undefined,
  dtmf: 'auto',
  transfer_method: null as string | null,
}

export function Trunks({ changed }: { changed: () => unknown }) {
  const list = useLoad(() => get<{ data: Trunk[] }>('/user/phone-numbers/sip-trunks'), [])
  const [open, setOpen] = useState<Record<string, any>>()
  const done = () => {
    setOpen(undefined)
    list.reload()
    changed()
  }
  return (
    <>
      <div class="actions filters">
        <Button kind="primary" onClick={() => setOpen(fresh)}>
          New trunk
        </Button>
        <Button kind="quiet" onClick={list.reload}>
          Reload
        </Button>
      </div>
      <Loaded of={list}>
        {({ data }) =>
          data.length ? (
            <Table
              label="SIP trunks"
              heads={['Number', 'Server', 'Registration', '']}
              rows={data.map(t => [
                <>
                  <strong>{t.phone_number}</strong>
                  {t.nickname && <div class="muted small">{t.nickname}</div>}
                </>,
                <>
                  {t.sip_username}@{t.sip_address}:{t.port}
                  <div class="muted small">
                    {t.transport}, {t.codecs.join(' ')}
                  </div>
                </>,
                <>
                  <Badge>{t.registration}</Badge>
                  {t.registration_error && <div class="muted small">{t.registration_error}</div>}
                </>,
                <>
                  {t.register && (
                    <Button
                      kind="quiet"
                      label={`Register ${t.phone_number} now`}
                      onClick={() =>
                        attempt(
                          () => post(`/user/phone-numbers/sip-trunks/${t.id}/register`),
                          'Asked for a registration.',
                        ).then(done)
                      }
                    >
                      Register
                    </Button>
                  )}
                  <Button kind="quiet" label={`Change ${t.phone_number}`} onClick={() => setOpen(t)}>
                    Change
                  </Button>
                  <Button
                    kind="quiet"
                    label={`Remove ${t.phone_number}`}
                    onClick={async () =>
                      (await sure(`Remove ${t.phone_number}?`, 'Remove')) !== null &&
                      attempt(() => del(`/user/phone-numbers/${t.id}`), 'Removed.').then(done)
                    }
                  >
                    Remove
                  </Button>
                </>,
              ])}
            />
          ) : (
            <Empty title="No trunks yet">
              Connect a phone system or a SIP provider: the assistant registers there and takes its calls.
            </Empty>
          )
        }
      </Loaded>
      <Dialog title={open?.id ? 'Change trunk' : 'New SIP trunk'} open={!!open} onClose={() => setOpen(undefined)}>
        {open && <TrunkForm key={open.id} was={open} done={done} />}
      </Dialog>
    </>
  )
}

function TrunkForm({ was, done }: { was: Record<string, any>; done: () => void }) {
  const [t, set] = useState(was)
  const [errors, setErrors] = useState<Errors>({})
  const edit = (k: string) => (v: unknown) => set(x => ({ ...x, [k]: v }))
  const text = (k: string, label: string, more: object = {}) => (
    <Text label={label} value={t[k]} onInput={edit(k)} error={errors[k]} {...more} />
  )
  const save = async () => {
    const body = Object.fromEntries(
      Object.keys(fresh)
        .filter(k => k in t && !(k === 'sip_password' && !t[k]) && !(k === 'sip_trunk_type' && was.id))
        .map(k => [k, t[k]]),
    )
    try {
      await (was.id
        ? put(`/user/phone-numbers/sip-trunks/${was.id}`, body)
        : post('/user/phone-numbers/sip-trunks', body))
      done()
    } catch (e) {
      setErrors(errorsOf(e))
      say((e as Error).message, true)
    }
  }
  return (
    <form
      onSubmit={e => {
        e.preventDefault()
        save()
      }}
    >
      {!was.id && (
        <Choice
          label="What it is"
          value={t.sip_trunk_type}
          onInput={edit('sip_trunk_type')}
          options={[
            ['extension', 'An extension of a phone system'],
            ['number', 'A phone number of a provider'],
          ]}
        />
      )}
      <div class="row">
        {text('phone_number', t.sip_trunk_type === 'number' ? 'Number (+49…)' : 'Extension')}
        {text('nickname', 'Name')}
      </div>
      <div class="row">
        {text('sip_address', 'Server')}
        <Text label="Port" type="number" value={t.port} onInput={v => edit('port')(Number(v))} error={errors.port} />
        <Choice
          label="Transport"
          value={t.transport}
          onInput={edit('transport')}
          options={[
            ['udp', 'UDP'],
            ['tcp', 'TCP'],
            ['tls', 'TLS'],
          ]}
          error={errors.transport}
        />
      </div>
      <div class="row">
        {text('sip_username', 'User name')}
        {text('sip_password', was.id ? 'New password' : 'Password', { type: 'password', autocomplete: 'new-password' })}
      </div>
      <div class="row">
        <Choice
          label="Dialled as"
          value={t.sip_calling_format}
          onInput={edit('sip_calling_format')}
          options={[
            ['+e164', '+4930…'],
            ['e164', '4930…'],
            ['national', '030…'],
          ]}
        />
        {text('country_code', 'Country')}
      </div>
      <Choice
        label="Incoming calls are let in"
        value={t.inbound_authorization_type}
        onInput={edit('inbound_authorization_type')}
        options={[
          ['auth', 'with user name and password'],
          ['ip', 'from these addresses'],
        ]}
      />
      {t.inbound_authorization_type === 'ip' && (
        <Text
          label="Addresses"
          rows={2}
          value={t.allowed_inbound_ips.join('\n')}
          onInput={v => edit('allowed_inbound_ips')(v.split(/\s+/).filter(Boolean))}
          hint="One IP or CIDR per line"
          error={errors.allowed_inbound_ips ?? errors['allowed_inbound_ips.0']}
        />
      )}
      <div class="row">
        <Choice
          label="Sound is encrypted"
          value={t.srtp ?? (t.transport === 'tls' ? 'offered' : 'off')}
          onInput={edit('srtp')}
          options={[
            ['off', 'never'],
            ['offered', 'where the server can'],
            ['required', 'always'],
          ]}
          error={errors.srtp}
        />
        <Choice
          label="Keys are sent"
          value={t.dtmf}
          onInput={edit('dtmf')}
          options={[
            ['auto', 'as the server takes them'],
            ['rfc4733', 'as telephone events'],
            ['info', 'as INFO'],
            ['inband', 'as tones'],
          ]}
          error={errors.dtmf}
        />
        <Choice
          label="Calls are passed on"
          value={t.transfer_method ?? ''}
          onInput={v => edit('transfer_method')(v || null)}
          options={[
            ['', 'as usual here'],
            ['bridge', 'by us'],
            ['refer', 'by the server'],
          ]}
          error={errors.transfer_method}
        />
      </div>
      <Switch
        label="Register at the server"
        value={t.register ?? t.inbound_authorization_type === 'auth'}
        onInput={edit('register')}
      />
      <Switch label="Through the outbound proxy" value={t.outbound_proxy} onInput={edit('outbound_proxy')} />
      <Button kind="primary" type="submit">
        Save
      </Button>
    </form>
  )
}
