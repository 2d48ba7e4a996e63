import { useState } from 'preact/hooks'
import { del, get, post } from '../api'
import { List, sent } from '../requests'
import { attempt, Button, Card, Choice, Copy, Dialog, Loaded, Page, sure, Text, useLoad, when } from '../ui'
import { Deliveries } from './deliveries'
import type { Schemas } from '../../openapi'

type Key = Schemas['apiKey']
export const Developers = () => (
  <Page
    title="Developers"
    sub={
      <>
        <a href="/console/reference">API reference</a> · <a href="/api/openapi.json">OpenAPI document</a>
      </>
    }
  >
    <div class="split">
      <div>
        <Webhooks />
        <Log />
      </div>
      <div>
        <Keys />
        <Secret />
      </div>
    </div>
  </Page>
)

function Keys() {
  const keys = useLoad(() => get<{ api_keys: Key[] }>('/user/api-keys'), [])
  const [name, setName] = useState('')
  const [token, setToken] = useState('')
  const make = () =>
    attempt(async () => {
      setToken((await post<{ api_key: { token: string } }>('/user/api-keys', { name })).api_key.token)
      setName('')
      keys.reload()
    })
  return (
    <Card title="API keys">
      <Loaded of={keys}>
        {({ api_keys }) => (
          <ul class="plain">
            {api_keys.map(k => (
              <li>
                <span>
                  {k.name}{' '}
                  <span class="muted small">{k.last_used_at ? `used ${when(k.last_used_at)}` : 'not used yet'}</span>
                </span>{' '}
                <Button
                  kind="quiet"
                  label={`Delete ${k.name}`}
                  onClick={async () =>
                    (await sure(
                      `Delete the key ${k.name}?`,
                      'Delete',
                      'Programs that use it are refused from now on.',
                    )) !== null && attempt(() => del(`/user/api-keys/${k.id}`), 'Deleted.').then(keys.reload)
                  }
                >
                  Delete
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <form
        class="row"
        onSubmit={e => {
          e.preventDefault()
          make()
        }}
      >
        <Text label="New key" value={name} onInput={setName} placeholder="crm sync" />
        <Button type="submit">Create</Button>
      </form>
      <Dialog title="Your new key" open={!!token} onClose={() => setToken('')}>
        <p>It is shown once. Keep it somewhere safe.</p>
        <pre tabIndex={0}>{token}</pre>
        <Copy text={token} />
      </Dialog>
    </Card>
  )
}

function Secret() {
  const secret = useLoad(() => get<{ secret: string }>('/user/webhook-secret'), [])
  const [shown, show] = useState(false)
  return (
    <Card title="Webhook secret">
      <Loaded of={secret}>
        {s => (
          <>
            <pre tabIndex={0}>{shown ? s.secret : 'whsec_••••••••'}</pre>
            <Button kind="quiet" onClick={() => show(!shown)}>
              {shown ? 'Hide' : 'Show'}
            </Button>
            <Copy text={s.secret} />
            <Button
              kind="quiet"
              onClick={async () =>
                (await sure('Make a new webhook secret?', 'Rotate', 'The old one signs along for 24 hours.')) !==
                  null && attempt(() => post('/user/webhook-secret/rotate'), 'Rotated.').then(secret.reload)
              }
            >
              Rotate
            </Button>
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Webhooks() {
  const [status, setStatus] = useState('')
  return (
    <Card title="Webhook deliveries">
      <div class="row filters">
        <Choice
          label="Status"
          value={status}
          onInput={setStatus}
          options={[
            ['', 'All'],
            ['pending', 'Pending'],
            ['succeeded', 'Succeeded'],
            ['failed', 'Failed'],
          ]}
        />
      </div>
      <Deliveries query={{ status }} empty="Switch a webhook on in an assistant’s Webhooks tab." />
    </Card>
  )
}

// Log is what this console asked of the API since it was opened, on every page.
const Log = () => (
  <Card title="Requests of this console">
    {sent.value.length ? <List of={sent.value} /> : <p class="muted">None yet.</p>}
  </Card>
)
