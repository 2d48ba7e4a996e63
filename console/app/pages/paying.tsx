import { useState } from 'preact/hooks'
import { get, post, put } from '../api'
import { Button, Card, errorsOf, Loaded, say, Switch, Text, useLoad, type Errors } from '../ui'
import type { Schemas } from '../../openapi'

type Billing = Schemas['billingData']

// Paying is how the account pays in: a method on file, one payment, or by itself when the balance is low.
export function Paying() {
  const billing = useLoad(() => get<{ data: Billing }>('/user/billing'), [])
  return (
    <Card title="Paying in">
      <Loaded of={billing}>
        {({ data }) => (
          <>
            <Method of={data} />
            <TopUp currency={data.currency} />
            <Automatic key={JSON.stringify(data.auto_topup)} of={data} changed={billing.reload} />
          </>
        )}
      </Loaded>
    </Card>
  )
}

// leave goes to the payment vendor's page, which comes back here.
async function leave(path: string, body: object) {
  const { url } = await post<{ url: string }>(path, { ...body, return_url: location.href })
  location.href = url
}

function Method({ of: { payment_method: m } }: { of: Billing }) {
  const go = () => leave('/user/billing/setup', {}).catch(e => say(e.message, true))
  return (
    <p class="row">
      <span>
        {m ? m.label : 'No payment method is on file.'}
        {m?.expires && <span class="muted small"> until {m.expires}</span>}
        {m && !m.ready && <span class="error"> It has expired.</span>}
      </span>
      <Button onClick={go}>{m ? 'Replace' : 'Add a payment method'}</Button>
    </p>
  )
}

function TopUp({ currency }: { currency: string }) {
  const [amount, set] = useState('25')
  const [errors, setErrors] = useState<Errors>({})
  const pay = () =>
    leave('/user/billing/topup', { amount }).catch(e => {
      setErrors(errorsOf(e))
      say(e.message, true)
    })
  return (
    <form
      class="row"
      onSubmit={e => {
        e.preventDefault()
        pay()
      }}
    >
      <Text label={`Amount in ${currency}`} inputMode="decimal" value={amount} onInput={set} error={errors.amount} />
      <Button kind="primary" type="submit">
        Top up
      </Button>
    </form>
  )
}

function Automatic({ of: { auto_topup: was, currency }, changed }: { of: Billing; changed: () => unknown }) {
  const [form, set] = useState({ enabled: was.enabled, below: String(was.below), amount: String(was.amount) })
  const [errors, setErrors] = useState<Errors>({})
  const save = async () => {
    try {
      await put('/user/billing/auto-topup', form)
      setErrors({})
      say('Saved.')
      changed()
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
      <Switch
        label="Top up by itself"
        value={form.enabled}
        onInput={enabled => set({ ...form, enabled })}
        hint="At most three times in 24 hours. A refusal switches it off."
      />
      {was.last_error && (
        <p class="error" role="alert">
          {was.last_error}
        </p>
      )}
      {errors.enabled && (
        <p class="error" role="alert">
          {errors.enabled[0]}
        </p>
      )}
      {form.enabled && (
        <div class="row">
          <Text
            label="When less is left than"
            inputMode="decimal"
            value={form.below}
            onInput={below => set({ ...form, below })}
            error={errors.below}
          />
          <Text
            label={`Pay (${currency})`}
            inputMode="decimal"
            value={form.amount}
            onInput={amount => set({ ...form, amount })}
            error={errors.amount}
          />
        </div>
      )}
      <Button type="submit">Save</Button>
    </form>
  )
}
