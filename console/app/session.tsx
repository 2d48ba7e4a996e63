// Who is signed in, and the page that signs a person in.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { post } from './api'
import { Text } from './ui'
import type { Schemas } from '../openapi'

export type Account = Schemas['me']
export const account = signal<Account | null>(null)

export function Welcome({ onSignedIn }: { onSignedIn: () => void }) {
  const token = new URLSearchParams(location.search).get('token')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState('')
  const enter = (body: unknown) =>
    post('/console/sign-in', body).then(
      () => {
        history.replaceState(null, '', '/console')
        onSignedIn()
      },
      (e: Error) => setError(e.message),
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
          enter({ email, password })
        }}
      >
        <Text label="E-mail" type="email" autocomplete="username" value={email} onInput={setEmail} required />
        <Text
          label="Password"
          type="password"
          autocomplete="current-password"
          value={password}
          onInput={setPassword}
          required
        />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p class="muted">
        No password yet? Open the one-time link that <code>parley serve</code> prints when it starts.
      </p>
    </main>
  )
}
