import { useState } from 'preact/hooks'
import { curl, get, post } from '../../api'
import { attempt, Button, Choice, Empty, Loaded, Request, say, Table, Text, ask, useLoad } from '../../ui'
import type { Schemas } from '../../../openapi'

type Offer = Schemas['offerOut']

const countries = ['US', 'CA', 'GB', 'AU', 'IL', 'PL', 'FI', 'NL', 'DK', 'IT']

export function Search({ bought }: { bought: () => unknown }) {
  const [country, setCountry] = useState('US')
  const [contains, setContains] = useState('')
  const [asked, search] = useState({ country_code: 'US', contains: '' })
  const found = useLoad(() => get<{ data: Offer[] }>('/user/phone-numbers/search', asked), [asked])
  const buy = async (o: Offer) =>
    (await ask({
      title: `Buy ${o.phone_number}?`,
      text: `$${o.price.toFixed(2)} a month, from your payment method.`,
      yes: 'Buy this number',
    })) !== null &&
    attempt(async () =>
      say((await post<{ message: string }>('/user/phone-numbers/purchase', { phone_number: o.phone_number })).message),
    ).then(ok => {
      if (ok) {
        bought()
        found.reload()
      }
    })
  return (
    <>
      <form
        class="row filters"
        onSubmit={e => {
          e.preventDefault()
          search({ country_code: country, contains })
        }}
      >
        <Choice
          label="Country"
          value={country}
          onInput={setCountry}
          options={countries.map(c => [c, new Intl.DisplayNames(['en'], { type: 'region' }).of(c)!])}
        />
        <Text
          label="Contains"
          value={contains}
          onInput={setContains}
          inputMode="numeric"
          pattern="[0-9]*"
          maxLength={10}
        />
        <Button type="submit" kind="primary">
          Search
        </Button>
      </form>
      <Loaded of={found}>
        {({ data }) =>
          data.length ? (
            <Table
              label="Numbers on offer"
              heads={['Number', 'SMS', 'Address needed', 'A month', '']}
              rows={data.map(o => [
                <>
                  <strong>{o.phone_number}</strong>
                  <div class="muted small">{o.phone_number_formatted}</div>
                </>,
                o.sms_capable ? 'yes' : 'no',
                o.address_requirements,
                `$${o.price.toFixed(2)}`,
                <Button label={`Buy ${o.phone_number}`} onClick={() => buy(o)}>
                  Buy
                </Button>,
              ])}
            />
          ) : (
            <Empty title="Nothing fits">Try fewer digits or another country.</Empty>
          )
        }
      </Loaded>
      <Request command={curl('GET', `/user/phone-numbers/search?${new URLSearchParams(asked)}`)} />
    </>
  )
}
