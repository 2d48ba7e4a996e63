import { useState } from 'preact/hooks'
import { curl, get, post, put } from '../api'
import { account, type Account } from '../session'
import { attempt, Button, Card, errorsOf, Page, Request, say, Text, type Errors } from '../ui'
import { ThemeChoice } from '../theme'

export const Settings = () => (
  <Page
    title="Settings"
    actions={
      <Button
        onClick={() =>
          attempt(() => post('/console/sign-out')).then(() => {
            account.value = null
          })
        }
      >
        Sign out
      </Button>
    }
  >
    <div class="grid">
      <Profile />
      <div>
        <Password />
        <Card title="Appearance">
          <ThemeChoice />
        </Card>
      </div>
    </div>
  </Page>
)

function Profile() {
  const me = account.value!
  const [form, set] = useState({ name: me.name, email: me.email, timezone: me.timezone })
  const [errors, setErrors] = useState<Errors>({})
  const edit = (k: keyof typeof form) => (v: string) => set(f => ({ ...f, [k]: v }))
  const save = async () => {
    try {
      await put('/user/me', form)
      account.value = await get<Account>('/user/me')
      setErrors({})
      say('Saved.')
    } catch (e) {
      setErrors(errorsOf(e))
      say((e as Error).message, true)
    }
  }
  return (
    <Card title="Account">
      <form
        onSubmit={e => {
          e.preventDefault()
          save()
        }}
      >
        <Text label="Name" value={form.name} onInput={edit('name')} error={errors.name} autocomplete="name" />
        <Text
          label="E-mail"
          type="email"
          value={form.email}
          onInput={edit('email')}
          error={errors.email}
          autocomplete="email"
        />
        <Text
          label="Time zone"
          value={form.timezone}
          onInput={edit('timezone')}
          error={errors.timezone}
          list="zones"
          hint="Of campaigns and reports, such as Europe/Berlin."
        />
        <datalist id="zones">
          {Intl.supportedValuesOf('timeZone').map(z => (
            <option value={z} />
          ))}
        </datalist>
        <Button kind="primary" type="submit">
          Save
        </Button>
      </form>
      <Request command={curl('PUT', '/user/me', form)} />
    </Card>
  )
}

function Password() {
  const [password, set] = useState('')
  const [error, setError] = useState<string[]>()
  const save = async () => {
    try {
      await put('/console/password', { password })
      set('')
      setError(undefined)
      say('The password was saved.')
    } catch (e) {
      setError(errorsOf(e).password ?? [(e as Error).message])
    }
  }
  return (
    <Card title="Password">
      <form
        onSubmit={e => {
          e.preventDefault()
          save()
        }}
      >
        <input type="email" value={account.value!.email} autocomplete="username" readOnly hidden />
        <Text
          label="New password"
          type="password"
          value={password}
          onInput={set}
          error={error}
          autocomplete="new-password"
          hint="At least 12 characters. With it you sign in without a one-time link; other sessions end."
        />
        <Button type="submit">Set the password</Button>
      </form>
    </Card>
  )
}
