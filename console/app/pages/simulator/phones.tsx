import { useEffect, useState } from 'preact/hooks'
import { curl, get, post, put } from '../../api'
import { attempt, Badge, Button, Card, Choice, Loaded, Request, seconds, Text, useLoad, when } from '../../ui'
import type { Data } from './simulator'

const behaviours = [
  'answer',
  'busy',
  'no_answer',
  'decline',
  'voicemail',
  'fax',
  'invalid',
  'carrier_error',
  'screening',
]

const steps = (text: string) =>
  text
    .split('\n')
    .map(l => l.trim())
    .filter(Boolean)
    .flatMap(say => [
      { wait_for: 'speech_end', timeout_ms: 20_000 },
      { wait_for: 'silence', timeout_ms: 5_000 },
      { say },
    ])
    .concat([{ wait_for: 'speech_end', timeout_ms: 20_000 }] as any)

export function Phones() {
  const [phone, setPhone] = useState('+14155550199')
  const [behaviour, setBehaviour] = useState('answer')
  const [script, setScript] = useState('Hello?\nWhat are your opening hours?\nThank you, bye.')
  const [from, setFrom] = useState('+14155550177')
  const [to, setTo] = useState('')
  const owned = useLoad(() => get<Data<{ phone_number: string; type: string }[]>>('/user/phone-numbers/all'), [])
  const texts = useLoad(() => get<Data<{ from: string; body: string; at: string }[]>>('/sim/sms', { phone }), [phone])
  const [calls, setCalls] = useState<{ id: number; call_id: number | null }[]>([])
  const target = to || owned.data?.data.find(n => n.type !== 'caller_id')?.phone_number || ''
  const body = { from, to: target, script: [...steps(script), { hangup: true }] }
  return (
    <div class="split">
      <div>
        <Card title="Somebody calls you">
          <form
            onSubmit={e => {
              e.preventDefault()
              attempt(async () => {
                const r = await post<Data<{ id: number; call_id: number | null }>>('/sim/calls', body)
                setCalls(c => [r.data, ...c])
              }, 'The phone rings.')
            }}
          >
            <div class="row">
              <Text label="From" value={from} onInput={setFrom} />
              <Choice
                label="To"
                value={target}
                onInput={setTo}
                options={(owned.data?.data ?? [])
                  .filter(n => n.type !== 'caller_id')
                  .map(n => [n.phone_number, n.phone_number])}
              />
            </div>
            <Text label="What the caller says, one turn a line" rows={4} value={script} onInput={setScript} />
            <Button kind="primary" type="submit" disabled={!target}>
              Call
            </Button>
            {!target && (
              <p class="muted small">
                You own no number yet. <a href="/console/numbers">Buy a simulated one</a>
              </p>
            )}
            <Request command={curl('POST', '/sim/calls', body)} />
          </form>
        </Card>
        {calls.map(c => (
          <SimCall key={c.id} id={c.id} call={c.call_id} />
        ))}
      </div>
      <div>
        <Card title="A phone you call">
          <form
            onSubmit={e => {
              e.preventDefault()
              attempt(
                () =>
                  put(`/sim/phones/${encodeURIComponent(phone)}`, {
                    behaviour,
                    ...(behaviour === 'answer' ? { script: [...steps(script), { hangup: true }] } : {}),
                  }),
                'The phone is set.',
              )
            }}
          >
            <Text label="Number" value={phone} onInput={setPhone} />
            <Choice
              label="When it is called"
              value={behaviour}
              onInput={setBehaviour}
              options={behaviours.map(b => [b, b.replaceAll('_', ' ')])}
              hint={behaviour === 'answer' ? 'It says the lines on the left.' : undefined}
            />
            <Button type="submit">Set</Button>
          </form>
        </Card>
        <Card title="Texts it received">
          <Loaded of={texts}>
            {({ data }) =>
              data.length ? (
                <ul>
                  {data.map(t => (
                    <li>
                      {t.body}{' '}
                      <span class="muted small">
                        from {t.from}, {when(t.at)}
                      </span>
                    </li>
                  ))}
                </ul>
              ) : (
                <p class="muted">None.</p>
              )
            }
          </Loaded>
          <Button kind="quiet" onClick={texts.reload}>
            Reload
          </Button>
        </Card>
      </div>
    </div>
  )
}

type Outcome = {
  state: string
  steps: { at_ms: number; step: object; done: boolean }[]
  heard: { from_ms: number; to_ms: number; text: string }[]
  audio_url: string | null
  call_id?: number | null
}

function SimCall({ id, call: ours }: { id: number; call: number | null }) {
  const call = useLoad(() => get<Data<Outcome>>(`/sim/calls/${id}`), [id])
  const over = call.data && /^(ended|failed|refused)/.test(call.data.data.state)
  useEffect(() => {
    if (over) return
    const t = setInterval(call.reload, 1500)
    return () => clearInterval(t)
  }, [over])
  return (
    <Card title={`Call ${id}`}>
      <Loaded of={call}>
        {({ data: c }) => (
          <>
            <p>
              <Badge>{c.state}</Badge> {ours && <a href={`/console/calls/${ours}`}>Watch it on the Call page</a>}
            </p>
            <ol class="lines">
              {c.heard.map(h => (
                <li>
                  <small>heard at {seconds(h.from_ms / 1000)}</small>
                  {h.text}
                </li>
              ))}
            </ol>
            {c.audio_url && (
              <audio
                controls
                preload="none"
                src={new URL(c.audio_url, location.href).pathname}
                aria-label={`What the caller of call ${id} heard`}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}
