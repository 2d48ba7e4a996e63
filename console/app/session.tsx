// Who is signed in, and the page that signs a person in.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { post } from './api'
import { Text } from './ui'
import type { Schemas } from '../openapi'

export type Account = Schemas['me']
export const account = signal<Account | null>(null)

export function Welcome({ onSignedIn }: { onSignedIn: () => void }) {
  const query = new URLSearchParams(location.search)
  const token = query.get('token')
  const invitation = query.get('invitation')
  const [name, setName] = useState('')
  const [code, setCode] = useState('')
  const [coded, setCoded] = useState(false)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState('')
  const enter = (body: unknown) =>
    post(invitation ? '/console/invitations' : '/console/sign-in', body).then(
      () => {
        history.replaceState(null, '', '/console')
        onSignedIn()
      },
      (e: Error) => {
        setCoded(coded || /code/.test(e.message))
        setError(e.message)
      },
    )
  useEffect(() => {
    if (token) enter({ token })
  }, [])
  if (token && !error)
    return (
      <p class="muted pad" aria-busy="true">
        Opening your console…
      </p>
    )
  return (
    <main id="main" class="welcome">
      <h1>
        <span aria-hidden="true">≋</span> parley
      </h1>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <form
        class="card"
        onSubmit={e => {
          e.preventDefault()
          const asked = code ? { code } : {}
          enter(invitation ? { token: invitation, name, password, ...asked } : { email, password, ...asked })
        }}
      >
        {invitation ? (
          <Text label="Your name" autocomplete="name" value={name} onInput={setName} />
        ) : (
          <Text label="E-mail" type="email" autocomplete="username" value={email} onInput={setEmail} required />
        )}
        <Text
          label="Password"
          type="password"
          autocomplete={invitation ? 'new-password' : 'current-password'}
          hint={invitation ? 'At least 12 characters; or the one you sign in with already.' : undefined}
          value={password}
          onInput={setPassword}
          required
        />
        {coded && <Text label="Code" autocomplete="one-time-code" value={code} onInput={setCode} />}
        <button type="submit" class="primary">
          {invitation ? 'Accept the invitation' : 'Sign in'}
        </button>
      </form>
      <p class="muted">
        No password yet? Open the one-time link that <code>parley users link --email E</code> prints.
      </p>
    </main>
  )
}
