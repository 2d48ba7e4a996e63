import './style.css'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router'
import { get } from './api'
import { Asking, Toast } from './ui'
import { account, Welcome } from './session'
import { pages } from './pages'

function Nav() {
  const { path } = useLocation()
  const [open, set] = useState(false)
  useEffect(() => set(false), [path])
  const here = (p: string) => (p === '/console' ? path === p || path === p + '/' : path.startsWith(p))
  return (
    <nav class={`side ${open ? 'open' : ''}`} aria-label="Main">
      <a class="brand" href="/console">
        <span aria-hidden="true">≋</span> parley
      </a>
      <button type="button" class="menu quiet" aria-expanded={open} onClick={() => set(!open)}>
        Menu
      </button>
      <ul>
        {pages
          .filter(p => p.name)
          .map(p => (
            <li>
              <a href={p.path} aria-current={here(p.path) ? 'page' : undefined}>
                {p.name}
              </a>
            </li>
          ))}
      </ul>
      <footer>
        <span class="muted small">{account.value?.email}</span>
      </footer>
    </nav>
  )
}

const Missing = () => (
  <main id="main">
    <h1>Nothing here</h1>
    <p>
      <a href="/console">Back to the start</a>
    </p>
  </main>
)

function App() {
  const [ready, set] = useState(false)
  const load = () =>
    get<any>('/user/me')
      .then(
        me => {
          account.value = me
        },
        () => {
          account.value = null
        },
      )
      .then(() => set(true))
  useEffect(() => {
    const out = () => {
      account.value = null
    }
    window.addEventListener('signed-out', out)
    if (new URLSearchParams(location.search).has('token'))
      set(true) // a one-time link signs in first
    else load()
    return () => window.removeEventListener('signed-out', out)
  }, [])
  if (!ready)
    return (
      <p class="muted pad" aria-busy="true">
        Loading…
      </p>
    )
  if (!account.value) return <Welcome onSignedIn={load} />
  return (
    <LocationProvider scope="/console">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="frame">
        <Nav />
        <Router>
          {[...pages.map(p => <Route path={p.path} component={p.page} />), <Route default component={Missing} />]}
        </Router>
      </div>
      <Asking />
      <Toast />
    </LocationProvider>
  )
}

render(<App />, document.getElementById('app')!)
