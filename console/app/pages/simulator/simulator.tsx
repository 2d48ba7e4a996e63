import { useState } from 'preact/hooks'
import { ApiError, get, post, put } from '../../api'
import { attempt, Badge, Button, Card, Choice, Empty, Loaded, Page, Table, Tabs, useLoad, when } from '../../ui'
import { Phones } from './phones'
import { Customer } from './customer'

export type Data<T> = { data: T }

export function Simulator() {
  const [tab, setTab] = useState('Phones')
  const clock = useLoad(() => get<Data<{ mode: string; now: string }>>('/sim/clock'), [])
  return (
    <Page
      title="Simulator"
      sub="A pretend carrier, phones, messaging platform and payments: everything works here without a vendor."
    >
      {clock.error ? (
        <Empty title="The simulator is off">
          It is on while no real carrier is configured and the server listens on this machine only, or with
          simulator.enabled: true.
        </Empty>
      ) : (
        <Tabs names={['Phones', 'WhatsApp customer', 'Money', 'Clock']} now={tab} go={setTab}>
          {tab === 'Phones' && <Phones />}
          {tab === 'WhatsApp customer' && <Customer />}
          {tab === 'Money' && <Money />}
          {tab === 'Clock' && <Clock now={clock} />}
        </Tabs>
      )}
    </Page>
  )
}

function Money() {
  const held = useLoad(
    () =>
      get<{
        charges: { ref: string; amount: number; status: string }[]
        subscriptions: { ref: string; phone_number: string; status: string; period_end: string }[]
      }>('/sim/payments').then((r: any) => r.data ?? r),
    [],
  )
  const [method, setMethod] = useState('ok')
  return (
    <>
      <form
        class="row filters"
        onSubmit={e => {
          e.preventDefault()
          attempt(() => put('/sim/account', { payment_method: method }), 'Set.')
        }}
      >
        <Choice
          label="The payment card"
          value={method}
          onInput={setMethod}
          options={[
            ['ok', 'works'],
            ['declined', 'is declined'],
            ['none', 'does not exist'],
          ]}
        />
        <Button type="submit">Set</Button>
      </form>
      <Loaded of={held}>
        {p =>
          p.charges.length + p.subscriptions.length ? (
            <Table
              label="Payments"
              heads={['What', 'Amount', 'Status']}
              rows={[
                ...p.charges.map((c: any) => [c.ref, c.amount, <Badge>{c.status}</Badge>]),
                ...p.subscriptions.map((s: any) => [
                  `${s.phone_number} until ${when(s.period_end)}`,
                  '',
                  <Badge>{s.status}</Badge>,
                ]),
              ]}
            />
          ) : (
            <Empty title="Nothing was paid yet" />
          )
        }
      </Loaded>
    </>
  )
}

function Clock({ now }: { now: { data?: Data<{ mode: string; now: string }>; reload: () => unknown } }) {
  const advance = (n: number) =>
    attempt(async () => {
      try {
        await post('/sim/clock/advance', { seconds: n })
      } catch (e) {
        throw e instanceof ApiError && e.status === 409
          ? new Error('The clock is real. Start the server with clock.mode: manual to move it.')
          : e
      }
    }, 'Time has passed.').then(now.reload)
  return (
    <Card>
      <p>
        It is <strong>{when(now.data?.data.now)}</strong> ({now.data?.data.mode} clock).
      </p>
      <div class="actions">
        {(
          [
            ['5 minutes', 300],
            ['1 hour', 3600],
            ['4 hours', 14400],
            ['1 day', 86400],
            ['30 days', 2592000],
          ] as [string, number][]
        ).map(([l, s]) => (
          <Button disabled={now.data?.data.mode !== 'manual'} onClick={() => advance(s)}>
            + {l}
          </Button>
        ))}
      </div>
      {now.data?.data.mode !== 'manual' && (
        <p class="muted small">
          Start the server with <code>PARLEY_CLOCK_MODE=manual</code> to move time: windows, retries, renewals and
          campaign hours follow.
        </p>
      )}
    </Card>
  )
}
